"""Boosters without scikit-learn classes: what they predict, what is refused and what works."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from oracles import naive

import pyinterp as pi
from pyinterp.errors import OptionError, PredictionError

N = 40
RNG = np.random.default_rng(3)
X = pd.DataFrame({"a b": RNG.normal(size=N), "g": RNG.choice(list("uv"), N)})
X = X.assign(g=X["g"].astype("category"), c=RNG.normal(size=N))
Y = X["a b"] + (X["g"] == "v") + 0.1 * RNG.normal(size=N)
THREE = pd.Series(np.digitize(Y, [0.0, 1.0]))
TOLERANCE = 1e-10
XGB = {"nthread": 1, "max_depth": 2}
LGB = {"num_threads": 1, "verbose": -1, "min_data_in_leaf": 3}


def of_xgboost(rows, y, **options):
    return xgb.train({**XGB, **options}, xgb.DMatrix(rows, y, enable_categorical=True), 4)


def of_lightgbm(rows, y, **options):
    return lgb.train({**LGB, **options}, lgb.Dataset(rows, y), 4)


def by_xgboost(model):
    return lambda rows: model.predict(xgb.DMatrix(rows, enable_categorical=True)).astype(float)


PACKAGES = {
    "xgboost": (of_xgboost, by_xgboost, "multi:softprob", "binary:logistic"),
    "lightgbm": (of_lightgbm, lambda model: model.predict, "multiclass", "binary"),
}


def pfi(predict, rows, y, column, loss):
    predicted = naive.all_pairs(predict, rows, [column])
    losses = naive.LOSSES[loss](np.repeat(np.asarray(y)[:, None], N, axis=1), predicted)
    same = np.eye(N, dtype=bool)
    return float(losses[~same].mean() - losses[same].mean())


@pytest.mark.parametrize("package", PACKAGES)
def test_numbers_of_frames_in_any_order_and_of_arrays(package):
    train, by, _, _ = PACKAGES[package]
    booster = train(X, Y)
    for rows in (X, X[["c", "g", "a b"]], X.assign(other="x")):
        got = pi.FittedModel(booster, rows, Y).pfi(permutations="all").params
        for name in X:
            right = pfi(by(booster), X, Y, name, "squared")
            assert got[name] == pytest.approx(right, abs=TOLERANCE)
    array = X[["a b", "c"]].to_numpy()
    booster = train(array, Y)
    got = pi.FittedModel(booster, array, Y).pfi(permutations="all").params
    assert got["x1"] == pytest.approx(pfi(by(booster), array, Y, 0, "squared"), abs=TOLERANCE)


@pytest.mark.parametrize("package", PACKAGES)
def test_classes_are_those_of_the_objective(package):
    train, by, several, two = PACKAGES[package]
    booster = train(X, THREE, objective=several, num_class=3)
    got = (
        pi.FittedModel(booster, X, THREE)
        .pfi("a b", loss="brier", permutations="all")
        .params.iloc[0]
    )
    assert got == pytest.approx(pfi(by(booster), X, THREE, "a b", "brier"), abs=TOLERANCE)

    booster = train(X, Y > 1, objective=two)
    p = by(booster)(X)
    right = float(np.mean((p - (Y > 1)) ** 2))
    texts = pd.Series(np.where(Y > 1, "yes", "no"))
    for y, classes in ((Y > 1, None), ((Y > 1) * 1, None), (texts, ["no", "yes"])):
        fitted = pi.FittedModel(booster, X, y, classes=classes)
        assert fitted.loss("brier").params.iloc[0] == pytest.approx(right, abs=TOLERANCE)


@pytest.mark.parametrize("package", PACKAGES)
def test_boosters_are_no_learners(package):
    booster = PACKAGES[package][0](X, Y)
    with pytest.raises(OptionError, match=r"is fitted and has no `fit`; use .*Regressor"):
        pi.Learner(Y, X, booster)
    results = pi.FittedModel(booster, X, Y).pd("c")
    assert pickle.loads(pickle.dumps(results)).params.equals(results.params)  # noqa: S301 - ours


def test_labels_and_several_outputs_are_refused_with_what_works():
    labels = of_xgboost(X, THREE, objective="multi:softmax", num_class=3)
    with pytest.raises(OptionError, match='train it with "multi:softprob"'):
        pi.FittedModel(labels, X, THREE)
    quantiles = of_xgboost(X, Y, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9])
    sentence = r"`lambda X: model.predict\(xgboost.DMatrix\(X\)\)\[:, 0\]`"
    with pytest.raises(PredictionError, match=sentence):
        pi.FittedModel(quantiles, X, Y).loss()


@pytest.mark.parametrize(
    ("loss", "y", "what"),
    [
        ("Logloss", Y > 1, r"CatBoostClassifier.*Probability.*classes"),
        ("MultiClass", THREE, r"CatBoostClassifier.*Probability.*classes"),
        ("Poisson", np.round(np.exp(Y)), r"CatBoostRegressor.*Exponent"),
    ],
)
def test_scores_of_catboost_are_refused(loss, y, what, tmp_path):
    """Its general class predicts log-odds and logarithms, whatever the response."""
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 2, "verbose": 0, "allow_writing_files": False, "cat_features": ["g"]}
    for name in ("loss_function", "objective"):
        model = catboost.CatBoost({**options, name: loss})
        with pytest.raises(OptionError, match=what):
            pi.Learner(y, X, model)
    model.fit(X, y).save_model(tmp_path / "model.cbm")
    for fitted in (model, catboost.CatBoost().load_model(tmp_path / "model.cbm")):
        with pytest.raises(OptionError, match=what):
            pi.FittedModel(fitted, X, y)
    if loss == "Logloss":  # what the sentence says works
        function = lambda rows: model.predict(rows, prediction_type="Probability")  # noqa: E731
        fitted = pi.FittedModel(function, X, y, classes=[False, True])
        right = float(np.mean((function(X)[:, 1] - y) ** 2))
        assert fitted.loss("brier").params.iloc[0] == pytest.approx(right, abs=TOLERANCE)
