"""A fit shows the numbers of its default table: exactly those of `pfi()`."""

import pickle

import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError

FORMULA = "progression ~ bmi + bp + s5"
NUMBERS = {
    "params": lambda r: r.params,
    "bse": lambda r: r.bse,
    "tvalues": lambda r: r.tvalues,
    "pvalues": lambda r: r.pvalues,
    "conf_int": lambda r: r.conf_int(),
    "conf_int, 90%": lambda r: r.conf_int(0.1).loc[["bp"]],
    "tidy": lambda r: r.tidy(),
    "tidy, 90%": lambda r: r.tidy(alpha=0.1),
    "summary_frame": lambda r: r.summary_frame(0.1),
    "t_test": lambda r: r.t_test("bmi = bp").summary_frame(),
    "plot": lambda r: r.plot(0.1, kind="forest", top=2).data,
    "plot, unsorted": lambda r: r.plot(sort=False).data,
}


@pytest.fixture(scope="module")
def data():
    return pi.datasets.load_diabetes()


@pytest.fixture(scope="module", params=["learner", "model", "classes"])
def fitted(request, data):
    estimator = LinearRegression()
    if request.param == "classes":
        data = data.assign(progression=data["progression"] > 140)
        estimator = LogisticRegression(max_iter=1000)
    learner = pi.Learner.from_formula(FORMULA, data, estimator)
    if request.param == "model":
        return learner.fit_model(seed=1)
    return learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_those_of_pfi(fitted, number):
    ours, expected = (NUMBERS[number](results) for results in (fitted, fitted.pfi()))
    if isinstance(ours, pd.Series):
        pd.testing.assert_series_equal(ours, expected, check_exact=True)
    else:
        pd.testing.assert_frame_equal(ours, expected, check_exact=True)


def test_the_table_is_that_of_pfi(fitted):
    ours, expected = (r.summary(0.1, notes="none", decimals=2) for r in (fitted, fitted.pfi()))
    assert str(ours) == str(expected)


def test_pfi_is_measured_when_it_is_first_asked_for_and_once(data, monkeypatch):
    calls = []
    pfi = pi.LearnerResults.pfi
    monkeypatch.setattr(pi.LearnerResults, "pfi", lambda self: calls.append(self) or pfi(self))
    learner = pi.Learner.from_formula(FORMULA, data, LinearRegression())
    res = learner.fit(pi.Subsampling(3), seed=1, progress=False)
    repr(res)
    dir(res)
    assert calls == []
    assert not res.analysis.tallies  # nothing was predicted for it
    first = res.params
    assert (res.bse > 0).all()
    res.summary()
    res.plot()
    assert calls == [res]
    copy = pickle.loads(pickle.dumps(res))  # noqa: S301 - our own bytes
    assert "_pfi" not in vars(copy)  # as all that can be computed again
    pd.testing.assert_series_equal(copy.params, first, check_exact=True)


def test_without_a_response_there_is_no_loss(data):
    X = data[["bmi", "bp"]]
    model = pi.FittedModel(LinearRegression().fit(X, data["progression"]), X)
    with pytest.raises(OptionError, match="pass `y` to FittedModel"):
        _ = model.params
