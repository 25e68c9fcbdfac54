"""What users keep is data: it survives pickle, cloudpickle and deepcopy, and shows the same."""

import copy
import pickle

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier

import pyinterp as pi
from pyinterp.losses.rowwise import LOSSES

WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 - our own bytes
    "cloudpickle": lambda value: cloudpickle.loads(cloudpickle.dumps(value)),
    "deepcopy": copy.deepcopy,
}
ASKED = {
    "loss": lambda r: r.loss(),
    "pfi": lambda r: r.pfi(),
    "rmse": lambda r: r.pfi(metric="rmse"),
    "pd": lambda r: r.pd("x", points=3),
    "cvim": lambda r: r.cvim("x", sampler="subgroup"),
    "importance": lambda r: r.importance(["pfi", "mvim"]),
    "causal": lambda r: r.causal("x", points=3, sampler="subgroup"),
    "native": lambda r: r.native_importance(),
    "loco": lambda r: r.loco(),
    "own": lambda r: r.estimate(pi.mean_over_rows(squared, "squared error")),
    "compared": lambda r: pi.compare(r.pfi(), r.pfi(loss="squared")),
}


def squared(y, prediction):
    return (y - prediction) ** 2


def halved(x):
    return x / 2


@pytest.fixture(scope="module")
def learner():
    """A formula with functions, splines, categories and a function of ours."""
    rng, data = normal_rows(60, "x z")
    data["g"] = rng.permutation(np.repeat(["a", "b", "c"], 20))
    data["y"] = data["x"] + rng.normal(size=60)
    formula = "np.sinh(y) ~ halved(x) + cr(z, df=3) + C(g, Sum) + scale(x):z"
    return pi.Learner.from_formula(formula, data, LinearRegression())


@pytest.fixture(scope="module")
def fitted(learner):
    return learner.fit(pi.CrossValidation(3), seed=1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("asked", ASKED)
def test_results(asked, way, fitted):
    results = ASKED[asked](fitted)
    assert str(WAYS[way](results).summary()) == str(results.summary())


@pytest.mark.parametrize("way", WAYS)
def test_learners_and_fitted_models_answer_as_before(way, learner, fitted):
    again = WAYS[way](fitted)
    assert str(again.pfi().summary()) == str(fitted.pfi().summary())
    assert str(again.pd("z", points=3).summary()) == str(fitted.pd("z", points=3).summary())
    refitted = WAYS[way](learner).fit(pi.CrossValidation(3), seed=1)
    assert str(refitted.pfi().summary()) == str(fitted.pfi().summary())
    model = learner.fit_model(seed=1)
    assert str(WAYS[way](model).pfi().summary()) == str(model.pfi().summary())


def test_models_that_exact_engines_have_read(learner):
    data = learner.sample.variables
    forest = RandomForestRegressor(5, random_state=0).fit(data[["x", "z"]], data["x"])
    model = pi.FittedModel(forest, data[["x", "z"]], data["x"])
    table = str(model.pfi().summary())
    again = WAYS["pickle"](model)
    assert str(again.pfi().summary()) == table
    assert again.pfi().engine.name == "trees, exact"


CLASSIFIERS = {
    "two classes": lambda: (LogisticRegression(), np.repeat(["no", "yes"], 30)),
    "three classes": lambda: (LogisticRegression(), np.repeat(["a", "b", "c"], 20)),
    "labels": lambda: (SGDClassifier(random_state=0), np.repeat(["no", "yes"], 30)),
    "forest": lambda: (RandomForestClassifier(4, random_state=0), np.repeat([1, 2, 3], 20)),
    "statsmodels": lambda: (pi.statsmodels_learner(sm.Logit), np.tile([0, 1], 30)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_answer_as_before(name, way):
    estimator, y = CLASSIFIERS[name]()
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"]).assign(y=rng.permutation(y))
    learner = pi.Learner.from_formula("y ~ x + z", data, estimator)
    for fitted in (learner.fit(pi.CrossValidation(3), seed=1), learner.fit_model(seed=1)):
        assert str(WAYS[way](fitted).pfi().summary()) == str(fitted.pfi().summary())


def test_a_function_of_probabilities_answers_as_before():
    rows = pd.DataFrame({"x": np.linspace(-2, 2, 30)})
    y = np.where(rows["x"] > 0, "yes", "no")
    model = pi.FittedModel(expit, rows, y, classes=["no", "yes"])
    again = WAYS["pickle"](model)
    assert str(again.pfi().summary()) == str(model.pfi().summary())


def expit(rows):
    return 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))


def test_asking_with_a_lambda_does_not_keep_results_from_being_pickled(fitted):
    fitted.estimate(pi.mean_over_rows(lambda y, prediction: y - prediction, "bias"))
    again = WAYS["pickle"](fitted)
    assert str(again.pfi().summary()) == str(fitted.pfi().summary())


def test_an_equal_loss_takes_the_same_path():
    """That of all pairs, without Monte Carlo error, whatever copy of the loss it is."""
    _, data = normal_rows(3000, "x")
    model = LinearRegression().fit(data, data["x"])
    copied = WAYS["pickle"](LOSSES["squared"])
    results = [pi.FittedModel(model, data, data["x"] + 1).pfi(loss=x) for x in ("squared", copied)]
    assert results[0].params.equals(results[1].params)
    assert (results[1].mcse == 0).all()
