"""Paired timings against scikit-learn, alternating in one run; writes RESULTS.md.

Each pair runs both sides in turn, one core each. The ratio of a pair is theirs / ours; the table
gives the median ratio with the smallest and the largest. "Repeats to match" is the number of
random permutations that scikit-learn would need for the Monte Carlo error of its estimate to fall
below 1% of the sampling error: ours has none.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from xgboost import XGBRegressor

import pyinterp as pi

PAIRS = 5
TRAIN, EVALUATE, FEATURES, REPEATS, POINTS = 2_000, 1_000, 10, 30, 50
PACKAGES = ("numpy", "numba", "scikit-learn", "xgboost", "lightgbm")


@dataclass(frozen=True)
class Row:
    work: str
    ours: float
    theirs: float
    ratios: tuple[float, ...]
    to_match: str = ""


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def paired(
    work: str, ours: Callable[[], Any], theirs: Callable[[], Any], to_match: str = ""
) -> Row:
    ours()  # compiled, caches warm
    pairs = [(timed(ours), timed(theirs)) for _ in range(PAIRS)]
    print(f"{work}: {pairs[-1][0]:.3f} s, {pairs[-1][1]:.3f} s", flush=True)
    return Row(
        work,
        statistics.median(p[0] for p in pairs),
        statistics.median(p[1] for p in pairs),
        tuple(p[1] / p[0] for p in pairs),
        to_match,
    )


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(TRAIN + EVALUATE, FEATURES))
    return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=len(X))


def repeats_to_match(model: Any, X: np.ndarray, y: np.ndarray) -> str:
    """Return the repeats after which permutation noise is 1% of the sampling error, on average."""
    result = permutation_importance(
        model, X, y, n_repeats=10, random_state=0, scoring="neg_mean_squared_error"
    )
    noise = result.importances.std(axis=1, ddof=1)
    error = pi.FittedModel(model, X, y).pfi().bse.to_numpy()
    used = error > 0
    return f"{int(np.median((noise[used] / (0.01 * error[used])) ** 2)):,}"


def rows_of(name: str, model: Any, X: np.ndarray, y: np.ndarray, *, permutations: Any) -> list[Row]:
    def pfi() -> None:
        pi.FittedModel(model, X, y, seed=1).pfi(permutations=permutations)

    def their_pfi() -> None:
        permutation_importance(
            model, X, y, n_repeats=REPEATS, random_state=0, scoring="neg_mean_squared_error"
        )

    def pd() -> None:
        fitted = pi.FittedModel(model, X, y)
        for j in range(FEATURES):
            fitted.pd(f"x{j + 1}", points=POINTS, kind="ice")

    def their_pd() -> None:
        for j in range(FEATURES):
            partial_dependence(model, X, [j], grid_resolution=POINTS, kind="both", method="brute")

    exact = permutations == "auto"
    what = "exact PFI" if exact else f"PFI, {REPEATS} permutations"
    match = repeats_to_match(model, X, y) if exact else ""
    return [
        paired(f"{name}: {what}", pfi, their_pfi, match),
        paired(f"{name}: PD and ICE, {FEATURES} x {POINTS}", pd, their_pd),
    ]


def table(rows: list[Row]) -> str:
    lines = [
        "| work | ours, s | scikit-learn, s | ratio (min, max) | repeats to match |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.work} | {r.ours:.3f} | {r.theirs:.3f} | **{statistics.median(r.ratios):.1f}** "
        f"({min(r.ratios):.1f}, {max(r.ratios):.1f}) | {r.to_match} |"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    X, y = data()
    train, rest = slice(None, TRAIN), slice(TRAIN, None)
    trees = {
        "forest of 100": RandomForestRegressor(100, random_state=0, n_jobs=1),
        "histogram boosting": HistGradientBoostingRegressor(random_state=0),
        "XGBoost": XGBRegressor(random_state=0, n_jobs=1),
        "LightGBM": LGBMRegressor(random_state=0, n_jobs=1, verbose=-1),
    }
    others = {"support vector machine": SVR(), "10 nearest neighbors": KNeighborsRegressor(10)}
    rows: list[Row] = []
    for name, model in trees.items():
        rows += rows_of(name, model.fit(X[train], y[train]), X[rest], y[rest], permutations="auto")
    few = slice(TRAIN, TRAIN + 300)
    for name, model in others.items():
        fitted = model.fit(X[:500], y[:500])
        rows += rows_of(name, fitted, X[few], y[few], permutations=REPEATS)
    versions = ", ".join(f"{p} {version(p)}" for p in PACKAGES)
    text = f"""# Benchmarks

`make bench` makes this file: {PAIRS} pairs per line, both sides in turn in one run, one core each.
{TRAIN:,} training rows, {EVALUATE:,} evaluation rows (500 and 300 for the last two learners),
{FEATURES} features; scikit-learn's `permutation_importance(n_repeats={REPEATS})` and
`partial_dependence(method="brute")`.
Python {platform.python_version()}, {versions}; {platform.machine()}.

{table(rows)}

Ours for tree ensembles is the mean over all pairs of rows, without Monte Carlo error. "Repeats to
match": permutations after which the Monte Carlo error of scikit-learn's estimate is 1% of the
sampling error of PFI (median over features).
"""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("RESULTS.md"))
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
