"""Ctrl-C in any phase: control comes back soon, no worker is left, and the next call works."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.parallel import jobs as parallel
from pyinterp.whatif import trees, whatif
from pyinterp.whatif.walks.cross import summed_pairs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# Seconds after which a test gives up; a busy machine takes a part of them, an idle one none.
LIMIT = 120.0


@pytest.fixture(autouse=True)
def heard():
    """Hear Ctrl-C, here and in programs: what a script starts with "&" is born ignoring it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if former is not None:
        signal.signal(signal.SIGINT, former)


PROGRAM = """
import os, time
import numpy as np, pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
import pyinterp as pi
from pyinterp.simulation import CoverageStudy
from pyinterp_papers.processes import molnar_linear

class Slow(RegressorMixin, BaseEstimator):
    def __init__(self, fits=0.0, predicts=0.0):
        self.fits, self.predicts = fits, predicts
    def fit(self, X, y):
        work(self.fits)
        return self
    def predict(self, X):
        work(self.predicts * (len(X) > 100))
        return np.asarray(X)[:, 0]

def work(seconds):
    if seconds:
        os.write(1, b"working\\n")
        time.sleep(seconds)

data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["y", "x", "z"])

def learner(**slow):
    return pi.Learner.from_formula("y ~ .", data, Slow(**slow))

def fitted(plan, **slow):
    return learner(**slow).fit(plan, seed=1, n_jobs=N_JOBS)

def prepared(phase):
    if phase == "fit":
        return lambda: fitted(pi.Bootstrap(40), fits=60.0)
    if phase == "loco":
        results = fitted(pi.Bootstrap(40))
        results.analysis.models.leave_out.estimator.fits = 60.0
        return results.loco
    if phase == "study":
        study = CoverageStudy(
            dgps=[molnar_linear()], learners={"slow": Slow(60.0)}, n=[50], block=2,
            estimands={"pfi": pi.LearnerResults.pfi}, resamplings={"b": pi.Bootstrap(3)},
            cov_types={"b": ["corrected"]}, repetitions=100, truth_refits=100,
        )
        return lambda: study.run(FILE, N_JOBS)
    results = fitted(pi.Bootstrap(6), predicts=0.5)
    return lambda: results.pfi(permutations=500)

if __name__ == "__main__":
    begin = prepared(PHASE)
    print("begun", flush=True)
    begin()
"""


def interrupted(program, path):
    """Run a program, send Ctrl-C to its process group, and return its code and what it wrote then.

    Ctrl-C comes when a learner works. It ends the last process too, since workers hold the pipe.
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
            assert process.stdout.readline() == "working\n"
            os.killpg(process.pid, signal.SIGINT)
            written, _ = process.communicate(timeout=LIMIT)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, written.replace("working\n", "")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("phase", ["fit", "pfi", "loco", "study"])
def test_a_program_ends_and_leaves_no_worker(phase, n_jobs, tmp_path):
    settings = f"PHASE, N_JOBS, FILE = {phase!r}, {n_jobs}, {str(tmp_path / 'study')!r}\n"
    code, written = interrupted(settings + PROGRAM, tmp_path)
    assert code == -signal.SIGINT
    # Processes that are still importing write tracebacks too; joblib's tracker may report a
    # semaphore that is gone already.
    assert "KeyboardInterrupt" in written
    lines = [line for line in written.splitlines() if "resource_tracker" not in line]
    assert not [line for line in lines if "Warning" in line and "warnings.warn(" not in line]


def data(n):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 4)), columns=list("yabc"))
    return frame.assign(y=frame["a"] + frame["y"])


def neighbors(n_jobs):
    # Trees of neighbors are searched in threads of joblib, which set filters of warnings.
    estimator = KNeighborsRegressor(n_jobs=4, algorithm="brute")
    learner = pi.Learner.from_formula("y ~ .", data(200), estimator)
    with parallel_config(backend="threading"):
        return learner.fit(pi.Subsampling(4), seed=1, n_jobs=n_jobs, memory_mb=200 * 96 / 2**20)


@pytest.fixture
def no_collection():
    """Python drops an interrupt that comes in a hook of its collector, and hypothesis has one."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def ctrl_c():
    """Send Ctrl-C once the main thread waits for outcomes, or works in their place."""
    main = threading.main_thread().ident
    assert main is not None
    while not waits_for_outcomes(sys._current_frames()[main]):
        time.sleep(0.001)
    signal.pthread_kill(main, signal.SIGINT)


def waits_for_outcomes(frame):
    joblibs = Parallel._retrieve.__code__, Parallel._get_sequential_output.__code__
    while frame is not None and frame.f_code not in joblibs:
        frame = frame.f_back
    return frame is not None


def until_the_call_is_over():
    """Wait, in a job, as a learner does that looks at no clock and hears no Ctrl-C."""
    while True:
        try:
            parallel.stop_if_over()
        except parallel.EndOfCall:
            return
        time.sleep(0.01)


@pytest.fixture
def patience(monkeypatch):
    """Let calls wait for the threads of a busy machine."""
    monkeypatch.setattr(parallel, "PATIENCE", LIMIT)


@pytest.mark.usefixtures("no_collection", "patience")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("question", ["pfi", "firm"])
def test_the_next_call_gives_the_numbers_of_an_undisturbed_one(question, n_jobs, monkeypatch):
    predict, calls, disturbs = KNeighborsRegressor.predict, [], []
    numbers = itertools.count(1)  # no two threads get the same, or miss one

    def disturbed(self, X):
        if disturbs:
            calls.append(len(X))
            number = next(numbers)
            if number == 4:
                ctrl_c()
            if number >= 4:
                until_the_call_is_over()
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
    assert len(calls) == made <= 3 + n_jobs, "a thread goes on predicting"
    assert max(calls) <= 200
    assert [r.predictor.estimator.n_jobs for r in results.refits] == [4] * 4
    again, undisturbed = (getattr(r, question)(["a", "b"]) for r in (results, neighbors(n_jobs)))
    pd.testing.assert_frame_equal(again.summary_frame(), undisturbed.summary_frame())


def test_no_call_of_ours_lasts_long(monkeypatch):
    frame, rows, walked = data(1500), [], []

    def predict(X):
        rows.append(len(X))
        return np.asarray(X)[:, 0]

    def walk(*arguments):
        walked.append(len(arguments[3]))
        return summed_pairs(*arguments)

    monkeypatch.setattr(trees, "summed_pairs", walk)
    X, y = frame[["a", "b"]], frame["y"]
    pi.FittedModel(predict, X, y).pfi("a")
    assert max(rows) <= whatif.MOST_ROWS < sum(rows)
    pi.FittedModel(DecisionTreeRegressor(max_depth=3).fit(X, y), X, y).pfi("a")
    assert max(walked) < len(frame) == sum(walked)


@pytest.mark.usefixtures("no_collection", "patience")
def test_threads_that_fit_begin_no_further_fit():
    begun, numbers = [], itertools.count(1)

    class Counted(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            begun.append(1)
            number = next(numbers)
            if number == 3:
                ctrl_c()
            if number >= 3:
                until_the_call_is_over()
            return self

        def predict(self, X):
            return X[:, 0]

    learner = pi.Learner.from_formula("y ~ .", data(50), Counted())
    with parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
        learner.fit(pi.Bootstrap(50), n_jobs=2)
    fits = len(begun)
    time.sleep(0.3)
    assert len(begun) == fits <= 4


def do(jobs, n_jobs=2):
    """Do jobs in threads."""
    with parallel.outcomes(
        jobs, len(jobs), n_jobs=n_jobs, label="", progress=False, in_memory=True
    ) as done:
        list(done)


@pytest.mark.usefixtures("no_collection")
def test_control_comes_back_before_a_call_that_lasts_and_the_next_waits_for_it(monkeypatch):
    monkeypatch.setattr(parallel, "PATIENCE", 0.1)
    begun, release, order = threading.Event(), threading.Event(), []

    def lasting():
        begun.set()
        release.wait(LIMIT)
        order.append("former")

    def interrupting():
        begun.wait(LIMIT)
        ctrl_c()
        lasting()

    with pytest.raises(KeyboardInterrupt):
        do([lasting, interrupting])
    assert order == []
    threading.Timer(0.3, release.set).start()
    do([partial(order.append, "next")], n_jobs=1)
    assert order == ["former", "former", "next"]


def interrupt_after_one(jobs, n_jobs=2):
    """Do jobs in threads, and end the call where the first outcome is taken."""
    with parallel.outcomes(
        jobs, len(jobs), n_jobs=n_jobs, label="", progress=False, in_memory=True
    ) as done:
        next(iter(done))
        raise KeyboardInterrupt


class Asking:
    """A job that goes on until it is told to stop, or for a while if it is not."""

    def __init__(self):
        self.begun, self.told = threading.Event(), False

    def __call__(self):
        self.begun.set()
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            try:
                parallel.stop_if_over()
            except parallel.EndOfCall:
                self.told = True
                raise
            time.sleep(0.01)


@pytest.mark.usefixtures("patience")
def test_jobs_of_jobs_stop_with_the_call():
    asking = [Asking() for _ in range(4)]

    def all_begun():
        for job in asking:
            job.begun.wait(LIMIT)

    jobs = [all_begun, partial(do, asking[:2]), partial(do, asking[2:])]
    with pytest.raises(KeyboardInterrupt):
        interrupt_after_one(jobs, n_jobs=3)
    assert [job.told for job in asking] == [True] * 4


@pytest.mark.usefixtures("patience")
def test_jobs_stop_with_a_call_that_ends_while_it_hands_them_out():
    asking = [Asking(), Asking()]

    def jobs():
        yield from asking
        for job in asking:
            job.begun.wait(LIMIT)
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        parallel.outcomes(jobs(), 3, n_jobs=2, label="", progress=False, in_memory=True),
    ):
        pytest.fail("The call has begun.")
    assert [job.told for job in asking] == [True] * 2


def test_a_call_that_ends_early_sets_no_filter_of_warnings():
    """All threads share them: those of one call could stay for ever, if two end in two threads."""
    sets = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warnings, "simplefilter", lambda *_: sets.append(1))
        with pytest.raises(KeyboardInterrupt):
            interrupt_after_one([partial(time.sleep, 0)] * 9)
    assert sets == []


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


def test_walks_are_compiled_where_no_folder_can_keep_them():
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", UNWRITABLE], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("3\n", "")
