"""CatBoost's trees against its own predictions, in batches."""

import numpy as np
import pytest
from shared import normal_rows

import pyinterp as pi

catboost = pytest.importorskip("catboost")
FEW = {"iterations": 20, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
N = 120


def draw(missing=False):
    rng, X = normal_rows(N, "a b c d")
    X["b"], X["constant"] = X["b"].round(), 1.0
    if missing:
        X = X.mask(rng.random(X.shape) < 0.2)
    y = X["a"].fillna(2) * X["c"].fillna(-1) + X["d"].isna() + rng.normal(size=N)
    return X[["constant", *"abcd"]], y.to_numpy()


MODELS = {
    "regression": ("Regressor", {}),
    "deep, of few values": ("Regressor", {"depth": 9, "border_count": 4}),
    "stumps": ("Regressor", {"depth": 1}),
    "missing to the left": ("Regressor", {"nan_mode": "Min"}),
    "missing to the right": ("Regressor", {"nan_mode": "Max"}),
    "absolute error": ("Regressor", {"loss_function": "MAE"}),
    "counts": ("Regressor", {"loss_function": "Poisson"}),
    "two classes": ("Classifier", {}),
    "cross entropy": ("Classifier", {"loss_function": "CrossEntropy"}),
    "three classes": ("Classifier", {}),
}


def fitted(name):
    kind, options = MODELS[name]
    X, y = draw("missing" in name)
    if kind == "Classifier":
        y = np.digitize(y, [-1.0, 1.0] if name == "three classes" else [0.0])
    elif name == "counts":
        y = np.floor(np.abs(y))
    return getattr(catboost, f"CatBoost{kind}")(**FEW, **options).fit(X, y), X, y


@pytest.mark.parametrize("name", MODELS)
def test_the_trees_predict_as_the_model(name):
    model, X, y = fitted(name)
    exact = pi.FittedModel(model, X, y)
    copies = pi.FittedModel(model, X, y, engine="batched")
    ours, theirs = exact.pfi(), copies.pfi(permutations="all")
    assert ours.engine.name == "trees, exact"
    assert theirs.engine.name == "batched"
    assert np.abs(ours.bse - theirs.bse).max() <= 1e-9 * theirs.bse.max()
    curves = [[of.pd(name, points=7) for name in "ab"] for of in (exact, copies)]
    for one, other in ((ours, theirs), *zip(*curves, strict=True)):
        apart = np.abs(one.params - other.params).max()
        assert apart <= 1e-9 * np.ptp(other.params.to_numpy())


@pytest.mark.parametrize("options", [{"grow_policy": "Lossguide"}, {"cat_features": ["b"]}])
def test_other_models_are_predicted_in_batches(options):
    X, y = draw()
    X["b"] = X["b"].astype(int)
    model = catboost.CatBoostRegressor(**FEW, **options).fit(X, y)
    assert pi.FittedModel(model, X, y).pfi("a").engine.name == "batched"


def test_refits_and_early_stopping():
    X, y = draw()
    for estimator in (
        catboost.CatBoostRegressor(**FEW),
        pi.EarlyStopping(catboost.CatBoostRegressor(**FEW)),
    ):
        res = pi.Learner(y, X, estimator).fit(pi.Subsampling(2), seed=1)
        assert res.pfi().engine.name == "trees, exact"
