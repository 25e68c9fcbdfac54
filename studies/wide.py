"""Coefficients and relevance in nature with many columns: how often intervals cover and P rejects.

Ridge regression in five folds, columns that are independent, of three common factors, or a series
of first order. `x0` has no effect, `x1` has .5 and every fourth other column .3. `population` has
no intervals where columns are more than half of the rows.

    python studies/wide.py 80 40 60     # rows, columns, data sets: lines are added to the results
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV

import pyinterp as pi

FILE = Path(__file__).parent / "results" / "wide.csv"
TRUTH = {"x0": 0.0, "x1": 0.5}


def draw(n, p, kind, rng):
    """Return n rows of p columns and a response."""
    X = rng.normal(size=(n, p))
    if kind == "factors":
        X += 0.7 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
    if kind == "series":
        for j in range(1, p):
            X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    slopes = np.zeros(p)
    slopes[3::4], slopes[1] = 0.3, TRUTH["x1"]
    y = X @ slopes + rng.normal(size=n)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(p)]).assign(y=y)


def study(n, p, kind, sets):
    """Yield a line per term: the share of intervals that cover, and of P below 5%."""
    found = []
    for seed in range(sets):
        data = draw(n, p, kind, np.random.default_rng([n, p, len(kind), seed]))
        ridge = RidgeCV(np.logspace(-1, 3, 9))
        res = pi.Learner.from_formula("y ~ .", data, ridge).fit(
            pi.CrossValidation(5), seed=seed, progress=False
        )
        nature = res.population([*TRUTH])
        limits = nature.conf_int()
        for term, truth in TRUTH.items():
            low, high = limits.loc[term]
            rejects = nature.relevance.pvalues[term] < 0.05
            found.append((term, low <= truth <= high, rejects))
    table = pd.DataFrame(found, columns=["term", "covers", "rejects"]).groupby("term").mean()
    for term, line in table.iterrows():
        yield {"n": n, "columns": p, "kind": kind, "term": term, "sets": sets, **line}


if __name__ == "__main__":
    rows, width, number = map(int, sys.argv[1:])
    for form in ("independent", "factors", "series"):
        lines = pd.DataFrame(study(rows, width, form, number)).round(3)
        lines.to_csv(FILE, mode="a", header=not FILE.exists(), index=False)
        print(lines)
