"""Errors and warnings: each message says what must hold, what was got and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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
    "check_choice",
    "check_jobs",
    "check_memory",
    "did_you_mean",
    "listed",
    "reason",
    "short",
    "shown",
]

SHOWN = 60  # characters of a name or a piece of code that a message repeats


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
    """Return `value` as Python writes it, shortened like `short`."""
    return short(value if hasattr(value, "shape") else repr(value), limit)


def reason(error: BaseException) -> str:
    """Return the type of an error and the first line of its message, shortened."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {short(first, 160)}" if first else type(error).__name__


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return `` Did you mean `x`?`` for the known name nearest to `name`, or an empty string."""
    if len(str(name)) > SHOWN:  # comparing long strings takes long
        return ""
    short = [str(k) for k in known if len(str(k)) <= SHOWN]
    close = difflib.get_close_matches(str(name), short, n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


def check_choice(argument: str, value: object, allowed: Iterable[str]) -> None:
    """Raise `OptionError` unless `value` is one of the `allowed` strings."""
    choices = tuple(allowed)
    if value not in choices:
        listed = ", ".join(f'"{c}"' for c in choices)
        raise OptionError(
            f"`{argument}` must be one of {listed}, not {value!r}.{did_you_mean(value, choices)}"
        )


def check_jobs(n_jobs: object) -> None:
    """Raise `OptionError` unless `n_jobs` is None or a whole number other than 0."""
    if n_jobs is not None and (
        not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or not n_jobs
    ):
        raise OptionError(
            "`n_jobs` must be None or a whole number other than 0 (-1 for all cores), not "
            f"{n_jobs!r}."
        )


def check_memory(memory_mb: object) -> None:
    """Raise `OptionError` unless `memory_mb` is a positive, finite number."""
    number = isinstance(memory_mb, int | float) and not isinstance(memory_mb, bool)
    if not number or not 0 < memory_mb < float("inf"):  # type: ignore[operator]  # a number
        raise OptionError(f"`memory_mb` must be a positive number, not {memory_mb!r}.")


def check_alpha(alpha: float) -> None:
    """Raise `OptionError` unless `alpha` is a number in (0, 1)."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise OptionError(
            f"`alpha` must be a number in (0, 1), not {alpha!r}. `alpha=0.05` gives a 95% interval."
        )
