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
    return json.loads(lines(run(BEGIN + EACH, CODES=json.dumps(CODES)))[-1])


@pytest.mark.parametrize("name", CODES)
def test_calls(name, printed):
    found, expected = printed[name], PRINTED[name]
    assert len(found) == len(expected)
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


def test_an_error_in_a_callback_reaches_python_with_its_own_traceback(run):
    code = """
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
"""
    done = run(BEGIN + code)
    assert lines(done) == ["('in Python', 1.0) ['outer', 'inner']"] * 3 + ["[3.]"]
    assert done.stderr == ""


def test_what_r_prints_goes_where_python_prints(run):
    code = """
call("cat", "to stdout\\n")
call("message", "to stderr")
kept = []
call("cat", "kept\\n", console=kept)
call("message", "kept too", console=kept)
print(kept)
"""
    done = run(BEGIN + code)
    assert lines(done) == ["to stdout", "['kept\\n', 'kept too\\n']"]
    assert done.stderr == "to stderr\n"


def test_calls_from_another_thread_are_refused(run):
    code = """
import threading
def try_it():
    try:
        call("identity", 1)
    except Exception as error:
        print(type(error).__name__, error)
call("identity", 1)
other = threading.Thread(target=try_it, name="other")
other.start(); other.join()
"""
    assert lines(run(BEGIN + code)) == [
        "RThreadError R runs in the thread 'MainThread', which used it first, and can't be called "
        "from 'other'; call it from there, or use processes: joblib.parallel_config(\"loky\")."
    ]


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

LONG = {
    "R asleep": "stop(lambda: call('Sys.sleep', 600))",
    "R that calls Python again and again": """
f = SESSION.function(lambda x: x, ["x"])
stop(lambda: call("function(f) repeat f(1)", f))
""",
    "R that Python calls, which R has called": """
f = SESSION.function(lambda x: call("Sys.sleep", 600), ["x"])
stop(lambda: call("function(f) f(1)", f))
""",
}
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
@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_is_a_keyboard_interrupt(what):
    root = str(Path(__file__).parents[2])
    code = BEGIN + "call('identity', 1)\n" + STOPPED + LONG[what]  # R has started
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            rest, _ = running.communicate(timeout=180)
        finally:
            running.kill()
    assert rest.splitlines() == ["interrupted True", "True [3]"]
    assert running.returncode == 0


def test_ctrl_c_while_r_starts_is_a_keyboard_interrupt(run):
    assert lines(run(BEGIN + STOPPED + WHILE_R_STARTS)) == ["ready", "interrupted True", "True [3]"]


@pytest.mark.parametrize("before", [None, "/nowhere"])
def test_programs_started_later_search_their_libraries_as_before(run, monkeypatch, before):
    """R's folders may hold another Python's library, with which workers of joblib can't start."""
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    if before is not None:
        monkeypatch.setenv("LD_LIBRARY_PATH", before)
    code = """
import os, subprocess, sys
call("identity", 1)
code = "import os; print(os.environ.get('LD_LIBRARY_PATH'))"
print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
"""
    assert lines(run(BEGIN + code)) == [str(before)]


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
