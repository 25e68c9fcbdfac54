"""Missing values and categories: every engine against loops over rows and donors."""

import warnings

import lightgbm
import naive
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import pyinterp as pi

N = 60
EXACT = 1e-9


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def numbers(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"]).round(1)
    X["k"] = rng.integers(0, 4, N)
    return X.mask(rng.random(X.shape) < [0.25, 0.1, 0.0, 0.2])


def mixed(seed):
    rng = np.random.default_rng([seed, 1])
    levels = rng.choice(["north", "east", "south", "west", "centre"], N).astype(object)
    levels[rng.random(N) < 0.2] = None
    few = pd.Categorical(rng.choice([10, 20, 40], N), [40, 10, 20, 99])
    return numbers(seed).assign(g=pd.Categorical(levels), h=few, t=rng.random(N) < 0.5)


def signal(X):
    parts = X["a"].fillna(2), X["b"].fillna(0) * X["c"], X["k"].isna() * 1.0
    total = sum(np.asarray(part, float) for part in parts)
    if "g" in X:
        total = total + 2 * (X["g"] == "north") - X["g"].isna() + X["t"]
    return np.asarray(total, float)


def encoded(last):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["g", "h"]),
        (SimpleImputer(add_indicator=True), ["a", "b", "c", "k"]),
        remainder="passthrough",
    )
    return make_pipeline(encode, last)


def boosted(**options):
    return HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=3, max_depth=4, **options)


NUMBERS = {
    "histogram": (boosted, "trees, exact"),
    "histogram, poisson": (lambda: boosted(loss="poisson"), "trees, exact"),
    "histogram, codes": (lambda: boosted(categorical_features=["k"]), "trees, exact"),
    "tree": (lambda: DecisionTreeRegressor(max_depth=5, random_state=0), "trees, exact"),
    "forest": (lambda: RandomForestRegressor(8, random_state=0), "trees, exact"),
    "extra trees": (lambda: ExtraTreesRegressor(8, random_state=0), "trees, exact"),
    "xgboost": (lambda: xgboost.XGBRegressor(n_estimators=8, max_depth=4), "trees, exact"),
    "lightgbm": (
        lambda: lightgbm.LGBMRegressor(n_estimators=8, min_child_samples=3, verbose=-1, n_jobs=1),
        "trees, exact",
    ),
    "imputer, line": (
        lambda: make_pipeline(SimpleImputer(add_indicator=True), LinearRegression()),
        "linear, exact",
    ),
    "imputer, forest": (
        lambda: make_pipeline(SimpleImputer(), RandomForestRegressor(8, random_state=0)),
        "trees, exact",
    ),
    "scaler, histogram": (lambda: make_pipeline(StandardScaler(), boosted()), "trees, exact"),
    "search": (
        lambda: GridSearchCV(boosted(), {"learning_rate": [0.1, 0.3]}, cv=2),
        "trees, exact",
    ),
    "votes": (lambda: VotingRegressor([("a", boosted()), ("b", boosted())]), "batched"),
}
MIXED = {
    "histogram": (lambda: boosted(categorical_features="from_dtype"), "trees, exact"),
    "histogram, named": (lambda: boosted(categorical_features=["g", "h", "k"]), "trees, exact"),
    "xgboost": (
        lambda: xgboost.XGBRegressor(n_estimators=8, max_depth=4, enable_categorical=True),
        "trees, exact",
    ),
    "lightgbm": (
        lambda: lightgbm.LGBMRegressor(
            n_estimators=8, min_child_samples=3, cat_smooth=1, min_data_per_group=3, verbose=-1
        ),
        "trees, exact",
    ),
    "pipeline, line": (lambda: encoded(LinearRegression()), "linear, exact"),
    "pipeline, histogram": (lambda: encoded(boosted()), "trees, exact"),
}
CASES = [("numbers", name) for name in NUMBERS] + [("mixed", name) for name in MIXED]


def fitted(kind, name, seed=0):
    rows = numbers if kind == "numbers" else mixed
    make, engine = (NUMBERS if kind == "numbers" else MIXED)[name]
    train, X = rows(seed), rows(seed + 100)
    rng = np.random.default_rng(seed)
    y, y_train = (np.exp(signal(r) / 3) + rng.random(N) / 5 for r in (X, train))
    return make().fit(train, y_train), X, y, engine


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_importances_and_curves_are_those_of_loops(kind, name):
    model, X, y, engine = fitted(kind, name)
    case = pi.FittedModel(model, X, y, missing="keep" if "pipeline" in name else "auto")
    got = case.pfi(loss="squared", cov_type="ustat", permutations="all")
    assert (got.context.nobs, got.context.engine.name) == (N, engine)
    original = (y - model.predict(X)) ** 2
    tolerance = EXACT if "xgboost" not in name else 3e-6
    for feature in X:
        switched = (y[:, None] - naive.all_pairs(model.predict, X, [feature])) ** 2
        value, variance = naive.pfi(switched, original, "difference", "ustat", None)
        scale = float(original.mean())
        assert got.params[feature] == pytest.approx(value, abs=tolerance * scale)
        assert got.bse[feature] == pytest.approx(np.sqrt(variance), abs=tolerance * scale)
        values = sorted(X[feature].dropna().unique())[:3]
        curve = case.pd(feature, grid=values).params.to_numpy()
        curves = naive.ice(model.predict, X, [feature], [[v] for v in values])
        np.testing.assert_allclose(np.sort(curve), np.sort(curves.mean(axis=0)), atol=tolerance)


@pytest.mark.parametrize(("kind", "name"), [("numbers", "histogram"), ("mixed", "histogram")])
def test_h_statistics_are_those_of_loops(kind, name):
    model, X, _, _ = fitted(kind, name)
    features = {column: [column] for column in ("a", "k", X.columns[-2])}
    got = pi.FittedModel(model, X).h_statistic(list(features), order="pairwise").params
    by_loops = naive.h_squared(model.predict, X, features, "pairwise").values()
    expected = [float(above / below) for above, below in by_loops]
    np.testing.assert_allclose(np.sort(got), np.sort(expected), atol=1e-9)


CLASSIFIERS = {
    "histogram": lambda: HistGradientBoostingClassifier(
        max_iter=6, min_samples_leaf=3, categorical_features="from_dtype"
    ),
    "forest of numbers": lambda: RandomForestClassifier(8, random_state=0),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=6, min_child_samples=3, verbose=-1),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=6, enable_categorical=True),
    "pipeline": lambda: encoded(LogisticRegression()),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_those_of_loops(name, classes):
    rows = numbers if "numbers" in name else mixed
    train, X = rows(0), rows(100)
    labels = ["zebra", "ant", "mole"][:classes]  # not in alphabetical order
    y_train, y = (pd.Categorical(pd.qcut(signal(r), classes, labels=labels)) for r in (train, X))
    model = CLASSIFIERS[name]()
    order = sorted(labels)
    codes = np.array([order.index(v) for v in y])
    model.fit(train, [order.index(v) for v in y_train] if name == "xgboost" else np.array(y_train))
    response = codes if name == "xgboost" else np.array(y)
    case = pi.FittedModel(model, X, response, missing="keep")
    got = case.pfi(loss="log", permutations="all")
    assert got.context.engine.name == ("linear, exact" if name == "pipeline" else "trees, exact")
    original = naive.LOSSES["log"](codes, model.predict_proba(X))
    for feature in X:
        switched = naive.all_pairs(model.predict_proba, X, [feature])
        losses = naive.LOSSES["log"](np.broadcast_to(codes[:, None], (N, N)), switched)
        value, _ = naive.pfi(losses, original, "difference", "ustat", None)
        tolerance = 1e-5 if name == "xgboost" else EXACT
        assert got.params[feature] == pytest.approx(value, abs=tolerance)


def test_learners_keep_what_they_can_take():
    data = mixed(0).assign(y=signal)
    data.loc[[3, 4], "y"] = np.nan
    learner = pi.Learner.from_formula(
        "y ~ .", data, boosted(categorical_features="from_dtype"), design="frame"
    )
    assert learner.sample.nobs == N - 2
    results = learner.fit(pi.Subsampling(3), seed=0, progress=False)
    with warnings.catch_warnings(action="error"):
        pfi = results.pfi(permutations="all")
    expected = []
    for refit in results.refits:
        X, y = refit.evaluation.variables, refit.evaluation.y
        model = refit.predictor.estimator
        switched = (y[:, None] - naive.all_pairs(model.predict, X, ["g"])) ** 2
        original = (y - model.predict(X)) ** 2
        expected.append(naive.pfi(switched, original, "difference", "ustat", None)[0])
    assert pfi.params["g"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert pfi.context.engine.name == "trees, exact"
