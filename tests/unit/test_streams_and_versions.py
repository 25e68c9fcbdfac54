"""Streams of the process in training, versions of processes, and engines of refits."""

import pickle
import random
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

import pyinterp as pi
from pyinterp.errors import OptionError, PredictionError
from pyinterp.learner import models_here
from pyinterp.parallel import jobs
from pyinterp.parallel.pickles import content_of

PLAN = pi.Subsampling(3)


@pytest.fixture
def data():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["y", "x", "z"])


class Draws(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        first = np.random.normal()  # noqa: NPY002 - as learners do
        time.sleep(0.002)  # other threads may draw
        self.value_ = first + random.random() + np.random.normal()  # noqa: NPY002, S311
        return self

    def predict(self, X):
        return self.value_ * np.asarray(X)[:, 0]


@pytest.mark.parametrize("options", [{}, {"reseed": False}])
def test_streams_repeat_and_go_on_as_before(options, data):
    learner = pi.Learner.from_formula("y ~ x + z", data, Draws())

    def values():
        refits = learner.fit(PLAN, seed=1, **options).refits
        return [refit.predictor.estimator.value_ for refit in refits]

    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    first = values()
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002
    np.random.seed(99)  # noqa: NPY002
    assert values() == first
    assert len(set(first)) == 3


class OnlySome(Draws):
    def fit(self, X, y):
        self.value_ = 0.0
        return super().fit(X, y) if random.random() < 0.5 else self  # noqa: S311


class SeedsItself(Draws):
    def fit(self, X, y):
        np.random.seed(len(y))  # noqa: NPY002
        return super().fit(X, y)


class DrawsTorch(Draws):
    def fit(self, X, y):
        torch = pytest.importorskip("torch")
        self.value_ = float(sum(time.sleep(0.002) or torch.randn(1) for _ in range(3)))
        return self


SHUFFLED = GridSearchCV(Lasso(), {"alpha": [0.01, 0.1]}, cv=KFold(3, shuffle=True))


@pytest.mark.parametrize("learner", [Draws(), OnlySome(), SeedsItself(), DrawsTorch(), SHUFFLED])
def test_streams_are_the_same_in_one_process_several_and_threads(learner, data):
    fit = partial(pi.Learner.from_formula("y ~ x + z", data, learner).fit, PLAN, seed=1)

    def numbers(**options):
        res = fit(**options)
        return [*res.pfi(permutations=2).params, *res.pd("x", points=2).params, *res.loco().params]

    alone = numbers()
    with joblib.parallel_config("threading"):
        assert numbers(n_jobs=3) == alone
        question = pi.ask("pd", "x", points=2)
        dropped = fit(n_jobs=3, keep_models=False, measure=[question])
        assert [*dropped.answer(question).params] == alone[2:4]
    with joblib.parallel_config("loky"):
        assert numbers(n_jobs=2) == alone
    with ThreadPoolExecutor(3) as users:  # of one process
        assert [*users.map(lambda _: numbers(), range(3))] == [alone] * 3


class LoadsTorch(Draws):
    def fit(self, X, y):
        sys.modules["torch"] = LoadsTorch.torch
        self.value_ = float(self.torch.randn(1))
        return self


def test_a_learner_that_loads_torch_as_it_is_trained_repeats(data, monkeypatch):
    LoadsTorch.torch = pytest.importorskip("torch")
    values = []
    for present in (False, False, True):
        if not present:
            monkeypatch.delitem(sys.modules, "torch")
        learner = pi.Learner.from_formula("y ~ x + z", data, LoadsTorch())
        refits = learner.fit(PLAN, seed=1).refits
        values.append([refit.predictor.estimator.value_ for refit in refits])
    assert values[0] == values[1] == values[2]


def test_processes_of_other_versions_are_refused(monkeypatch):
    there = pickle.dumps(jobs._Call())
    assert content_of(pickle.loads(there).do(lambda: 1)) == 1  # noqa: S301 - ours
    monkeypatch.setattr(joblib, "__version__", "0.1")
    with pytest.raises(OptionError, match=r"one has \{'joblib': '0.1'\}: install the same"):
        pickle.loads(there).do(lambda: 1)  # noqa: S301 - ours


def test_refits_that_other_engines_answer_are_refused(data, monkeypatch):
    fit = pi.Learner.from_formula("y ~ x + z", data, LinearRegression()).fit
    calls = iter(range(9))
    dispatch = models_here.dispatch

    def mixed(*arguments, engine, **options):
        one = dispatch(*arguments, engine="batched" if next(calls) == 1 else engine, **options)
        one.engine = one.engine._replace(reason="own" * (one.engine.name == "batched"))
        return one

    monkeypatch.setattr(models_here, "dispatch", mixed)
    with pytest.raises(PredictionError, match=r"One engine must answer for all refits.*batched"):
        fit(PLAN, seed=1).pfi()


SCRIPT = """
class Own(Ridge):
    def fit(self, X, y):
        self.alpha = 10.0 ** size
        return super().fit(X, y)
"""


def test_folders_and_processes_leave_classes_of_a_script_as_they_are(data, tmp_path):
    """Pickles bring their methods with the globals of then."""
    script = {"__name__": "__main__", "Ridge": Ridge, "size": 0}
    exec(SCRIPT, script)  # noqa: S102
    learner = pi.Learner.from_formula("y ~ x + z", data, script["Own"]())
    options = {"seed": 1, "progress": False, "checkpoint": tmp_path}
    learner.fit(PLAN, **options)
    learner.fit(PLAN, **options)
    script["size"] = 3
    with pytest.raises(OptionError, match="keeps refits of another learner"):
        learner.fit(PLAN, **options)
    found = []
    for jobs_, script["size"] in ((2, 3), (2, 1), (1, 1)):
        found.append(learner.fit(PLAN, seed=1, n_jobs=jobs_).pfi().params)
    assert found[2].equals(found[1])
    assert not found[2].equals(found[0])


def test_a_method_that_is_replaced_in_a_model_counts(data):
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    assert pi.FittedModel(model, data, "y").pfi().engine.name == "linear, exact"
    model.predict = lambda X: np.minimum(LinearRegression.predict(model, X), 1e3)
    assert pi.FittedModel(model, data, "y").pfi().engine.name == "batched"


def test_a_refit_copied_over_another_is_made_again(data, tmp_path):
    fit = pi.Learner.from_formula("y ~ x + z", data, LinearRegression()).fit
    one = fit(PLAN, seed=1, checkpoint=tmp_path).pfi().tidy()
    refits = tmp_path / "refits"
    shutil.copy(refits / "000001.pickle", refits / "000002.pickle")
    again = fit(PLAN, seed=1, checkpoint=tmp_path)
    assert again.analysis.context.folder == "2 of 3 refits, proven"
    pd.testing.assert_frame_equal(again.pfi().tidy(), one, check_exact=True)


def test_other_settings_are_named_where_predictions_are_the_same(data, tmp_path):
    options = {"seed": 1, "progress": False, "checkpoint": tmp_path}
    pi.Learner.from_formula("y ~ x + z", data, LinearRegression()).fit(PLAN, **options)
    other = pi.Learner.from_formula("y ~ x + z", data, LinearRegression(tol=0.5))
    text = " ".join(str(other.fit(PLAN, **options).pfi().summary()).split())
    assert "Refits of the folder had other settings: tol 1e-06 there, 0.5 here." in text
