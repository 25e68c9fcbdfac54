"""Which part of the variance is due to evaluation rows, and how many rows would be enough.

    python studies/evaluation_rows.py SETS

A row's influence by evaluating has variance b, estimated by the variance of its mean contribution
over refits. With r of n rows the variance V grows by b (1/r - 1/n). For an increase by a tenth of V
the share of rows is r/n = 1 / (1 + .1 / part), part = b / (n V).

Of PFI this is the least part: what a row does as a donor is not in it. With a tenth of 2,000 rows
the standard errors of PFI were 1.98 (least squares, 12 data sets) and 2.41 times (boosting, 3) as
large, for 1.74 and 1.80 by the parts. Those of the loss were 3.06 and 2.82 times as large, for 2.78
and 2.80, and those of PD 2.09 and 1.67 times, for 2.22 and 1.67.

The summary, medians over data sets and terms, goes to `studies/results/evaluation_rows.csv`.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

import pyinterp as pi

SUMMARY = Path(__file__).parent / "results" / "evaluation_rows.csv"
SIZES, SEED = (500, 2000), 59
LEARNERS = {
    "least squares": LinearRegression(),
    "boosting": HistGradientBoostingRegressor(max_iter=60),
    "forest": RandomForestRegressor(20, min_samples_leaf=3, n_jobs=1),
    "neighbors": KNeighborsRegressor(10),
    "network": MLPRegressor(hidden_layer_sizes=(20,), max_iter=40, learning_rate_init=0.01),
}


def draw(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of Friedman's first function, with a noise of variance 1."""
    X = pd.DataFrame(rng.uniform(size=(n, 6)), columns=[f"x{j}" for j in range(1, 7)])
    wave, bend = 10 * np.sin(np.pi * X["x1"] * X["x2"]), 20 * (X["x3"] - 0.5) ** 2
    return X.assign(y=wave + bend + 10 * X["x4"] + 5 * X["x5"] + rng.normal(size=n))


def parts(data: pd.DataFrame, learner: object, seed: int) -> pd.DataFrame:
    """Return the part of the variance that is due to evaluation rows, by estimand and term."""
    res = pi.Learner.from_formula("y ~ .", data, learner).fit(seed=seed, progress=False)
    found = {"loss": res.loss(), "PFI": res.pfi(), "PD": res.pd("x4")}
    of = {
        name: np.var(one.replicates.row_means, axis=0, ddof=1) / len(data) / one.bse**2
        for name, one in found.items()
    }
    return pd.concat(of, names=["estimand"]).rename("part").reset_index()


if __name__ == "__main__":
    every = []
    for (name, learner), n, k in product(LEARNERS.items(), SIZES, range(int(sys.argv[1]))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = draw(n, np.random.default_rng([SEED, n, k]))
            every.append(parts(rows, learner, k).assign(learner=name, n=n))
    by = pd.concat(every).groupby(["learner", "n", "estimand"], sort=False)["part"]
    table = by.median().to_frame()
    table["enough"] = 1 / (1 + 0.1 / table["part"])
    table["of a tenth"] = np.sqrt(1 + 9 * table["part"])
    table.round(3).to_csv(SUMMARY)
    print(table.round(3).to_string())
