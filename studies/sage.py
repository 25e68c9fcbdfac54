"""How often intervals of `sage()` cover the learner's Shapley shares.

    python studies/sage.py RAW SETS [CELL ...]

In cells of ARRAYS half-sampling and the Shapley shares are written anew, with arrays only, so that
hundreds of data sets take a minute, and three rules are compared: the plain t interval, the rule
for squares of importances (with r = g = 1, as of least squares), and the hull of both. In the other
cells the limits are the package's own, by its default plan. A line of RAW has one data set and
feature, and what is there is not done again; cells take turns. The summary goes to
`studies/results/sage.csv`. Truths are means over fits to fresh data, by arrays. The rule was chosen
on seeds of another number.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy import stats
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.importance.sage import DRAWS, shapley_weights
from pyinterp.inference.half_sample.square import limits
from pyinterp.samplers import balanced_permutations

SUMMARY = Path(__file__).parent / "results" / "sage.csv"
NAMES = ["strong", "suppressor", "correlated", "weak", "null"]
EFFECTS = np.array([1.0, -0.4, 0.0, 0.25, 0.0])
REFITS, PAIRS, SEED = 15, 15, 58
INSIDE, (WEIGHTS,) = shapley_weights(len(NAMES))
CORRELATIONS = 0.0, 0.6, 0.9
BOOSTING = LGBMRegressor(
    n_estimators=30, learning_rate=0.15, num_leaves=8, min_child_samples=8, verbose=-1, n_jobs=1
)


class Logistic(LogisticRegression):
    """A logistic regression whose predictions are probabilities, for the truth by arrays."""

    def predict(self, X: Any) -> Any:
        """Return probabilities of the second class."""
        return self.predict_proba(X)[:, 1]


LEARNERS: dict[str, tuple[Any, int, float]] = {  # fits of the truth, and product of the first two
    "lm": (None, 6000, 0.0),
    "ridge": (RidgeCV(np.logspace(-1, 3, 9)), 800, 0.0),
    "logistic": (Logistic(), 800, 0.0),
    "tree": (DecisionTreeRegressor(min_samples_leaf=7, random_state=0), 800, 0.5),
    "boosting": (BOOSTING, 200, 0.5),
}
ARRAYS = [("lm", n, r) for n, r in product((100, 300), CORRELATIONS)] + [("tree", 100, 0.6)]
PACKAGE = [
    (learner, n, r)
    for r in CORRELATIONS
    for learner, sizes in {
        "ridge": (100, 300),
        "boosting": (100, 300),
        "tree": (300,),
        "logistic": (100, 300),
    }.items()
    for n in sizes
]
Rows = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any], np.ndarray]


def draw(
    rng: np.random.Generator, n: int, correlation: float, product: float, classes: bool = False
) -> Any:
    """Return features, three of them correlated, and y, with a product of the first two or not."""
    X = rng.normal(size=(n, 5))
    common = rng.normal(size=(n, 1))
    X[:, :3] = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * X[:, :3]
    mean = X @ EFFECTS + product * X[:, 0] * X[:, 1]
    if classes:
        return X, (rng.random(n) < 1 / (1 + np.exp(-mean))).astype(int)
    return X, mean + rng.normal(size=n)


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
        of_draws = 2 / (k - 1) * (pairs - rows[..., None])
        donors = np.array([np.bincount(index.ravel(), each.ravel(), n) for each in of_draws])
        return -(WEIGHTS @ (rows + donors)).T

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


def by_package(X: Any, y: Any, estimator: Any, seed: int) -> dict[str, Any]:
    """Return what the package says, by its default plan."""
    data = pd.DataFrame(X, columns=NAMES).assign(y=y)
    model = pi.Learner.from_formula("y ~ .", data, estimator)
    found = model.fit(seed=seed, progress=False, engine="batched").sage()  # the same in less time
    limits = found.conf_int().loc[NAMES].to_numpy()
    values = {"estimate": found.params[NAMES].to_numpy(), "se": found.bse[NAMES].to_numpy()}
    return {**values, "plain_low": limits[:, 0], "plain_high": limits[:, 1]}


def by_arrays(X: Any, y: Any, rows: Rows, rng: Any) -> dict[str, Any]:
    """Return what the rules say."""
    c, plain, error, at_zero = half_sample(X, y, rng, rows)
    q = stats.t.isf(0.025, PAIRS)
    square = limits(c, error, at_zero, q)
    values = {"estimate": c, "plain_low": c - q * plain, "plain_high": c + q * plain, "se": plain}
    return {**values, "square_low": square[:, 0], "square_high": square[:, 1]}


class Cell:
    """A learner, a number of rows and a correlation, with the truth."""

    def __init__(self, learner: str, n: int, correlation: float) -> None:
        self.estimator, fits, effect = LEARNERS[learner]
        self.name, self.key = f"{learner}/{n}/{correlation:g}", (learner, n, correlation)
        self.seed = [n, round(10 * correlation)]
        self.law = {"correlation": correlation, "product": effect, "classes": learner == "logistic"}
        self.rows = of_lines if self.estimator is None else of_subsets(self.estimator)
        self.n, self.fits, self.few = n, fits, 400 if self.key in ARRAYS else 200

    @cached_property
    def truth(self) -> np.ndarray:
        """The mean over fits to fresh data."""
        rng, found = np.random.default_rng([*self.seed, 1]), []
        for _ in range(self.fits):
            train = draw(rng, round(0.632 * self.n), **self.law)
            found.append(self.rows(*train, *draw(rng, self.few, **self.law), rng).mean(axis=0))
        return np.mean(found, axis=0)

    def one_set(self, k: int) -> pd.DataFrame:
        """Return limits of every feature in one data set."""
        rng = np.random.default_rng([*self.seed, k, SEED])
        X, y = draw(rng, self.n, **self.law)
        if self.key in PACKAGE:
            values = by_package(X, y, self.estimator, k)
        else:
            values = by_arrays(X, y, self.rows, rng)
        return pd.DataFrame(
            {"cell": self.name, "set": k, "term": NAMES, "truth": self.truth, **values}
        ).reindex(columns=COLUMNS)


COLUMNS = ["cell", "set", "term", "truth", "estimate", "plain_low", "plain_high", "se"]
COLUMNS += ["square_low", "square_high"]


def run(raw: Path, sets: int, chosen: list[str]) -> None:
    """Add data sets to a file, cell by cell in turn."""
    done: set[tuple[str, int]] = set()
    every = [Cell(*each) for each in ARRAYS + PACKAGE]
    if raw.exists():
        before = pd.read_csv(raw)
        done = set(before[["cell", "set"]].itertuples(index=False, name=None))
        for cell in every:
            if (cell.name, 0) in done:  # the truth is known
                one = before[(before["cell"] == cell.name) & (before["set"] == 0)]
                cell.truth = one["truth"].to_numpy()
    for k, cell in product(range(sets), every):
        if (chosen and cell.name not in chosen) or (cell.name, k) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cell.one_set(k)
        found.to_csv(raw, mode="a", header=not raw.exists(), index=False)


def summarize(data: pd.DataFrame) -> pd.DataFrame:
    """Return, for every cell and term, how often the rules cover, and reject 0."""
    data, columns = data.copy(), {}
    for end, function in (("low", np.minimum), ("high", np.maximum)):
        data[f"hull_{end}"] = function(data[f"square_{end}"], data[f"plain_{end}"])
    for rule in ("plain", "square", "hull"):
        low, high = data[f"{rule}_low"], data[f"{rule}_high"]
        covers, rejects = (low <= data["truth"]) & (data["truth"] <= high), (low > 0) | (high < 0)
        data[f"{rule}_covers"] = covers.astype(float).where(low.notna())
        data[f"{rule}_rejects"] = rejects.astype(float).where(low.notna())
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
    path, most = Path(sys.argv[1]), int(sys.argv[2])
    run(path, most, sys.argv[3:])
    result = summarize(pd.read_csv(path, keep_default_na=False, na_values=[""]))
    result.to_csv(SUMMARY, index=False)
    print(result.to_string())
