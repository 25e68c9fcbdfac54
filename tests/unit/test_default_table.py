"""The table of a fit is that of `pfi()`, and its numbers are asked of `pfi()`."""

import pickle

import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError

FORMULA = "progression ~ bmi + bp + s5"


@pytest.fixture(scope="module")
def data():
    return pi.datasets.load_diabetes()


@pytest.fixture(scope="module", params=["learner", "model"])
def fitted(request, data):
    learner = pi.Learner.from_formula(FORMULA, data, LinearRegression())
    if request.param == "model":
        return learner.fit_model(seed=1)
    return learner.fit(pi.HalfSampling(3, pairs=5), seed=1)


def test_the_table_is_that_of_pfi(fitted):
    repr(fitted)
    dir(fitted)
    assert not fitted.analysis.sums  # nothing is predicted before it is asked for
    ours, expected = (r.summary(0.1, notes="none", decimals=2) for r in (fitted, fitted.pfi()))
    assert str(ours) == str(expected)
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert str(copy.summary()) == str(fitted.summary())


@pytest.mark.parametrize("name", ["params", "bse", "pvalues", "conf_int", "t_test", "tidy", "plot"])
def test_numbers_are_of_an_estimand(fitted, name):
    with pytest.raises(AttributeError, match=rf"Instead of `{name}` write `res\.pfi\(\)\.{name}"):
        getattr(fitted, name)
    assert hasattr(fitted.pfi(), name)


def test_without_a_response_there_is_no_loss(data):
    X = data[["bmi", "bp"]]
    model = pi.FittedModel(LinearRegression().fit(X, data["progression"]), X)
    with pytest.raises(OptionError, match="pass `y` to FittedModel"):
        model.summary()
