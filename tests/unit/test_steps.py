"""Pipelines whose steps are folded, and trees that split on a feature alone, equal predictions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import pyinterp as pi

NAMES = ["a", "b", "c", "d"]
LEARNERS = {
    "scaled": [StandardScaler(), Ridge()],
    "scaled twice": [MinMaxScaler(), StandardScaler(with_mean=False), ElasticNet(0.01)],
    "columns": [make_column_transformer((StandardScaler(), ["b", "a"]), ("drop", ["c"]),
                                        remainder=SimpleImputer()), Ridge()],
    "levels": [make_column_transformer((OneHotEncoder(drop="first"), ["d"]),
                                       remainder="passthrough"), Ridge()],
    "products": [StandardScaler(), PolynomialFeatures(2), Ridge()],
    "splines": [SplineTransformer(4), Ridge()],
    "bins": [KBinsDiscretizer(3, strategy="uniform"), Ridge()],
    "ranks": [QuantileTransformer(n_quantiles=20), Ridge()],
    "a function": [FunctionTransformer(np.square), StandardScaler(), Ridge()],
    "a machine": [StandardScaler(), SVR()],
    "probabilities": [StandardScaler(), LogisticRegression()],
    "trees of classes": [RandomForestClassifier(20, n_jobs=2, random_state=0)],
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNERS)
def test_they_equal_predictions_of_copies(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=NAMES)
    X["d"] = rng.integers(3, size=60)
    y = X["a"] * X["b"] + X["d"] + rng.normal(size=60)
    learner = make_pipeline(*LEARNERS[name])
    if hasattr(learner, "predict_proba"):
        y = pd.cut(y, 3, labels=["low", "mid", "high"])
    learner = pi.Learner(y, X, learner)
    plan = pi.Subsampling(2)
    exact, copies = (learner.fit(plan, seed=1, engine=engine) for engine in ("auto", "batched"))
    for one, other in (
        (exact.pfi(), copies.pfi(permutations="all")), (exact.pd("a"), copies.pd("a"))
    ):  # fmt: skip
        assert_allclose(one.params, other.params, rtol=1e-9, atol=1e-12)
        assert_allclose(one.bse, other.bse, rtol=1e-8, atol=1e-12)
