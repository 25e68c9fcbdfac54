"""Prints certificates to four decimals: processors that add up in another order print the same."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi

SMALL = {"data_sets": 3, "truth_refits": 5, "progress": False}


def main():
    """Print numbers of every kind of response, of losses and of curves."""
    data = pi.datasets.load_diabetes().iloc[:150]
    data["high"] = np.where(data["progression"] > 150, "yes", "no")
    for response, estimator, plan in (
        ("progression", LinearRegression(), pi.HalfSampling(3)),
        ("progression", RandomForestRegressor(5, max_depth=2), pi.Subsampling(4)),
        ("high", LogisticRegression(), pi.Bootstrap(4)),
    ):
        learner = pi.Learner.from_formula(f"{response} ~ bmi + bp + s5 + age", data, estimator)
        results = learner.fit(plan, seed=1, progress=False)
        for table in (results.pfi(), results.pd("bmi", points=3)):
            print(pi.certify(results, table, **SMALL).frame.round(4).to_string())


if __name__ == "__main__":
    pd.set_option("display.width", 500)
    main()
