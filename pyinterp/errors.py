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
    "shown",
]


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


def shown(value: object, most: int = 60) -> str:
    """Return `value` as Python writes it, in one line of at most `most` characters.

    Arrays, frames and series are named by their type and shape instead.
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    return _shortened(repr(value), most)


def listed(names: Iterable[object], most: int = 6) -> str:
    """Return names with commas between them; of many, the first and how many there are."""
    every = [_shortened(str(name), 30) for name in names]
    more = f", ... ({len(every)} in all)" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def reason(error: BaseException) -> str:
    """Return the type of an error and the first line of its message, shortened."""
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {_shortened(first, 160)}" if first else type(error).__name__


def _shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return `` Did you mean `x`?`` for the known name nearest to `name`, or an empty string."""
    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
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
