"""Samples: rows of variables with their response, checked once at the edge of the API."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any, cast

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import Column, FloatArray, IntArray
from pyinterp.data.columns import is_category, read_column
from pyinterp.errors import DataError, short
from pyinterp.representation import frozen

# Sizes of a response between which variances of squared losses, its fourth power, are exact.
SMALLEST, LARGEST = 1e-70, 1e70
# Bytes of a matrix that is not kept: parts of it are encoded when they are needed, in little time
# beside what is done with them.
LARGE_MATRIX = 2**24
MOST_CLASSES = 20  # more than so many different numbers are looked at twice


@frozen
class Response:
    """The name of the response, its classes in order if it has some, and its kind.

    `shares` are of successes among trials; `ordinal` classes come from an ordered category.
    """

    name: str
    classes: tuple[Any, ...] | None = None
    shares: bool = False
    ordinal: bool = False

    def labels(self, values: FloatArray) -> npt.NDArray[Any]:
        """Return the response as an estimator's ``fit`` takes it: numbers, or class labels."""
        if self.classes is None:
            return values
        return np.array(self.classes)[values.astype(np.intp)]

    def column(self, values: FloatArray) -> Column:
        """Return the response with its name and, if it is categorical, its classes in order."""
        if self.classes is None:
            return pd.Series(values, name=self.name)
        labels = pd.Categorical.from_codes(
            values.astype(np.intp), pd.Index(self.classes), ordered=self.ordinal
        )
        return pd.Series(labels, name=self.name)


@frozen
class Sample:
    """Rows of variables with their response.

    Attributes
    ----------
    variables : pandas.DataFrame, shape (n, number of variables)
        With a RangeIndex.
    y : ndarray of shape (n,) or None
        The response: numbers, or positions in `response.classes`. None if only effects are wanted.
    response : Response or None
        The name of the response, and its classes.
    rows : ndarray of int, shape (n,)
        Positions in the analyzed data.
    clusters : ndarray of int, shape (n,), or None
        The unit that each row belongs to, if rows are not independent.
    index : pandas.Index or None
        The user's names of the rows; None if they have none but their positions.
    weights : ndarray of shape (n,), or None
        Sampling weights with mean 1 over the analyzed data; None if all rows weigh the same.
    """

    variables: pd.DataFrame
    y: FloatArray | None
    response: Response | None
    rows: IntArray
    clusters: IntArray | None = None
    index: pd.Index | None = None
    weights: FloatArray | None = None

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return len(self.variables)

    @property
    def n_units(self) -> int:
        """Number of distinct rows, or of clusters if rows are not independent."""
        units = self.rows if self.clusters is None else self.clusters
        return len(pd.unique(units))  # NumPy's takes 20 times as long

    def numbers(self, names: tuple[str, ...]) -> FloatArray | None:
        """Return some variables as doubles; None if one is no number, or there are many rows.

        They are made once.
        """
        if names not in self._numbers:
            dtypes = [self.variables[name].dtype for name in names]
            small = 8 * self.nobs * len(names) <= LARGE_MATRIX
            numeric = small and all(dtype.kind in "biuf" for dtype in dtypes)
            values = [np.asarray(self.variables[n], np.float64) for n in names] if numeric else []
            self._numbers[names] = np.column_stack(values) if values else None
        return self._numbers[names]

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], FloatArray | None]:
        """What `numbers` made, by names."""
        return {}

    @cached_property
    def digest(self) -> str:
        """A hash of the values, the same in every process."""
        return str(joblib.hash((self.variables, self.y, self.clusters, self.weights)))

    def some(self, at: IntArray) -> Sample:
        """Return the rows at these positions, repeats allowed, whose columns are made when asked.

        Positions of a refit's rows are small beside its columns.
        """
        return SomeRows(self, at)

    def materialize(self) -> Sample:
        """Return the sample with its columns made."""
        return self

    def take(self, rows: IntArray) -> Sample:
        """Return the sample of the rows at these positions, repeats allowed."""
        some = SomeRows(self, rows)
        return Sample(**{part.name: getattr(some, part.name) for part in fields(Sample)})

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again when it is needed."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_numbers", "_variables")
        }

    def __repr__(self) -> str:
        return f"<Sample: {self.nobs} rows, {self.variables.shape[1]} variables>"


def _by_row(name: str) -> property:
    """Return the part of a sample that has a value for every row, as a part of some rows."""

    def values(some: SomeRows) -> Any:
        every = getattr(some.whole, name)
        return None if every is None else every[some.at]

    return property(values)


class SomeRows(Sample):
    """Some rows of a sample, kept as positions: every access makes the columns anew.

    Parameters
    ----------
    whole : Sample
    at : ndarray of int
        Positions in it, repeats allowed.
    keep : bool
        Whether its variables are kept, once they were made.
    """

    def __init__(self, whole: Sample, at: IntArray, *, keep: bool = False) -> None:
        vars(self).update(whole=whole, at=np.asarray(at, np.int32), _keep=keep)

    whole: Sample
    at: IntArray
    _keep: bool

    def materialize(self) -> Sample:
        """Return the sample, whose columns are made once, when they are asked for."""
        return SomeRows(self.whole, self.at, keep=True)

    def some(self, at: IntArray) -> Sample:
        """Return the rows at these positions of these rows."""
        return SomeRows(self.whole, self.at[at])

    def take(self, rows: IntArray) -> Sample:
        """Return the sample of the rows at these positions, repeats allowed."""
        return self.whole.take(self.at[rows])

    def numbers(self, names: tuple[str, ...]) -> FloatArray | None:
        """Return some variables as doubles, taken from the doubles of all rows."""
        every = self.whole.numbers(names)
        return None if every is None else every[self.at]

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return len(self.at)

    @property
    def variables(self) -> pd.DataFrame:
        """The rows' variables."""
        taken = vars(self).get("_variables")
        if taken is None:
            taken = self.whole.variables.take(self.at)
            taken.index = pd.RangeIndex(len(taken))
            if self._keep:
                vars(self)["_variables"] = taken
        return cast(pd.DataFrame, taken)

    rows = _by_row("rows")
    y = _by_row("y")
    clusters = _by_row("clusters")
    index = _by_row("index")
    weights = _by_row("weights")

    @property
    def response(self) -> Response | None:
        """The name of the response, and its classes."""
        return self.whole.response


def read_response(
    values: Column, name: str, *, classifier: bool, learner: str, constant_ok: bool = False
) -> tuple[FloatArray, Response]:
    """Return the response as numbers and, for a classifier, its classes.

    Parameters
    ----------
    values : pandas.Series
        Without missing values.
    name : str
        The name of the response in messages and tables.
    classifier : bool
        Whether `learner` predicts classes.
    learner : str
        Name of the estimator, for messages.
    constant_ok : bool
        Whether the response may be the same in all rows, as it may for evaluating a fitted model.
    """
    column = read_column(values, name)
    categorical = is_category(column)
    if not classifier:
        if categorical:
            raise DataError(
                f"{learner} is a regressor and needs a numeric response, but `{short(name)}` has "
                f"dtype {short(column.dtype)}; use a classifier or turn it into numbers."
            )
        numbers = column.to_numpy(np.float64)
        if np.abs(numbers).max(initial=0.0) > LARGEST:
            raise DataError(
                f"The response `{short(name)}` must be at most {LARGEST:g} in size, because "
                "variances of squares of larger numbers overflow; choose a larger unit."
            )
        width = np.ptp(numbers) if len(numbers) else 0.0
        if 0 < width < SMALLEST:
            raise DataError(
                f"The response `{short(name)}` must vary by at least {SMALLEST:g}, but it varies "
                f"by {width:.3g}: variances of squares of smaller numbers lose their "
                "digits; choose a smaller unit."
            )
        if not constant_ok:
            _check_varies(len(np.unique(numbers)), float(numbers[0]), name)
        return numbers, Response(name=name)
    ordered = isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        classes = tuple(column.cat.categories.tolist())
        codes = column.cat.codes.to_numpy()
    else:
        if column.dtype.kind == "f" and (column % 1 != 0).any():
            raise DataError(
                f"{learner} is a classifier, but the response `{short(name)}` has fractional "
                "numbers; use a regressor, or a response with class labels. For shares of counts "
                "give one row per trial, with `cluster=` the run, or `exposure=` the trials in a "
                "Poisson model of the counts."
            )
        codes, levels = pd.factorize(column, sort=True)
        classes = tuple(levels.tolist())
    _check_classes(len(classes), column, name, learner)
    _check_varies(len(classes), classes[0], name)
    return codes.astype(np.float64), Response(name=name, classes=classes, ordinal=ordered)


def _check_classes(classes: int, column: Column, name: str, learner: str) -> None:
    """Raise if the response looks like a quantity, or like an identifier."""
    if classes <= MOST_CLASSES or classes <= len(column) / 10:
        return
    if not is_category(column):
        raise DataError(
            f"{learner} is a classifier, but the response `{short(name)}` has {classes} different "
            f"numbers in {len(column)} rows and looks like a quantity. Use a regressor, or turn "
            "the numbers into strings if they are labels."
        )
    if classes > len(column) / 2:
        raise DataError(
            f"The response `{short(name)}` has {classes} classes in {len(column)} rows and looks "
            "like an identifier; predict something that other rows share."
        )


def _check_varies(distinct: int, value: object, name: str) -> None:
    """Raise `DataError` if the response has one value, which stands in the sentence."""
    if distinct < 2:
        raise DataError(
            f"The response `{short(name)}` must vary, but it is {short(repr(value))} in every row: "
            "there is nothing to learn."
        )
