"""Models of R: which variables they have, by which names they are found, what helps where not."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows

import pyinterp as pi
from pyinterp.errors import DataError, OptionError
from r_bridge import RCallError, RCode, RLearner, RModel
from r_bridge.model_for_r import hand_over
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")

TOLERANCE = 1e-12
N = 50


@pytest.fixture(scope="module")
def data():
    _, frame = normal_rows(N, "x z y", 4)
    return frame.assign(g=pd.Categorical(np.where(frame["y"] > 0, "u", "v"), ["v", "u"]))


@pytest.fixture
def fit(data):
    """Evaluate code where `d` holds the data and `power` a number."""
    before = set(SESSION.evaluate("ls(globalenv())"))
    SESSION.call("assign", "d", data, envir=RCode("globalenv()"))
    SESSION.evaluate("assign('power', 2, globalenv())")
    yield lambda code: SESSION.evaluate(f"evalq({code}, globalenv())")
    made = sorted(set(SESSION.evaluate("ls(globalenv())")) - before)
    SESSION.call("rm", list=pd.Series(made), envir=RCode("globalenv()"))


FORMULAS = {
    "stats::lm": "stats::lm(y ~ sin(pi * x) + I(z^power), d)",
    "stats::glm": "stats::glm(y ~ sin(pi * x) + I(z^power), data = d)",
    "mgcv::gam": "mgcv::gam(y ~ s(x, k = 4) + cos(pi * z), data = d)",
    "rpart::rpart": "rpart::rpart(y ~ sin(pi * x) + I(z^power), d)",
    "gbm::gbm": "gbm::gbm(y ~ sin(pi * x) + I(z^power), 'gaussian', d, n.trees = 5)",
    "nnet::nnet": "nnet::nnet(y ~ sin(pi * x) + I(z^power), d, size = 1, trace = FALSE)",
    "data that are an expression": "lm(y ~ sin(pi * x) + z, subset(d, x < 9))",
}


@pytest.mark.parametrize("what", FORMULAS)
def test_constants_are_no_variables(what, data, fit, debian):
    if "::" in what:
        debian(what)
    model = RModel(fit(FORMULAS[what]))
    assert sorted(model.feature_names_in_) == ["x", "z"]
    if what == "mgcv::gam":  # whose `predict` in R stops without a column `pi`
        expected = SESSION.call("function(m) as.numeric(fitted(m))", model.fit_.value)
    else:
        call = "function(m, d) as.numeric(predict(m, d))"
        expected = SESSION.call(call, model.fit_.value, data, console=[])
    assert_allclose(model.predict(data), expected, rtol=0, atol=TOLERANCE)
    assert np.isfinite(pi.FittedModel(model, data, data["y"]).pfi().params).all()


def test_a_column_may_have_a_constants_name(data, fit):
    fit("d$pi <- d$z")
    column = RModel(fit("lm(y ~ sin(pi * x), d)"))
    assert list(column.feature_names_in_) == ["pi", "x"]
    bare = fit("lm(y ~ pi + x, d)")
    fit("rm(d)")
    assert list(RModel(bare).feature_names_in_) == ["pi", "x"]


def test_a_name_of_the_session_is_no_constant_once_the_data_are_gone(data, fit, tmp_path):
    path = tmp_path / "model.rds"
    fit(f"{{ saveRDS(lm(y ~ I(x^2) + z, d), {str(path)!r}); rm(d); x <- 3 }}")
    assert list(RModel(path).feature_names_in_) == ["x", "z"]


def test_columns_are_found_by_name(data, fit):
    model = RModel(fit("lm(y ~ x + z, d)"))
    expected = model.predict(data[["x", "z"]])
    for rows in (data, data[["z", "x"]], data.assign(a=1.0)[["a", "z", "y", "x"]]):
        assert_array_equal(model.predict(rows), expected)
    for rows in (data.rename(columns={"z": "zz"}), data[["x"]], data[["x", "y"]]):
        with pytest.raises(DataError, match=r"variables x, z; it lacks z, and has x"):
            model.predict(rows)
    with pytest.raises(DataError, match="the 2 columns of an array have no names"):
        model.predict(data[["x", "z"]].to_numpy())
    with pytest.raises(DataError, match="unique"):
        model.predict(pd.concat([data[["x", "z"]], data[["x"]]], axis=1))
    one = RModel(fit("lm(y ~ x, d)"))
    assert_array_equal(one.predict(data[["x"]].to_numpy()), one.predict(data))


def test_learners_and_models_handed_over_find_columns_by_name(data):
    """A frame with other names was taken by position."""
    X, y = data[["x", "z"]], data["y"]
    other = X.rename(columns={"x": "a", "z": "b"})
    learner = RLearner("stats::lm").fit(X, y)
    for wrong, message in ((other, "lacks x, z"), (X.to_numpy(), "have no names")):
        with pytest.raises(DataError, match=message):
            learner.predict(wrong)
        with pytest.raises(DataError, match=message):
            hand_over(pi.FittedModel(learner, X, y), wrong)


def test_a_model_states_a_logarithmic_link(fit):
    counts = fit("glm(round(abs(y)) ~ x, poisson, d)")
    assert RModel(counts).aim.family == "poisson"
    assert RModel(counts, predict_args={"type": "link"}).aim.family == ""
    assert RModel(fit("lm(y ~ x, d)")).aim.family == ""
    called = RModel(fit("function(rows) stop('called')"), feature_names=["x"])
    assert called.aim.family == ""


def test_classes_are_found_by_name(data, fit):
    fitted = fit("glm(g ~ x + z, binomial, d)")
    model = RModel(fitted)
    swapped = RModel(fitted, classes=["u", "v"])
    assert swapped.classes_.tolist() == model.classes_.tolist() == ["v", "u"]
    assert_array_equal(swapped.predict_proba(data), model.predict_proba(data))
    assert RModel(fitted, classes=[False, True]).classes_.tolist() == [False, True]
    for wrong in (["v", "w"], ["u", "v", "w"]):
        with pytest.raises(OptionError, match="`classes` must be 2, R's"):
            RModel(fitted, classes=wrong)


def test_probabilities_under_other_names_are_refused(data, fit):
    fit("predict.odd <- function(object, newdata, ...) cbind(b = newdata$x, a = 1 - newdata$x)")
    odd = fit("structure(list(), class = 'odd')")
    options = {"feature_names": ["x", "z"], "predict_args": {}}
    found = RModel(odd, classes=["a", "b"], **options).predict_proba(data)
    assert_array_equal(found[:, 1], data["x"])
    with pytest.raises(RCallError, match="it gave 100 values of type double, named b, a"):
        RModel(odd, classes=["yes", "no"], **options).predict_proba(data)


@pytest.mark.parametrize(
    "code",
    [
        "mgcv::gam(y ~ x, data = d, offset = z)",
        "rpart::rpart(y ~ x + offset(z), d)",
        "glm(y ~ x, data = d, offset = z)",
    ],
)
def test_an_offset_that_predictions_lack_is_refused(code, data, fit):
    with pytest.raises(RCallError, match="leaves the offset out"):
        RModel(fit(code), feature_names=["x"]).predict(data)


def test_a_transformed_response_is_not_the_column(data, fit):
    with pytest.raises(DataError, match=r"fitted to `exp\(y\)`, not to `y`"):
        pi.FittedModel(RModel(fit("ranger::ranger(exp(y) ~ x, d)")), data, "y")


GIVES = {
    "a factor": ("factor(newdata$x > 0)", "pass `classes`, and `predict_args` that ask for prob"),
    "texts": ("as.character(newdata$x)", "pass `classes`, and `predict_args` that ask for prob"),
    "too few": ("newdata$x[1:3]", "it gave 3 values of type double.*pass `predict_args`"),
    "a list": ("list(class = 1, posterior = 2)", "list of class, posterior.*define predict.odd"),
}


@pytest.mark.parametrize("what", GIVES)
def test_advice_for_unknown_models_names_what_exists(what, data, fit):
    value, advice = GIVES[what]
    fit(f"predict.odd <- function(object, newdata, ...) {value}")
    model = RModel(fit("structure(list(), class = 'odd')"), feature_names=["x", "z"])
    with pytest.raises(RCallError, match=f"(?s){advice}") as caught:
        model.predict(data)
    assert "classifier=True" not in str(caught.value)
    assert len(caught.value.message) < 400


def test_advice_for_a_learner_is_its_own(data, fit):
    fit("predict.odd <- function(object, newdata, ...) factor(newdata$x > 0)")
    fit("odd <- function(formula, data) structure(list(), class = 'odd')")
    with pytest.raises(RCallError, match="pass `classifier=True`"):
        RLearner("odd").fit(data[["x"]], data["y"]).predict(data[["x"]])


MODELS = {
    "MASS::lda": ("MASS::lda(g ~ x + z, d)", "predict(m, d)$posterior"),
    "MASS::qda": ("MASS::qda(g ~ x + z, d)", "predict(m, d)$posterior"),
    "e1071::svm": (
        "e1071::svm(g ~ x + z, d, probability = TRUE)",
        "attr(predict(m, d, probability = TRUE), 'probabilities')[, c('v', 'u')]",
    ),
}


@pytest.mark.parametrize("what", MODELS)
def test_discriminants_and_support_vectors(what, data, fit, installed):
    installed(what)
    code, probabilities = MODELS[what]
    model = RModel(fit(code))
    assert model.classes_.tolist() == ["v", "u"]
    assert sorted(model.feature_names_in_) == ["x", "z"]
    value = SESSION.call(f"function(m, d) as.numeric({probabilities})", model.fit_.value, data)
    expected = np.array(value).reshape(N, 2, order="F")
    assert_allclose(model.predict_proba(data), expected, rtol=0, atol=TOLERANCE)
    learner = RLearner(what, classifier=True, random_state=1).fit(data[["x", "z"]], data["g"])
    assert learner.predict_proba(data).shape == (N, 2)


def test_support_vectors_without_probabilities_and_of_numbers(data, fit, installed):
    installed("e1071")
    with pytest.raises(RCallError, match="fit it with probability = TRUE"):
        RModel(fit("e1071::svm(g ~ x + z, d)"))
    numbers = RModel(fit("e1071::svm(y ~ x + z, d)"))
    assert not hasattr(numbers, "classes_")
    assert np.isfinite(numbers.predict(data)).all()
