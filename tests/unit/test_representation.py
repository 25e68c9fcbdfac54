"""What users meet shows itself in a line that can be read, evaluated where it is a call."""

import inspect
from functools import cache, partial

import numpy as np
import pytest
from by_refit import estimates_of
from fits import fit_of
from shared import normal_rows
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

import pyinterp as pi
from pyinterp import distributions, samplers, simulation
from pyinterp.representation import call_form

LONGEST = 160
NAMES = {
    **vars(pi.samplers),
    **{name: getattr(pi, name) for name in pi.__all__},
    "RGrid": pi.r_style.RGrid,
    **{name: getattr(distributions, name) for name in distributions.__all__},
    "KFold": KFold,
    "RandomForestRegressor": RandomForestRegressor,
}


def constant(fitted, X):
    return np.ones((len(X), 2))


def absolute(y, prediction):
    return abs(y - prediction)


@cache
def data():
    rng, frame = normal_rows(60, "a b", 3)
    return frame.assign(y=frame.a + rng.normal(size=60))


@cache
def fitted():
    return fit_of("y ~ a + b", data(), LinearRegression(), pi.HalfSampling(3, pairs=5))


def classifier():
    X, y = data()[["a", "b"]], data()["y"] > 0
    return pi.FittedModel(LogisticRegression().fit(X, y), X, y)


def one_model():
    model = LinearRegression().fit(data()[["a", "b"]], data()["y"])
    return pi.FittedModel(model, data()[["a", "b"]], data()["y"])


# As they are called: these can be evaluated again.
CALLS = {
    "Bootstrap": pi.Bootstrap,
    "Subsampling": partial(pi.Subsampling, 20, fraction=0.8),
    "HalfSampling": partial(pi.HalfSampling, pairs=8, cluster="school"),
    "Holdout": partial(pi.Holdout, 0.5),
    "CrossValidation": partial(pi.CrossValidation, 5, repeats=2),
    "NestedBootstrap": partial(pi.NestedBootstrap, 30, splits=3),
    "Splits": lambda: pi.Splits(KFold(5), cluster="school"),
    "RGrid": partial(pi.r_style.RGrid, quantiles=True, cats=["a"]),
    "Categorical": samplers.Categorical,
    "Knockoff": samplers.Knockoff,
    "Residual": lambda: samplers.Residual(RandomForestRegressor(20), within_range=True),
    "Subgroup": partial(samplers.Subgroup, 10),
    "Gamma": distributions.Gamma,
    "LogNormal": distributions.LogNormal,
    "Normal": distributions.Normal,
    "NormalMixture": partial(distributions.NormalMixture, 3),
    "Poisson": distributions.Poisson,
}
# In a line that says what they are.
LINES = {
    "FreshDraws": lambda: pi.FreshDraws(lambda _: data()),
    "Distributional": lambda: pi.Distributional(LinearRegression(), constant),
    "EarlyStopping": lambda: pi.EarlyStopping(LinearRegression()),
    "Estimand": lambda: fitted().pfi().estimand,
    "Question": lambda: pi.ask("pd", "a", points=3),
    "Estimate": lambda: estimates_of(fitted(), fitted().pfi())[0],
    "Words": lambda: fitted().pfi().estimand.words,
    "Parameter": lambda: fitted().pfi().estimand.parameter,
    "Terms": lambda: fitted().pd("a").estimand.terms,
    "FittedModel": one_model,
    "Learner": lambda: fitted().model,
    "LearnerResults": fitted,
    "Loss": lambda: pi.Loss("absolute error", absolute),
    "Metric": lambda: fitted().metric("rmse").estimand.score,
}
# Results show their table.
TABLES = {
    "EstimandResults": lambda: fitted().pfi(),
    "CurveResults": lambda: fitted().pd(),
    "ImportanceResults": lambda: fitted().importance(["pfi", "loco"]),
    "CausalResults": lambda: fitted().causal("a"),
    "UncertaintyResults": lambda: classifier().uncertainty(),
    "Table": lambda: fitted().pfi().summary(),
}
OTHERS = {"Distribution"}  # which has no instance


@pytest.mark.parametrize("name", CALLS)
def test_a_call_can_be_evaluated_and_leaves_defaults_out(name):
    value = CALLS[name]()
    text = repr(value)
    again = eval(text, NAMES)  # noqa: S307
    assert type(again) is type(value)
    assert repr(again) == text
    assert len(text) < LONGEST


@pytest.mark.parametrize("name", LINES)
def test_other_objects_say_what_they_are_in_a_line(name):
    text = repr(LINES[name]())
    assert " at 0x" not in text
    assert "\n" not in text
    assert "array(" not in text
    assert 0 < len(text) < LONGEST


@pytest.mark.parametrize("name", TABLES)
def test_results_show_their_table(name):
    text = repr(TABLES[name]())
    assert " at 0x" not in text
    assert "====" in text


def test_no_public_class_is_left_out():
    classes = {n for f in (pi, distributions) for n in f.__all__ if inspect.isclass(getattr(f, n))}
    assert classes <= {*CALLS, *LINES, *TABLES, *OTHERS}


def test_settings_that_are_not_defaults_are_there():
    assert repr(pi.Bootstrap()) == "Bootstrap()"
    assert repr(pi.Subsampling(15, fraction=0.8)) == "Subsampling(fraction=0.8)"
    plan = pi.HalfSampling(cluster=np.arange(60))
    assert repr(plan) == "HalfSampling(cluster=<ndarray of shape (60,)>)"
    assert repr(pi.Splits([(0, 1)] * 3)) == "Splits(splits=[(0, 1), (0, 1), (0, 1)])"
    assert call_form(pi.FreshDraws(constant)) == "FreshDraws(generator=constant)"


def test_names_of_modules_are_no_public_names():
    for folder in (pi, simulation):
        assert not {"Any", "TYPE_CHECKING", "annotations", "importlib"} & set(dir(folder))
