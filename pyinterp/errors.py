"""Errors and warnings: each message says what must hold, what was got and what to do."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable

LONGEST = 60  # characters of a name or a piece of code that a message repeats
# What the text of an object has instead of a value: an address, or an array's numbers.
NO_VALUE = re.compile(r"\bat 0x[0-9a-f]+|array\(|dtype[:=]")


class PyinterpError(ValueError):
    """Base of all errors raised by pyinterp."""


class OptionError(PyinterpError):
    """An argument has a value that is not allowed."""


class DataError(PyinterpError):
    """The data cannot be analyzed as given."""


class FormulaError(PyinterpError):
    """The formula cannot be understood or evaluated."""


class DesignError(PyinterpError):
    """Rows cannot be encoded with what the design has learned."""


class PredictionError(PyinterpError):
    """The estimator's predictions are not what is needed."""


class LossError(PyinterpError):
    """The loss does not suit the learner's predictions or the response."""


class FileError(PyinterpError):
    """A file can't be read: it is damaged, from a newer version, or lacks what is asked for."""


class InferenceError(PyinterpError):
    """A standard error, test or interval is not defined for these estimates."""


class RefitError(PyinterpError):
    """A refit failed; the cause is chained."""


class NamesWarning(UserWarning):
    """Columns were matched by position, because the model knows no names."""


class RefitWarning(UserWarning):
    """Some refits failed and were left out."""


def short(value: object, limit: int = LONGEST) -> str:
    """Return `value` as text on one line of at most `limit` characters, its middle left out.

    Of arrays, Series and data frames the kind and shape are shown, never the values.
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    text = " ".join(str(value).split())
    if len(text) <= limit:
        return text
    head = (limit - 3) * 2 // 3
    return f"{text[:head]}...{text[head + 3 - limit :]}"


def list_of(names: Iterable[object], most: int = 8, limit: int = 120) -> str:
    """Return ``a, b, c``: at most `most` names, shortened, in about `limit` characters in all."""
    every = list(names)
    parts: list[str] = []
    for name in every[:most]:
        parts.append(short(name, 30))
        if sum(map(len, parts)) > limit - 30:
            break
    rest = len(every) - len(parts)
    return ", ".join(parts) + (f" and {rest:,} more" if rest else "")


def quote(value: object, limit: int = LONGEST) -> str:
    """Return the repr of `value`, shortened like `short`; its type if the repr has no value.

    Nor has one that is a table: results show themselves.
    """
    try:
        text = short(value if hasattr(value, "shape") else repr(value), limit)
    except Exception:  # noqa: BLE001 - whatever the text of an odd object raises
        text = ""
    table = hasattr(value, "summary") and not isinstance(value, type)
    if text and not table and not NO_VALUE.search(text):
        return text
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"an object of type {name}"


def reason(error: BaseException) -> str:
    """Return the type of an error and the first line of its message, shortened if not our own."""
    first = next(iter(str(error).strip().splitlines()), "")
    text = short(first, 600 if isinstance(error, PyinterpError) else 160)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def did_you_mean(name: object, candidates: Iterable[object]) -> str:
    """Return `` Did you mean `x`?`` for the candidate closest to `name`, else an empty string."""
    if not isinstance(name, str | int | float):
        return ""
    text = name if isinstance(name, str) else quote(name)
    if len(text) > LONGEST:  # comparing long strings takes long
        return ""
    short = [str(k) for k in candidates if len(str(k)) <= LONGEST]
    close = difflib.get_close_matches(text, short, n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


def level_of_caller() -> int:
    """Return the `stacklevel` with which a warning names the first line outside the packages."""
    level, frame = 1, sys._getframe(1)
    inside = ("pyinterp", "r_bridge")
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    return level
