"""The user's frames and arrays as pandas objects with native dtypes, masked values missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.errors import DataError, short

__all__ = [
    "as_column",
    "as_frame",
    "check_aligned",
    "fill_masks",
    "index_of",
    "native",
    "one_column",
]


def as_frame(data: object, what: str = "data") -> pd.DataFrame:
    """Return array or frame `data` as a DataFrame with unique column names and a RangeIndex.

    Columns of arrays are called x1, x2, ..., as in statsmodels, those of structured arrays by
    their fields. Masked values are missing.
    """
    if isinstance(data, pd.DataFrame):
        frame = data.set_axis([str(c) for c in data.columns], axis=1).reset_index(drop=True)
    elif isinstance(data, pd.Series):
        frame = data.rename(_series_name(data, "x1")).reset_index(drop=True).to_frame()
    elif isinstance(data, np.ndarray) and data.dtype.names:
        frame = _of_fields(data, what)
    elif isinstance(data, np.ndarray | list | tuple) or _is_like_array(data):
        frame = _of_array(data, what)
    else:
        raise DataError(
            f"`{what}` must be a pandas DataFrame or a numeric array, not {type(data).__name__}"
            f"{_conversion(data)}."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(
            f"Column names must be unique, but `{short(twice[0])}` occurs more than once."
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise DataError(f"`{what}` must have rows and columns; it has shape {tuple(frame.shape)}.")
    return native(frame)


def index_of(*data: object) -> pd.Index | None:
    """Return the index of the first of `data` that has one: the user's names of the rows."""
    labeled = (d for d in data if isinstance(d, pd.DataFrame | pd.Series))
    return next((d.index for d in labeled), None)


def as_column(values: object, rows: int, what: str, other: str) -> pd.Series[Any]:
    """Return one value per row as a Series with a RangeIndex; masked values are missing.

    Parameters
    ----------
    values : Series, array or list
        Of shape (rows,) or (rows, 1).
    rows : int
        How many rows there are.
    what, other : str
        What the values, and what the rows are called in messages.

    Raises
    ------
    DataError
        If there is not one value per row.
    """
    column = one_column(values)
    if column is None:
        raise DataError(
            f"`{what}` must be one column with one value per row of `{other}`; it has shape "
            f"{_shape(values)} for {rows} rows{_conversion(values)}."
        )
    if len(column) != rows:
        raise DataError(
            f"`{what}` must be one column with one value per row of `{other}`; it has shape "
            f"({len(column)},) for {rows} rows."
        )
    return column


def one_column(values: object) -> pd.Series[Any] | None:
    """Return one column of values as a Series with a RangeIndex; None if it is not one column."""
    if isinstance(values, pd.DataFrame):
        column = values.iloc[:, 0] if values.shape[1] == 1 else None
    elif isinstance(values, pd.Series):
        column = values
    elif isinstance(values, pd.Index | pd.api.extensions.ExtensionArray):
        column = pd.Series(values)
    elif isinstance(values, np.ndarray) and values.dtype.names:
        column = None
    elif isinstance(values, np.ndarray | list | tuple):
        column = _of_vector(values)
    elif _is_like_array(values):
        column = _of_vector(np.asarray(values))
    else:
        column = None
    if column is None:
        return None
    plain = column.reset_index(drop=True)
    return _native(plain) if _is_foreign(plain.dtype) else plain


def _is_like_array(values: object) -> bool:
    """Whether NumPy can make an array of an object, such as a tensor, that has no pandas form."""
    return callable(getattr(values, "__array__", None)) and not hasattr(values, "to_pandas")


def fill_masks(values: Any) -> npt.NDArray[Any]:
    """Return an array in which masked values are missing: NaN, or None among objects."""
    if isinstance(values, list | tuple):
        values = [np.nan if value is np.ma.masked else value for value in values]
    masked: Any = np.ma.array(values)
    if not np.ma.is_masked(masked):
        return np.asarray(masked.data)
    if masked.dtype.kind in "iuf":
        return np.asarray(masked.astype(np.float64).filled(np.nan))
    values = masked.data.astype(object)
    values[np.ma.getmaskarray(masked)] = None
    return np.asarray(values)


def native(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns in dtypes of pandas and NumPy that every learner can read."""
    changed = {
        str(name): _native(column) for name, column in frame.items() if _is_foreign(column.dtype)
    }
    return frame.assign(**changed) if changed else frame


def _is_foreign(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return not dtype.isnative or (dtype.kind == "f" and dtype.itemsize not in (4, 8))
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_foreign(dtype.categories.dtype)
    return isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow"


def _native(column: pd.Series[Any]) -> pd.Series[Any]:
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(_native(pd.Series(dtype.categories)).tolist())
    if isinstance(dtype, np.dtype):
        plain = dtype.kind != "f" or dtype.itemsize in (4, 8)
        return column.astype(dtype.newbyteorder("=") if plain else np.float64)
    return _of_arrow(column, dtype)


def _of_arrow(column: pd.Series[Any], dtype: Any) -> pd.Series[Any]:
    """Return a column of Arrow values in pandas' own dtypes; dates and lists as they are."""
    if isinstance(dtype, pd.StringDtype) or dtype.type is str:
        return column.astype(object).where(column.notna(), None)
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype("boolean")
    if pd.api.types.is_numeric_dtype(dtype):
        if dtype.kind in "iu" and not column.isna().any():
            return column.astype(np.uint64 if dtype.kind == "u" else np.int64)
        return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
    if str(dtype).startswith("dictionary"):
        return pd.Series(column.array.__arrow_array__().to_pandas())
    return column


def _of_array(data: Any, what: str) -> pd.DataFrame:
    try:
        array = fill_masks(data if isinstance(data, list | tuple) else np.asanyarray(data))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"`{what}` must be a DataFrame or a numeric array whose rows are equally long."
        ) from error
    if array.ndim == 1 and array.size:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise DataError(
            f"`{what}` must be a DataFrame or a numeric array of two dimensions, "
            f"not an array of {array.ndim} dimension(s) and dtype {short(array.dtype)}."
        )
    return pd.DataFrame(array, columns=[f"x{j + 1}" for j in range(array.shape[1])])


def _of_fields(data: npt.NDArray[Any], what: str) -> pd.DataFrame:
    """Return the fields of a structured array as columns."""
    fields = {name: fill_masks(data[name]) for name in data.dtype.names or ()}
    if data.ndim != 1 or any(values.ndim != 1 for values in fields.values()):
        raise DataError(
            f"`{what}` must have one value per row and field, but it is a structured array of "
            f"shape {data.shape} with fields that are arrays themselves."
        )
    return pd.DataFrame(fields)


def _of_vector(values: Any) -> pd.Series[Any] | None:
    """Return an array or list of one dimension, or of one column, as a Series."""
    listed = isinstance(values, list | tuple)
    if listed:
        values = [None if value is np.ma.masked else value for value in values]
    try:
        array = fill_masks(values)
    except (TypeError, ValueError):  # lists of different lengths
        return None
    if array.ndim == 2 and array.shape[1] == 1:
        return pd.Series(array[:, 0])
    if array.ndim != 1:
        return None
    # A list keeps what it holds: NumPy would make strings of numbers beside strings.
    return pd.Series(values if listed else array)


def _series_name(column: pd.Series[Any], default: str) -> str:
    return default if column.name is None else str(column.name)


def _shape(values: object) -> tuple[int, ...]:
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple):
        return shape
    return (len(values),) if isinstance(values, list | tuple) else ()


def _conversion(data: object) -> str:
    """Return advice on converting `data` to a frame or an array; empty if there is none."""
    if isinstance(data, Mapping):
        return "; pass `pd.DataFrame(data)`"
    for method in ("toarray", "to_pandas"):  # of sparse matrices; of polars and pyarrow
        if callable(getattr(data, method, None)):
            return f"; pass `.{method}()` of it"
    return ""


def check_aligned(values: object, frame: object, what: str, other: str) -> None:
    """Raise `DataError` if a Series and the rows it belongs to have different indexes."""
    if not isinstance(values, pd.Series) or not isinstance(frame, pd.DataFrame | pd.Series):
        return
    if len(values) == len(frame) and not values.index.equals(frame.index):
        raise DataError(
            f"`{what}` and `{other}` must have the same index, but theirs differ, and pairing them "
            f"by position could mix up rows; align them, or pass `{what}.to_numpy()`."
        )
