"""Partial dependence: equality with scikit-learn's brute force, grids, kinds and scales."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.grids import grid_values

EXACT = 1e-12  # the bar


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    frame["g"] = pd.Categorical(rng.choice(["lo", "mid", "hi"], 80), ["lo", "mid", "hi"])
    frame["y"] = frame["a"] ** 2 + frame["b"] * (frame["g"] == "hi") + rng.normal(size=80) / 10
    return frame


def sklearn_pd(model, X: pd.DataFrame, features, grid: dict, **options) -> dict:
    return partial_dependence(
        model, X, features, custom_values=grid, method="brute", kind="both", **options
    )


@pytest.mark.parametrize("feature", ["a", "b"])
def test_forest_equals_scikit_learn(data: pd.DataFrame, feature: str) -> None:
    X = data[["a", "b"]]
    model = RandomForestRegressor(20, random_state=1).fit(X, data["y"])
    result = pi.FittedModel(model, X).pd(feature, kind="ice")
    grid = result.estimand.terms.layout["value"].to_numpy()
    theirs = sklearn_pd(model, X, [feature], {feature: grid})
    np.testing.assert_allclose(result.params, theirs["average"][0], atol=EXACT)
    np.testing.assert_allclose(result.row_frame(), theirs["individual"][0], atol=EXACT)


@pytest.mark.parametrize("feature", ["a", "g"])
def test_pipeline_with_one_hot_encoding_equals_scikit_learn(
    data: pd.DataFrame, feature: str
) -> None:
    encode = ColumnTransformer([("g", OneHotEncoder(), ["g"])], remainder="passthrough")
    learner = make_pipeline(encode, RandomForestRegressor(10, random_state=1))
    learned = pi.Learner.from_formula("y ~ .", data, learner, design="frame").fit_model(seed=1)
    model = learned._analysis.refits[0].predictor.estimator
    result = learned.pd(feature)
    grid = result.estimand.terms.layout["value"].to_numpy()
    theirs = sklearn_pd(model, data[["a", "b", "g"]], [feature], {feature: grid})
    np.testing.assert_allclose(result.params, theirs["average"][0], atol=EXACT)


@pytest.mark.parametrize("classes", [2, 3])
def test_classifier_equals_scikit_learn(data: pd.DataFrame, classes: int) -> None:
    X = data[["a", "b"]]
    labels = np.array(list("uvw"))[np.digitize(data["y"], [0.5, 1.5][: classes - 1])]
    model = RandomForestClassifier(20, random_state=1).fit(X, labels)
    result = pi.FittedModel(model, X, labels).pd("a")
    grid = result.estimand.terms.layout["value"].unique()
    theirs = sklearn_pd(model, X, ["a"], {"a": grid}, response_method="predict_proba")["average"]
    np.testing.assert_allclose(result.params, theirs.ravel(), atol=EXACT)
    if classes == 3:
        assert result.estimand.terms.layout["class"].unique().tolist() == ["u", "v", "w"]
        assert result.params.index[0].startswith("u: a[")


def test_two_variables_equal_scikit_learn(data: pd.DataFrame) -> None:
    X = data[["a", "b"]]
    model = RandomForestRegressor(20, random_state=1).fit(X, data["y"])
    grid = {"a": np.array([-1.0, 0.0, 1.0]), "b": np.array([-0.5, 0.5])}
    result = pi.FittedModel(model, X).pd(("a", "b"), grid=grid)
    theirs = sklearn_pd(model, X, ["a", "b"], grid)["average"][0]
    np.testing.assert_allclose(result.params, theirs.T.ravel(), atol=EXACT)
    assert result.params.index[1] == "a[0], b[-0.5]"


def test_centered_curves_and_slopes_are_linear_maps_of_the_curve(data: pd.DataFrame) -> None:
    fitted = pi.FittedModel(
        RandomForestRegressor(20, random_state=1).fit(data[["a", "b"]], data["y"]), data[["a", "b"]]
    )
    plain, centered = fitted.pd("a"), fitted.pd("a", kind="c-ice")
    np.testing.assert_allclose(centered.params, plain.params - plain.params.iloc[0], atol=1e-12)
    ice = plain.row_frame().to_numpy()
    contrast = ice - ice[:, :1]
    np.testing.assert_allclose(
        centered.bse, contrast.std(axis=0, ddof=1) / np.sqrt(len(ice)), atol=1e-12
    )
    assert np.isnan(centered.tvalues.iloc[0])
    grid = plain.estimand.terms.layout["value"].to_numpy()
    slope = fitted.pd("a", kind="d-ice")
    np.testing.assert_allclose(slope.row_frame(), np.gradient(ice, grid, axis=1), atol=1e-9)


def test_slope_of_a_linear_model_is_its_coefficient(data: pd.DataFrame) -> None:
    model = LinearRegression().fit(data[["a", "b"]], data["y"])
    slope = pi.FittedModel(model, data[["a", "b"]]).pd("b", kind="d-ice")
    np.testing.assert_allclose(slope.params, model.coef_[1], atol=1e-12)
    assert slope.bse.eq(0).all()  # every row has the same slope: no interval
    assert slope.conf_int().isna().all(axis=None)


def test_logit_of_two_and_of_more_classes(data: pd.DataFrame) -> None:
    X = data[["a", "b"]]
    for cuts in ([0.5], [0.5, 1.5]):
        labels = np.array(list("uvw"))[np.digitize(data["y"], cuts)]
        model = RandomForestClassifier(50, min_samples_leaf=10, random_state=1).fit(X, labels)
        result = pi.FittedModel(model, X, labels).pd("a", grid=[0.3], scale="logit")
        p = model.predict_proba(X.assign(a=0.3))
        logs = np.log(np.maximum(p, np.finfo(float).eps))
        by_hand = (
            [np.mean(logs[:, 1] - logs[:, 0])]
            if len(cuts) == 1
            else (logs - logs.mean(axis=1, keepdims=True)).mean(axis=0)
        )
        np.testing.assert_allclose(result.params, by_hand, atol=1e-12)


class TestGrid:
    x = pd.Series(np.r_[np.arange(100.0), 50.0], name="x")

    def test_quantiles_are_type_7_with_the_observed_ends(self) -> None:
        grid = grid_values(self.x, "quantile", 5)
        np.testing.assert_allclose(grid, np.quantile(self.x, [0, 0.25, 0.5, 0.75, 1]))

    def test_few_distinct_values_are_taken_as_they_are(self) -> None:
        assert grid_values(pd.Series([3, 1, 2, 2]), "quantile", 5) == (1.0, 2.0, 3.0)

    def test_equidistant(self) -> None:
        assert grid_values(self.x, "equidistant", 4) == (0.0, 33.0, 66.0, 99.0)

    def test_unique(self) -> None:
        assert len(grid_values(self.x, "unique", 4)) == 100

    def test_levels_keep_their_order_and_unused_ones_are_left_out(self) -> None:
        column = pd.Series(pd.Categorical(["b", "a"], ["c", "b", "a"]))
        assert grid_values(column) == ("b", "a")
        assert grid_values(pd.Series([True, False, True])) == (False, True)
        assert grid_values(pd.Series(["v", "u"])) == ("u", "v")

    def test_given_values_are_sorted_and_levels_checked(self) -> None:
        assert grid_values(self.x, [3, 1, 1]) == (1.0, 3.0)
        with pytest.raises(OptionError, match="'z' is not a level of `g`"):
            grid_values(pd.Series(["v", "u"], name="g"), ["u", "z"])
        with pytest.raises(OptionError, match="must be finite numbers"):
            grid_values(self.x, [0.0, np.nan])

    def test_grid_is_fixed_from_all_rows(self, data: pd.DataFrame) -> None:
        learner = pi.Learner.from_formula("y ~ a + b", data, LinearRegression())
        result = learner.fit(pi.Bootstrap(3), seed=1).pd("a", points=5)
        grid = result.estimand.terms.layout["value"]
        np.testing.assert_allclose(grid, np.quantile(data["a"], np.linspace(0, 1, 5)))


def test_model_level_variance_is_that_of_the_mean_over_rows(data: pd.DataFrame) -> None:
    model = RandomForestRegressor(20, random_state=1).fit(data[["a", "b"]], data["y"])
    fitted = pi.FittedModel(model, data[["a", "b"]])
    result = fitted.pd("a")
    ice = result.row_frame()
    np.testing.assert_allclose(result.bse, ice.std(ddof=1) / np.sqrt(80), rtol=1e-12)
    assert result.df_resid == 79
    np.testing.assert_allclose(fitted.pd("a", cov_type="rows").bse, result.bse, rtol=1e-14)
