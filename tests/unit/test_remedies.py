"""Errors of other libraries come with what to do, and what they say works."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline

import pyinterp as pi
from pyinterp.errors import DataError, PredictionError, PyinterpError, RefitError

N = 40
RNG = np.random.default_rng(7)
X = pd.DataFrame({"a": RNG.normal(size=N), "g": RNG.choice(list("uv"), N)})
Y = pd.Series(X["a"] + (X["g"] == "v") + 0.1 * RNG.normal(size=N))
CATEGORIES = X.astype({"g": "category"})
NUMBERS = X.assign(g=(X["g"] == "v") * 1.0)
HOLES = X.assign(g=X["g"].where(X.index > 2, None))
NAMED = make_pipeline(make_column_transformer(("passthrough", ["a"])), LinearRegression())
CAT = {"iterations": 2, "verbose": 0, "allow_writing_files": False}


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def catboost(**options):
    return pytest.importorskip("catboost").CatBoostRegressor(**CAT, **options)


def ask(make, rows, missing="auto"):
    learner = pi.Learner(Y, rows, make(), missing=missing)
    return learner.fit(pi.Holdout(0.5), seed=1).pfi().params


# What fails, the remedy, and the same after it.
CASES = {
    "XGBoost, texts": (
        lambda: ask(lambda: xgb.XGBRegressor(n_estimators=2, n_jobs=1), X),
        r"type category, `X.astype\({'g': 'category'}\)`, and pass `enable_categorical=True`",
        lambda: ask(
            lambda: xgb.XGBRegressor(n_estimators=2, n_jobs=1, enable_categorical=True), CATEGORIES
        ),
    ),
    "LightGBM, texts": (
        lambda: ask(lambda: lgb.LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1), X),
        "give texts the type category",
        lambda: ask(lambda: lgb.LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1), CATEGORIES),
    ),
    "XGBoost, early stopping": (
        lambda: ask(
            lambda: xgb.XGBRegressor(n_estimators=2, n_jobs=1, early_stopping_rounds=1), NUMBERS
        ),
        "`pi.EarlyStopping",
        lambda: ask(lambda: xgb.XGBRegressor(n_estimators=2, n_jobs=1), NUMBERS),
    ),
    "scikit-learn, names of columns": (
        lambda: ask(lambda: NAMED, NUMBERS.to_numpy()),
        'a formula passes them with `design="frame"`',
        lambda: ask(lambda: NAMED, NUMBERS),
    ),
    "CatBoost, texts": (
        lambda: ask(catboost, X),
        "name columns of texts in `cat_features`",
        lambda: ask(lambda: catboost(cat_features=["g"]), X),
    ),
    "CatBoost, an array": (
        lambda: ask(lambda: catboost(cat_features=[1]), NUMBERS.to_numpy()),
        "pass a data frame in which they are texts or whole numbers",
        lambda: ask(lambda: catboost(cat_features=[1]), X),
    ),
    "CatBoost, missing categories": (
        lambda: ask(lambda: catboost(cat_features=["g"]), HOLES, "keep"),
        r"`X\['g'\].fillna\('missing'\).astype\(str\)`",
        lambda: ask(
            lambda: catboost(cat_features=["g"]),
            X.assign(g=HOLES["g"].fillna("missing").astype(str)),
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_leads_to_what_works(name):
    fails, remedy, works = CASES[name]
    with pytest.raises(PyinterpError, match=remedy):
        fails()
    assert np.isfinite(works()).all()


TWO = np.repeat([0, 1], 20)
RANKERS = {
    "xgboost": ("XGBRanker", {"n_estimators": 2, "n_jobs": 1, "verbosity": 0}, {"qid": TWO}),
    "lightgbm": (
        "LGBMRanker",
        {"n_estimators": 2, "n_jobs": 1, "verbose": -1},
        {"group": [20, 20]},
    ),
    "catboost": ("CatBoostRanker", CAT, {"group_id": TWO}),
}


@pytest.mark.parametrize("package", RANKERS)
def test_rankers_are_no_learners_but_fitted_models(package):
    name, options, groups = RANKERS[package]
    ranker = getattr(pytest.importorskip(package), name)(**options)
    grade = np.digitize(Y, [0.0, 1.0])
    with pytest.raises(RefitError, match="no groups of rows to rank within: fit the model yours"):
        pi.Learner(grade, NUMBERS, ranker).fit(pi.Holdout(0.5), seed=1)
    ranker.fit(NUMBERS, grade, **groups)
    assert np.isfinite(pi.FittedModel(ranker, NUMBERS).pd("a").params).all()


@pytest.mark.parametrize("package", ["sklearn", "catboost", "ngboost"])
def test_unfitted_models_are_told_apart(package):
    model = Ridge()
    if package == "catboost":
        model = catboost()
    if package == "ngboost":
        model = pytest.importorskip("ngboost").NGBRegressor(n_estimators=2, verbose=False)
    with pytest.raises(PredictionError, match="must be fitted: call `fit` first, or give it to"):
        pi.FittedModel(model, NUMBERS, Y).loss()
    model.fit(NUMBERS, Y)
    with pytest.raises(PyinterpError) as caught:
        pi.FittedModel(lambda rows: model.predict(rows[["no"]]), NUMBERS, Y).loss()
    assert "must be fitted" not in str(caught.value)


def test_other_containers_and_models_without_predict():
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(NUMBERS, Y), 2)
    with pytest.raises(DataError, match="not DMatrix; pass the frame or array that it was made of"):
        pi.FittedModel(booster, xgb.DMatrix(NUMBERS), Y)
    with pytest.raises(PredictionError, match="Pass a function of rows that returns what it predi"):
        pi.FittedModel(PCA(1).fit(NUMBERS), NUMBERS, Y)
