"""Dask clusters of processes: the numbers of one process, whatever becomes of the workers."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.whatif.dispatch import ENGINES

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    # What distributed leaves open when its processes are killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        client.run(sys.path.extend, [str(Path(__file__).parent), *sys.path])
        yield client


def rows(n: int = 150, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "z", "w"])
    data["g"] = pd.Categorical(rng.choice(list("abc"), n))
    data["c"] = rng.integers(30, size=n)
    return data.assign(y=data["x"] + data["z"] * data["w"] + rng.normal(size=n))


def classes() -> pd.DataFrame:
    data = rows()
    return data.assign(y=np.where(data["y"] > 0, "p", "q"))


def counts() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    data = rows().assign(t=rng.uniform(1, 5, 150))
    return data.assign(y=rng.poisson(data["t"] * np.exp(data["x"] / 2)))


def drawn(rng: np.random.Generator) -> pd.DataFrame:
    return rows(150, int(rng.integers(2**31)))


def learner(
    data: pd.DataFrame, estimator: Any, formula: str = "y ~ x + z + w + g", **options: Any
) -> pi.Learner:
    return pi.Learner.from_formula(formula, data, estimator, **options)


FITS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "forest": lambda: (learner(rows(), RandomForestRegressor(10)), pi.HalfSampling(4, pairs=5)),
    "one model": lambda: (learner(rows(), LinearRegression()), pi.Holdout(0.6)),
    "coefficients": lambda: (
        learner(rows(), pi.statsmodels_learner(__import__("statsmodels.api").api.OLS)),
        pi.Holdout(0.6),
    ),
    "classes": lambda: (learner(classes(), LogisticRegression()), pi.Bootstrap(4)),
    "forest of classes": lambda: (
        learner(classes(), RandomForestClassifier(10)), pi.CrossValidation(3)
    ),
    "clusters": lambda: (
        learner(rows(), DecisionTreeRegressor(max_depth=3)), pi.Bootstrap(4, cluster="c")
    ),
    "splines of a refit": lambda: (
        learner(rows(), LinearRegression(), "y ~ bs(x, df=4) + z", design_state="refit",
                missing="auto"), pi.Subsampling(4, fraction=0.8)
    ),
    "fresh draws": lambda: (
        learner(rows(), LinearRegression()), pi.FreshDraws(drawn, 4)
    ),
    "distribution": lambda: (learner(rows(), BayesianRidge()), pi.Bootstrap(4)),
    "exposure": lambda: (
        learner(counts(), pi.statsmodels_learner(
            __import__("statsmodels.api").api.GLM,
            family=__import__("statsmodels.api").api.families.Poisson()), exposure="t"),
        pi.Bootstrap(4),
    ),
    "weights": lambda: (
        learner(rows().assign(t=np.arange(150) % 3 + 1.0), LinearRegression(), weights="t",
                weights_type="sampling"), pi.Bootstrap(4)
    ),
}  # fmt: skip
QUESTIONS: dict[str, Callable[[pi.LearnerResults], Any]] = {
    "pfi": lambda res: res.pfi(),
    "pfi of rows": lambda res: res.pfi(rows=np.arange(150) % 2 == 0),
    "pfi by level": lambda res: res.pfi("x", by="g"),
    "pfi by a function": lambda res: res.pfi("x", loss=lambda y, f: np.abs(y - f)),
    "importance": lambda res: res.importance(features=["x", "z"]),
    "loco": lambda res: res.loco(["x", "z"]),
    "loco of rows": lambda res: res.loco("x", rows=np.arange(150) % 2 == 0),
    "pd": lambda res: res.pd("x"),
    "surface": lambda res: res.pd(["x", "z"], together=True, points=4),
    "rate": lambda res: res.pd("x", scale="rate"),
    "slopes": lambda res: res.slopes("x"),
    "firm": lambda res: res.firm(),
    "loss": lambda res: res.loss(),
    "metric": lambda res: res.metric("r2"),
    "accuracy": lambda res: res.pfi("x", loss="accuracy"),
    "positivity": lambda res: res.positivity("x"),
    "native": lambda res: res.native_importance(),
    "entropy": lambda res: res.entropy_pfi("x"),
    "likelihood": lambda res: res.likelihood_pfi("x"),
    "causal": lambda res: res.causal("x"),
    "predict": lambda res: res.predict(rows()[:4].assign(t=1.0)),
}


def text(question: Callable[[pi.LearnerResults], Any], results: pi.LearnerResults) -> str:
    """Return all digits of an answer and its table, or the error."""
    try:
        answer = question(results)
    except pi.errors.PyinterpError as error:
        return f"{type(error).__name__}: {error}"
    if hasattr(answer, "tidy"):
        table = answer.tidy()
        if hasattr(answer, "context"):  # what a folder gave is no number
            answer = replace(answer, context=replace(answer.context, folder=""))
        digits = [str(table.to_dict("list")), str(answer.summary())]
        return "\n".join(digits)
    return str(np.asarray(answer).tolist())


@pytest.mark.parametrize("name", FITS)
def test_every_answer_is_that_of_one_process(name, client, tmp_path) -> None:
    model, plan = FITS[name]()
    here = model.fit(plan, seed=1)
    expected = {label: text(question, here) for label, question in QUESTIONS.items()}
    errors = [each for each in expected.values() if each.partition(":")[0].endswith("Error")]
    assert len(errors) < len(QUESTIONS) / 2  # more would prove little
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)
        answers = {label: text(question, there) for label, question in QUESTIONS.items()}
        others = {label: answers[label] for label in QUESTIONS if answers[label] != expected[label]}
        assert not others, {label: (answer, expected[label]) for label, answer in others.items()}
        there.save(tmp_path / "there.pyinterp")
    # Out of the context and on file the answers are the same.
    assert text(QUESTIONS["firm"], there) == expected["firm"]
    loaded = pi.load(tmp_path / "there.pyinterp")
    assert text(QUESTIONS["pfi"], loaded) == expected["pfi"]


def test_models_stay_and_can_be_brought(client) -> None:
    model, plan = FITS["forest"]()
    here = model.fit(plan, seed=1)
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)
    distant = there.refits[0].predictor.estimator
    assert isinstance(distant, DistantModel)
    assert "RandomForestRegressor on a cluster" in repr(distant)
    brought = distant.fetch()
    matrix = here.refits[0].design.encode(rows())
    expected = here.refits[0].predictor.estimator.predict(matrix)
    np.testing.assert_array_equal(brought.predict(matrix), expected)


def test_a_distant_classifier_predicts_labels(client) -> None:
    model, plan = FITS["classes"]()
    here = model.fit(plan, seed=1)
    with parallel_config("dask"):
        distant = model.fit(plan, seed=1).refits[0].predictor.estimator
    matrix = here.refits[0].design.encode(classes())
    expected = here.refits[0].predictor.estimator.predict(matrix)
    np.testing.assert_array_equal(distant.predict(matrix), expected)


def test_dropped_kept_and_sharded_fits(client, tmp_path) -> None:
    model, plan = FITS["forest"]()
    here = text(QUESTIONS["pfi"], model.fit(plan, seed=1))
    with parallel_config("dask"):
        dropped = model.fit(plan, seed=1, keep_models=False, measure="pfi")
        kept = model.fit(plan, seed=1, checkpoint=tmp_path / "kept")
        for number in (2, 1):
            model.fit(plan, seed=1, checkpoint=tmp_path / "shards", shard=(number, 2))
    joined = pi.join(tmp_path / "shards")
    for results in (dropped, kept, joined):
        assert text(QUESTIONS["pfi"], results) == here
    again = model.fit(plan, seed=1, checkpoint=tmp_path / "kept")  # without the cluster
    assert text(QUESTIONS["pfi"], again) == here


class Moody(DecisionTreeRegressor):
    """A tree that fails for some seeds."""

    def fit(self, X, y):
        if self.random_state % 3 == 0:
            raise ArithmeticError(f"no luck with {self.random_state}")
        return super().fit(X, y)


def test_failures_are_those_of_one_process(client) -> None:
    model = learner(rows(), Moody())
    with pytest.raises(pi.errors.RefitError) as here:
        model.fit(pi.Bootstrap(10), seed=1)
    with parallel_config("dask"), pytest.raises(pi.errors.RefitError) as there:
        model.fit(pi.Bootstrap(10), seed=1)
    assert str(there.value) == str(here.value)
    with parallel_config("dask"), pytest.warns(pi.errors.RefitWarning) as warned:
        there = model.fit(pi.Bootstrap(10), seed=1, on_error="drop")
    with pytest.warns(pi.errors.RefitWarning) as expected:
        here = model.fit(pi.Bootstrap(10), seed=1, on_error="drop")
    assert str(warned[0].message) == str(expected[0].message)
    assert text(QUESTIONS["pfi"], there) == text(QUESTIONS["pfi"], here)


class Large(DecisionTreeRegressor):
    """A tree of 4 MB, which should not travel."""

    def fit(self, X, y):
        self.ballast_ = np.random.default_rng(0).bytes(2**22)
        return super().fit(X, y)


def sent_by_workers(client: Client) -> int:
    """Return the bytes that workers have sent to each other, or to the client."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def test_data_travel_once_and_models_never(client, monkeypatch) -> None:
    """Bytes that this process sends, with its scheduler, and those that workers send."""
    sent, write = [0], TCP.write

    async def counted(self, *arguments, **options):
        size = await write(self, *arguments, **options)
        sent[0] += size or 0
        return size

    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(4000, 20))).add_prefix("x").assign(y=rng.normal(size=4000))
    model = learner(data, Large(max_depth=2), "y ~ .")
    size = data.to_numpy().nbytes
    monkeypatch.setattr(TCP, "write", counted)
    tries = []
    for seed in range(5):  # a worker that idles may fetch a model and its data
        before = sent_by_workers(client)
        sent[0] = 0
        with parallel_config("dask"):
            there = model.fit(pi.Bootstrap(20), seed=seed)
            there.loss()
        tries.append(sent[0] + sent_by_workers(client) - before)
        if tries[-1] < 20 * size:
            break
    # The data thrice (data, design, user's frame) to each of two, and positions: not 20 times.
    assert 2 * size < min(tries) < 20 * size
    assert min(tries) < 20 * 2**22 / 2


class Slow(DecisionTreeRegressor):
    """A tree that takes a tenth of a second."""

    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


def killed_worker(kills: int, seed: int) -> None:
    """Fit and ask while workers are killed at random times; hold that nothing changes."""
    rng = np.random.default_rng(seed)
    model, plan = learner(rows(), Slow(max_depth=3)), pi.HalfSampling(6, pairs=5)
    here = model.fit(plan, seed=1)
    ends = threading.Event()

    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        client.run(sys.path.extend, [str(Path(__file__).parent), *sys.path])
        count = 0

        def kill() -> None:
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
                    there = model.fit(plan, seed=1)
                    for label in ("pfi", "loco", "pd"):
                        assert text(QUESTIONS[label], there) == text(QUESTIONS[label], here)
        finally:
            ends.set()
            killer.join()
    assert count == kills


def test_a_killed_worker_changes_nothing() -> None:
    killed_worker(2, seed=1)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_many_killed_workers_change_nothing(seed) -> None:
    killed_worker(5, seed=100 + seed)


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=':0') as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_a_lost_cluster_is_an_error_and_the_checkpoint_goes_on(tmp_path) -> None:
    model, plan = learner(rows(), Slow(max_depth=3)), pi.Bootstrap(12)
    program = tmp_path / "scheduler.py"
    program.write_text(SCHEDULER)
    with subprocess.Popen(  # noqa: S603 - this interpreter, on the program above
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).parent)),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            with Client(address, timeout="20s") as client:
                client.run(sys.path.extend, [str(Path(__file__).parent), *sys.path])
                with parallel_config("dask"):
                    there = model.fit(plan, seed=1)
                    there.loss()

                    def end() -> None:
                        while len(list((tmp_path / "kept" / "refits").glob("[!.]*"))) < 3:
                            time.sleep(0.01)
                        os.killpg(process.pid, signal.SIGKILL)

                    killer = threading.Thread(target=end)
                    killer.start()
                    with pytest.raises(pi.errors.RefitError, match=r"of 12 refits were done"):
                        model.fit(plan, seed=1, checkpoint=tmp_path / "kept")
                    killer.join()
                    assert there.loss().summary() is not None  # measured before
                    with pytest.raises(pi.errors.RefitError, match="cluster that keeps the models"):
                        there.pfi()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    done = len(list((tmp_path / "kept" / "refits").glob("[!.]*")))
    assert 3 <= done < 12
    again = model.fit(plan, seed=1, checkpoint=tmp_path / "kept")
    assert text(QUESTIONS["pfi"], again) == text(QUESTIONS["pfi"], model.fit(plan, seed=1))


def test_results_on_a_cluster_do_not_pickle(client) -> None:
    model, plan = FITS["classes"]()
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)
    with pytest.raises(pi.errors.OptionError, match=r"`save`"):
        pickle.dumps(there)


def test_models_are_released_with_their_results(client) -> None:
    model, plan = learner(rows(), Large(max_depth=2)), pi.Bootstrap(4)

    def models() -> int:
        """Return how many of our models the processes of the cluster have."""
        return sum(client.run(living).values())

    before = models()
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)
        there.loss()
        assert models() >= before + 4  # copies may be under way
    del there
    until = time.monotonic() + 30
    while models() > before and time.monotonic() < until:
        time.sleep(0.1)
    assert models() == before  # without a collection of garbage


def living() -> int:
    return sum(
        type(each).__name__ == "Large" and hasattr(each, "ballast_") for each in gc.get_objects()
    )


class Locked(DecisionTreeRegressor):
    """A tree that can't be pickled once it is fitted."""

    def fit(self, X, y):
        self.lock_ = threading.Lock()
        return super().fit(X, y)


class Once(DecisionTreeRegressor):
    """A tree that can't be opened elsewhere, nor trained twice: the file says that it was."""

    def __init__(self, file: str = "") -> None:
        super().__init__(max_depth=2)
        self.file = file

    def fit(self, X, y):
        if Path(self.file).exists():
            raise MemoryError("no memory for a second tree")
        Path(self.file).touch()
        return super().fit(X, y)

    def __setstate__(self, state):
        if "tree_" in state:
            raise OSError("what it needs is elsewhere")
        super().__setstate__(state)


def moved(client: Client, there: pi.LearnerResults) -> None:
    """Let every process of the cluster have every model."""
    places = [refit.predictor.estimator.refit for refit in there.refits]
    client.replicate(places)
    assert {len(who) for who in client.who_has(places).values()} == {2}


def test_a_model_that_can_not_be_had_again_is_an_error(client, tmp_path) -> None:
    """Not a value that the cluster tries to open without end."""
    with parallel_config("dask"):
        there = learner(rows(), Once(str(tmp_path / "a"))).fit(pi.Holdout(0.6), seed=1)
    moved(client, there)
    place = there.refits[0].predictor.estimator.refit
    (workers,) = client.who_has([place]).values()
    asked = [client.submit(depth, place, workers=[w], pure=False) for w in workers]
    errors = [each.exception(timeout=60) for each in asked]
    assert [type(error) for error in errors if error is not None] == [MemoryError]


def depth(place: Any) -> int:
    return int(place.predictor.estimator.get_depth())


def test_what_can_not_be_pickled(client) -> None:
    model, plan, lock = learner(rows(), Locked(max_depth=2)), pi.Bootstrap(4), threading.Lock()
    here = model.fit(plan, seed=1)
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)  # its models need not travel
        assert text(QUESTIONS["pfi"], there) == text(QUESTIONS["pfi"], here)
        # A busy process's work moves to another, and the model after it.
        moved(client, there)
        for _ in range(3):
            assert text(QUESTIONS["pfi"], there) == text(QUESTIONS["pfi"], here)
        with pytest.raises(pi.errors.OptionError, match="can't be pickled"):
            there.pfi(loss=lambda y, f: np.abs(y - f) if lock else y)
        distant = there.refits[0].predictor.estimator
        with pytest.raises(pi.errors.OptionError, match="fetch"):
            pi.FittedModel(distant, rows()[["x", "z"]], rows()["y"])


class Neighbors(pi.ExactWhatIf):
    """An engine of neighbors."""

    name = "neighbors"

    @staticmethod
    def read(model, kind):  # noqa: ARG004
        return model if isinstance(model, KNeighborsRegressor) else None

    def table(self, rows, columns, values):
        copies = np.repeat(rows[:, None], len(values), axis=1)
        copies[:, :, columns] = values
        return self.model.predict(copies.reshape(-1, rows.shape[1])).reshape(copies.shape[:2])


def test_engines_of_the_user_go_with_the_work(client, monkeypatch) -> None:
    monkeypatch.setitem(ENGINES, "neighbors", Neighbors)
    model, plan = learner(rows(), KNeighborsRegressor(), "y ~ x + z"), pi.Bootstrap(4)
    here = text(QUESTIONS["pfi"], model.fit(plan, seed=1))
    assert "neighbors" in here
    with parallel_config("dask"):
        there = model.fit(plan, seed=1)
        assert text(QUESTIONS["pfi"], there) == here
        dropped = model.fit(plan, seed=1, keep_models=False, measure="pfi")
        assert text(QUESTIONS["pfi"], dropped) == here
