"""Section on scalers before linear models: against the bare model, its fits, and scikit-learn."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from against_sklearn import pfi
from cases import case
from paired import Line, table
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi


def pipelines() -> str:
    bare = [
        Line(
            f"{rows} x {p}, {form}: scaler + Ridge", lambda res: res[0].pfi(),
            lambda res: res[1].pfi(), _studies(rows, p, form == "formula"),
        )
        for form in ("frame", "formula")
        for rows, p in ((400, 20), (400, 100), (400, 200), (80, 500))
    ]  # fmt: skip
    net = make_pipeline(StandardScaler(), ElasticNet(alpha=0.01, max_iter=10_000))
    data = _data(80, 500)
    frame, y = data.drop(columns="y"), data["y"].to_numpy()
    learner = pi.Learner(y, frame, net)
    kept = pickle.dumps(learner.fit(seed=1, progress=False))

    def fits(res: Any) -> None:
        for refit in (*res.refits, *res.halves):
            clone(net).fit(frame.iloc[refit.train_rows], y[refit.train_rows])

    line = Line(
        "80 x 500: scaler + elastic net", lambda res: res.pfi(), fits,
        lambda: (pickle.loads(kept),),  # noqa: S301 - written above
    )  # fmt: skip
    scaled = make_pipeline(StandardScaler(), LinearRegression())
    lines = [
        pfi("scaler + OLS, 1,000 x 10", case(scaled, 1_000, 1_000)),
        pfi("scaler + OLS, 1,000 x 100", case(scaled, 1_000, 1_000, 100)),
    ]
    return f"""
PFI of the 45 refits of the default plan, a scaler before the model, against PFI of the model
without it, then against the bare fits; and of one model against `permutation_importance` with 30
repeats.

{table(bare, "bare Ridge", ours_over_theirs=True)}

{table([line], "45 bare fits", ours_over_theirs=True)}

{table(lines, "scikit-learn")}
"""


def _data(rows: int, features: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, features))).add_prefix("x")
    return X.assign(y=2 * X["x0"] + X["x1"] - X["x2"] + rng.normal(size=rows))


def _studies(rows: int, features: int, formula: bool) -> Callable[[], tuple[Any]]:
    """Return what makes fresh results of a scaled and a bare Ridge."""
    data, kept = _data(rows, features), []
    for model in (make_pipeline(StandardScaler(), Ridge()), Ridge()):
        if formula:
            learner = pi.Learner.from_formula("y ~ .", data, model)
        else:
            learner = pi.Learner(data["y"], data.drop(columns="y"), model)
        kept.append(pickle.dumps(learner.fit(seed=1, progress=False)))
    return lambda: ([pickle.loads(each) for each in kept],)  # noqa: S301 - written above
