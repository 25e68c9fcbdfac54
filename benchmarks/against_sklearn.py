"""Sections against scikit-learn's permutation importance and partial dependence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from cases import BOOSTING, EVALUATE, FOREST, TRAIN, Case, case, draw, ensembles
from paired import Line, table
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import pyinterp as pi

REPEATS, POINTS, FEW = 30, 50, 300
SCORING = {"squared": "neg_mean_squared_error", "log": "neg_log_loss"}
SCORING["absolute"] = "neg_mean_absolute_error"


def trees() -> str:
    lines = [pfi(name, one) for name, one in ensembles().items()]
    for name, model in (("forest of 100", FOREST), ("histogram boosting", BOOSTING)):
        lines.append(pfi(f"{name}, 50 features", case(model, features=50)))
    lines += [pd_and_ice(name, one) for name, one in ensembles().items()]
    for rows, repeats in ((1_000, REPEATS), (10_000, 3), (30_000, 1)):
        name = f"forest of 100, its {rows:,} training rows"
        lines.append(pfi(name, case(FOREST, rows, 0), repeats=repeats))
    return f"""
{TRAIN:,} training rows, {EVALUATE:,} other rows that evaluate, 10 features, or as said. PFI of all
features over all pairs of rows, against `permutation_importance(n_repeats={REPEATS})` (of 10,000
and 30,000 rows 3 repeats and 1 ran; seconds are those of as many predictions as {REPEATS} take); PD
and ICE of all features at {POINTS} points each, against
`partial_dependence(method="brute", kind="both")`.

{table(lines, "scikit-learn")}
"""


def recursion() -> str:
    lines = [
        Line(
            f"{name}: PD, 10 x {POINTS}", lambda one=one: _our_pd(one, "pd"),
            lambda one=one: _their_pd(one, method="recursion"),
        )
        for name, one in (
            ("histogram boosting, 50 features", case(BOOSTING, features=50)),
            ("forest of 100, its 1,000 training rows", case(FOREST, 1_000, 0)),
            ("forest of 100, its 10,000 training rows", case(FOREST, 10_000, 0)),
        )
    ]  # fmt: skip
    return f"""
`partial_dependence(method="recursion")` averages over the training rows that reached a
node: another estimand, without rows and without errors.

{table(lines, "scikit-learn")}
"""


def models() -> str:
    logistic = LogisticRegression(max_iter=1_000)
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1)
    few = {
        "support vector machine": SVR(),
        "kernel ridge": KernelRidge(kernel="rbf"),
        "Gaussian process": GaussianProcessRegressor(alpha=1.0),
        "nearest neighbors": KNeighborsRegressor(),
        "neural network": MLPRegressor(max_iter=2_000, random_state=0),
    }
    cases = {f"{name}, {FEW} rows": case(model, FEW, 0) for name, model in few.items()}
    pipeline, linear = _column_pipeline(), case(LinearRegression())
    lines = [
        pfi("logistic regression, 10,000 rows", case(logistic, 10_000, 0, 10, 2), "log"),
        pfi("logistic regression, 5 classes", case(logistic, 1_000, 0, 10, 5), "log"),
        pfi("forest of 20, 10 classes", case(forest, 1_000, 0, 10, 10), "log"),
        *[pfi(name, one) for name, one in cases.items()],
        pfi("support vector machine, 1,000 rows", case(SVR(), 1_000, 0)),
        pfi("nearest neighbors, 1,000 rows", case(few["nearest neighbors"], 1_000, 0)),
        pfi("neural network, 1,000 rows", case(few["neural network"], 1_000, 0)),
        pfi("columns, then neural network", pipeline),
        pfi("linear model", linear),
        pfi("linear model, 10,000 rows", case(LinearRegression(), TRAIN, 10_000), "absolute"),
        *[pd_and_ice(name, one) for name, one in cases.items()],
        pd_and_ice("columns, then neural network", pipeline),
        pd_and_ice("linear model", linear),
    ]
    return f"""
Training rows evaluate, 1,000 if nothing is said; of the linear model {EVALUATE:,} other rows do, of
the pipeline {FEW}. Calls without options: all pairs of rows where an engine is exact, else
{REPEATS} permutations, against `permutation_importance(n_repeats={REPEATS})` with the same loss:
log loss of probabilities, else squared error or what is said. "Columns, then neural network" is a
pipeline of a `ColumnTransformer` (scaling of 5 columns, one-hot encoding of one of strings) and a
network.

{table(lines, "scikit-learn")}
"""


def pfi(name: str, one: Case, loss: str = "squared", repeats: int = REPEATS) -> Line:
    return Line(
        f"{name}: PFI" + (f", {loss} loss" if loss != "squared" else ""),
        lambda: pi.FittedModel(*one, seed=1).pfi(loss=loss).bse,
        lambda: permutation_importance(
            *one, n_repeats=repeats, random_state=0, scoring=SCORING[loss]
        ),
        times=(1 + REPEATS * one.X.shape[1]) / (1 + repeats * one.X.shape[1]),
    )


def pd_and_ice(name: str, one: Case) -> Line:
    return Line(
        f"{name}: PD and ICE, {one.X.shape[1]} x {POINTS}",
        lambda: _our_pd(one, "ice"),
        lambda: _their_pd(one, method="brute", kind="both"),
    )


def _our_pd(one: Case, kind: Any) -> None:
    model = pi.FittedModel(*one)
    columns = one.X.columns if isinstance(one.X, pd.DataFrame) else [f"x{j + 1}" for j in range(10)]
    for feature in columns:
        model.pd(feature, points=POINTS, kind=kind)


def _their_pd(one: Case, **options: Any) -> None:
    levels = ["group"] if isinstance(one.X, pd.DataFrame) else None
    for j in range(min(10, one.X.shape[1])):
        partial_dependence(
            one.model, one.X, [j], grid_resolution=POINTS, categorical_features=levels, **options
        )


def _column_pipeline() -> Case:
    """Return a pipeline that spends its time on every call of predict, not on every row."""
    X, y = draw(800)
    names = [f"x{j + 1}" for j in range(5)]
    groups = np.random.default_rng(2).choice(["north", "east", "south", "west"], size=len(X))
    frame = pd.DataFrame(X[:, :5], columns=names).assign(group=groups)
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), names), ("groups", OneHotEncoder(), ["group"])]
    )
    network = MLPRegressor(hidden_layer_sizes=(20,), max_iter=10_000, random_state=0)
    model = make_pipeline(columns, network).fit(frame[:500], y[:500])
    return Case(model, frame[500:].reset_index(drop=True), y[500:])
