"""How often intervals of `sage()` cover the learner's Shapley shares.

    python studies/sage.py RAW SECONDS [CELL ...]

Every data set adds lines to the file RAW, and what is there is not done again; after so many CPU
seconds it stops. The cells, such as `lm/100/.6`, take turns. Their summary goes to
`studies/results/sage.csv`. Truths are means over fits to fresh data, evaluated on fresh rows.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.importance.sage import sage

SUMMARY = Path(__file__).parent / "results" / "sage.csv"
NAMES = ["strong", "suppressor", "correlated", "weak", "null"]
EFFECTS = np.array([1.0, -0.4, 0.0, 0.25, 0.0])
BOOSTING = {"n_estimators": 60, "learning_rate": 0.08, "num_leaves": 8, "min_child_samples": 8,
            "verbose": -1, "n_jobs": 1}  # fmt: skip
LEARNERS: dict[str, tuple[Any, Any]] = {
    "lm": (LinearRegression(), LogisticRegression(C=1e6)),
    "ridge": (RidgeCV(np.logspace(-1, 3, 9)), LogisticRegression(C=0.3)),
    "tree": (DecisionTreeRegressor(min_samples_leaf=7), DecisionTreeClassifier(min_samples_leaf=7)),
    "boosting": (LGBMRegressor(**BOOSTING), LGBMClassifier(**BOOSTING)),
}
SIZES, CORRELATIONS, SETS, OFFSET = (100, 300), (0.0, 0.6, 0.9), 300, 58
FITS = {"lm": 400, "ridge": 400, "tree": 150, "boosting": 80}
MANY = 4000  # fits of lm, whose shares are exact


def draw(rng: np.random.Generator, n: int, correlation: float, *, classes: bool) -> pd.DataFrame:
    """Return data: the first three features are correlated, and y depends on some."""
    X = rng.normal(size=(n, 5))
    common = rng.normal(size=(n, 1))
    X[:, :3] = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * X[:, :3]
    mean, noise = X @ EFFECTS, rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * mean))).astype(int) if classes else mean + noise
    return pd.DataFrame(X, columns=NAMES).assign(y=y)


def cells() -> dict[str, tuple[str, int, float, bool]]:
    """Return learner, size, correlation and kind of response of every cell, by name."""
    return {
        f"{learner}/{n}/{r:g}{'/classes' * classes}": (learner, n, r, classes)
        for learner, n, r, classes in product(LEARNERS, SIZES, CORRELATIONS, (False, True))
    }


def truth(learner: str, n: int, correlation: float, classes: bool) -> np.ndarray:
    """Return the shares of the learner trained on .632 n rows, of fresh rows."""
    rng, found = np.random.default_rng([n, round(10 * correlation), classes]), []
    if learner == "lm" and not classes:
        cov = np.eye(5)
        cov[:3, :3] += correlation * (1 - np.eye(3))
        for _ in range(MANY):
            train = draw(rng, round(0.632 * n), correlation, classes=False)
            columns = np.column_stack([np.ones(len(train)), train[NAMES]])
            b = np.linalg.lstsq(columns, train["y"])[0][1:]
            found.append(b * (cov @ (2 * EFFECTS - b)))
        return np.mean(found, axis=0)
    for _ in range(FITS[learner]):
        train = draw(rng, round(0.632 * n), correlation, classes=classes)
        if classes and train["y"].nunique() < 2:
            continue
        rows = draw(rng, 400, correlation, classes=classes)
        model = LEARNERS[learner][classes].fit(train[NAMES], train["y"])
        fitted = pi.FittedModel(model, rows[NAMES], rows["y"])
        found.append(fitted.sage().params.to_numpy())
    return np.mean(found, axis=0)


def one_set(learner: str, n: int, correlation: float, classes: bool, k: int) -> pd.DataFrame:
    """Return estimates and limits of one data set, by the rule for squares and the plain one."""
    rng = np.random.default_rng([n, k, round(10 * correlation), OFFSET])
    data = draw(rng, n, correlation, classes=classes)
    model = pi.Learner.from_formula("y ~ .", data, LEARNERS[learner][classes])
    res = model.fit(seed=k, progress=False)
    asked = sage(res.analysis.problem)
    squares, plain = (
        res.estimate(asked),
        res.estimate(replace(asked, parameter=pi.Parameter(null=0.0))),
    )
    limits = [found.conf_int().set_axis([f"{name}_low", f"{name}_high"], axis=1)
              for name, found in (("square", squares), ("plain", plain))]  # fmt: skip
    frame = pd.concat([squares.params.rename("estimate"), plain.bse.rename("se"), *limits], axis=1)
    return frame.rename_axis("term").reset_index()


def run(raw: Path, seconds: float, chosen: list[str]) -> None:
    """Add truths and data sets to a file, cell by cell in turn, until the time is over."""
    before = pd.read_csv(raw) if raw.exists() else pd.DataFrame({"cell": [], "set": []})
    done, start = set(zip(before["cell"], before["set"], strict=True)), time.process_time()
    for k, (cell, of) in product(range(-1, SETS), cells().items()):
        if (cell, k) in done or (chosen and cell not in chosen):
            continue
        if time.process_time() - start > seconds:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if k < 0:
                frame = pd.DataFrame({"term": NAMES, "estimate": truth(*of)})
            else:
                frame = one_set(*of, k)
        frame = frame.assign(cell=cell, set=k)
        columns = ["cell", "set", "term", "estimate", "se", "square_low", "square_high",
                   "plain_low", "plain_high"]  # fmt: skip
        frame.reindex(columns=columns).to_csv(raw, mode="a", header=not raw.exists(), index=False)


def summarize(raw: Path) -> pd.DataFrame:
    """Return, for every cell and term, how often the rules cover, and reject 0."""
    data = pd.read_csv(raw, keep_default_na=False, na_values=[""])
    data["truth"] = data.groupby(["cell", "term"])["estimate"].transform("first")
    data = data[data["set"] >= 0]
    for end, function in (("low", np.minimum), ("high", np.maximum)):
        data[f"hull_{end}"] = function(data[f"square_{end}"], data[f"plain_{end}"])
    columns = {}
    for rule in ("square", "plain", "hull"):
        low, high = data[f"{rule}_low"], data[f"{rule}_high"]
        data[f"{rule}_covers"] = ((low <= data["truth"]) & (data["truth"] <= high)).astype(float)
        data[f"{rule}_rejects"] = ((low > 0) | (high < 0)).astype(float)
        columns |= {name: (name, "mean") for name in (f"{rule}_covers", f"{rule}_rejects")}
    table = data.groupby(["cell", "term"], sort=False).agg(
        sets=("set", "size"), truth=("truth", "first"), mean=("estimate", "mean"),
        sd=("estimate", "std"), mean_se=("se", "mean"), **columns
    )  # fmt: skip
    return table.round(4).reset_index()


if __name__ == "__main__":
    path, most = Path(sys.argv[1]), float(sys.argv[2])
    run(path, most, sys.argv[3:])
    result = summarize(path)
    result.to_csv(SUMMARY, index=False)
    print(result.to_string())
