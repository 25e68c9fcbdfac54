"""Offsets and exposures: a known part of every row's linear predictor, of no feature."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.frames import column_of
from pyinterp.errors import DataError, OptionError, quote

__all__ = ["Offset", "read_offset"]


@dataclass(frozen=True, kw_only=True)
class Offset:
    """The offset of the user's rows, checked.

    Attributes
    ----------
    name : str
        Of the column that holds it beside the variables.
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

    def beside(self, variables: pd.DataFrame, repeats: IntArray | None = None) -> pd.DataFrame:
        """Return the variables of all of the user's rows, maybe repeated, with the offset last."""
        if self.name in variables:
            raise DataError(
                f"A variable is called `{self.name}`, as the column of the offset would be; rename "
                "the variable."
            )
        return variables.assign(**{self.name: self.as_column(repeats).to_numpy()})

    def as_column(self, repeats: IntArray | None = None) -> pd.Series[Any]:
        """Return the values of all of the user's rows, maybe repeated."""
        return pd.Series(self.values if repeats is None else self.values[repeats], name=self.name)

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return new rows with the offset as a column beside theirs."""
        source = self.name if self.column is None else self.column
        if source not in frame:
            raise DataError(f"New rows must have the offset as column `{source}`.")
        logged = self.exposure and self.column is not None
        offset, exposure = (None, source) if logged else (source, None)
        new = read_offset(offset, exposure, frame, data="the new rows")
        return frame if new is None else frame.assign(**{self.name: new.as_column().to_numpy()})

    def check_last(self, positions: IntArray, columns: int) -> None:
        """Raise `DataError` unless the offset is the last of a design's columns."""
        if list(positions) != [columns - 1]:
            raise DataError(
                f"The offset `{self.name}` must be one column, the last of the design; rename it."
            )

    def check_apart(self, variables: Collection[str]) -> None:
        """Raise `OptionError` if the offset's column is a variable too."""
        if self.column is not None and self.column in variables:
            raise OptionError(
                f"Column {quote(self.column)} is the {'exposure' if self.exposure else 'offset'} "
                "and can't be a variable too: replacing the variable would leave "
                "the offset behind. Copy the column under another name if both are meant."
            )


def read_offset(
    offset: str | npt.ArrayLike | None,
    exposure: str | npt.ArrayLike | None,
    frame: pd.DataFrame,
    *,
    rows: pd.Index | None = None,
    data: str = "data",
) -> Offset | None:
    """Return the checked offset; None without.

    Parameters
    ----------
    offset : str or array of shape (n,), or None
        Name of a column of `frame`, or one number per row.
    exposure : str or array of shape (n,), or None
        The same, as positive numbers whose logarithms are the offset.
    frame : pandas.DataFrame
        All columns of the user's rows.
    rows : pandas.Index, optional
        The user's index, to which a Series must be aligned.
    data : str
        What the rows are called in messages.

    Raises
    ------
    OptionError
        If both are given, or the column does not exist.
    DataError
        If there is not one number per row, one is infinite, or an exposure is not positive. Missing
        ones are missing values of the row.
    """
    if offset is not None and exposure is not None:
        raise OptionError(
            "Pass `offset` or `exposure`, not both: the offset of an exposure is its logarithm."
        )
    values, what = (offset, "offset") if exposure is None else (exposure, "exposure")
    if values is None:
        return None
    column = values if isinstance(values, str) else None
    numbers = _numbers(column_of(values, frame, what, rows=rows, data=data), what)
    if what == "offset":
        return Offset(name=column or what, values=numbers, exposure=False, column=column)
    wrong = np.flatnonzero(numbers <= 0)
    if len(wrong):
        raise DataError(
            f"`exposure` must be positive, but that of row {int(wrong[0])} is "
            f"{numbers[wrong[0]]:g}; drop rows without exposure."
        )
    return Offset(
        name=f"log({column or what})", values=np.log(numbers), exposure=True, column=column
    )


def _numbers(column: pd.Series[Any], what: str) -> FloatArray:
    dtype = column.dtype
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"`{what}` must be numbers, but it has dtype {dtype}; convert it.")
    numbers: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise DataError(
            f"`{what}` must be finite, but it is infinite in {len(infinite)} rows (the first is "
            f"row {int(infinite[0])}); drop those rows."
        )
    return numbers
