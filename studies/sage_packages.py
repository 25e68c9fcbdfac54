"""`sage()` of one model beside shapiq's exact Shapley values and sage-importance.

    python -P studies/sage_packages.py

500 rows train and 200 evaluate. *twin* has a correlation of .9 with x and no effect. Packages that
are not installed are skipped. The table goes to `studies/results/sage_packages.csv`. With -P
Python imports the package `sage`, not the study of that name beside this file.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi

SEED = 58  # chose nothing
FEATURES = ["x", "twin", "weak", "null"]
LEARNERS = {
    "least squares": LinearRegression(),
    "boosting": LGBMRegressor(n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1),
}


def draw(rows: int) -> tuple[Any, Any]:
    """Return features and y."""
    x, twin, weak, null, noise = np.random.default_rng(SEED).normal(size=(5, rows))
    X = np.column_stack([x, 0.9 * x + np.sqrt(0.19) * twin, weak, null])
    return X, x + 0.5 * weak + 0.5 * x * weak + noise


def of_pyinterp(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return shares, standard errors of one model, and Monte Carlo errors."""
    found = pi.FittedModel(model, X, y, seed=SEED).sage()
    errors = {"std_error": found.bse.to_numpy(), "mcse": found.mcse.to_numpy()}
    return {"share": found.params.to_numpy(), **errors}


def of_shapiq(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return exact Shapley values of the loss, absent features as in all rows."""
    shapiq = import_module("shapiq")

    def value(coalitions: Any) -> Any:
        copies = np.where(coalitions[:, None, None], X[:, None], X)
        f = model.predict(copies.reshape(-1, 4)).reshape(len(coalitions), len(y), -1)
        return -np.square(y - f.mean(axis=2)).mean(axis=1)

    found = shapiq.ExactComputer(value, 4)("SV")
    return {"share": [found[(j,)] for j in range(len(FEATURES))]}


def of_sage(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what sage-importance has, of 1,024 orderings."""
    sage = import_module("sage")
    imputer = sage.MarginalImputer(model.predict, X)
    estimator = sage.PermutationEstimator(imputer, "mse", random_state=SEED)
    found = estimator(X, y, n_permutations=1024, detect_convergence=False, bar=False)
    return {"share": found.values, "mcse": found.std}  # noqa: PD011  # no data frame


if __name__ == "__main__":
    X, y = draw(700)
    tables = []
    for learner, estimator in LEARNERS.items():
        model = estimator.fit(X[:500], y[:500])
        for function in (of_pyinterp, of_shapiq, of_sage):
            try:
                found = pd.DataFrame({"feature": FEATURES, **function(model, X[500:], y[500:])})
            except ImportError as error:
                print(error)
                continue
            tables.append(found.assign(learner=learner, package=function.__name__[3:]))
    result = pd.concat(tables).set_index(["learner", "package", "feature"]).round(4)
    result.to_csv(Path(__file__).parent / "results" / "sage_packages.csv")
    print(result.to_string())
