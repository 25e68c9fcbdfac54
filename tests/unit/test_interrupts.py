"""Ctrl-C in any phase: control comes back soon, no worker is left, and the next call works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.parallel import jobs as parallel
from pyinterp.whatif import batches, trees
from pyinterp.whatif.walks import squared_pairs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# Five seconds are promised; other tests may load the machine meanwhile.
SOON = 15.0

PROGRAM = """
import time
import numpy as np, pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
import pyinterp as pi
from pyinterp.simulation import CoverageStudy, decompose, molnar_linear

class Slow(RegressorMixin, BaseEstimator):
    def __init__(self, fits=0.0, predicts=0.0):
        self.fits, self.predicts = fits, predicts
    def fit(self, X, y):
        time.sleep(self.fits)
        return self
    def predict(self, X):
        time.sleep(self.predicts * (len(X) > 100))
        return np.asarray(X)[:, 0]

data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["y", "x", "z"])

def learner(**slow):
    return pi.Learner.from_formula("y ~ .", data, Slow(**slow))

def fitted(plan, **slow):
    return learner(**slow).fit(plan, seed=1, n_jobs=N_JOBS)

def prepared(phase):
    if phase == "fit":
        return lambda: fitted(pi.Bootstrap(40), fits=1.0)
    if phase == "loco":
        results = fitted(pi.Bootstrap(40))
        results.analysis.leave_out.estimator.fits = 1.0
        return results.loco
    if phase == "study":
        study = CoverageStudy(
            dgps=[molnar_linear()], learners={"slow": Slow(0.5)}, n=[50], block=2,
            estimands={"pfi": pi.LearnerResults.pfi}, resamplings={"b": pi.Bootstrap(3)},
            cov_types={"b": ["corrected"]}, repetitions=100, truth_refits=100,
        )
        return lambda: study.run(FILE, N_JOBS)
    if phase == "decompose":
        return lambda: decompose(molnar_linear(), Slow(0.5), "pfi", n_jobs=N_JOBS)
    results = fitted(pi.Bootstrap(6), predicts=0.5)
    return getattr(results, phase)

if __name__ == "__main__":
    begin = prepared(PHASE)
    print("begun", flush=True)
    begin()
"""


def interrupted(program: str, path: Path, after: float) -> tuple[float, int, str]:
    """Run a program, send Ctrl-C to its process group, and return how it ended.

    Seconds until its last process has ended, its code, and what it wrote besides "begun".
    """
    file = path / "program.py"
    file.write_text(program)
    with subprocess.Popen(  # noqa: S603 - this interpreter, on the program above
        [sys.executable, file],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(after)
            start = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            # Workers hold the pipe: it ends with the last of them.
            written, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return time.monotonic() - start, process.returncode, written


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("phase", ["fit", "pfi", "loco", "study"])
def test_a_program_ends_with_one_traceback_and_no_worker(phase, n_jobs, tmp_path) -> None:
    settings = f"PHASE, N_JOBS, FILE = {phase!r}, {n_jobs}, {str(tmp_path / 'study')!r}\n"
    seconds, code, written = interrupted(settings + PROGRAM, tmp_path, after=1.0)
    assert seconds < SOON
    assert code == -signal.SIGINT
    assert written.count("Traceback") == 1, written
    # On a busy machine joblib's tracker may report a semaphore that is gone already.
    lines = [
        line
        for line in written.splitlines()
        if "resource_tracker" not in line and "warnings.warn(" not in line
    ]
    assert lines[-1] == "KeyboardInterrupt"
    assert not [line for line in lines if "Warning" in line]


@pytest.mark.parametrize("after", [0.2, 0.6])
def test_workers_that_are_just_starting_write_nothing(after, tmp_path) -> None:
    settings = "PHASE, N_JOBS = 'fit', 2\n"
    _, _, written = interrupted(settings + PROGRAM, tmp_path, after)
    assert written.count("Traceback") == 1, written


def data(n: int) -> pd.DataFrame:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 4)), columns=list("yabc"))
    return frame.assign(y=frame["a"] + frame["y"])


def neighbors(n_jobs: int | None) -> pi.LearnerResults:
    learner = pi.Learner.from_formula("y ~ .", data(200), KNeighborsRegressor(n_jobs=4))
    with parallel_config(backend="threading"):
        return learner.fit(pi.Subsampling(4), seed=1, n_jobs=n_jobs, memory_mb=200 * 96 / 2**20)


def ctrl_c() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("question", ["pfi", "firm"])
def test_the_next_call_gives_the_numbers_of_an_undisturbed_one(
    question, n_jobs, monkeypatch
) -> None:
    predict, calls, disturbs = KNeighborsRegressor.predict, [], []

    def disturbed(self, X):
        if disturbs:
            calls.append(len(X))
            if len(calls) == 4:
                ctrl_c()
            time.sleep(0.05)
        return predict(self, X)

    monkeypatch.setattr(KNeighborsRegressor, "predict", disturbed)
    results = neighbors(n_jobs)
    results.loss()  # predicts the rows as they are
    disturbs.append(True)
    with pytest.raises(KeyboardInterrupt):
        getattr(results, question)(["a", "b"])
    made = len(calls)
    time.sleep(0.3)
    disturbs.clear()
    assert len(calls) == made < 10, "a thread goes on predicting"
    assert max(calls) <= 200
    assert [r.predictor.estimator.n_jobs for r in results.refits] == [4] * 4
    again, undisturbed = (getattr(r, question)(["a", "b"]) for r in (results, neighbors(n_jobs)))
    pd.testing.assert_frame_equal(again.summary_frame(), undisturbed.summary_frame())


def test_no_call_of_ours_lasts_long(monkeypatch) -> None:
    frame, rows, walked = data(1500), [], []

    def predict(X):
        rows.append(len(X))
        return np.asarray(X)[:, 0]

    def walk(*arguments):
        walked.append(len(arguments[3]))
        return squared_pairs(*arguments)

    monkeypatch.setattr(trees, "squared_pairs", walk)
    X, y = frame[["a", "b"]], frame["y"]
    pi.FittedModel(predict, X, y).pfi("a")
    assert max(rows) <= batches.MOST_ROWS < sum(rows)
    pi.FittedModel(DecisionTreeRegressor(max_depth=3).fit(X, y), X, y).pfi("a")
    assert max(walked) < len(frame) == sum(walked)


def test_threads_that_fit_begin_no_further_fit() -> None:
    begun = []

    class Counted(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            begun.append(1)
            if len(begun) == 3:
                ctrl_c()
            time.sleep(0.2)
            return self

        def predict(self, X):
            return X[:, 0]

    learner = pi.Learner.from_formula("y ~ .", data(50), Counted())
    with parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
        learner.fit(pi.Bootstrap(50), n_jobs=2)
    fits = len(begun)
    time.sleep(0.5)
    assert len(begun) == fits < 10


def do(jobs: list[Callable[[], None]], n_jobs: int = 2) -> None:
    """Do jobs in threads."""
    with parallel.outcomes(
        jobs, len(jobs), n_jobs=n_jobs, label="", progress=False, in_memory=True
    ) as done:
        list(done)


def test_control_comes_back_before_a_call_that_lasts_and_the_next_waits_for_it(monkeypatch) -> None:
    monkeypatch.setattr(parallel, "PATIENCE", 0.1)
    release, order = threading.Event(), []

    def lasting() -> None:
        release.wait(60)
        order.append("former")

    def interrupting() -> None:
        time.sleep(0.2)
        ctrl_c()
        lasting()

    with pytest.raises(KeyboardInterrupt):
        do([lasting, interrupting])
    assert order == []
    threading.Timer(0.3, release.set).start()
    do([partial(order.append, "next")], n_jobs=1)
    assert order == ["former", "former", "next"]


def test_jobs_of_jobs_stop_with_the_call(monkeypatch) -> None:
    monkeypatch.setattr(parallel, "PATIENCE", 10.0)
    asked = []

    def inner() -> None:
        while True:
            asked.append(1)
            if len(asked) == 20:
                ctrl_c()
            time.sleep(0.02)
            parallel.go_on()

    with pytest.raises(KeyboardInterrupt):
        do([partial(do, [inner, inner])] * 2)
    count = len(asked)
    time.sleep(0.2)
    assert len(asked) == count >= 20


UNWRITABLE = """
import warnings
warnings.simplefilter("error")
import numba.core.caching as caching
def refuse(self): raise OSError("read-only")
for locator in caching.CacheImpl._locator_classes:
    locator.ensure_cache_path = refuse
import numpy as np
from pyinterp.whatif.walks.bits import lowest
print(lowest(np.uint64(8)))
"""


def test_walks_are_compiled_where_no_folder_can_keep_them() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", UNWRITABLE], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("3\n", "")
