"""R's proportional odds model, as a model of R and as a learner."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import special
from shared import normal_rows

import pyinterp as pi

pytest.importorskip("rpy2")

from r_bridge import RCode, RLearner, RModel
from r_bridge.conversion import from_r
from r_bridge.session import SESSION

N = 80
RNG, DATA = normal_rows(N, "a b", 9)
LABELS = ["worse", "same", "better"]
DATA["o"] = pd.cut(DATA.a + RNG.logistic(size=N), [-99, -0.7, 1.2, 99], labels=LABELS)
CODES = DATA.o.cat.codes.to_numpy()


def test_polr_equals_naive_loops_over_its_predict():
    learner = RLearner("MASS::polr").for_response(DATA.o)
    model = learner.fit(DATA[["a", "b"]], DATA.o)
    assert list(model.classes_) == LABELS
    fitted = pi.FittedModel(model, DATA, "o")

    def probabilities(rows):
        frame = rows[["a", "b"]]
        return np.asarray(
            from_r(SESSION.call("predict", model.fit_.value, frame, "probs"), SESSION.r)
        )

    P = probabilities(DATA)
    below = P.cumsum(axis=1)[:, :2] - (CODES[:, None] <= np.arange(2))
    assert_allclose(fitted.loss(loss="rps").params, np.square(below).mean(), rtol=1e-10)
    curves = np.array([probabilities(DATA.assign(a=x)).mean(axis=0) for x in (-1.0, 1.0)])
    found = fitted.pd("a", grid=[-1.0, 1.0], scale="score").params
    assert_allclose(found, curves @ [1, 2, 3], rtol=1e-10)
    as_model = pi.FittedModel(RModel(model.fit_.value), DATA.assign(o=DATA.o.astype(str)), "o")
    assert_allclose(as_model.loss(loss="rps").params, fitted.loss(loss="rps").params, rtol=1e-10)
    results = pi.Learner.from_formula("o ~ a + b", DATA, RLearner("MASS::polr"))
    assert results.fit(pi.Bootstrap(2), seed=1).pfi(loss="rps").params["a"] > 0


def test_shares_of_a_binomial_model_equal_naive_loops():
    """R's ``glm(cbind(successes, failures) ~ x)`` predicts shares, which trials weigh."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=N), "t": rng.integers(5, 20, N)})
    data["s"] = rng.binomial(data["t"], 1 / (1 + np.exp(-data["x"])))
    data["f"] = data["t"] - data["s"]
    arguments = [("", RCode("cbind(s, f) ~ x")), ("data", data), ("family", "binomial")]
    fit = SESSION.call_with("stats::glm", arguments, seed=None, console=[])
    y = data["s"] / data["t"]
    trials = data["t"].to_numpy()
    fitted = pi.FittedModel(RModel(fit), data[["x"]], y, weights=trials, weights_type="sampling")

    def share(rows):
        value = SESSION.call("stats::predict", fit, rows, type="response")
        return np.asarray(from_r(value, SESSION.r))

    found = fitted.pd("x", grid=[-1.0, 1.0]).params
    expected = [np.average(share(data.assign(x=x)), weights=trials) for x in (-1.0, 1.0)]
    assert_allclose(found, expected, rtol=1e-10)
    p = share(data)
    deviance = 2 * (special.kl_div(y, p) + special.kl_div(1 - y, 1 - p))
    assert_allclose(
        fitted.loss(loss="binomial").params, np.average(deviance, weights=trials), rtol=1e-10
    )
