"""Corrected intervals of effects over folds: the difference of PD at 1 and 0, and its coverage.

Least squares, y = x1 + x2 / 2 + noise with correlated features, 300 rows. The target is the slope.

    python studies/folds.py 200     # data sets
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

import pyinterp as pi

FILE = Path(__file__).parent / "results" / "folds.csv"
PLANS = {
    "3 folds": pi.CrossValidation(3),
    "4 folds": pi.CrossValidation(4),
    "5 folds": pi.CrossValidation(5),
    "10 folds": pi.CrossValidation(10),
    "9 of 10 rows, 15 times": pi.Subsampling(15, fraction=0.9),
    "bootstrap": pi.Bootstrap(15),
    "subsampling": pi.Subsampling(15),
    "half-sampling": pi.HalfSampling(),
}
N, ROOT = 300, 20261129


def draw(rng):
    """Return rows of two correlated features and a response."""
    x1, z, noise = rng.normal(size=(3, N))
    return pd.DataFrame({"x1": x1, "x2": 0.7 * x1 + z, "y": x1 + 0.5 * (0.7 * x1 + z) + 2 * noise})


def study(plan, sets):
    """Return estimates, standard errors and whether intervals cover, a line per data set."""
    found = []
    for k in range(sets):
        learner = pi.Learner.from_formula(
            "y ~ x1 + x2", draw(np.random.default_rng([ROOT, k])), LinearRegression()
        )
        cov_type = None if isinstance(plan, pi.HalfSampling) else "corrected"
        curve = learner.fit(plan, seed=k, progress=False).pd("x1", grid=[0, 1], cov_type=cov_type)
        line = curve.differences().summary_frame().iloc[0]
        found.append(
            (line["estimate"], line["std_error"], line["conf_low"] < 1 < line["conf_high"])
        )
    return pd.DataFrame(found, columns=["estimate", "std_error", "covers"])


if __name__ == "__main__":
    number = int(sys.argv[1])
    lines = []
    for name, plan in PLANS.items():
        table = study(plan, number)
        share = table["std_error"].mean() / table["estimate"].std()
        lines.append((name, number, round(share, 2), round(table["covers"].mean(), 3)))
    header = ["plan", "sets", "std_error_over_sd", "covers"]
    pd.DataFrame(lines, columns=header).to_csv(FILE, index=False)
    print(FILE.read_text())
