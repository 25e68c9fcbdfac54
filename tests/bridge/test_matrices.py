"""Models of R whose `predict` takes a matrix: glmnet, and functions of R that make one."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, PredictionError
from r_bridge import RCode, RLearner, RModel
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")

TOLERANCE = 1e-10
N = 60
GLOBAL = RCode("globalenv()")
RESPONSES = {
    "number": "d$y",
    "count": "round(exp(d$y / 2))",
    "two": "ifelse(d$y > 0, 'yes', 'no')",
    "three": "cut(d$y, c(-99, -0.7, 0.7, 99), labels = c('l', 'm', 'h'))",
}
FAMILY = {"number": "gaussian", "count": "poisson", "two": "binomial", "three": "multinomial"}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"a": rng.normal(size=N), "g": rng.choice(list("uvw"), N)})
    frame["b"] = rng.normal(size=N)
    return frame.assign(y=frame["a"] + (frame["g"] == "v") + 0.5 * frame["b"])


@pytest.fixture(autouse=True)
def rows_in_r(data, installed):
    installed("glmnet")
    SESSION.call("assign", "d", data, envir=GLOBAL)
    yield
    SESSION.call("rm", list=pd.Series(["d"]), envir=GLOBAL)


def evaluate(code):
    return SESSION.evaluate(f"evalq({code}, globalenv())")


def numbers(value):
    return np.array(list(SESSION.call("as.numeric", value)))  # a copy: R reuses its memory


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("cv", [False, True])
def test_a_glmnet_predicts_what_r_predicts(kind, cv, data):
    """With `s` alone the type is still the response: links were taken for means otherwise."""
    function = "cv.glmnet" if cv else "glmnet"
    fit = evaluate(
        f"{{ set.seed(1); suppressWarnings(glmnet::{function}(cbind(a = d$a, b = d$b), "
        f"{RESPONSES[kind]}, family = '{FAMILY[kind]}')) }}"
    )
    model = RModel(fit, predict_args={"s": 0.05})
    assert list(model.feature_names_in_) == ["a", "b"]
    rows = data.assign(a=0.5)
    expected = numbers(
        SESSION.call(
            "function(m, d) predict(m, cbind(a = d$a, b = d$b), s = 0.05, type = 'response')",
            fit,
            rows,
        )
    )
    fitted = pi.FittedModel(model, data[["g", "b", "a"]])
    pd_ = fitted.pd("a", grid=[0.5]).params.to_numpy()
    means = expected.reshape(3 if kind == "three" else 1, N).mean(axis=1)
    # Of two classes R predicts, and the curve is of, the second.
    assert_allclose(pd_, means, rtol=0, atol=TOLERANCE)
    if kind in ("two", "three"):
        said = SESSION.call(
            "function(m, d) predict(m, cbind(a = d$a, b = d$b), s = 0.05, type = 'class')[, 1]",
            fit,
            data,
        )
        np.testing.assert_array_equal(model.predict(data), list(said))


def test_the_codes_of_the_page_work(data):
    X, y = data[["a", "g", "b"]], data["y"]
    page = (Path(__file__).parents[2] / "docs" / "r_bridge.md").read_text(encoding="utf-8")
    learner = re.search(r'RLearner\("""(function.*?)"""\)', page, re.DOTALL)
    model = re.search(r'RCode\("(function\(rows\).*?)"\)', page)
    assert learner is not None
    assert model is not None
    fit = evaluate("{ set.seed(1); glmnet::cv.glmnet(model.matrix(~ a + g + b, d)[, -1], d$y) }")
    SESSION.call("assign", "gm", fit, envir=GLOBAL)
    right = numbers(
        SESSION.call(
            "function(m, d) predict(m, model.matrix(~ a + g + b, d)[, -1], s = 'lambda.min')",
            fit,
            data,
        )
    )
    fitted = RLearner(learner[1], random_state=1).fit(X, y)
    assert fitted.learner_name == "function of R"
    assert_allclose(fitted.predict(X), right, rtol=0, atol=TOLERANCE)
    known = RModel(RCode(model[1]), feature_names=["a", "g", "b"])
    assert_allclose(known.predict(X), right, rtol=0, atol=TOLERANCE)
    SESSION.call("rm", list=pd.Series(["gm"]), envir=GLOBAL)


def test_errors_lead_to_what_works(data):
    X, y = data[["a", "g", "b"]], data["y"]
    with pytest.raises(OptionError, match=r"takes a matrix; write a function\(formula, data\)"):
        RLearner("glmnet::cv.glmnet").fit(X, y)
    path = evaluate("glmnet::glmnet(cbind(a = d$a, b = d$b), d$y)")
    with pytest.raises(PredictionError, match="that choose one column"):
        pi.FittedModel(RModel(path), X, y).loss()
    dummies = evaluate("glmnet::glmnet(model.matrix(~ ., d[1:3])[, -1], d$y, lambda = 0.1)")
    with pytest.raises(DataError, match="lacks gv, gw"):
        pi.FittedModel(RModel(dummies), X, y)
    by_variables = RModel(dummies, feature_names=["a", "g", "b"])
    with pytest.raises(PredictionError, match="g is a factor or text; write a function of R"):
        pi.FittedModel(by_variables, X, y).loss()
    SESSION.evaluate(
        "registerS3method('predict', 'odd', function(object, newx, ...) newx %*% 1, "
        "envir = asNamespace('stats'))"
    )
    odd = RModel(evaluate("structure(list(), class = 'odd')"), feature_names=["a", "b"])
    with pytest.raises(PredictionError, match=r"f <- function\(rows\) predict\(fit, as.matrix"):
        pi.FittedModel(odd, X, y).loss()
