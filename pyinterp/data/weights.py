"""Weights of rows: how often each was observed, or how many of a population it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice
from pyinterp.data.frames import column_of
from pyinterp.errors import DataError, OptionError

__all__ = ["Weights", "WeightsType", "read_weights"]

WeightsType: TypeAlias = Literal["frequency", "sampling"]

MOST_ROWS = 10_000_000  # repeated rows are kept as rows


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weights of the user's rows, checked.

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


def read_weights(
    weights: str | npt.ArrayLike | None,
    weights_type: object,
    frame: pd.DataFrame,
    *,
    rows: pd.Index | None = None,
    data: str = "data",
) -> Weights | None:
    """Return checked weights; None without.

    Parameters
    ----------
    weights : str or array of shape (n,), or None
        Name of a column of `frame`, or one number per row.
    weights_type : {"frequency", "sampling"}
        There is no default: the two give different standard errors.
    frame : pandas.DataFrame
        All columns of the user's rows.
    rows : pandas.Index, optional
        The user's index, to which a Series must be aligned.
    data : str
        What the rows are called in messages.

    Raises
    ------
    OptionError
        If the kind of weights is not said, or the column does not exist.
    DataError
        If there is not one weight of the kind per row.
    """
    if weights is None:
        if weights_type is not None:
            raise OptionError(
                f"`weights_type` is of weights: pass `weights`, a column of `{data}`."
            )
        return None
    if weights_type is None:
        raise OptionError(
            'Say what the weights are: `weights_type="frequency"` for numbers of observations, '
            'where a row of weight 2 is two rows, or "sampling" for inverse probabilities of '
            "sampling, where it is one row that stands for twice as many of the population; "
            "standard errors differ."
        )
    check_choice("weights_type", weights_type, ("frequency", "sampling"))
    column = column_of(weights, frame, "weights", rows=rows, data=data)
    kind: WeightsType = "frequency" if weights_type == "frequency" else "sampling"
    numbers = _numbers(column)
    _check_sign(numbers)
    if kind == "frequency":
        _check_counts(numbers)
    return Weights(kind=kind, values=numbers, column=weights if isinstance(weights, str) else None)


def _numbers(column: pd.Series[Any]) -> FloatArray:
    dtype = column.dtype
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"`weights` must be numbers, but they have dtype {dtype}; convert them.")
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataError(
            f"`weights` must be finite, but {len(wrong)} are missing or infinite (the first in row "
            f"{int(wrong[0])}); fill them in, or drop those rows."
        )
    return numbers


def _check_sign(numbers: FloatArray) -> None:
    wrong = np.flatnonzero(numbers < 0)
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"`weights` must be 0 or more, but the one of row {row} is {numbers[row]:g}."
        )
    if not numbers.any():
        raise DataError("All weights are 0, so no row is left; give some a positive weight.")


def _check_counts(numbers: FloatArray) -> None:
    """Raise `DataError` unless these are numbers of observations that can be kept as rows."""
    fractional = np.flatnonzero(numbers % 1)
    if len(fractional):
        row = int(fractional[0])
        raise DataError(
            'Weights of type "frequency" are numbers of observations and must be whole, but that '
            f"of row {row} is {numbers[row]:g}; for inverse probabilities of sampling use "
            '`weights_type="sampling"`.'
        )
    total = numbers.sum()
    if total > MOST_ROWS:
        raise DataError(
            f'Weights of type "frequency" must add up to at most {MOST_ROWS:,} rows, which are '
            f"kept as rows, but add up to {total:,.0f}; if they count a population, they are "
            '`weights_type="sampling"`.'
        )
