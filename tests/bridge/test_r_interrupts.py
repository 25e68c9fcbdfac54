"""Ctrl-C while R fits or predicts, in one process or in workers: it ends soon, and leaves nothing.

The signal goes to the whole process group, as a terminal sends it, and to the program alone, as a
supervisor sends it.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.usefixtures("r"),
    pytest.mark.skipif(sys.platform != "linux", reason="process groups are read from /proc"),
]

# A busy machine takes a part of them; without Ctrl-C nothing here ends in ten times that.
SECONDS = 60
PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell are born ignoring it
import numpy as np, pandas as pd, pyinterp as pi
from r_bridge import RCode, RLearner, RModel
from r_bridge.session import SESSION
BUSY = "{ cat(1, file = Sys.getenv('STARTED'), append = TRUE); WAIT }"
def slow(rows):
    with open(os.environ["STARTED"], "a") as file:
        file.write("1")
    while True:
        pass
def refit(function):
    learner = pi.Learner.from_formula("y ~ a + b", rows, RLearner(function))
    return learner.fit(pi.Subsampling(4), seed=1, n_jobs=int(sys.argv[1]), progress=False)
def fit():
    refit("function(formula, data) " + BUSY)
def predict():
    methods = "evalq(predict.slow <- function(object, newdata, ...) " + BUSY + ", globalenv())"
    SESSION.evaluate(methods)
    model = RModel(SESSION.evaluate("structure(list(), class = 'slow')"), feature_names=["a", "b"])
    pi.FittedModel(model, rows[["a", "b"]], rows["y"]).pfi()
def callback():
    SESSION.call("function(f) repeat f(1)", SESSION.function(slow, ["x"]))
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    rows["y"] = rows["a"] + rng.normal(size=60)
    TRY
"""
CAUGHT = """try:
        WHAT()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(len(refit("stats::lm").pfi().params), flush=True)"""


def group(leader):
    """The processes of a group that have not ended."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgid = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended meanwhile
            continue
        if int(pgid) == leader and state not in "ZX":
            members.append(stat.parent.name)
    return members


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def begin(tmp_path):
    """Start a program in a group of its own, and return when R is at work in it."""
    begun = []

    def start(code, jobs):
        script, started = tmp_path / "program.py", tmp_path / "started"
        script.write_text(code)
        root = str(Path(__file__).parents[2])
        program = subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, str(script), str(jobs)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": root, "STARTED": str(started)},
        )
        begun.append(program)
        wait_for(started.exists, 120)
        time.sleep(0.5)
        return program

    yield start
    for program in begun:
        for member in group(program.pid):
            os.kill(int(member), signal.SIGKILL)
        program.communicate()


GROUP, ALONE, LOOP, SLEEP = os.killpg, os.kill, "repeat {}", "Sys.sleep(600)"
IN_FULL = [
    (what, jobs, wait, send)
    for what, jobs in (("fit", 1), ("fit", 2), ("predict", 1), ("callback", 1))
    for wait in (LOOP, SLEEP)
    for send in (GROUP, ALONE)
]


@pytest.mark.parametrize(
    ("what", "jobs", "wait", "send"),
    [
        pytest.param(*case, marks=() if case[1:] == (2, LOOP, GROUP) else pytest.mark.torture)
        for case in IN_FULL
    ],
)
def test_a_program_ends_and_leaves_no_worker(what, jobs, wait, send, begin):
    program = begin(PROGRAM.replace("WAIT", wait).replace("TRY", f"{what}()"), jobs)
    send(program.pid, signal.SIGINT)
    _, errors = program.communicate(timeout=SECONDS)
    assert program.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors  # workers and their tracker may say more
    wait_for(lambda: not group(program.pid), SECONDS)


@pytest.mark.parametrize(
    ("what", "jobs"),
    [
        ("callback", 1),
        pytest.param("predict", 1, marks=pytest.mark.torture),
        pytest.param("fit", 1, marks=pytest.mark.torture),
        pytest.param("fit", 2, marks=pytest.mark.torture),
    ],
)
def test_a_program_that_catches_it_can_go_on(what, jobs, begin):
    code = PROGRAM.replace("WAIT", "repeat {}").replace("TRY", CAUGHT).replace("WHAT", what)
    program = begin(code, jobs)
    sent = time.monotonic()
    os.killpg(program.pid, signal.SIGINT)
    assert program.stdout is not None
    assert program.stdout.readline() == "interrupted\n"
    assert time.monotonic() < sent + SECONDS
    rest, errors = program.communicate(timeout=120)
    assert rest == "2\n", errors
    wait_for(lambda: not group(program.pid), SECONDS)
