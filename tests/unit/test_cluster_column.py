"""The column that names clusters is no feature of `y ~ .`; one that the formula names is."""

import pickle

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import DataError, FormulaError

PLANS = {
    "halves": pi.HalfSampling(3, pairs=5, cluster="id"),
    "bootstrap": pi.Bootstrap(3, cluster="id"),
    "holdout": pi.Holdout(cluster="id"),
    "splitter": pi.Splits(GroupKFold(3), cluster="id"),
    "nested bootstrap": pi.NestedBootstrap(3, splits=2, cluster="id"),
}


@pytest.fixture(scope="module")
def visits():
    """Visits of 40 patients, of whom each has a level: `id` would predict `y` out of sample."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"id": np.repeat(np.arange(40), 3), "x": rng.normal(size=120)})
    data["z"] = rng.normal(size=120)
    data["w"] = rng.uniform(1, 2, 120)
    data["y"] = data["x"] + data["id"] + rng.normal(size=120)
    return data


def fit(formula, data, plan, **options):
    return fit_of(formula, data, LinearRegression(), plan, **options)


@pytest.mark.parametrize("plan", PLANS)
def test_a_dot_does_not_stand_for_clusters(visits, plan):
    by_dot = fit("y ~ . - w", visits, PLANS[plan])
    by_name = fit("y ~ x + z", visits, PLANS[plan])
    assert list(by_dot.pfi().params.index) == ["x", "z"]
    pd.testing.assert_frame_equal(by_dot.pfi().summary_frame(), by_name.pfi().summary_frame())
    assert list(by_dot.pd(points=2)) == ["x", "z"]
    assert by_dot.model.exog_names == ["x", "z"]
    new = visits[["x", "z"]][:5]  # new rows need no clusters
    np.testing.assert_array_equal(by_dot.predict(new), by_name.predict(new))


def test_the_learner_is_the_same_for_another_plan(visits):
    learner = pi.Learner.from_formula("y ~ . - w", visits, LinearRegression())
    res = learner.fit(PLANS["bootstrap"], seed=1)
    assert list(learner.features) == ["id", "x", "z"]
    assert list(learner.fit(pi.Bootstrap(3), seed=1).pfi().params.index) == ["id", "x", "z"]
    by_array = learner.fit(pi.Bootstrap(3, cluster=visits["id"]), seed=1)
    assert list(by_array.pfi().params.index) == ["id", "x", "z"]  # an array names no column
    copy = pickle.loads(pickle.dumps(res))  # noqa: S301 - our own bytes
    assert list(copy.model.features) == ["x", "z"]
    assert list(copy.model.fit(PLANS["bootstrap"], seed=1).pfi().params.index) == ["x", "z"]


@pytest.mark.parametrize("formula", ["y ~ . + C(id)", "y ~ x + id", "y ~ (x + id)^2", "y ~ .:id"])
def test_a_column_that_the_formula_names_stays(visits, formula):
    tree = pi.Learner.from_formula(
        formula, visits, DecisionTreeRegressor(max_depth=2), unseen_levels="allow"
    )
    res = tree.fit(pi.Bootstrap(3, cluster="id"), seed=1)
    assert "id" in res.pfi().params.index
    assert res.model is tree


def test_products_of_all_columns_have_none_of_clusters(visits):
    res = fit("y ~ .^2", visits, PLANS["bootstrap"], weights="w", weights_type="sampling")
    assert set(res.model.exog_names) == {"x", "z", "z:x"}
    named = fit("y ~ (x + z)^2", visits, PLANS["bootstrap"], weights="w", weights_type="sampling")
    pd.testing.assert_series_equal(res.pfi().params, named.pfi().params)


@pytest.mark.parametrize("options", [{"design": "frame"}, {"subset": "x < 2"}])
def test_ways_of_reading(visits, options):
    by_dot, by_name = (
        fit(formula, visits, PLANS["bootstrap"], **options)
        for formula in ("y ~ .", "y ~ x + z + w")
    )
    pd.testing.assert_series_equal(by_dot.pfi().params, by_name.pfi().params)


def test_categories_and_missing_clusters(visits):
    data = visits.drop(columns="w").assign(id=[f"p{k}" for k in visits["id"]])
    data.loc[data["id"] == "p3", "id"] = None
    res = fit("y ~ .", data, PLANS["bootstrap"])
    assert res.nobs == 117
    pd.testing.assert_series_equal(
        res.pfi().params, fit("y ~ x + z", data.dropna(), PLANS["bootstrap"]).pfi().params
    )
    boosting = HistGradientBoostingRegressor(max_iter=2)
    keeps = pi.Learner.from_formula("y ~ .", data, boosting, design="frame")
    with pytest.raises(DataError, match="`cluster` must have no missing values; 3 rows have"):
        keeps.fit(PLANS["bootstrap"])


def test_arrays(visits):
    X = visits[["id", "x", "z"]]
    learner = pi.Learner(visits["y"], X, LinearRegression())
    res = learner.fit(PLANS["bootstrap"], seed=1)
    assert list(res.pfi().params.index) == ["x", "z"]
    named = pi.Learner(visits["y"], X[["x", "z"]], LinearRegression())
    plain = named.fit(pi.Bootstrap(3, cluster=visits["id"]), seed=1)
    pd.testing.assert_series_equal(res.pfi().params, plain.pfi().params)
    fitted = LinearRegression().fit(X[["x", "z"]], visits["y"])
    model = pi.FittedModel(fitted, X, visits["y"], cluster="id")
    assert list(model.pfi().params.index) == ["x", "z"]  # the same rule


def test_strata_stay_features(visits):
    data = visits.assign(g=np.tile(["a", "b", "c"], 40))
    res = fit("y ~ . - id - w", data, pi.Bootstrap(3, strata="g"))
    assert list(res.pfi().params.index) == ["x", "z", "g"]


def test_nothing_left(visits):
    data = visits[["id", "y"]]
    with pytest.raises(FormulaError, match="at least one variable on its right side"):
        fit("y ~ .", data, PLANS["bootstrap"])
    learner = pi.Learner(data["y"], data[["id"]], LinearRegression())
    with pytest.raises(DataError, match="must be a variable beside the column of clusters, 'id'"):
        learner.fit(PLANS["bootstrap"])
