"""How often intervals of `sage()` cover the learner's Shapley shares, by three rules.

    python studies/sage.py RAW SETS [CELL ...]

Half-sampling and the Shapley shares are written anew here, with arrays only, so that hundreds of
data sets take a minute: the plain t interval, the rule for squares of importances (with r = g = 1,
as of least squares), and the hull of both. A line of RAW has one data set and feature. The summary
goes to `studies/results/sage.csv`. Truths are means over fits to fresh data. The rule was chosen on
seeds of another number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy import stats
from sklearn.tree import DecisionTreeRegressor

from pyinterp.estimands.importance.sage import DRAWS, shapley_weights
from pyinterp.inference.half_sample.square import limits
from pyinterp.samplers import balanced_permutations

SUMMARY = Path(__file__).parent / "results" / "sage.csv"
NAMES = ["strong", "suppressor", "correlated", "weak", "null"]
EFFECTS = np.array([1.0, -0.4, 0.0, 0.25, 0.0])
REFITS, PAIRS, SEED = 15, 15, 58
INSIDE, WEIGHTS = shapley_weights(len(NAMES))
BOOSTING = LGBMRegressor(
    n_estimators=60, learning_rate=0.08, num_leaves=8, min_child_samples=8, verbose=-1, n_jobs=1
)
LEARNERS: dict[str, tuple[Any, int]] = {  # and fits of the truth
    "lm": (None, 6000),
    "tree": (DecisionTreeRegressor(min_samples_leaf=7, random_state=0), 800),
    "boosting": (BOOSTING, 150),
}
Rows = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any], np.ndarray]


def draw(rng: np.random.Generator, n: int, correlation: float, product: float) -> Any:
    """Return features, three of them correlated, and y, with a product of the first two or not."""
    X = rng.normal(size=(n, 5))
    common = rng.normal(size=(n, 1))
    X[:, :3] = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * X[:, :3]
    return X, X @ EFFECTS + product * X[:, 0] * X[:, 1] + rng.normal(size=n)


def of_lines(X: Any, y: Any, Z: Any, z: Any, _: Any) -> np.ndarray:
    """Return contributions of evaluation rows (Z, z) by the closed form for least squares."""
    b = np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y)[0][1:]
    g = (Z - Z.mean(axis=0)) * b
    return g * (2 * (z - z.mean()) - g.sum(axis=1))[:, None] * len(z) / (len(z) - 1)


def of_subsets(estimator: Any) -> Rows:
    """Return the function of contributions, as row and as donor, by all subsets of features."""

    def contributions(X: Any, y: Any, Z: Any, z: Any, rng: Any) -> np.ndarray:
        model, n = estimator.fit(X, y), len(z)
        index = balanced_permutations(n, min(DRAWS, n - 1), rng)
        k = index.shape[1]
        copies = np.where(INSIDE[:, None, None], Z[None, :, None], Z[index][None])
        away = z[:, None] - model.predict(copies.reshape(-1, 5)).reshape(len(INSIDE), n, k)
        pairs = away * (away.sum(axis=2, keepdims=True) - away) / (k - 1)
        rows = pairs.mean(axis=2)
        donors = np.array([2 * np.bincount(index.ravel(), each.ravel(), n) / k for each in pairs])
        donors[-1] = 0.0  # all features are there
        return -(WEIGHTS @ (rows + donors - donors.mean(axis=1, keepdims=True))).T

    return contributions


def half_sample(X: Any, y: Any, rng: Any, rows: Rows) -> tuple[np.ndarray, ...]:
    """Return estimates, and standard errors: plain, by the rule for squares, and at 0 by it."""
    n, half = len(y), len(y) // 2
    means = []
    for _ in range(REFITS):
        train, rest = np.split(rng.permutation(n), [round(0.632 * n)])
        means.append(rows(X[train], y[train], X[rest], y[rest], rng).mean(axis=0))
    sums, times, every = np.zeros((n, 5)), np.zeros(n), []
    for _ in range(PAIRS):
        order = rng.permutation(n)
        a, b = order[:half], order[half : 2 * half]
        pair = []
        for train, rest in ((a, b), (b, a)):
            found = rows(X[train], y[train], X[rest], y[rest], rng)
            pair.append((train, found.mean(axis=0)))
            sums[rest] += found - found.mean(axis=0)
            times[rest] += 1
        every.append(pair)
    of_rows = sums / np.maximum(times, 1)[:, None]
    D, M = [], []
    for (a, first), (b, second) in every:
        D.append(first - second + 2 * (of_rows[a].mean(axis=0) - of_rows[b].mean(axis=0)))
        M.append((first + second) / 2)
    A, S = np.square(D).mean(axis=0) / 4, np.var(M, axis=0, ddof=1)
    between = np.var(means, axis=0, ddof=1) / REFITS
    V = np.maximum(A - S / 2, S)
    at_zero = np.minimum(0.632 / 0.5 * S, V)
    errors = [np.sqrt(each + between) for each in (A, V, at_zero)]
    return np.mean(means, axis=0), *errors


def cells() -> dict[str, tuple[str, int, float, float]]:
    """Return learner, rows, correlation and product of every cell, by name."""
    every = [("lm", n, r, 0.0) for n, r in product((100, 300), (0.0, 0.6, 0.9))]
    every += [("tree", 100, 0.6, 0.5), ("boosting", 100, 0.6, 0.5)]
    return {f"{learner}/{n}/{r:g}": (learner, n, r, p) for learner, n, r, p in every}


def run(cell: str, sets: int) -> pd.DataFrame:
    """Return limits of every data set and feature of a cell."""
    learner, n, correlation, effect = cells()[cell]
    estimator, fits = LEARNERS[learner]
    rows = of_lines if estimator is None else of_subsets(estimator)
    rng, found = np.random.default_rng([n, round(10 * correlation), 1]), []
    for _ in range(fits):
        train = draw(rng, round(0.632 * n), correlation, effect)
        found.append(rows(*train, *draw(rng, 400, correlation, effect), rng).mean(axis=0))
    truth, q, frames = np.mean(found, axis=0), stats.t.isf(0.025, PAIRS), []
    for k in range(sets):
        rng = np.random.default_rng([n, round(10 * correlation), k, SEED])
        c, plain, error, at_zero = half_sample(*draw(rng, n, correlation, effect), rng, rows)
        square = limits(c, error, at_zero, q)
        values = {"cell": cell, "set": k, "term": NAMES, "truth": truth, "estimate": c}
        values |= {"plain_low": c - q * plain, "plain_high": c + q * plain, "se": plain}
        frames.append(
            pd.DataFrame({**values, "square_low": square[:, 0], "square_high": square[:, 1]})
        )
    return pd.concat(frames)


def summarize(data: pd.DataFrame) -> pd.DataFrame:
    """Return, for every cell and term, how often the rules cover, and reject 0."""
    data, columns = data.copy(), {}
    for end, function in (("low", np.minimum), ("high", np.maximum)):
        data[f"hull_{end}"] = function(data[f"square_{end}"], data[f"plain_{end}"])
    for rule in ("plain", "square", "hull"):
        low, high = data[f"{rule}_low"], data[f"{rule}_high"]
        data[f"{rule}_covers"] = ((low <= data["truth"]) & (data["truth"] <= high)).astype(float)
        data[f"{rule}_rejects"] = ((low > 0) | (high < 0)).astype(float)
        columns |= {name: (name, "mean") for name in (f"{rule}_covers", f"{rule}_rejects")}
    table = data.groupby(["cell", "term"], sort=False).agg(
        sets=("set", "size"),
        truth=("truth", "first"),
        mean=("estimate", "mean"),
        sd=("estimate", "std"),
        mean_se=("se", "mean"),
        **columns,
    )
    return table.round(4).reset_index()


if __name__ == "__main__":
    raw, most, chosen = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or [*cells()]
    for name in chosen:
        run(name, most).to_csv(raw, mode="a", header=not raw.exists(), index=False)
    result = summarize(pd.read_csv(raw, keep_default_na=False))
    result.to_csv(SUMMARY, index=False)
    print(result.to_string())
