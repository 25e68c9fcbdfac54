"""Standard errors of models of R by the covariance of their coefficients, beside R's own sums."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import pyinterp as pi
from r_bridge import RCode, RModel
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")
N = 90

# The delta method: J is the derivative of a mean prediction, or of a mean slope by the link's own.
BY_HAND = """function(m, d, x, at) {
  matrix_of <- function(value) {
    d[[x]] <- value
    frame <- model.frame(delete.response(terms(m)), d, xlev = m$xlevels)
    X <- model.matrix(delete.response(terms(m)), frame, contrasts.arg = m$contrasts)
    used <- !is.na(coef(m))
    offset <- model.offset(frame)
    list(X = X[, used], eta = X[, used] %*% coef(m)[used] + if (is.null(offset)) 0 else offset)
  }
  link <- if (inherits(m, 'glm')) family(m) else gaussian()
  gradient <- function(value) {
    with(matrix_of(value), c(mean(link$linkinv(eta)), colMeans(as.vector(link$mu.eta(eta)) * X)))
  }
  h <- 1e-3 * sd(d[[x]])
  steps <- sapply(c(-2, -1, 1, 2) * h, function(s) gradient(d[[x]] + s))
  rows <- cbind(sapply(at, gradient), steps %*% (c(1, -8, 8, -1) / 12 / h))
  J <- rows[-1, , drop = FALSE]
  c(rows[1, ], sqrt(diag(t(J) %*% vcov(m, complete = FALSE) %*% J)))
}"""
MODELS = {
    "lm": "lm(y ~ x * f + z, d)",
    "lm of weights": "lm(y ~ x * f + poly(z, 2), d, weights = w, contrasts = list(f = contr.sum))",
    "lm with an alias": "lm(y ~ x + z + I(2 * x), d)",
    "logit": "glm(y > 1 ~ x * f + z, binomial, d)",
    "poisson": "glm(count ~ x * f + offset(log(w)), poisson, d)",
    "gamma": "glm(w ~ x + z, Gamma('log'), d)",
}
NORMAL = {"logit", "poisson"}  # whose dispersion is known


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "z"])
    frame["f"] = pd.Categorical(rng.choice(["u", "v", "w"], N))
    frame["y"] = frame["x"] + (frame["f"] == "v") * frame["x"] + rng.normal(size=N)
    frame["count"], frame["w"] = rng.poisson(np.exp(0.5 * frame["x"])), rng.gamma(3, size=N)
    frame["yes"] = frame["y"] > 1
    return frame


@pytest.fixture
def fitted(data):
    def fitted(code):
        SESSION.call("assign", "d", data, envir=RCode("globalenv()"))
        return SESSION.evaluate(f"evalq({code}, globalenv())")

    yield fitted
    SESSION.evaluate("rm(d, envir = globalenv())")


@pytest.mark.parametrize("what", MODELS)
@pytest.mark.filterwarnings("ignore:.*rank-deficient")
def test_standard_errors_are_those_of_the_delta_method_in_r(what, data, fitted):
    fit, at = fitted(MODELS[what]), [-0.5, 0.75]
    values = np.array(SESSION.call(BY_HAND, fit, data, "x", at))
    response = {"logit": "yes", "poisson": "count", "gamma": "w"}.get(what, "y")
    model = pi.FittedModel(RModel(fit), data, response)
    curve, slope = model.pd("x", grid=at), model.ame("x")
    for table, of in ((curve, slice(2)), (slope, slice(2, 3))):
        assert_allclose(table.params, values[:3][of], rtol=1e-6)
        assert_allclose(table.bse, values[3:][of], rtol=1e-6)
        assert table.cov_type == "delta"
        assert np.isinf(table.df_resid) == (what in NORMAL)


def test_other_classes_have_no_coefficients_of_their_own(data, fitted, debian):
    for code in ("MASS::rlm(y ~ x, d)", "mgcv::gam(y ~ x, data = d)", "aov(y ~ x, d)"):
        debian("MASS", "mgcv")
        table = pi.FittedModel(RModel(fitted(code)), data, "y").pd("x", grid=[0.5])
        assert table.cov_type == "rows"
