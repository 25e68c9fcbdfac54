"""Columns of the user's rows as plain numbers, booleans, levels and dates, which estimands read.

Models are handed the user's types: see `pyinterp.data.form`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import Column, FloatArray
from pyinterp.errors import DataError, did_you_mean, list_of, short

TEXT = pd.StringDtype("python", na_value=np.nan)


def read_variables(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the variables as numbers, booleans, levels or dates; raise for other types."""
    return pd.DataFrame({name: read_column(frame[name], str(name)) for name in frame.columns})


@cache
def _label(name: str) -> pd.Index:
    """Return the label of a column, which pandas makes, and hashes, once."""
    return pd.Index([name])


def one_column(name: str, values: FloatArray) -> pd.DataFrame:
    """Return numbers as a frame of one column."""
    return pd.DataFrame(values[:, None], columns=_label(name))


def columns_of(frame: pd.DataFrame, variables: Sequence[str]) -> pd.DataFrame:
    """Return the variables of new rows; raise `DataError` if one is not there."""
    for name in variables:
        if name not in frame:
            raise DataError(
                f"New rows must have the variable `{name}`." + did_you_mean(name, frame)
            )
    return read_variables(frame[list(variables)])


def native(column: Column) -> Column:
    """Return a column of Arrow's or another foreign type in one of pandas and NumPy."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = pd.Series(dtype.categories)
        plain = native(levels)
        return column if plain is levels else column.cat.rename_categories(plain.tolist())
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        return _of_arrow(column, dtype)
    if not is_exotic(dtype):
        return column
    ordinary = dtype.kind != "f" or dtype.itemsize in (4, 8)
    return column.astype(dtype.newbyteorder("=") if ordinary else np.float64)


# Whether a type is of points in time.
is_date = pd.api.types.is_datetime64_any_dtype


def is_category(column: Column) -> bool:
    """Whether a column has levels, not numbers; True and False are levels."""
    return bool(not pd.api.types.is_numeric_dtype(column) or column.dtype == bool)


def read_column(column: Column, name: str) -> Column:
    """Return one variable as `read_variables` does."""
    column = native(column)
    dtype = column.dtype
    if isinstance(dtype, pd.StringDtype):
        return column if dtype == TEXT else column.astype(TEXT)
    if isinstance(dtype, pd.CategoricalDtype) or is_date(dtype):
        return column
    if pd.api.types.is_bool_dtype(dtype):
        return _read_booleans(column)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return _finite(column, name)
    if pd.api.types.is_object_dtype(dtype):
        return _read_objects(column, name)
    raise DataError(
        f"Column `{short(name)}` must hold numbers, booleans, strings, categories or dates, not "
        f"{short(dtype)}; convert it first."
    )


_REAL = (int, float, np.integer, np.floating)


def _read_objects(column: Column, name: str) -> Column:
    """Return a column of Python objects as texts, booleans or numbers; raise for anything else."""
    kinds = {type(v) for v in column.dropna()}
    if all(issubclass(k, str) for k in kinds):
        return column
    if kinds <= {bool, np.bool_}:
        return _read_booleans(column)
    if all(issubclass(k, _REAL) and k not in (bool, np.timedelta64) for k in kinds):
        return _finite(column.where(column.notna(), np.nan).astype(np.float64), name)
    raise DataError(
        f"Column `{short(name)}` must hold numbers or strings, but it is an object column of "
        f"{list_of(sorted(k.__name__ for k in kinds))}; convert it with pandas.to_numeric or "
        "astype('category')."
    )


def _read_booleans(column: Column) -> Column:
    """Return booleans; with missing values they are objects."""
    missing = column.isna()
    if not missing.any():
        return column.astype(bool)
    return column.astype(object).where(~missing, np.nan)


def _finite(column: Column, name: str) -> Column:
    """Return a column of numbers in a type of NumPy; raise `DataError` if one is infinite."""
    plain = column
    if pd.api.types.is_extension_array_dtype(column.dtype):
        whole = pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any()
        plain = column.astype(np.int64 if whole else np.float64)
    infinite = np.isinf(plain.to_numpy(np.float64, na_value=np.nan))
    if infinite.any():
        raise DataError(
            f"Column `{short(name)}` must be finite, but it has {int(infinite.sum())} infinite "
            f"value(s) (first in row {int(np.flatnonzero(infinite)[0])}); drop or replace them."
        )
    return plain


def is_exotic(dtype: Any) -> bool:
    """Whether numbers are of half or long precision, or of another machine's order of bytes."""
    if isinstance(dtype, pd.ArrowDtype):
        return str(dtype).startswith("halffloat")
    if not isinstance(dtype, np.dtype):
        return False
    return not dtype.isnative or (dtype.kind == "f" and dtype.itemsize not in (4, 8))


def _of_arrow(column: Column, dtype: Any) -> Column:
    """Return a column of Arrow values in the types of pandas and NumPy; lists as they are."""
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype("boolean")
    if pd.api.types.is_numeric_dtype(dtype):
        return _arrow_numbers(column, dtype)
    if isinstance(dtype, pd.StringDtype) or dtype.type is str:
        return column.astype(TEXT)
    if str(dtype).startswith("dictionary"):
        values: Any = column.array
        return pd.Series(values.__arrow_array__().to_pandas().array, index=column.index)
    if dtype.kind == "M" or str(dtype).startswith("date"):
        return pd.to_datetime(column.astype(object)).dt.as_unit("us")
    return column


def _arrow_numbers(column: Column, dtype: Any) -> Column:
    """Return numbers of Arrow as whole ones of NumPy if all are, else as doubles with NaN."""
    if dtype.kind in "iu" and not column.isna().any():
        return column.astype(np.uint64 if dtype.kind == "u" else np.int64)
    return pd.Series(column.to_numpy(np.float64, na_value=np.nan), index=column.index)


def typical_value(column: Column, *, levels: bool = False) -> Any:
    """Return the median of a number, or the most frequent level, of equally frequent the first.

    The median of whole numbers is truncated to a whole number, as in R's pdp. Numbers may be codes
    of `levels`.
    """
    if levels or is_category(column):
        return column.mode().iloc[0]
    median = float(column.median())
    return float(np.trunc(median)) if pd.api.types.is_integer_dtype(column) else median


def typical_rows(
    variables: pd.DataFrame, n: int, codes: frozenset[str] = frozenset()
) -> pd.DataFrame:
    """Return n equal rows with the typical value of every variable, numbers as floats.

    Numbers in `codes` are codes of levels.
    """
    return pd.DataFrame(
        {
            name: pd.Series(
                [typical_value(column, levels=name in codes)] * n,
                dtype=column.dtype if is_category(column) else None,
            )
            for name, column in variables.items()
        }
    )
