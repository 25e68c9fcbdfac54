"""Workers and the learners' own threads share the cores."""

from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

import pyinterp as pi
from pyinterp.models import threads
from pyinterp.resampling.refits import RefitOptions


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts how many threads it was told to use, in training and when it predicts."""

    def __init__(self, n_jobs=-1):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.trained_with_ = self.n_jobs
        self.pools_ = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        return self

    def predict(self, X):
        self.predicted_with_ = self.n_jobs
        return X[:, 0]


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch):
    monkeypatch.setattr(threads, "cpu_count", lambda: 4)
    monkeypatch.setattr(RefitOptions, "jobs", property(attrgetter("n_jobs")))  # as in processes


def data():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(40, 3)), columns=["y", "x", "z"])


def fitted(recorder, n_jobs):
    with parallel_config(backend="threading"):  # the patched number of cores holds in threads
        results = fit_of("y ~ x + z", data(), recorder, pi.Bootstrap(3), n_jobs=n_jobs)
    last = [r.predictor.estimator for r in results.refits]
    return results, [e.steps[-1][1] if hasattr(e, "steps") else e for e in last]


@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: make_pipeline(StandardScaler(), r)])
@pytest.mark.parametrize(("told", "share"), [(-1, 2), (4, 2), (2, 2), (1, 1), (None, None)])
def test_learners_get_their_share_and_their_settings_back(wrap, told, share):
    results, learners = fitted(wrap(Recorder(told)), n_jobs=2)
    assert [r.trained_with_ for r in learners] == [share] * 3
    assert all(r.pools_ <= 2 for r in learners)
    results.pfi()
    assert [r.predicted_with_ for r in learners] == [share] * 3
    assert [r.n_jobs for r in learners] == [told] * 3


def test_training_without_features_takes_its_share_too():
    class Told(Recorder):
        """Predicts how many threads it was told to use, in training and when it predicts."""

        def predict(self, X):
            return np.full(len(X), 10.0 * self.trained_with_ + self.n_jobs)

    for n_jobs, expected in ((2, 22.0), (None, -11.0)):
        results, _ = fitted(Told(-1), n_jobs=n_jobs)
        with parallel_config(backend="threading"):
            results.loco()
        predicted = results.analysis.models.leave_out._predictions.values()
        assert {float(v) for p in predicted for values in p.values() for v in values} == {expected}


def test_one_worker_leaves_learners_alone():
    results, learners = fitted(Recorder(-1), n_jobs=None)
    results.pfi()
    assert [r.trained_with_ for r in learners] == [-1] * 3
    assert [r.predicted_with_ for r in learners] == [-1] * 3


def test_settings_come_back_after_an_error():
    recorder = Recorder(-1)
    seen = []

    def fail():
        seen.append(recorder.n_jobs)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"), threads.shared_cores([recorder], 2):
        fail()
    assert (seen, recorder.n_jobs) == ([2], -1)


def test_estimators_without_parameters_are_left_alone():
    with threads.shared_cores([LinearRegression().fit([[1.0], [2.0]], [1, 2]).predict], 2):
        assert max(p["num_threads"] for p in threadpool_info()) <= 2


def test_lightgbm_takes_all_cores_unless_it_is_told():
    from lightgbm import LGBMRegressor

    alone = LGBMRegressor()
    inside = make_pipeline(StandardScaler(), LGBMRegressor())
    with threads.shared_cores([alone, inside], 2):
        assert alone.n_jobs == inside.steps[-1][1].n_jobs == 2
    assert alone.n_jobs is inside.steps[-1][1].n_jobs is None
