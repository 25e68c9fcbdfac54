"""Fitted models of other packages: the right class, the right scale, the right columns."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, PredictionError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=150), "z": rng.normal(size=150)})
    frame["event"] = (rng.uniform(size=150) < 1 / (1 + np.exp(-2 * frame["x"]))).astype(int)
    frame["flag"] = frame["event"] == 1
    frame["word"] = np.where(frame["flag"], "yes", "no")
    frame["level"] = pd.Categorical(frame["word"], ["yes", "no"])
    frame["three"] = np.digitize(frame["x"] + rng.normal(size=150), [-0.5, 0.5])
    frame["y"] = np.exp(frame["x"] + rng.normal(size=150) / 10)
    return frame


@pytest.mark.parametrize(
    ("response", "event"), [("event", 1), ("flag", True), ("word", "yes"), ("level", "yes")]
)
def test_binomial_glm_by_formula_gives_the_probability_of_the_right_class(data, response, event):
    numeric = smf.glm("event ~ x", data, family=sm.families.Binomial()).fit()
    probability = numeric.predict(pd.DataFrame({"x": [2.0]}))[0]
    fitted = smf.glm(f"{response} ~ x", data, family=sm.families.Binomial()).fit()
    model = pi.FittedModel(fitted, data, response)
    found = model.pd("x", grid=[2.0], which_class=event).params.iloc[0]
    assert found == pytest.approx(probability, abs=1e-6)
    own = model.analysis.refits[0].predictor.classes
    if response != "event":  # whose classes are numbers alone
        with pytest.raises(OptionError, match="has its classes in the order"):
            pi.FittedModel(fitted, data, response, classes=list(own)[::-1])
    assert model.loss(relation="explained").params.iloc[0] > 0.1
    assert model.pfi().params["x"] > 0
    assert model.pfi().context.learner == "GLM"


def test_results_of_numbers_do_not_guess_labels(data):
    fitted = smf.logit("event ~ x", data).fit(disp=0)
    died = np.where(data["flag"], "dead", "alive")
    with pytest.raises(OptionError, match=r"probability that `event` is 1.*classes=\(label of 0"):
        pi.FittedModel(fitted, data, died)
    model = pi.FittedModel(fitted, data, died, classes=("alive", "dead"))
    by_hand = fitted.predict(data.assign(x=2.0)).mean()
    assert model.pd("x", grid=[2.0], which_class="dead").params.iloc[0] == pytest.approx(by_hand)
    assert model.pfi().params["x"] > 0


def test_multinomial_logit_results(data):
    fitted = smf.mnlogit("three ~ x", data).fit(disp=0)
    model = pi.FittedModel(fitted, data, "three")
    curve = model.pd("x", grid=[1.0])
    by_hand = np.asarray(fitted.predict(data.assign(x=1.0)))[0]
    np.testing.assert_allclose(curve.params, by_hand, atol=1e-12)
    assert model.loss().params.iloc[0] == pytest.approx(-fitted.llf / 150)


def test_a_transformed_response_is_not_scored_on_the_wrong_scale(data):
    fitted = smf.ols("np.log(y) ~ x", data).fit()
    for y in ("y", data["y"]):
        with pytest.raises(DataError, match=r"fitted to `np.log\(y\)`, not to `y`"):
            pi.FittedModel(fitted, data, y)
    model = pi.FittedModel(fitted, data, np.log(data["y"]).to_numpy())
    assert model.loss(relation="explained").params.iloc[0] == pytest.approx(fitted.rsquared)


def test_repeated_rows_of_a_cluster_do_not_narrow_the_interval(data):
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    once = pi.FittedModel(model, data[["x", "z"]], data["y"])
    twice = pd.concat([data.assign(id=range(150))] * 2, ignore_index=True)
    again = pi.FittedModel(model, twice[["x", "z", "id"]], twice["y"], cluster="id")
    one, two = once.pd("x", grid=[0.0]), again.pd("x", grid=[0.0])
    assert list(again.pfi().params.index) == ["x", "z"]
    of_function = pi.FittedModel(lambda X: X["x"], twice[["x", "id"]], twice["y"], cluster="id")
    assert list(of_function.pfi().params.index) == ["x"]
    np.testing.assert_allclose(two.bse, one.bse)
    assert two.df_resid == one.df_resid == 149


class Scaled(LinearRegression):
    """A linear model that predicts this many times too much."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = scale

    def predict(self, X):
        return self.scale * super().predict(X)


def scaled(data, scale):
    X = data[["x", "z"]]
    return pi.FittedModel(Scaled(scale).fit(X, data["y"]), X, data["y"])


@pytest.mark.parametrize(("scale", "text"), [(1e75, "at most 1e"), (np.inf, "must be finite")])
def test_predictions_whose_squares_overflow_are_refused(data, scale, text):
    with pytest.raises(PredictionError, match=text):
        scaled(data, scale).pfi()


def test_survival_is_led_to_its_page():
    X = pd.DataFrame({"x": np.arange(20.0)})
    fields = np.array([(True, float(k)) for k in range(20)], [("event", bool), ("time", float)])
    with pytest.raises(DataError, match='see the page "Survival"'):
        pi.FittedModel(lambda rows: rows["x"], X, fields)
    cox = sm.PHReg(np.arange(1.0, 21), X % 3).fit()
    with pytest.raises(OptionError, match='the page "Survival"'):
        pi.FittedModel(cox, X)
