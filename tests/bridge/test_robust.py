"""What can go wrong between two languages, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = pytest.mark.usefixtures("r")

BEGIN = """
from r_bridge.conversion import RCode, from_r
from r_bridge.session import SESSION
call = SESSION.call
def value(x): return from_r(x, SESSION.r)
"""


def lines(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# Codes of one process, in this order: the first draws the session's first random numbers.
CODES = {
    "random numbers of R go on": """
draw = lambda **seed: value(call("runif", 1, **seed))[0]
print(value(call("exists", ".Random.seed")))
first = draw(seed=3)
print(value(call("exists", ".Random.seed")))
call("set.seed", 1)
a = draw()
call("set.seed", 1)
print(draw(seed=3) == first, draw() == a)
call("RNGkind", "Wichmann-Hill")
print(draw(seed=3) == first, value(call("RNGkind"))[0])
""",
    "callbacks are kept alive": """
import gc
f = SESSION.function(lambda x: x + 1, ["x"])
gc.collect()
call("gc")
print(value(call("function(f) { for (i in 1:5) { x <- f(i); gc() }; x }", f)))
""",
    "errors of R have the call": """
import pickle
from r_bridge import RCallError
try:
    call("stats::lm", RCode("nowhere ~ 1"), weights=[1.0] * 10)
except RCallError as error:
    again = pickle.loads(pickle.dumps(error))
    print(again.message, "|", again.call, "|", again.called)
    print(str(error) == str(again))
    print(error)
try:
    call("parse", text="a +* b")
except RCallError as error:
    print(error.called)
try:
    call("f <-")
except RCallError as error:
    print("unexpected end" in error.message)
""",
    "warnings of R are warnings of Python": """
import warnings
from r_bridge import RWarning
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = call("function(x) { warning('twice'); warning('twice?'); as.integer(x) }", "a")
print([(w.category.__name__, str(w.message).partition(" (in")[0]) for w in caught])
print([w.filename for w in caught], result[0])
warnings.simplefilter("error")
try:
    call("as.integer", "a")
except RWarning as warning:
    print("raised:", warning)
""",
    "no converter of rpy2 is activated or needed": """
import pandas as pd
from rpy2 import robjects
from rpy2.robjects import pandas2ri
before = robjects.conversion.get_conversion()
frame = pd.DataFrame({"x": [1.0, 2.0], "g": pd.Categorical(["b", "a"], categories=["b", "a"])})
with robjects.conversion.localconverter(robjects.default_converter + pandas2ri.converter):
    inside = value(call("identity", frame))
print(inside.equals(value(call("identity", frame))), inside.g.tolist())
print(robjects.conversion.get_conversion() is before)
""",
    "an error in a callback reaches Python with its own traceback": """
import traceback
class Broken(BaseException): pass
def inner(x): raise Broken("in Python", float(x[0]))
def outer(x): return inner(x)
f = SESSION.function(outer, ["x"])
swallowing = RCode("function(f) { for (i in 1:3) try(f(i), silent = TRUE); 'done' }")
for r_code in ("function(f) f(1)", "function(f) sapply(1:2, f)", swallowing.text):
    try:
        call(r_code, f)
    except Broken as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        print(error.args, names[-2:])
print(value(call("sum", [1.0, 2.0])))
""",
    "what R prints goes where Python prints": """
import io
call("cat", "to stdout\\n")
with contextlib.redirect_stderr(io.StringIO()) as said:
    call("message", "to stderr")
kept = []
call("cat", "kept\\n", console=kept)
call("message", "kept too", console=kept)
print([said.getvalue(), *kept])
""",
    "calls from another thread are refused": """
import threading
def try_it():
    try:
        call("identity", 1)
    except Exception as error:
        print(type(error).__name__, error)
other = threading.Thread(target=try_it, name="other")
other.start(); other.join()
""",
    "programs started later search their libraries as before": """
import os, subprocess, sys
code = "import os; print(os.environ.get('LD_LIBRARY_PATH'))"
print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
""",
}
PRINTED = {
    "random numbers of R go on": ["[False]", "[False]", "True True", "True Wichmann-Hill"],
    "callbacks are kept alive": ["[6]"],
    "errors of R have the call": [
        "object 'nowhere' not found | eval(predvars, data, env) | "
        "stats::lm(nowhere ~ 1, weights = weights)",
        "True",
        "R stopped in `eval(predvars, data, env)`: object 'nowhere' not found",
        "It was called as: stats::lm(nowhere ~ 1, weights = weights)",
        'parse(text = "a +* b")',
        "True",
    ],
    "warnings of R are warnings of Python": [
        str([("RWarning", m) for m in ("twice", "twice?", "NAs introduced by coercion")]),
        "['<string>', '<string>', '<string>'] NA_integer_",
        "raised: NAs introduced by coercion",
    ],
    "no converter of rpy2 is activated or needed": ["True ['b', 'a']", "True"],
    "an error in a callback reaches Python with its own traceback": [
        *["('in Python', 1.0) ['outer', 'inner']"] * 3,
        "[3.]",
    ],
    "what R prints goes where Python prints": [
        "to stdout",
        r"['to stderr\n', 'kept\n', 'kept too\n']",
    ],
    "calls from another thread are refused": [
        "RThreadError R runs in the thread 'MainThread', which used it first, and can't be called "
        "from 'other'; call it from there, or use processes: joblib.parallel_config(\"loky\")."
    ],
    # R's folders may hold another Python's library, with which workers of joblib can't start.
    "programs started later search their libraries as before": ["None"],
}
EACH = """
import contextlib, io, json, os, warnings
namespace, found = dict(globals()), {}
for name, code in json.loads(os.environ["CODES"]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        exec(compile(code, "<string>", "exec"), dict(namespace))
    found[name] = out.getvalue().splitlines()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def printed(run):
    """What the codes print, in one process: it takes seconds to start."""
    done = run(BEGIN + EACH, CODES=json.dumps(CODES), LD_LIBRARY_PATH=None)
    assert done.stderr == ""
    return json.loads(lines(done)[-1])


@pytest.mark.parametrize("name", CODES)
def test_calls(name, printed):
    found, expected = printed[name], PRINTED[name]
    assert len(found) == len(expected)
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


def test_r_may_start_in_any_thread_and_then_stays_there(run):
    code = """
import threading, warnings
warnings.simplefilter("error")
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
print(pool.submit(lambda: value(call("sum", [1, 2]))).result())
try:
    call("identity", 1)
except Exception as error:
    print(type(error).__name__)
"""
    assert lines(run(BEGIN + code)) == ["[3]", "RThreadError"]


STOPPED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell are born ignoring it
def stop(what):
    before = signal.getsignal(signal.SIGINT)
    start = time.monotonic()
    try:
        print("ready", flush=True)
        what()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 120, flush=True)
    print(signal.getsignal(signal.SIGINT) is before, value(call("sum", [1, 2])), flush=True)
"""

LONG = """
call("identity", 1)  # R has started
stop(lambda: call("Sys.sleep", 600))
f = SESSION.function(lambda x: x, ["x"])
stop(lambda: call("function(f) repeat f(1)", f))  # again and again
g = SESSION.function(lambda x: call("Sys.sleep", 600), ["x"])
stop(lambda: call("function(f) f(1)", g))  # R that Python calls, which R has called
"""
# R that is half started would end the program with the next call.
WHILE_R_STARTS = """
from rpy2.rinterface_lib import embedded
started = embedded._setinitialized
def interrupted():
    embedded._setinitialized = started
    started()
    signal.raise_signal(signal.SIGINT)
embedded._setinitialized = interrupted
stop(lambda: call("identity", 1))
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_is_a_keyboard_interrupt():
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", BEGIN + STOPPED + LONG],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as running:
        try:
            assert running.stdout is not None
            for _ in range(3):
                assert running.stdout.readline() == "ready\n"
                time.sleep(0.5)
                running.send_signal(signal.SIGINT)
                said = [running.stdout.readline() for _ in range(2)]
                assert said == ["interrupted True\n", "True [3]\n"]
            assert running.wait(timeout=180) == 0
        finally:
            running.kill()


def test_ctrl_c_while_r_starts_is_a_keyboard_interrupt(run):
    assert lines(run(BEGIN + STOPPED + WHILE_R_STARTS)) == ["ready", "interrupted True", "True [3]"]


def test_programs_started_later_search_where_the_program_did(run):
    code = (
        "call('identity', 1)\n" + CODES["programs started later search their libraries as before"]
    )
    assert lines(run(BEGIN + code, LD_LIBRARY_PATH="/nowhere")) == ["/nowhere"]


def test_a_handler_of_the_program_is_left_alone(run):
    code = """
import signal
def own(*_): pass
signal.signal(signal.SIGINT, own)
call("identity", 1)
print(signal.getsignal(signal.SIGINT) is own, signal.set_wakeup_fd(-1))
def tell(*_): print("its own handler")
signal.signal(signal.SIGINT, tell)
f = SESSION.function(lambda x: signal.raise_signal(signal.SIGINT) or x, ["x"])
print(value(call("function(f) f(1) + 1", f)))  # Python was running: it goes on
call("tools::pskill", os.getpid(), 2)
"""
    ends = ["its own handler", "[2.]", "its own handler"]
    assert lines(run("import os" + BEGIN + code)) == ["True -1", *ends]


def test_nothing_is_said_when_a_program_ends_with_models_of_r(run):
    code = """
import numpy as np, pandas as pd
from r_bridge import RLearner, RModel
rows = pd.DataFrame({"x": np.arange(9.0)})
learner = RLearner("stats::lm").fit(rows, rows.x + 1)
model = RModel(learner.fit_.value)
circle = [model]; circle.append(circle)
print(model.predict(rows[:2]).round(6))
"""
    done = run(BEGIN + code)
    assert lines(done) == ["[1. 2.]"]
    assert done.stderr == ""
