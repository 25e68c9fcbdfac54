"""Errors and warnings: each message says what must hold, what was got and how to mend it.

Checks of arguments stand here too, so that every option of a kind is held to the same.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sized
from numbers import Integral, Real
from typing import Any, TypeGuard

__all__ = [
    "DataError",
    "DesignError",
    "FormulaError",
    "InferenceError",
    "LossError",
    "OptionError",
    "PredictionError",
    "PyinterpError",
    "RefitError",
    "RefitWarning",
    "check_alpha",
    "check_callable",
    "check_choice",
    "check_count",
    "check_flag",
    "check_jobs",
    "check_list",
    "check_mapping",
    "check_memory",
    "check_number",
    "check_text",
    "did_you_mean",
    "is_count",
    "is_hashable",
    "is_list",
    "listed",
    "reason",
    "short",
    "shown",
]

SHOWN = 60  # characters of a name or a piece of code that a message repeats
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


class InferenceError(PyinterpError):
    """A standard error, test or interval is not defined for these estimates."""


class RefitError(PyinterpError):
    """A refit failed; the cause is chained."""


class RefitWarning(UserWarning):
    """Some refits failed and were left out."""


def short(value: object, limit: int = SHOWN) -> str:
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


def listed(names: Iterable[object], most: int = 8, limit: int = 120) -> str:
    """Return ``a, b, c``: at most `most` names, shortened, in about `limit` characters in all."""
    every = list(names)
    parts: list[str] = []
    for name in every[:most]:
        parts.append(short(name, 30))
        if sum(map(len, parts)) > limit - 30:
            break
    rest = len(every) - len(parts)
    return ", ".join(parts) + (f" and {rest:,} more" if rest else "")


def shown(value: object, limit: int = SHOWN) -> str:
    """Return `value` as Python writes it, shortened like `short`; else what type it is."""
    try:
        text = short(value if hasattr(value, "shape") else repr(value), limit)
    except Exception:  # noqa: BLE001 - whatever the text of an odd object raises
        text = ""
    if text and not NO_VALUE.search(text):
        return text
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"an object of type {name}"


def reason(error: BaseException) -> str:
    """Return the type of an error and the first line of its message, shortened."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {short(first, 160)}" if first else type(error).__name__


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return `` Did you mean `x`?`` for the known name nearest to `name`, or an empty string."""
    if not isinstance(name, str | int | float):
        return ""
    text = name if isinstance(name, str) else shown(name)
    if len(text) > SHOWN:  # comparing long strings takes long
        return ""
    short = [str(k) for k in known if len(str(k)) <= SHOWN]
    close = difflib.get_close_matches(text, short, n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


def check_choice(argument: str, value: object, allowed: Iterable[str]) -> None:
    """Raise `OptionError` unless `value` is one of the `allowed` strings."""
    choices = tuple(allowed)
    if not isinstance(value, str) or value not in choices:
        quoted = ", ".join(f'"{c}"' for c in choices)
        raise OptionError(
            f"`{argument}` must be one of {quoted}, not {shown(value)}."
            f"{did_you_mean(value, choices)}"
        )


def check_flag(argument: str, value: object) -> None:
    """Raise `OptionError` unless `value` is True or False."""
    if not _is_flag(value):
        raise OptionError(f"`{argument}` must be True or False, not {shown(value)}.")


def is_count(value: object, least: int) -> bool:
    """Whether `value` is a whole number of at least `least`, and no boolean."""
    return isinstance(value, Integral) and not _is_flag(value) and int(value) >= least


def _is_flag(value: object) -> bool:
    """Whether `value` is a truth value of Python or NumPy, which is not imported for that."""
    return type(value).__name__ in ("bool", "bool_")


def check_count(argument: str, value: object, least: int = 1, most: int | None = None) -> None:
    """Raise `OptionError` unless `value` is a whole number from `least` to `most`."""
    if not is_count(value, least) or (most is not None and is_count(value, most + 1)):
        upper = "" if most is None else f" and at most {most:,}"
        raise OptionError(
            f"`{argument}` must be a whole number of at least {least}{upper}, not {shown(value)}."
        )


def check_number(argument: str, value: object, interval: str, hint: str = "") -> None:
    """Raise `OptionError` unless `value` is a number in an interval.

    Parameters
    ----------
    argument : str
    value : object
    interval : str
        Such as ``"(0, 1)"`` or ``"[0, inf)"``; round brackets exclude the ends.
    hint : str
        How to mend it, appended to the message.
    """
    if not _is_between(value, interval):
        words = {"(0, inf)": "a positive number", "[0, inf)": "a number of at least 0"}
        what = words.get(interval, f"a number in {interval}")
        raise OptionError(f"`{argument}` must be {what}, not {shown(value)}.{hint}")


def _is_between(value: object, interval: str) -> bool:
    if not isinstance(value, Real) or _is_flag(value):
        return False
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the largest float
        return False
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    below = number <= high if interval[-1] == "]" else number < high
    return math.isfinite(number) and above and below


def check_text(argument: str, value: object) -> None:
    """Raise `OptionError` unless `value` is a string that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"`{argument}` must be a text that is not empty, not {shown(value)}.")


def check_callable(argument: str, value: object, like: str) -> None:
    """Raise `OptionError` unless `value` is a function; `like` is an example of one."""
    if not callable(value) or isinstance(value, type):
        raise OptionError(f"`{argument}` must be a function such as {like}, not {shown(value)}.")


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether `value` holds values along one axis.

    Strings, mappings and frames do not: their letters, keys and columns are not what is meant.
    """
    listing = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return listing and getattr(value, "ndim", 1) == 1


def check_list(argument: str, value: object, like: str) -> None:
    """Raise `OptionError` unless `value` is a list with at least one value; `like` is one."""
    if not is_list(value) or not isinstance(value, Sized):
        raise OptionError(f"`{argument}` must be a list such as {like}, not {shown(value)}.")
    if not len(value):
        raise OptionError(f"`{argument}` must not be empty: give at least one, as in {like}.")


def check_mapping(argument: str, value: object, like: str, *, empty: bool = False) -> None:
    """Raise `OptionError` unless `value` maps names to values; `like` is an example."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise OptionError(
            f"`{argument}` must be a mapping from names such as {like}, not {shown(value)}."
        )
    if not value and not empty:
        raise OptionError(f"`{argument}` must not be empty: name at least one, as in {like}.")


def is_hashable(value: object) -> bool:
    """Whether `value` and all that it holds can be looked up, as what is kept must be."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_jobs(n_jobs: object) -> None:
    """Raise `OptionError` unless `n_jobs` is None or a whole number other than 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or _is_flag(n_jobs) or not n_jobs):
        raise OptionError(
            "`n_jobs` must be None or a whole number other than 0 (-1 for all cores), not "
            f"{shown(n_jobs)}."
        )


def check_memory(memory_mb: object) -> None:
    """Raise `OptionError` unless `memory_mb` is a positive, finite number."""
    check_number("memory_mb", memory_mb, "(0, inf)")


def check_alpha(alpha: object) -> None:
    """Raise `OptionError` unless `alpha` is a number in (0, 1)."""
    check_number("alpha", alpha, "(0, 1)", " `alpha=0.05` gives a 95% interval.")
