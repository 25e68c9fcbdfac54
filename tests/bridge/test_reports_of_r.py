"""Importances that models of R report themselves are R's own numbers."""

import numpy as np
import pandas as pd
import pytest
from shared import normal_rows

import pyinterp as pi
from pyinterp.errors import OptionError
from r_bridge import RCallError, RCode, RLearner, RModel
from r_bridge.session import SESSION

pytestmark = pytest.mark.usefixtures("r")

N = 60
NAMES = ["z", "x", "u", "g"]  # in another order than in formulas


@pytest.fixture(scope="module")
def data():
    rng, frame = normal_rows(N, "x z u", 4)
    frame["g"] = pd.Categorical(rng.choice(list("abc"), N))
    frame["y"] = frame["x"] + (frame["g"] == "b") + rng.normal(size=N)
    return frame.assign(k=pd.Categorical(np.where(frame["y"] > 0, "u", "v")))


@pytest.fixture(autouse=True)
def in_r(data):
    SESSION.call("assign", "d", data, envir=RCode("globalenv()"))
    yield
    SESSION.evaluate("rm(list = intersect(c('d', 'm'), ls(globalenv())), envir = globalenv())")


RANGER = "ranger::ranger({f}, d, num.trees = 20, probability = {classes}, importance = "
# How R fits, and where it has the importances of x, z and g.
FITS = {
    "forest": ("randomForest::randomForest({f}, d, ntree = 20)", "m$importance[, 1]"),
    "permuted": (
        "randomForest::randomForest({f}, d, ntree = 20, importance = TRUE)",
        "m$importance[, ncol(m$importance) - 1]",
    ),
    "impurity": (RANGER + "'impurity')", "m$variable.importance"),
    "permutation": (RANGER + "'permutation')", "m$variable.importance"),
    "tree": ("rpart::rpart({f}, d)", "m$variable.importance"),
    "boosting": ("gbm::gbm({f}, 'gaussian', d, n.trees = 9)", "gbm::relative.influence(m, 9)"),
}
CASES = [(what, response) for what in FITS for response in "yk" if what + response != "boostingk"]
# What R calls them.
CALLED = {
    ("forest", "y"): "IncNodePurity",
    ("forest", "k"): "MeanDecreaseGini",
    ("permuted", "y"): "%IncMSE",
    ("permuted", "k"): "MeanDecreaseAccuracy",
    ("impurity", "y"): "impurity",
    ("permutation", "k"): "permutation",
}


@pytest.mark.parametrize(("what", "response"), CASES)
def test_they_are_those_of_r(what, response, data, r, debian):
    fit, where = FITS[what]
    debian(fit)
    code = fit.format(f=f"{response} ~ x + z + g", classes="TRUE" if response == "k" else "FALSE")
    SESSION.evaluate(f"evalq({{set.seed(1); m <- {code}}}, globalenv())")
    model = pi.FittedModel(RModel("m"), data[NAMES], data[response])
    found = model.native_importance()
    own = dict(zip(r(f"names({where})"), r(f"unname({where})"), strict=True))
    expected = [own.get(name, 0.0) for name in found.params.index]
    assert sorted(found.params.index) == ["g", "x", "z"]
    np.testing.assert_array_equal(found.params, expected)
    assert CALLED.get((what, response), "") in found.estimand.description


@pytest.mark.parametrize("importance", ["impurity", "permutation"])
def test_a_learner_reports_the_mean_over_its_refits(importance, data, debian):
    debian("ranger")
    odd = data.rename(columns={"x": "a b"})[["z", "a b", "g"]]  # not a name of R
    learner = RLearner("ranger::ranger", num_trees=20, importance=importance)
    results = pi.Learner(data["y"], odd, learner).fit(pi.CrossValidation(3), seed=1)
    each = [refit.predictor.estimator.feature_importances_ for refit in results.refits]
    assert list(results.native_importance().params.index) == list(odd)
    np.testing.assert_allclose(results.native_importance().params, np.mean(each, axis=0))
    assert results.native_importance().params.idxmax() == "a b"
    assert importance in str(results.importance(["pfi", "native"]).summary())


def test_a_forest_that_was_not_asked_for_them_says_how(data, debian):
    debian("ranger", "rpart")
    ranger = pi.Learner(data["y"], data[["x", "g"]], RLearner("ranger::ranger", num_trees=5))
    with pytest.raises(RCallError, match='fit it with importance = "impurity"'):
        ranger.fit_model().native_importance()
    SESSION.evaluate("evalq(m <- rpart::rpart(y ~ exp(x) + z, d), globalenv())")
    terms = pi.FittedModel(RModel("m"), data[["x", "z"]])
    with pytest.raises(RCallError, match=r"importances of terms such as exp\(x\)"):
        terms.native_importance()


def test_models_that_report_none_are_told_apart(data):
    lm = pi.Learner(data["y"], data[["x", "g"]], RLearner("stats::lm")).fit_model()
    with pytest.raises(OptionError, match=r"stats::lm reports no importance of its own"):
        lm.native_importance()
