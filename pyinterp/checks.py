"""Checks of arguments: options of one kind have one check and one error message."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sized
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeGuard

from pyinterp.errors import OptionError, did_you_mean, quote

# The types of truth values of Python and of NumPy, which is not imported for that.
FLAGS = ("bool", "bool_")


def check_choice(argument: str, value: object, allowed: Iterable[str], others: str = "") -> None:
    """Raise `OptionError` unless `value` is an `allowed` string; `others` says where others are."""
    choices = tuple(allowed)
    if not isinstance(value, str) or value not in choices:
        quoted = ", ".join(f'"{c}"' for c in choices)
        raise OptionError(
            f"`{argument}` must be one of {quoted}, not {quote(value)}."
            f"{did_you_mean(value, choices)}{others}"
        )


def check_flag(argument: str, value: object) -> None:
    """Raise `OptionError` unless `value` is True or False."""
    if type(value).__name__ not in FLAGS:
        raise OptionError(f"`{argument}` must be True or False, not {quote(value)}.")


def is_count(value: object, least: int) -> bool:
    """Whether `value` is a whole number of at least `least`, and no boolean."""
    name = type(value).__name__
    return isinstance(value, Integral) and name not in FLAGS and int(value) >= least


def check_count(argument: str, value: object, least: int = 1, most: int | None = None) -> None:
    """Raise `OptionError` unless `value` is a whole number from `least` to `most`."""
    if not is_count(value, least) or (most is not None and is_count(value, most + 1)):
        upper = "" if most is None else f" and at most {most:,}"
        raise OptionError(
            f"`{argument}` must be a whole number of at least {least}{upper}, not {quote(value)}."
        )


class Interval(NamedTuple):
    """An interval of numbers; infinite ends are never in it.

    Attributes
    ----------
    low, high : float
    ends : str
        Which ends are in it: "", "low", "high" or "both".
    """

    low: float
    high: float
    ends: Literal["", "low", "high", "both"] = ""

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Real) or type(value).__name__ in FLAGS:
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond the largest float
            return False
        if not math.isfinite(number):
            return False
        at_end = (number == self.low and self.ends in ("low", "both")) or (
            number == self.high and self.ends in ("high", "both")
        )
        return self.low < number < self.high or at_end

    def __str__(self) -> str:
        left = "[" if self.ends in ("low", "both") else "("
        right = "]" if self.ends in ("high", "both") else ")"
        return f"{left}{self.low:g}, {self.high:g}{right}"


SHARE = Interval(0, 1)  # between, not at, the ends
POSITIVE = Interval(0, math.inf)
NOT_NEGATIVE = Interval(0, math.inf, "low")
FINITE = Interval(-math.inf, math.inf)


def check_number(argument: str, value: object, interval: Interval, hint: str = "") -> None:
    """Raise `OptionError` unless `value` is a number in an interval.

    `hint` is a remedy, appended to the message.
    """
    if value not in interval:
        words = {POSITIVE: "a positive number", NOT_NEGATIVE: "a number of at least 0"}
        what = words.get(interval, f"a number in {interval}")
        raise OptionError(f"`{argument}` must be {what}, not {quote(value)}.{hint}")


def check_range(value: object) -> None:
    """Raise `OptionError` unless `value` is a pair of numbers, the first below the second."""
    pair = value if isinstance(value, tuple) and len(value) == 2 else (0.0, 0.0)
    low, high = pair
    if not (isinstance(low, Real) and isinstance(high, Real) and low < high):
        raise OptionError(
            "`range` must be the least and the largest value, such as (0, np.inf), not "
            f"{quote(value)}."
        )


def check_text(argument: str, value: object) -> None:
    """Raise `OptionError` unless `value` is a string that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"`{argument}` must be a text that is not empty, not {quote(value)}.")


def check_callable(argument: str, value: object, like: str) -> None:
    """Raise `OptionError` unless `value` is a function; `like` is an example of one."""
    if not callable(value) or isinstance(value, type):
        raise OptionError(f"`{argument}` must be a function such as {like}, not {quote(value)}.")


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether `value` holds values along one axis.

    Strings, mappings and frames do not: their letters, keys and columns are not what is meant.
    """
    listing = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return listing and getattr(value, "ndim", 1) == 1


def check_list(argument: str, value: object, like: str) -> None:
    """Raise `OptionError` unless `value` is a list with at least one value; `like` is one."""
    if not is_list(value) or not isinstance(value, Sized):
        raise OptionError(f"`{argument}` must be a list such as {like}, not {quote(value)}.")
    if not len(value):
        raise OptionError(f"`{argument}` must not be empty: give at least one, as in {like}.")


def check_mapping(argument: str, value: object, like: str, *, empty: bool = False) -> None:
    """Raise `OptionError` unless `value` maps names to values; `like` is an example."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise OptionError(
            f"`{argument}` must be a mapping from names such as {like}, not {quote(value)}."
        )
    if not value and not empty:
        raise OptionError(f"`{argument}` must not be empty: name at least one, as in {like}.")


def is_hashable(value: object) -> bool:
    """Whether `value` and all that it holds can be hashed, as keys of stored results must be."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_jobs(n_jobs: object, progress: object) -> None:
    """Raise `OptionError` unless these say how many jobs run at a time, and how that is shown."""
    flag = type(n_jobs).__name__ in FLAGS
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or flag or not n_jobs):
        raise OptionError(
            "`n_jobs` must be None or a whole number other than 0 (-1 for all cores), not "
            f"{quote(n_jobs)}."
        )
    if not isinstance(progress, bool) and not (isinstance(progress, str) and progress == "log"):
        raise OptionError(f'`progress` must be True, False or "log", not {quote(progress)}.')


def check_alpha(alpha: object) -> None:
    """Raise `OptionError` unless `alpha` is a number in (0, 1)."""
    check_number("alpha", alpha, SHARE, " `alpha=0.05` gives a 95% interval.")
