"""Dask clusters of processes: the numbers of one process, whatever becomes of the workers."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from asks import asks
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    # What distributed leaves open when its processes are killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
FOLDER = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        client.run(sys.path.extend, [FOLDER, *sys.path])
        yield client


def rows(*, classes=False):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=["x", "z", "w"])
    data["g"] = pd.Categorical(rng.choice(list("abc"), 150))
    y = data["x"] + data["z"] * data["w"] + rng.normal(size=150)
    return data.assign(y=np.where(y > 0, "p", "q") if classes else y)


def learner(estimator, *, classes=False):
    return pi.Learner.from_formula("y ~ x + z + w + g", rows(classes=classes), estimator)


QUESTIONS = asks(
    "pfi()", "pfi('x', by='g')", "importance(features=['x', 'z'])", "loco(['x', 'z'])", "pd('x')",
    "loss()",
)  # fmt: skip


def table(results, question="pfi()"):
    """Return all digits of an answer."""
    return str(QUESTIONS[question](results).tidy().to_dict("list"))


@pytest.mark.parametrize("classes", [False, True])
def test_every_answer_is_that_of_one_process(classes, client):
    model = learner(LogisticRegression() if classes else RandomForestRegressor(10), classes=classes)
    here = model.fit(pi.HalfSampling(4, pairs=5), seed=1)
    with parallel_config("dask"):
        there = model.fit(pi.HalfSampling(4, pairs=5), seed=1)
        answers = {question: table(there, question) for question in QUESTIONS}
    assert answers == {question: table(here, question) for question in QUESTIONS}


def test_dropped_kept_and_sharded_fits(client, tmp_path):
    model, plan = learner(RandomForestRegressor(10)), pi.HalfSampling(4, pairs=5)
    here = table(model.fit(plan, seed=1))
    with parallel_config("dask"):
        dropped = model.fit(plan, seed=1, keep_models=False, measure="pfi")
        model.fit(plan, seed=1, checkpoint=tmp_path / "kept")
        for number in (2, 1):
            model.fit(plan, seed=1, checkpoint=tmp_path / "shards", shard=(number, 2))
    again = model.fit(plan, seed=1, checkpoint=tmp_path / "kept")  # without the cluster
    for results in (dropped, again, pi.join(tmp_path / "shards")):
        assert table(results) == here


class Slow(DecisionTreeRegressor):
    """A tree that takes a quarter of a second, so that joblib makes no batches."""

    def fit(self, X, y):
        time.sleep(0.25)
        return super().fit(X, y)


def killed_worker(kills, seed):
    """Fit while workers are killed at random times; hold that nothing changes."""
    rng = np.random.default_rng(seed)
    model, plan = learner(Slow(max_depth=3)), pi.HalfSampling(6, pairs=5)
    here = table(model.fit(plan, seed=1))
    ends, count = threading.Event(), 0
    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        client.run(sys.path.extend, [FOLDER, *sys.path])

        def kill():
            nonlocal count
            while count < kills and not ends.wait(rng.uniform(0.3, 1.5)):
                pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
                if pids:
                    os.kill(int(rng.choice(pids)), signal.SIGKILL)
                    count += 1

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            with parallel_config("dask"):
                while count < kills:
                    assert table(model.fit(plan, seed=1)) == here
        finally:
            ends.set()
            killer.join()


def test_a_killed_worker_changes_nothing():
    killed_worker(2, seed=1)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_many_killed_workers_change_nothing(seed):
    killed_worker(5, seed=100 + seed)
