"""Average marginal effects: statsmodels' numbers and closed forms."""

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import model_of
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError

MARGEFF = 1e-6  # central differences against statsmodels' derivatives


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=200), "z": rng.uniform(size=200) * 50})
    frame["g"] = rng.choice(["lo", "hi", "mid"], 200)
    frame["y"] = frame["x"] * frame["z"] / 50 + (frame["g"] == "hi") + rng.normal(size=200)
    frame["k"] = (frame["y"] > 0.5).astype(float)
    return frame


@pytest.mark.parametrize("model", [sm.Logit, sm.Probit, sm.Poisson])
def test_ame_is_statsmodels_get_margeff(data, model):
    X = sm.add_constant(data[["x", "z"]])
    theirs = model(data["k"], X).fit(disp=0)
    ours = pi.FittedModel(theirs, X, data["k"]).ame(["x", "z"])
    assert_allclose(ours.params, theirs.get_margeff().margeff, rtol=MARGEFF)


def test_of_a_linear_model_it_is_the_coefficient(data):
    fitted = model_of("y ~ x + z + g", data, pi.statsmodels_learner(sm.OLS))
    result = fitted.ame()
    theirs = sm.formula.ols("y ~ x + z + C(g, Treatment('hi'))", data).fit().params
    expected = [theirs["x"], theirs["z"], *theirs.filter(like="C(g").to_numpy()]
    assert list(result.params.index) == ["x", "z", "g[lo - hi]", "g[mid - hi]"]
    assert_allclose(result.params, expected, rtol=MARGEFF)


def test_standard_errors_are_of_the_rows_slopes(data):
    fitted = model_of("y ~ x * z + g", data, LinearRegression())
    (refit,) = fitted.analysis.refits
    at = {
        x: refit.predictor(refit.design.encode(data[["x", "z", "g"]].assign(x=x))) for x in (0, 1)
    }
    rows = at[1] - at[0]  # linear in x
    result = fitted.ame("x")
    assert_allclose(result.params, rows.mean(), rtol=MARGEFF)
    assert_allclose(result.bse, rows.std(ddof=1) / np.sqrt(200), rtol=MARGEFF)
    assert result.estimand.parameter.null == 0
    assert result.null is None


def test_at_the_rows_own_values_the_slope_of_a_square_is_twice_the_mean(data):
    fitted = pi.FittedModel(lambda X: X["x"].to_numpy() ** 2, data[["x", "z"]])
    result = fitted.ame()
    assert result.params["x"] == pytest.approx(2 * data["x"].mean(), rel=MARGEFF)
    assert result.params["z"] == 0


def test_steps_are_refused_without_a_width(data):
    learner = pi.Learner.from_formula("y ~ x + z + g", data, RandomForestRegressor(10))
    results = learner.fit(pi.HalfSampling(2, pairs=5), seed=1)
    with pytest.raises(OptionError, match=r'predicts steps in .* as trees do.*step="sd"'):
        results.ame()
    result = results.ame(step="sd")
    assert (result.bse > 0).all()
    assert "one standard deviation" in str(result.summary())
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301 - written here
    pd.testing.assert_series_equal(copy.params, result.params)


def test_classes_have_effects_that_add_up_to_0(data):
    three = data.assign(t=pd.cut(data["y"], 3, labels=list("abc")).astype(str)).drop(columns="y")
    result = model_of("t ~ x + z + g", three, LogisticRegression(max_iter=1000)).ame()
    assert len(result.params) == 12
    sums = result.params.groupby(lambda name: name.split(": ")[1]).sum()
    assert_allclose(sums, 0, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.ame("q"), "q"),
        (lambda f: f.ame(step=-1), "step"),
        (lambda f: f.ame(step="range"), '"sd" or None'),
        (lambda f: f.ame("x", step=1e-300), "too small"),
    ],
)
def test_what_is_refused(data, call, words):
    fitted = model_of("y ~ x * z + g", data, LinearRegression())
    with pytest.raises(OptionError, match=words):
        call(fitted)


def test_a_constant_has_no_slope(data):
    fitted = pi.FittedModel(lambda X: X["x"].to_numpy(), data[["x"]].assign(one=1.0))
    for step in (None, 1.0):
        with pytest.raises(OptionError, match="`one` is constant"):
            fitted.ame(step=step)


def test_a_number_of_two_values_has_a_contrast(data):
    X = sm.add_constant(data[["x"]].assign(two=(data["z"] > 20).astype(float)))
    theirs = sm.Logit(data["k"], X).fit(disp=0)
    ours = pi.FittedModel(theirs, X, data["k"]).ame(["x", "two"])
    assert list(ours.params.index) == ["x", "two[1 - 0]"]
    expected = theirs.get_margeff(dummy=True).margeff
    assert_allclose(ours.params, expected, rtol=MARGEFF)
    steps = pi.FittedModel(lambda X: 1.0 * (X["two"] > 0.5).to_numpy(), X[["two"]])
    assert steps.ame(step="sd").params.iloc[0] == 1


def test_a_logarithm_is_asked_for_values_of_the_data_alone():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"p": rng.lognormal(sigma=0.8, size=300)})
    data["y"] = 2 * np.log(data["p"]) + 0.1 * rng.normal(size=300)
    model = model_of("y ~ np.log(p)", data, LinearRegression())
    slope = model.analysis.refits[0].predictor.estimator.coef_[0] * (1 / data["p"]).mean()
    assert model.ame().params["p"] == pytest.approx(slope, rel=1e-2)


def test_wide_differences_stay_in_the_range_of_the_rows():
    x = pd.DataFrame({"x": np.random.default_rng(3).uniform(size=400)})
    model = pi.FittedModel(lambda rows: np.clip(rows["x"], x["x"].min(), x["x"].max()), x)
    for step in ("sd", 0.4, 3.0):  # flat beyond the rows, as trees are
        assert model.ame(step=step).params["x"] == pytest.approx(1)
