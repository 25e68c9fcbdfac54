"""Partial dependence: equality with scikit-learn's brute force, grids, kinds and scales."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError

EXACT = 1e-12  # the bar


@pytest.fixture(scope="module")
def data():
    rng, frame = normal_rows(80, "a b")
    frame["g"] = pd.Categorical(rng.choice(["lo", "mid", "hi"], 80), ["lo", "mid", "hi"])
    frame["y"] = frame["a"] ** 2 + frame["b"] * (frame["g"] == "hi") + rng.normal(size=80) / 10
    return frame


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestRegressor(20, random_state=1).fit(data[["a", "b"]], data["y"])


@pytest.fixture(scope="module")
def fitted(data, forest):
    return pi.FittedModel(forest, data[["a", "b"]])


@pytest.fixture(scope="module")
def line(data):
    return LinearRegression().fit(data[["a", "b"]], data["y"])


def sklearn_pd(model, X, features, grid, **options):
    return partial_dependence(
        model, X, features, custom_values=grid, method="brute", kind="both", **options
    )


@pytest.mark.parametrize("feature", ["a", "b"])
def test_forest_equals_scikit_learn(data, forest, fitted, feature):
    result = fitted.pd(feature, kind="ice")
    grid = result.estimand.terms.layout["value"].to_numpy()
    theirs = sklearn_pd(forest, data[["a", "b"]], [feature], {feature: grid})
    assert_allclose(result.params, theirs["average"][0], atol=EXACT)
    assert_allclose(result.row_frame(), theirs["individual"][0], atol=EXACT)


@pytest.mark.parametrize("classes", [2, 3])
def test_classifier_equals_scikit_learn(data, classes):
    X = data[["a", "b"]]
    labels = np.array(list("uvw"))[np.digitize(data["y"], [0.5, 1.5][: classes - 1])]
    model = RandomForestClassifier(20, random_state=1).fit(X, labels)
    result = pi.FittedModel(model, X, labels).pd("a")
    grid = result.estimand.terms.layout["value"].unique()
    theirs = sklearn_pd(model, X, ["a"], {"a": grid}, response_method="predict_proba")["average"]
    assert_allclose(result.params, theirs.ravel(), atol=EXACT)
    if classes == 3:
        assert result.estimand.terms.layout["class"].unique().tolist() == ["u", "v", "w"]
        assert result.params.index[0].startswith("u: a[")


def test_two_variables_equal_scikit_learn(data, forest, fitted):
    grid = {"a": np.array([-1.0, 0.0, 1.0]), "b": np.array([-0.5, 0.5])}
    result = fitted.pd(("a", "b"), grid=grid)
    theirs = sklearn_pd(forest, data[["a", "b"]], ["a", "b"], grid)["average"][0]
    assert_allclose(result.params, theirs.T.ravel(), atol=EXACT)
    assert result.params.index[1] == "a[0], b[-0.5]"


def test_centered_curves_and_slopes_are_linear_maps_of_the_curve(fitted):
    plain, centered = fitted.pd("a"), fitted.pd("a", kind="c-ice")
    assert_allclose(centered.params, plain.params - plain.params.iloc[0], atol=1e-12)
    ice = plain.row_frame().to_numpy()
    contrast = ice - ice[:, :1]
    bse = contrast.std(axis=0, ddof=1) / np.sqrt(len(ice))
    assert_allclose(centered.bse, bse, atol=1e-12)
    assert np.isnan(centered.tvalues.iloc[0])
    grid = plain.estimand.terms.layout["value"].to_numpy()
    slope = fitted.pd("a", kind="d-ice")
    assert_allclose(slope.row_frame(), np.gradient(ice, grid, axis=1), atol=1e-9)


def test_slope_of_a_linear_model_is_its_coefficient(data, line):
    slope = pi.FittedModel(line, data[["a", "b"]]).pd("b", kind="d-ice")
    assert_allclose(slope.params, line.coef_[1], atol=1e-12)
    assert slope.bse.eq(0).all()  # every row has the same slope: no interval
    assert slope.conf_int().isna().all(axis=None)


def test_the_centered_logit_of_two_classes_is_half_the_logit(data):
    X, labels = data[["a", "b"]], np.where(data["y"] > 0.5, "u", "v")
    model = pi.FittedModel(LogisticRegression().fit(X, labels), X, labels)
    half, full = model.pd("a", scale="centered-logit"), model.pd("a", scale="logit")
    assert_allclose(2 * half.params, full.params, rtol=1e-12)
    assert_allclose(2 * half.bse, full.bse, rtol=1e-12)


def test_tiny_probabilities_keep_their_logarithm():
    """As in pdp, which replaces those that are 0 only."""
    tiny = np.array([0.0, 1e-20, 1e-18, 1e-3, 0.2])
    model = pi.FittedModel(
        lambda rows: np.column_stack([1 - tiny, tiny])[rows["row"].astype(int)],
        pd.DataFrame({"a": np.arange(5.0), "row": np.arange(5.0)}),
        classes=("u", "v"),
    )
    found = model.pd("a", grid=[0.0], scale="centered-logit")
    logs = np.log(np.column_stack([1 - tiny, np.where(tiny > 0, tiny, np.finfo(float).eps)]))
    assert found.params.iloc[0] == pytest.approx((logs[:, 1] - logs.mean(axis=1)).mean())


def test_a_function_of_predictions_is_taken_before_the_mean(data, line):
    X = data[["a", "b"]]
    found = pi.FittedModel(line, X).pd("a", grid=[0.3, 0.7], scale=np.exp)
    by_hand = [np.exp(line.predict(X.assign(a=v))).mean() for v in (0.3, 0.7)]
    assert_allclose(found.params, by_hand, rtol=1e-12)
    assert "`exp` of the prediction" in str(found.summary()).replace("\n    ", " ")


def test_the_exemplar_is_one_row_of_medians_and_most_frequent_levels():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=200),
            "z": rng.exponential(size=200),
            "f": pd.Categorical(rng.choice(["p", "q"], size=200, p=[0.3, 0.7])),
        }
    )
    frame["y"] = frame["x"] * frame["z"] + (frame["f"] == "q")
    learner = pi.Learner.from_formula("y ~ x * z + f", frame, LinearRegression())
    found = learner.fit_model().pd("x", grid=[-1.0, 1.0], average="exemplar")
    middle = frame["z"].median()
    assert_allclose(found.params, [1 - middle, 1 + middle], atol=1e-12)
    assert found.bse.isna().all()
    assert "No standard error: the prediction of one made-up row" in str(found.summary())
    assert (learner.fit(seed=1).pd("x", average="exemplar").bse > 0).any()
    with pytest.raises(OptionError, match='average="mean"'):
        learner.fit_model().pd("x", kind="ice", average="exemplar")


def test_the_exemplar_of_whole_numbers_is_whole_and_levels_keep_their_type():
    frame = pd.DataFrame(
        {
            "x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            "k": [-4, -3, -2, 1, 2, 9],  # the median is -0.5, which is truncated to 0
            "f": pd.Categorical(list("qqqqpp"), categories=["q", "p", "r"]),
        }
    )

    def model(rows):
        assert list(rows["f"].cat.categories) == ["q", "p", "r"]
        p = 1 / (1 + np.exp(-rows["x"] - 10 * rows["k"] + (rows["f"] == "p")))
        return np.column_stack([1 - p, p])

    fitted = pi.FittedModel(model, frame, classes=("no", "yes"))
    found = fitted.pd("x", grid=[-1.0, 2.0], average="exemplar", scale="logit")
    assert_allclose(found.params, [-1.0, 2.0], rtol=1e-12)


def test_grid_is_fixed_from_all_rows(data):
    result = fit_of("y ~ a + b", data, LinearRegression(), pi.Bootstrap(3)).pd("a", points=5)
    grid = result.estimand.terms.layout["value"]
    assert_allclose(grid, np.quantile(data["a"], np.linspace(0, 1, 5)))


def test_model_level_variance_is_that_of_the_mean_over_rows(fitted):
    result = fitted.pd("a")
    ice = result.row_frame()
    assert_allclose(result.bse, ice.std(ddof=1) / np.sqrt(80), rtol=1e-12)
    assert result.df_resid == 79
    assert_allclose(fitted.pd("a", cov_type="rows").bse, result.bse, rtol=1e-14)
