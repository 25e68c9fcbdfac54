"""Weights and offsets: numbers of every row that are of no feature."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import BoolArray, Column, FloatArray, IntArray
from pyinterp.checks import check_choice
from pyinterp.data.frames import column_of
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.representation import frozen

WeightsType = Literal["frequency", "sampling"]
Numbers = str | npt.ArrayLike | None
# Weights and their type, the offset and the exposure, as users give them.
Beside = tuple[Numbers, WeightsType | None, Numbers, Numbers]
ColumnOf = Callable[[Any, str], Column]

MOST_ROWS = 10_000_000  # repeated rows are kept as rows


@frozen
class Weights:
    """How often each of the user's rows was observed, or how many of a population it stands for.

    Attributes
    ----------
    kind : {"frequency", "sampling"}
        Whether a weight is a number of observations, or an inverse probability of sampling.
    values : ndarray of shape (n,)
        In the order of the user's rows.
    column : str or None
        The column of the data that holds them, if they were named.
    """

    kind: WeightsType
    values: FloatArray
    column: str | None = None

    def repeats(self) -> IntArray | None:
        """Position of the user's row that every analyzed row is; None if each is itself."""
        if self.kind == "sampling":
            return None
        return np.repeat(np.arange(len(self.values)), self.values.astype(np.intp))

    def of_rows(self, rows: IntArray) -> FloatArray | None:
        """Return sampling weights of analyzed rows with mean 1; None if all rows weigh the same."""
        if self.kind == "frequency":
            return None
        chosen = self.values[rows]
        return None if np.ptp(chosen) == 0 else chosen / chosen.mean()

    def in_words(self, analyzed: IntArray, repeats: IntArray | None) -> str:
        """Return column, type, and the number of distinct rows or Kish's effective one."""
        if repeats is not None:
            size = f"{len(np.unique(repeats[analyzed]))} distinct rows"
        else:
            chosen = self.values[analyzed]
            effective = chosen.sum() ** 2 / np.square(chosen).sum()
            size = f"effective number of rows {effective:.1f}"
            if none := int((self.values == 0).sum()):
                size += f", {none} of weight 0 left out"
        return f"{'given' if self.column is None else self.column} ({self.kind}), {size}"


@frozen
class OffsetValues:
    """A known part of every row's linear predictor.

    Attributes
    ----------
    name : str
        Of the column that holds it, next to the variables.
    values : ndarray of shape (n,)
        On the scale of the linear predictor, in the order of the user's rows.
    exposure : bool
        Whether these are logarithms of exposures, for models with a logarithmic link alone.
    column : str or None
        The column of the data that it was read from, if it was named.
    """

    name: str
    values: FloatArray
    exposure: bool
    column: str | None = None

    def beside(self, variables: pd.DataFrame, repeats: IntArray | None) -> pd.DataFrame:
        """Return the variables of all of the user's rows, maybe repeated, with the offset last."""
        if self.name in variables:
            raise DataError(
                f"A variable is called `{self.name}`, as the column of the offset would be; rename "
                "the variable."
            )
        return variables.assign(
            **{self.name: self.values if repeats is None else self.values[repeats]}
        )

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return new rows with the offset as another column."""
        source = self.name if self.column is None else self.column
        if source not in frame:
            raise DataError(f"New rows must have the offset as column `{source}`.")
        numbers = _numbers(column_of(source, frame, "offset"), "offset", missing=True)
        if self.exposure and self.column is not None:
            numbers = _logarithms(numbers)
        return frame.assign(**{self.name: numbers})

    def check_apart(self, variables: Collection[str]) -> None:
        """Raise `OptionError` if the offset's column is a variable too."""
        if self.column is not None and self.column in variables:
            raise OptionError(
                f"Column {quote(self.column)} is the {'exposure' if self.exposure else 'offset'} "
                "and can't be a variable too: replacing the variable would leave "
                "the offset behind. Copy the column under another name if both are meant."
            )


def read_weights(
    weights: Numbers, weights_type: WeightsType | None, column_of: ColumnOf
) -> Weights | None:
    """Return checked weights; None without.

    Parameters
    ----------
    weights : str or array of shape (n,), or None
        Name of a column, or one number per row.
    weights_type : {"frequency", "sampling"}
        There is no default: the two give different standard errors.
    column_of : callable
        ``column_of(values, argument)`` returns a column by its name, or an array as a column.
    """
    if weights is None:
        if weights_type is not None:
            raise OptionError("`weights_type` is of weights: pass `weights` too.")
        return None
    if weights_type is None:
        raise OptionError(
            'Say what the weights are: `weights_type="frequency"` for numbers of observations, '
            'where a row of weight 2 is two rows, or "sampling" for inverse probabilities of '
            "sampling, where it is one row that stands for twice as many of the population; "
            "standard errors differ."
        )
    check_choice("weights_type", weights_type, ("frequency", "sampling"))
    numbers = _numbers(column_of(weights, "weights"), "weights", missing=False)
    _check_all(numbers >= 0, numbers, "`weights` must be 0 or more")
    if not numbers.any():
        raise DataError("All weights are 0, so no row is left; give some a positive weight.")
    if weights_type == "frequency":
        _check_all(
            numbers % 1 == 0,
            numbers,
            'Weights of type "frequency" are numbers of observations and must be whole',
            '; for inverse probabilities of sampling use `weights_type="sampling"`',
        )
        if (total := numbers.sum()) > MOST_ROWS:
            raise DataError(
                f'Weights of type "frequency" must add up to at most {MOST_ROWS:,} rows, which are '
                f"kept as rows, but add up to {total:,.0f}; if they count a population, they are "
                '`weights_type="sampling"`.'
            )
    named = weights if isinstance(weights, str) else None
    return Weights(kind=weights_type, values=numbers, column=named)


def read_offset(offset: Numbers, exposure: Numbers, column_of: ColumnOf) -> OffsetValues | None:
    """Return the checked offset; None without. Missing numbers are missing values of the row.

    Parameters
    ----------
    offset : str or array of shape (n,), or None
        Name of a column, or one number per row.
    exposure : str or array of shape (n,), or None
        The same, as positive numbers whose logarithms are the offset.
    column_of : callable
        As in `read_weights`.
    """
    if offset is not None and exposure is not None:
        raise OptionError(
            "Pass `offset` or `exposure`, not both: the offset of an exposure is its logarithm."
        )
    values, what = (offset, "offset") if exposure is None else (exposure, "exposure")
    if values is None:
        return None
    numbers = _numbers(column_of(values, what), what, missing=True)
    column = values if isinstance(values, str) else None
    name = column or what
    if what == "exposure":
        name, numbers = f"log({name})", _logarithms(numbers)
    return OffsetValues(name=name, values=numbers, exposure=what == "exposure", column=column)


def _numbers(column: Column, what: str, *, missing: bool) -> FloatArray:
    """Return a column as finite numbers; some may be `missing`."""
    dtype = column.dtype
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"`{what}` must be numbers, not of dtype {dtype}; convert them.")
    numbers = column.to_numpy(np.float64, na_value=np.nan)
    finite = np.isfinite(numbers) | (np.isnan(numbers) & missing)
    _check_all(finite, numbers, f"`{what}` must be finite", "; fill it in, or drop the row")
    return numbers


def _logarithms(exposures: FloatArray) -> FloatArray:
    """Return logarithms of exposures, NaN if missing; raise unless all are positive."""
    positive = np.isnan(exposures) | (exposures > 0)
    _check_all(positive, exposures, "`exposure` must be positive", "; drop rows without exposure")
    return np.log(exposures)


def _check_all(holds: BoolArray, numbers: FloatArray, rule: str, remedy: str = "") -> None:
    """Raise `DataError` with the first row for which a rule does not hold."""
    if not holds.all():
        row = int(np.flatnonzero(~holds)[0])
        raise DataError(f"{rule}, but that of row {row} is {numbers[row]:g}{remedy}.")
