"""The user's frames, columns and arrays as pandas objects: types kept, masked values missing.

Frames that are not pandas' are read through narwhals: polars and pyarrow column by column,
relations of DuckDB and other lazy frames as the pandas frames that they compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import Column
from pyinterp.data.columns import native
from pyinterp.errors import DataError, OptionError, did_you_mean, quote, short


def as_frame(data: object, what: str = "data") -> pd.DataFrame:
    """Return array or frame `data` as a DataFrame with unique column names and a RangeIndex.

    Columns keep their types, whatever these are: only those that are used are read. Columns of
    arrays are called x1, x2, ..., as in statsmodels; structured arrays have their fields.
    Masked values are missing.
    """
    if not isinstance(data, pd.DataFrame):
        data = _in_pandas(data, what)
    if isinstance(data, pd.DataFrame):
        frame = data.set_axis(list(map(str, data.columns)), axis=1).reset_index(drop=True)
    elif (foreign := foreign_frame(data)) is not None:
        frame = pd.DataFrame({name: _of_foreign(foreign[name]) for name in foreign.columns})
    elif isinstance(data, pd.Series):
        frame = data.to_frame("x1" if data.name is None else str(data.name)).reset_index(drop=True)
    elif isinstance(data, np.ndarray | list | tuple) or _is_like_array(data):
        frame = _of_array(data, what)
    else:
        raise DataError(
            f"`{what}` must be a data frame (pandas, polars, pyarrow, DuckDB), a dict of columns "
            f"or a numeric array, not {type(data).__name__}{_conversion(data)}."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(
            f"Column names must be unique, but `{short(twice[0])}` occurs more than once."
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise DataError(f"`{what}` must have rows and columns; it has shape {tuple(frame.shape)}.")
    # pandas before 3 selects no rows of another machine's order of bytes.
    swapped = {n: t for n, t in frame.dtypes.items() if isinstance(t, np.dtype) and not t.isnative}
    return frame.astype({n: t.newbyteorder("=") for n, t in swapped.items()}) if swapped else frame


def foreign_frame(data: object) -> nw.DataFrame[Any] | None:
    """Return a frame of another library than pandas, such as polars or pyarrow; None for others."""
    frame = _narwhal(data)
    return frame if isinstance(frame, nw.DataFrame) else None


def is_frame(data: object) -> bool:
    """Whether rows are a frame, not an array."""
    if isinstance(data, pd.DataFrame) or _is_of_columns(data):
        return True
    return isinstance(_narwhal(data), nw.DataFrame | nw.LazyFrame)


def _is_of_columns(data: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether data are a dict of columns; some sparse matrices are mappings too."""
    return isinstance(data, Mapping) and not hasattr(data, "toarray")


def _narwhal(data: object) -> object:
    """Return a frame or column of another library than pandas as narwhals has it."""
    if isinstance(data, pd.DataFrame | pd.Series | pd.Index | np.ndarray | list | tuple):
        return data
    return nw.from_native(data, pass_through=True, allow_series=True)


def _in_pandas(data: object, what: str) -> object:
    """Return lazy frames, mappings and fields of columns as pandas frames; others as they are."""
    if isinstance(data, np.ndarray) and data.dtype.names:
        data = {name: data[name] for name in data.dtype.names}
    if _is_of_columns(data):
        columns = {str(name): one_column(values) for name, values in data.items()}
        sizes = {-1 if column is None else len(column) for column in columns.values()}
        if len(sizes) > 1 or -1 in sizes:
            raise DataError(
                f"`{what}` must have columns of one value per row, all of one length, if it is a "
                "dict of them or a structured array."
            )
        return pd.DataFrame(columns)
    lazy = _narwhal(data)
    return lazy.collect("pandas").to_native() if isinstance(lazy, nw.LazyFrame) else data


def _of_foreign(column: nw.Series[Any]) -> Column:
    """Return a column of another library's frame; missing values are NaN or None."""
    dtype = column.dtype
    if dtype.is_decimal():
        column, dtype = column.cast(nw.Float64()), nw.Float64()
    whole = dtype.is_numeric() or dtype == nw.Boolean
    if whole and not column.null_count():
        return pd.Series(column.to_numpy())
    if dtype.is_numeric():
        single = dtype == nw.Float32
        return pd.Series(column.to_numpy().astype(np.float32 if single else np.float64))
    if dtype in (nw.Date, nw.Datetime):
        return pd.Series(column.cast(nw.Datetime("us")).to_numpy())
    values = column.to_list()
    if dtype == nw.String:
        return pd.Series(values, dtype=pd.StringDtype("python", na_value=np.nan))
    if dtype in (nw.Categorical, nw.Enum):
        return pd.Series(pd.Categorical(values, column.cat.get_categories().to_list()))
    return pd.Series(values, dtype=object)


def as_column(values: object, rows: int, what: str, other: str, index: pd.Index | None) -> Column:
    """Return one value per row as a Series with a RangeIndex; masked values are missing.

    Parameters
    ----------
    values : Series, array or list
        Of shape (rows,) or (rows, 1).
    rows : int
        How many rows there are.
    what, other : str
        The names of the values and of the rows in messages.
    index : pandas.Index, optional
        The user's index, to which a Series must be aligned.

    Raises
    ------
    DataError
        If there is not one value per row, or a Series has another index.
    """
    check_aligned(values, index, what, other)
    column = one_column(values)
    if column is None or len(column) != rows:
        fields = isinstance(values, np.ndarray) and values.dtype.names
        survival = '; for times with events see the page "Survival"' if fields else ""
        shape = getattr(values, "shape", None)
        if not isinstance(shape, tuple):
            shape = (len(values),) if isinstance(values, list | tuple) else ()
        raise DataError(
            f"`{what}` must be one column with one value per row of `{other}`; it has shape "
            f"{shape} for {rows} rows{_conversion(values)}{survival}."
        )
    return column


def column_of(
    values: object,
    frame: pd.DataFrame,
    argument: str,
    *,
    rows: pd.Index | None = None,
    data: str = "data",
) -> Column:
    """Return the column of `frame` with this name, or an array as a column: see `as_column`.

    Raises
    ------
    OptionError
        If no column has the name.
    """
    if not isinstance(values, str):
        return as_column(values, len(frame), argument, data, rows)
    if values not in frame:
        raise OptionError(
            f"`{argument}` names column {quote(values)}, which is not in `{data}`."
            + did_you_mean(values, frame)
        )
    return native(frame[values])


def one_column(values: object) -> Column | None:
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
    elif isinstance(foreign := _narwhal(values), nw.Series):
        column = _of_foreign(foreign)
    elif isinstance(foreign, nw.DataFrame):
        column = _of_foreign(foreign[:, 0]) if foreign.shape[1] == 1 else None
    else:
        column = _of_vector(np.asarray(values)) if _is_like_array(values) else None
    if column is None:
        return None
    return native(column.reset_index(drop=True))


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


def _of_array(data: Any, what: str) -> pd.DataFrame:
    """Return an array of numbers, or nested lists, as a frame; one dimension is one column."""
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


def _of_vector(values: Any) -> Column | None:
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
    # A list keeps its values: NumPy would make strings of numbers among strings.
    return pd.Series(values if listed else array)


def _conversion(data: object) -> str:
    """Return advice on converting `data` to a frame or an array; empty if there is none."""
    if callable(getattr(data, "toarray", None)):
        return "; pass `.toarray()` of it, because a sparse matrix is not read"
    if callable(getattr(data, "to_pandas", None)):
        return "; pass `.to_pandas()` of it"
    if type(data).__name__ in ("DMatrix", "Dataset", "Pool"):  # XGBoost, LightGBM, CatBoost
        return "; pass the frame or array that it was made of"
    return ""


def check_aligned(values: object, rows: pd.Index | None, what: str, other: str) -> None:
    """Raise `DataError` if a Series and the rows it belongs to have different indexes."""
    if not isinstance(values, pd.Series) or rows is None:
        return
    if len(values) == len(rows) and not values.index.equals(rows):
        raise DataError(
            f"`{what}` and `{other}` must have the same index, but theirs differ, and pairing them "
            f"by position could mix up rows; align them, or pass `{what}.to_numpy()`."
        )
