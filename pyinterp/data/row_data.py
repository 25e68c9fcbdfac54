"""The data that analyzed rows come from: columns and masks that name some of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import IntArray
from pyinterp.data.frames import as_column, check_aligned
from pyinterp.data.queries import evaluate
from pyinterp.errors import DataError, OptionError, did_you_mean, quote
from pyinterp.representation import about

__all__ = ["RowData", "Rows", "source_frame"]

Rows: TypeAlias = str | npt.ArrayLike | None
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class RowData:
    """The user's data, with columns that are not variables, and which rows are analyzed.

    Attributes
    ----------
    frame : pandas.DataFrame, N rows
        All columns, with a RangeIndex.
    index : pandas.DataFrame or None
        Without columns, with the user's index, to which masks are aligned.
    complete : ndarray of bool, shape (N,)
        Which rows are analyzed.
    repeats : ndarray of int, shape (N,), or None
        Position in the user's data of every row, if weights repeat them.
    length : int or None
        Number of the user's rows, if weights repeat them.
    what : str
        What the data are called in messages.
    """

    frame: pd.DataFrame
    index: pd.DataFrame | None
    complete: BoolArray
    repeats: IntArray | None = None
    length: int | None = None
    what: str = "data"

    def column(self, by: str | npt.ArrayLike, what: str) -> pd.Series[Any]:
        """Return a column by its name, or an array, for all N rows.

        Raises
        ------
        OptionError
            If there is no such column.
        DataError
            If an analyzed row has no value, or there is not one value per row.
        """
        if isinstance(by, str):
            if by not in self.frame:
                raise OptionError(
                    f"`{what}` names column {quote(by)}, which is not in the {self.what}."
                    + did_you_mean(by, self.frame.columns)
                )
            column = self.frame[by]
        else:
            column = self._values(by, what)
        absent = int(column[self.complete].isna().sum())
        if absent:
            raise DataError(f"`{what}` must have no missing values; {absent} rows have.")
        return column

    def mask(self, rows: Rows, argument: str = "rows") -> BoolArray:
        """Return which of all N rows a mask, or a query of columns, names; None names all.

        Raises
        ------
        OptionError
            If a query can't be read, or `rows` are neither a query nor booleans.
        DataError
            If there is not one value per row, or it is missing.
        """
        if rows is None:
            return np.ones(len(self.frame), dtype=bool)
        if isinstance(rows, str):
            return _booleans(evaluate(rows, self.frame, argument), argument)
        return _booleans(self._values(rows, argument), argument)

    def _values(self, values: npt.ArrayLike, argument: str) -> pd.Series[Any]:
        """Return an array of one value per row of the user's data, repeated like these."""
        check_aligned(values, self.index, argument, self.what)
        if self.repeats is None:
            return as_column(values, len(self.frame), argument, self.what)
        column = as_column(values, self.length or 0, argument, self.what)
        return column.take(self.repeats).reset_index(drop=True)

    def __repr__(self) -> str:
        return about(self, f"{len(self.frame)} rows", f"{self.frame.shape[1]} columns")


def _booleans(values: Any, argument: str) -> BoolArray:
    """Return values as booleans, if they are; missing ones are not."""
    column = pd.Series(values)
    if column.isna().any():
        raise DataError(
            f"`{argument}` must be True or False in every row, but it is missing in "
            f"{int(column.isna().sum())} rows."
        )
    if (
        not pd.api.types.is_bool_dtype(column)
        and not column.map(lambda v: v is True or v is False).all()
    ):
        raise OptionError(
            f'`{argument}` must be a boolean per row, or a query such as "age > 50", not values '
            f"such as {quote(column.iloc[0])}; positions become a mask by "
            "`np.isin(np.arange(n), positions)`."
        )
    return column.to_numpy(dtype=bool)


def source_frame(frame: pd.DataFrame, response: pd.Series[Any] | None) -> pd.DataFrame:
    """Return all columns, with the response under its name if it is not one of them."""
    if response is None or str(response.name) in frame:
        return frame
    return frame.assign(**{str(response.name): response})
