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
    """Base of all errors raised by pyinterp.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.HalfSampling(1)
    Traceback (most recent call last):
        ...
    pyinterp.errors.OptionError: `refits` must be 0 or at least 2: one refit has no variance.
    """


class OptionError(PyinterpError):
    """An argument has a value that is not allowed.

    With several texts, all that stand in the way of a call, its message numbers them.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.Holdout(1.5)
    Traceback (most recent call last):
        ...
    pyinterp.errors.OptionError: `fraction` must be a number in (0, 1), not 1.5. It is the share
    of rows that train.
    """

    def __str__(self) -> str:
        numbered = " ".join(f"{k}. {text}" for k, text in enumerate(self.args, start=1))
        several = f"{len(self.args)} things stand in the way: {numbered}"
        return several if len(self.args) > 1 else super().__str__()


class DataError(PyinterpError):
    """The data cannot be analyzed as given.

    Examples
    --------
    >>> import pyinterp as pi
    >>> data = pi.datasets.load_diabetes()
    >>> from sklearn.linear_model import LogisticRegression
    >>> pi.Learner(data["progression"], data[["bmi"]], LogisticRegression())
    Traceback (most recent call last):
        ...
    pyinterp.errors.DataError: LogisticRegression is a classifier, but the response
    `progression` has 214 different numbers in 442 rows and looks like a quantity. Use a
    regressor, or turn the numbers into strings if they are labels.
    """


class FormulaError(PyinterpError):
    """The formula cannot be understood or evaluated.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> pi.Learner.from_formula("progression ~ bmj", data, LinearRegression())
    Traceback (most recent call last):
        ...
    pyinterp.errors.FormulaError: Can't find variable `bmj` in the data, whose variables are
    age, sex, bmi, bp, s1, s2, s3, s4 and 3 more. Did you mean `bmi`?
    """


class DesignError(PyinterpError):
    """Rows cannot be encoded with the levels and settings that the design has learned.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + C(sex)", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> res.predict(data.head(2).assign(sex=3))
    Traceback (most recent call last):
        ...
    pyinterp.errors.DesignError: Some rows can't be encoded with the levels and knots that the
    design has learned: ...
    """


class PredictionError(PyinterpError):
    """The estimator's predictions are not of the needed kind or size.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).entropy_pfi()
    Traceback (most recent call last):
        ...
    pyinterp.errors.PredictionError: LinearRegression predicts a mean but no distribution, so
    its uncertainty is not defined; use a learner that states one: a regressor with `predict(X,
    return_std=True)`, such as BayesianRidge; OLS or GLM of statsmodels; a random forest with
    `min_samples_leaf=5`; NGBoost; one with `predict_components(X)`; or
    `pi.Distributional(estimator, ...)`.
    """


class LossError(PyinterpError):
    """The loss does not suit the learner's predictions or the response.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).pfi(loss="brier")
    Traceback (most recent call last):
        ...
    pyinterp.errors.LossError: The loss `Brier score` needs a classifier, but LinearRegression
    is a regressor; use "squared", "absolute", "huber", "poisson", "gamma", "binomial".
    """


class FileError(PyinterpError):
    """A file can't be read: it is damaged, from a newer version, or lacks what is asked for."""


class InferenceError(PyinterpError):
    """A standard error, test or interval is not defined for these estimates.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).pfi(cov_type="half-sample")
    Traceback (most recent call last):
        ...
    pyinterp.errors.InferenceError: `cov_type="half-sample"` needs at least 5 pairs of refits on
    complementary halves: fit with `pi.HalfSampling()`.
    """


class RefitError(PyinterpError):
    """A refit failed; the cause is chained.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> data = pi.datasets.load_diabetes()
    >>> neighbors = KNeighborsRegressor(metric="none")
    >>> learner = pi.Learner.from_formula("progression ~ bmi", data, neighbors)
    >>> learner.fit(pi.Holdout(0.7), seed=1)
    Traceback (most recent call last):
        ...
    pyinterp.errors.RefitError: Refit 1 of 1 failed: ...
    """


class NamesWarning(UserWarning):
    """Columns were matched by position, as the model knows no names; or a column numbers rows."""


class RefitWarning(UserWarning):
    """Some refits failed and were left out; or a fit evaluates few rows.

    Examples
    --------
    >>> import pyinterp.errors
    >>> issubclass(pyinterp.errors.RefitWarning, UserWarning)
    True
    """


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
    parts = []
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
    """Return the type of an error and the first line of its message, shortened if not our own.

    Where a library repeats an error of the same type in other words, the first one is named.
    """
    ours = isinstance(error, PyinterpError)
    while not ours and type(other := error.__cause__ or error.__context__) is type(error):
        error = other
    first, *more = str(error).strip().splitlines() or [""]
    if first.endswith("fits failed."):  # of a search, which repeats the error at the end
        first = f"{first} {more[-1]}"
    text = short(first, 600 if ours else 160)
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
