"""Which class is meant: pdp asked about R's own object, and about the same model through Python.

Where R predicts one probability, pdp's columns are p and 1 - p, and `which.class = 1` is the event;
where it predicts a matrix, `which.class = 1` is the first level. Tolerance: the same predictions,
means of which differ by rounding alone.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pyinterp as pi
import r_bridge
from pyinterp import r_style
from pyinterp.errors import OptionError
from r_bridge import RCode, RLearner, RModel
from r_bridge.conversion import frame_from_r, from_r
from r_bridge.model_for_r import hand_over
from r_bridge.session import SESSION

TOLERANCE = 1e-10
V = ["x1", "x2", "f"]
X = "x1 + x2 + f"
BINOMIAL = "stats::predict(fit, rows, type = 'response')"

# A fit of R, R's own code for the probability of its `which.class = 1`, and whether that is the
# event, the second level "no".
FITS = {
    "stats::glm": (f"glm(c ~ {X}, binomial, d)", BINOMIAL, True),
    "mgcv::gam": ("mgcv::gam(c ~ s(x1, k = 4) + x2 + f, binomial, d)", BINOMIAL, True),
    "nnet::nnet": (
        f"nnet::nnet(c ~ {X}, d, size = 2, trace = FALSE)",
        "stats::predict(fit, rows)[, 1]",
        True,
    ),
    "nnet::multinom": (
        f"nnet::multinom(c ~ {X}, d, trace = FALSE)",
        "stats::predict(fit, rows, type = 'probs')",
        True,
    ),
    "gbm::gbm": (
        f"gbm::gbm(e ~ {X}, 'bernoulli', d, n.trees = 30, interaction.depth = 2)",
        "stats::predict(fit, rows, n.trees = 30, type = 'response')",
        True,
    ),
    "rpart::rpart": (f"rpart::rpart(c ~ {X}, d)", "stats::predict(fit, rows)[, 1]", False),
    "randomForest::randomForest": (
        f"randomForest::randomForest(c ~ {X}, d, ntree = 20)",
        "stats::predict(fit, rows, type = 'prob')[, 1]",
        False,
    ),
    "ranger::ranger": (
        f"ranger::ranger(c ~ {X}, d, num.trees = 20, probability = TRUE, num.threads = 1)",
        "stats::predict(fit, rows)$predictions[, 1]",
        False,
    ),
}
LEARNERS = {
    "mgcv::gam": {"formula": "~ s(x1, k = 4) + x2 + f"},
    "nnet::nnet": {"size": 2, "trace": False},
    "nnet::multinom": {"trace": False},
    "gbm::gbm": {"n_trees": 30},
    "randomForest::randomForest": {"ntree": 20},
    "ranger::ranger": {"num_trees": 20, "num.threads": 1},
}

pytestmark = pytest.mark.usefixtures("r")


@pytest.fixture
def in_r(r, rows):
    """Evaluate in R's global environment, where `d` holds the rows."""
    c = pd.Categorical(rows["c"], categories=["yes", "no"])
    data = rows[V].assign(c=c, e=c.codes.astype(int))
    SESSION.call("assign", "d", data, envir=RCode("globalenv()"))
    return lambda code: SESSION.call(f"function() evalq({{ {code} }}, globalenv())", console=[])


@pytest.mark.parametrize("function", FITS)
def test_the_first_class_is_that_of_r(function, rows, in_r, debian):
    """Against R's `predict` of the same fit, in the columns that pdp makes of it."""
    debian(function)
    fit, first, event = FITS[function]
    in_r(f"set.seed(2); fit <- {fit}")
    model = RModel("fit")
    assert model.event_first is event
    grid = [-1.0, 1.0]
    expected = [
        from_r(in_r(f"rows <- transform(d, x1 = {v}); mean({first})"), SESSION.r)[0] for v in grid
    ]
    fitted = pi.FittedModel(model, rows[V])
    for which, values in ((1, np.array(expected)), (2, 1 - np.array(expected))):
        ours = r_style.partial(fitted, "x1", prob=True, which_class=which, pred_grid=grid)
        assert_allclose(ours["yhat"], values, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("function", FITS)
def test_learners_count_as_their_fits_do(function, rows, debian):
    debian(function)
    learner = RLearner(function, classifier=True, random_state=1, **LEARNERS.get(function, {}))
    assert not hasattr(learner, "event_first")
    classes = pd.Categorical(rows["c"], categories=["yes", "no"])
    fitted = clone(learner).fit(rows[V], classes)
    assert fitted.event_first is FITS[function][2]
    assert pickle.loads(pickle.dumps(fitted)).event_first is FITS[function][2]  # noqa: S301 - ours
    counted = r_style.classes_in_order(pi.FittedModel(fitted, rows[V]).analysis.problem.predictor)
    assert counted == (["no", "yes"] if FITS[function][2] else ["yes", "no"])


def test_refits_of_a_glm_of_r_count_from_the_event(rows):
    data = rows.assign(c=pd.Categorical(rows["c"], categories=["yes", "no"]))
    learner = pi.Learner.from_formula("c ~ x1 + x2", data, RLearner("stats::glm"))
    res = learner.fit(pi.Subsampling(2), seed=1, progress=False)
    curve = {"prob": True, "pred_grid": [0.0, 1.0]}
    event = res.pd("x1", grid=[0.0, 1.0], which_class="no").params
    np.testing.assert_array_equal(r_style.partial(res, "x1", which_class=1, **curve)["yhat"], event)
    assert hand_over(res, None).class_names == ("no", "yes")


def test_numbers_and_more_classes_have_no_event(rows, debian):
    debian("nnet")
    assert RLearner("stats::glm").fit(rows[V], rows["y"]).event_first is False
    three = np.digitize(rows["y"], [0.7, 1.6])
    for function, options in (("nnet::multinom", {}), ("nnet::nnet", {"size": 2})):
        fitted = RLearner(function, classifier=True, trace=False, **options).fit(rows[V], three)
        assert fitted.event_first is False


def test_a_glm_without_its_model_frame(rows, in_r):
    """It has 0 and 1 in `y`, and names of classes where its data still have them."""
    in_r(f"kept <- glm(c ~ {X}, binomial, d); bare <- glm(c ~ {X}, binomial, d, model = FALSE)")
    in_r(
        f"nowhere <- bare; nowhere$data <- NULL; number <- glm(e ~ {X}, binomial, d, model = FALSE)"
    )
    expected = RModel("kept").predict_proba(rows)
    for name, classes in (("bare", ["yes", "no"]), ("nowhere", [0, 1]), ("number", [0, 1])):
        model = RModel(name)
        assert model.classes_.tolist() == classes
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
    in_r("pairs <- glm(cbind(e, 1 - e) ~ x1, binomial, d, model = FALSE)")
    assert not hasattr(RModel("pairs"), "classes_")
    in_r("nothing <- glm(e ~ x1, binomial, d, model = FALSE, y = FALSE)")
    with pytest.raises(r_bridge.RCallError, match="fit it with y = TRUE"):
        RModel("nothing")


@pytest.mark.parametrize("which", [1, 2])
def test_the_regression_of_a_classifier_is_its_log_odds(which, rows, installed):
    """A glm's linear predictor is linear, and its slope has the sign of the class."""
    installed("pdp")
    X = rows[["x1", "x2"]]
    model = LogisticRegression().fit(X, rows["c"])
    fitted = pi.FittedModel(model, X, rows["c"])
    options = {"type": "regression", "which_class": which, "grid_resolution": 3}
    found = r_bridge.partial(model, X, "x1", **options)
    sign = -1 if which == 1 else 1  # of classes_[1]
    slope = np.diff(found["yhat"]) / np.diff(found["x1"])
    assert_allclose(slope, sign * model.coef_[0, 0], rtol=0, atol=1e-8)
    ours = r_style.partial(fitted, "x1", **options)
    assert_allclose(found["yhat"], ours["yhat"], rtol=0, atol=TOLERANCE)
    back = r_bridge.partial(model, X, "x1", inv_link=lambda x: 1 / (1 + np.exp(-x)), **options)
    plain = r_bridge.partial(model, X, "x1", prob=True, which_class=which, grid_resolution=3)
    assert_allclose(back["yhat"], plain["yhat"], rtol=0, atol=TOLERANCE)
    assert r_bridge.compare(fitted, "pdp", **options).max_abs_diff < TOLERANCE


def test_a_poisson_glm_of_r_on_the_link_scale(rows, in_r, installed):
    """Pdp asks R's own object for the linear predictor, we ask for means of the response."""
    installed("pdp")
    in_r(f"fit <- glm(round(5 * x2) ~ {X}, poisson, d)")
    code = "pdp::partial(fit, 'x1', train = d[, 1:3], grid.resolution = 4)"
    expected = frame_from_r(in_r(f"as.data.frame({code})"), SESSION.r)
    fitted = pi.FittedModel(RModel("fit"), rows[V])
    values = fitted.pd("x1", grid=list(expected["x1"]), scale=np.log).params
    assert_allclose(values, expected["yhat"], rtol=0, atol=TOLERANCE)
    for found in (
        r_style.partial(fitted, "x1", inv_link=np.log, grid_resolution=4),
        r_bridge.partial(fitted, None, "x1", inv_link=np.log, grid_resolution=4),
    ):
        assert_allclose(found["yhat"], expected["yhat"], rtol=0, atol=TOLERANCE)
    compared = r_bridge.compare(fitted, "pdp", ["x1"], inv_link=np.log, grid_resolution=4)
    assert compared.max_abs_diff < TOLERANCE


def test_log_odds_need_two_classes(rows, installed):
    installed("pdp")
    X = rows[["x1", "x2"]]
    y = np.digitize(rows["y"], [0.7, 1.6])
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(OptionError, match="need two classes; this one has 3"):
        r_bridge.partial(forest, X, "x1", type="regression")
    with pytest.raises(OptionError, match="needs a classifier"):
        r_bridge.partial(lambda rows: rows["x1"], X, "x1", type="classification")
    with pytest.raises(OptionError, match="`type` must be one of"):
        r_bridge.partial(forest, X, "x1", type="regresion")
