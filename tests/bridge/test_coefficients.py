"""Standard errors of models of R by the covariance of their coefficients, beside R's own sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pyinterp as pi
from r_bridge import RCode, RModel
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")

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
    "lm": ("y", "lm(y ~ x1 * f + x2, d)"),
    "weights": (
        "y",
        "lm(y ~ x1 * f + poly(k, 2), d, weights = x2, contrasts = list(f = contr.sum))",
    ),
    "an alias": ("y", "lm(y ~ x1 + x2 + I(2 * x1), d)"),
    "logit": ("c", "glm(factor(c) ~ x1 * f + x2, binomial, d)"),
    "poisson": ("k", "glm(k ~ x1 * f + offset(log(x2)), poisson, d)"),
    "gamma": ("x2", "glm(x2 ~ x1 + k, Gamma('log'), d)"),
}
NORMAL = {"logit", "poisson"}  # whose dispersion is known


@pytest.fixture
def fitted(rows):
    SESSION.call("assign", "d", rows, envir=RCode("globalenv()"))
    return lambda code: SESSION.evaluate(f"evalq({code}, globalenv())")


@pytest.mark.parametrize("what", MODELS)
@pytest.mark.filterwarnings("ignore:.*rank-deficient")
def test_standard_errors_are_those_of_the_delta_method_in_r(what, rows, fitted):
    response, code = MODELS[what]
    fit, at = fitted(code), [-0.5, 0.75]
    values = np.array(SESSION.call(BY_HAND, fit, rows, "x1", at))
    model = pi.FittedModel(RModel(fit), rows, response)
    for table, of in ((model.pd("x1", grid=at), slice(2)), (model.ame("x1"), slice(2, 3))):
        assert_allclose(table.params, values[:3][of], rtol=1e-6)
        assert_allclose(table.bse, values[3:][of], rtol=1e-6)
        assert table.cov_type == "delta"
        assert np.isinf(table.df_resid) == (what in NORMAL)


STRIPPED = "local({m <- lm(y ~ x1, d); m$qr$qr <- NULL; m})"


@pytest.mark.parametrize("code", ["MASS::rlm(y ~ x1, d)", "aov(y ~ x1, d)", STRIPPED])
def test_other_classes_have_no_coefficients_of_their_own(code, rows, fitted):
    assert pi.FittedModel(RModel(fitted(code)), rows, "y").pd("x1", grid=[0]).cov_type == "rows"
