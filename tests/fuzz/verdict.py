"""What became of an input: a result that keeps the laws, a refusal that helps, or a fault."""

from __future__ import annotations

import faulthandler
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import joblib
import numpy as np
import pandas as pd
import specimens
from calls import Call
from lawful import broken_laws, numbers
from sklearn.exceptions import ConvergenceWarning

from pyinterp.errors import NamesWarning, PyinterpError, RefitWarning

__all__ = ["LIMIT", "Verdict", "judge", "judge_source", "unasked", "verdict_of", "wordy"]

LIMIT = 20  # seconds of computing for an input
PATIENCE = 60  # seconds until it must have ended
MEMORY = 3 << 30  # bytes beyond those in use: a grid of 10**9 points must not take the machine
CHARACTERS = 400
SENTENCES = 2
# Refits left out as was asked, learners that did not converge, columns matched by position.
ASKED = (RefitWarning, ConvergenceWarning, NamesWarning)
# What scikit-learn says to a function that hands it an array in the place of a frame.
OF_THE_USERS_FUNCTION = "X does not have valid feature names"
# Packages whose objects keep what they have computed.
KEEPING = ("pyinterp", "statsmodels")


class Hang(BaseException):
    """An input took too long."""


@dataclass(frozen=True)
class Verdict:
    """What became of an input.

    Attributes
    ----------
    kind : str
        "result" and "refusal" are right; "poor refusal", "unlawful", "warning" and "hang" are not,
        nor is "accepted", a result where there must be a refusal.
    message : str
        Of the refusal, or what is wrong.
    cause : str
        What failures have in common that one change mends.
    """

    kind: str
    message: str = ""
    cause: str = ""

    @property
    def right(self) -> bool:
        """Whether this is what a user may expect."""
        return self.kind in ("result", "refusal")


@contextmanager
def bounded() -> Iterator[None]:
    """Raise `Hang` after too long, and MemoryError for huge arrays."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, _alarm())
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)  # compiled code hears no signal
    start, (left, _) = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)
    resource.setrlimit(resource.RLIMIT_AS, (_in_use() + MEMORY, hard))
    try:
        yield
    finally:
        # The clock of the whole test (pytest-timeout) goes on, if there is one.
        rest = max(left - (time.monotonic() - start), 0.1) if left else 0
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, rest)


def _alarm() -> Callable[[int, FrameType | None], None]:
    """Return what raises `Hang` once; a machine that others use is given more time."""
    work, wall = time.process_time(), time.monotonic()
    raised = False

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal raised
        long = time.process_time() - work > LIMIT or time.monotonic() - wall > PATIENCE
        if long and not raised:
            raised = True
            raise Hang

    return stop


def judge(call: Call, arguments: Mapping[str, str]) -> Verdict:
    """Make a call twice, with new arguments each time, and judge it."""
    return _judged(lambda: _made(call, arguments))


def judge_source(source: str) -> Verdict:
    """Evaluate an expression twice and judge it."""
    return _judged(lambda: (_value(source, specimens.names()), ""))


def _judged(attempt: Callable[[], tuple[Any, str]]) -> Verdict:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with bounded():
                broken = _broken(attempt)
        except Hang:
            return Verdict(
                "hang", f"more than {LIMIT} s of computing or {PATIENCE} s in all", "hang"
            )
        except (KeyboardInterrupt, UnwritableError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
            verdict = verdict_of(error)
        else:
            verdict = Verdict("unlawful", broken, broken) if broken else Verdict("result")
    if verdict.right and (told := unasked(heard)):
        place = f"{told[0].category.__name__} at {_short(told[0].filename)}:{told[0].lineno}"
        return Verdict("warning", str(told[0].message)[:CHARACTERS], place)
    return verdict


def unasked(heard: Sequence[warnings.WarningMessage]) -> list[warnings.WarningMessage]:
    """Return the warnings that nobody asked for; those of "<string>" are the input's own."""
    return [
        w
        for w in heard
        if not issubclass(w.category, ASKED)
        and w.filename != "<string>"
        and not str(w.message).startswith(OF_THE_USERS_FUNCTION)
    ]


def _broken(attempt: Callable[[], tuple[Any, str]]) -> str:
    """Attempt it twice; return the first law that is broken, or an empty string."""
    value, changed = attempt()
    if faults := [changed] if changed else broken_laws(value):
        return faults[0]
    again, _ = attempt()
    return "" if numbers(value) == numbers(again) else "the same call twice gives other numbers"


class UnwritableError(Exception):
    """An argument's own expression fails: the input is no input."""


class ChangedError(Exception):
    """A call that was refused has changed an argument."""


def _made(call: Call, arguments: Mapping[str, str]) -> tuple[Any, str]:
    """Make a call; return its value and which argument it has changed, if any."""
    space = specimens.names()
    try:
        given = {name: _value(source, space) for name, source in arguments.items()}
    except PyinterpError:
        raise  # of an argument that is a call of the package itself
    except Exception as error:
        raise UnwritableError(f"{arguments}: {error}") from error
    before = {name: _fingerprint(value) for name, value in given.items()}
    first, rest = call.split(given)
    callee = _value(call.callee, space)
    try:
        space["_it"] = callee(*(given[n] for n in first), **{n: given[n] for n in rest})
        value = _value(call.then.format("_it"), space)
    except PyinterpError as error:
        if changed := _changed(given, before):
            raise ChangedError(changed) from error
        raise
    return value, _changed(given, before)


def _changed(given: Mapping[str, Any], before: Mapping[str, str]) -> str:
    """Say which argument is not as it was; an empty string if all are."""
    changed = [n for n, v in given.items() if before[n] and _fingerprint(v) != before[n]]
    return f"the argument `{changed[0]}` was changed" if changed else ""


def _value(source: str, space: dict[str, Any]) -> Any:
    return eval(source, space)  # noqa: S307 - our own table of expressions, each its reproducer


def _fingerprint(value: Any) -> str:
    """Return a hash of what a value holds; empty for what cannot be hashed."""
    if isinstance(value, Iterator | np.random.Generator | np.random.RandomState):
        return ""  # to be read is to be changed
    parts = value if isinstance(value, list | tuple) else [value]
    if any(type(part).__module__.startswith(KEEPING) for part in parts):
        return ""
    if isinstance(value, pd.Series):  # pandas' own arrays do not keep one hash
        value = (value.astype(object).tolist(), value.index, value.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what pickle looks at
            return str(joblib.hash(value))
    except Exception:  # noqa: BLE001 - whatever an odd value raises when it is read
        return ""


def verdict_of(error: BaseException) -> Verdict:
    message, place = str(error), _place(error)
    if isinstance(error, ChangedError):
        return Verdict("unlawful", message, message)
    if isinstance(error, TypeError) and _refuses_keyword(message):
        fault = _poor_keyword(message)
    elif not isinstance(error, PyinterpError):
        fault = f"foreign {type(error).__name__}"
    else:
        fault = wordy(message)
    if fault:
        return Verdict("poor refusal", message[: 2 * CHARACTERS], f"{fault} at {place}")
    return Verdict("refusal", message)


def _refuses_keyword(message: str) -> bool:
    return "keyword argument" in message or "required positional argument" in message


def _poor_keyword(message: str) -> str:
    """Say what a refusal of a keyword lacks; Python's own names the function."""
    return "" if "()" in message else "the refusal of a keyword names no method"


def wordy(message: str) -> str:
    """Say which limit a message breaks: length, sentences, or the echo of whole values.

    Of several obstacles, which it numbers, each is a message.
    """
    if re.match(r"\d+ things stand in the way: 1\. ", message):
        return next(filter(None, map(wordy, re.split(r" \d+\. ", message)[1:])), "")
    if len(message) > CHARACTERS:
        return f"message of more than {CHARACTERS} characters"
    if _sentences(message) > SENTENCES:
        return f"message of more than {SENTENCES} sentences"
    if re.search(r"dtype[:=]|array\(\[|Name: .*, |\bat 0x[0-9a-f]+|\n.*\n", message):
        return "message that echoes a value"
    return ""


def _sentences(message: str) -> int:
    """Count sentences; a list such as "Variables: x, z." and a guess are none."""
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z`])", message.strip())
    return sum(not re.match(r"(Did you mean|[A-Z][a-z]+( \w+)?: )", part) for part in parts)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/pyinterp/" in f.filename]
    last = (ours or frames)[-1]
    return f"{_short(last.filename)}:{last.lineno}"


def _short(path: str) -> str:
    for part in ("/pyinterp/", "/site-packages/"):
        if part in path:
            return part.strip("/") + "/" + path.rsplit(part, 1)[1]
    return path.rsplit("/", 1)[-1]


def _in_use() -> int:
    if sys.platform != "linux":
        return 1 << 62
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - one line, often
        return int(file.read().split()[0]) * resource.getpagesize()
