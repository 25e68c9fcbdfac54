"""Size and power of the tests of several packages on one design, for ``docs/compare.md``.

    python studies/rivals.py [--data-sets 200] [--write studies/results/rivals.csv]

A linear model is fitted to 200 rows. Features a and b are strong, d is weak; c has no effect but a
correlation of 0.8 with a, and e is noise. Data set k is the same for every method. Methods of
packages that are not installed are skipped, by name; rows of the file that are not run again stay.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import logging
import os
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TQDM_DISABLE"] = "1"

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

import pyinterp as pi

ROWS, LEVEL = 200, 0.05
FEATURES = ["a", "b", "d", "c", "e"]
KEYS = ["package", "method"]


def data_set(number: int) -> pd.DataFrame:
    """Return data set k."""
    rng = np.random.default_rng([2025, number])
    frame = pd.DataFrame(rng.normal(size=(ROWS, 5)), columns=FEATURES)
    frame["c"] = 0.8 * frame["a"] + 0.6 * frame["c"]
    frame["y"] = frame["a"] + frame["b"] + 0.15 * frame["d"] + rng.normal(size=ROWS)
    return frame


def _pyinterp(measure: str) -> Callable[[pd.DataFrame, int], object]:
    def test(frame: pd.DataFrame, seed: int) -> object:
        learner = pi.Learner.from_formula("y ~ .", frame, LinearRegression())
        res = learner.fit(seed=seed, progress=False)
        return getattr(res, measure)().t_test([f"{name} = 0" for name in FEATURES]).pvalue

    return test


def _halves(frame: pd.DataFrame) -> tuple[LinearRegression, pd.DataFrame, pd.DataFrame]:
    """Return a model of the first half of the rows, and both halves."""
    train, rest = frame[: ROWS // 2], frame[ROWS // 2 :]
    return LinearRegression().fit(train[FEATURES], train["y"]), train, rest


def _sklearn(frame: pd.DataFrame, seed: int) -> object:
    """Read ``importances_mean`` beside ``importances_std`` as if that were a standard error."""
    model, _, rest = _halves(frame)
    found = permutation_importance(
        model, rest[FEATURES], rest["y"], n_repeats=30, random_state=seed
    )
    return 2 * stats.norm.sf(np.abs(found.importances_mean / found.importances_std))


def _hidimstat(name: str) -> Callable[[pd.DataFrame, int], object]:
    def test(frame: pd.DataFrame, seed: int) -> object:
        import hidimstat  # noqa: PLC0415 - may be missing

        cls = getattr(hidimstat, name)
        if name.endswith("CV"):
            folds = KFold(5, shuffle=True, random_state=seed)
            options = {} if name.startswith("LOCO") else {"random_state": seed}
            one = cls(LinearRegression(), folds, loss=mean_squared_error, **options)
            one.fit_importance(frame[FEATURES].to_numpy(), frame["y"].to_numpy())
        else:
            model, train, rest = _halves(frame)
            one = cls(model, random_state=seed)
            one.fit(train[FEATURES], train["y"])
            one.importance(rest[FEATURES], rest["y"])
        return one.pvalues_

    return test


def _fippy(frame: pd.DataFrame, seed: int) -> object:
    from fippy import Explainer  # noqa: PLC0415 - may be missing

    model, train, rest = _halves(frame)
    np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
    explainer = Explainer(model.predict, train[FEATURES], lambda y, p: (y - p) ** 2)
    return explainer.pfi(rest[FEATURES], rest["y"], n_repeats=30).test()["p_value"]


METHODS: dict[tuple[str, str], Callable[[pd.DataFrame, int], object]] = {
    ("pyinterp-stats", "PFI, default"): _pyinterp("pfi"),
    ("pyinterp-stats", "CVIM, default"): _pyinterp("cvim"),
    ("pyinterp-stats", "LOCO, default"): _pyinterp("loco"),
    ("HiDimStat", "PFICV, 5 folds"): _hidimstat("PFICV"),
    ("HiDimStat", "CFICV, 5 folds"): _hidimstat("CFICV"),
    ("HiDimStat", "LOCOCV, 5 folds"): _hidimstat("LOCOCV"),
    ("HiDimStat", "PFI, default test"): _hidimstat("PFI"),
    ("fippy", "PFI, t test over rows"): _fippy,
    ("scikit-learn", "PFI, mean / std as z"): _sklearn,
}


def study(package: str, method: str, data_sets: int) -> dict[str, object] | None:
    """Return shares of P < 0.05 of one method, or None if its package is not installed."""
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        logging.warning("%s is not installed: %s is skipped", package, method)
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = METHODS[package, method]
        pvalues = np.array([np.asarray(test(data_set(k), k), float) for k in range(data_sets)])
    shares = dict(zip(FEATURES, (pvalues < LEVEL).mean(axis=0).round(3), strict=True))
    day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    about = {"package": package, "version": version, "method": method}
    return {**about, "data_sets": data_sets, **shares, "date": day}


def main() -> None:
    """Run all methods that are installed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    rows = [row for key in METHODS if (row := study(*key, options.data_sets))]
    frame = pd.DataFrame(rows)
    if options.write:
        if options.write.is_file():
            before = pd.read_csv(options.write)
            frame = pd.concat([before, frame]).drop_duplicates(KEYS, keep="last")
        frame.to_csv(options.write, index=False)
    print(frame.to_string(index=False))


if __name__ == "__main__":
    main()
