"""Samples: rows of variables with their response, checked once at the edge of the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.design import IntArray
from pyinterp.errors import DataError, check_choice

__all__ = [
    "FloatArray",
    "Missing",
    "Response",
    "Sample",
    "as_frame",
    "check_aligned",
    "complete_rows",
    "is_category",
    "read_response",
    "read_variables",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Missing: TypeAlias = Literal["drop", "raise"]
MINIMUM_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class Response:
    """What the response is called and, if it is categorical, its classes in order."""

    name: str
    classes: tuple[Any, ...] | None = None

    def labels(self, values: FloatArray) -> npt.NDArray[Any]:
        """Return what an estimator's ``fit`` is given: numbers, or the class labels."""
        if self.classes is None:
            return values
        return np.array(self.classes)[values.astype(np.intp)]

    def column(self, values: FloatArray) -> pd.Series[Any]:
        """Return the response with its name and, if it is categorical, its classes in order."""
        if self.classes is None:
            return pd.Series(values, name=self.name)
        labels = pd.Categorical.from_codes(values.astype(np.intp), pd.Index(self.classes))
        return pd.Series(labels, name=self.name)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of variables with their response.

    Attributes
    ----------
    variables : pandas.DataFrame, shape (n, number of variables)
        With a RangeIndex.
    y : ndarray of shape (n,) or None
        The response: numbers, or positions in `response.classes`. None if only effects are wanted.
    response : Response or None
        What the response is called, and its classes.
    rows : ndarray of int, shape (n,)
        Positions in the analyzed data.
    clusters : ndarray of int, shape (n,), or None
        The unit that each row belongs to, if rows are not independent.
    """

    variables: pd.DataFrame
    y: FloatArray | None
    response: Response | None
    rows: IntArray
    clusters: IntArray | None = None

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return len(self.variables)

    def take(self, rows: IntArray) -> Sample:
        """Return the given rows, repeats allowed."""
        return replace(
            self,
            variables=self.variables.take(rows).reset_index(drop=True),
            y=None if self.y is None else self.y[rows],
            rows=self.rows[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
        )

    def with_clusters(self, clusters: IntArray) -> Sample:
        """Return the same rows with the cluster of each."""
        return replace(self, clusters=clusters)


def as_frame(data: object, what: str = "data") -> pd.DataFrame:
    """Return array or frame `data` as a DataFrame with unique column names and a RangeIndex.

    Array columns are called x1, x2, ..., as in statsmodels.
    """
    if isinstance(data, pd.DataFrame):
        frame = data.set_axis([str(c) for c in data.columns], axis=1).reset_index(drop=True)
    elif isinstance(data, pd.Series):
        frame = data.rename(str(data.name or "x1")).reset_index(drop=True).to_frame()
    elif isinstance(data, np.ndarray | list | tuple):
        array = np.asarray(data)
        if array.ndim == 1 and array.size:
            array = array[:, None]
        if array.ndim != 2 or array.dtype.kind not in "iufb":
            raise DataError(
                f"`{what}` must be a DataFrame or a numeric array of two dimensions, "
                f"not an array of {array.ndim} dimension(s) and dtype {array.dtype}."
            )
        frame = pd.DataFrame(array, columns=[f"x{j + 1}" for j in range(array.shape[1])])
    else:
        raise DataError(
            f"`{what}` must be a pandas DataFrame or a numeric array, not {type(data).__name__}."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(f"Column names must be unique, but `{twice[0]}` occurs more than once.")
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise DataError(f"`{what}` must have rows and columns; it has shape {tuple(frame.shape)}.")
    return frame


def check_aligned(values: object, frame: object, what: str, other: str) -> None:
    """Raise `DataError` if a Series and the rows it belongs to have different indexes."""
    if not isinstance(values, pd.Series) or not isinstance(frame, pd.DataFrame | pd.Series):
        return
    if len(values) == len(frame) and not values.index.equals(frame.index):
        raise DataError(
            f"`{what}` and `{other}` must have the same index, but theirs differ, and pairing them "
            f"by position could mix up rows; align them, or pass `{what}.to_numpy()`."
        )


def read_variables(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the variables as numbers, booleans or categories, or say which can't be read."""
    return pd.DataFrame({name: _read_column(frame[name], str(name)) for name in frame.columns})


def read_response(
    values: pd.Series[Any],
    name: str,
    *,
    classifier: bool,
    learner: str,
    constant_ok: bool = False,
) -> tuple[FloatArray, Response]:
    """Return the response as numbers and, for a classifier, its classes.

    Parameters
    ----------
    values : pandas.Series
        Without missing values.
    name : str
        What the response is called in messages and tables.
    classifier : bool
        Whether `learner` predicts classes.
    learner : str
        Name of the estimator, for messages.
    constant_ok : bool
        Whether the response may be the same in all rows, as it may for evaluating a fitted model.
    """
    column = _read_column(values, name)
    categorical = is_category(column)
    if not classifier:
        if categorical:
            raise DataError(
                f"{learner} is a regressor and needs a numeric response, but `{name}` has dtype "
                f"{column.dtype}; use a classifier or turn `{name}` into numbers."
            )
        numbers = column.to_numpy(dtype=np.float64)
        if not constant_ok:
            _check_varies(len(np.unique(numbers)), float(numbers[0]), name)
        return numbers, Response(name=name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        classes = tuple(column.cat.categories.tolist())
        codes = column.cat.codes.to_numpy()
    else:
        if column.dtype.kind == "f" and (column % 1 != 0).any():
            raise DataError(
                f"{learner} is a classifier, but the response `{name}` has fractional numbers; "
                "use a regressor, or a response with class labels."
            )
        codes, found = pd.factorize(column, sort=True)
        classes = tuple(found.tolist())
    _check_varies(len(classes), classes[0], name)
    return codes.astype(np.float64), Response(name=name, classes=classes)


def is_category(column: pd.Series[Any]) -> bool:
    """Whether a column has levels, not numbers; True and False are levels."""
    return bool(not pd.api.types.is_numeric_dtype(column) or column.dtype == bool)


def complete_rows(
    parts: Sequence[pd.DataFrame | pd.Series[Any]], missing: Missing, least: int = MINIMUM_ROWS
) -> npt.NDArray[np.bool_]:
    """Return which rows have no missing value in any of `parts`; maybe raise if some have."""
    check_choice("missing", missing, ("drop", "raise"))
    absent = np.zeros(len(parts[0]), dtype=bool)
    where: list[str] = []
    for part in parts:
        for name, column in part.items() if isinstance(part, pd.DataFrame) else [("", part)]:
            gone = column.isna().to_numpy(dtype=bool)
            if gone.any():
                where.append(str(name or part.name))
            absent |= gone
    if absent.any() and missing == "raise":
        raise DataError(
            f"{int(absent.sum())} rows have missing values (in {', '.join(where)}); fill them in, "
            'or use `missing="drop"`.'
        )
    if absent.all():
        raise DataError(
            f"All {len(absent)} rows have a missing value (in {', '.join(where)}), so none is left."
        )
    kept = int((~absent).sum())
    if kept < least:
        raise DataError(
            f"At least {least} complete rows are needed to fit and evaluate; got {kept}."
        )
    return ~absent


def _read_column(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        return column
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype(object) if column.isna().any() else column.astype(bool)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return _finite(column, name)
    if pd.api.types.is_object_dtype(dtype):
        return _read_objects(column, name)
    raise DataError(
        f"Column `{name}` must hold numbers, booleans, strings or categories, not {dtype}; "
        "convert it first."
    )


def _read_objects(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    kinds = {type(v) for v in column.dropna()}
    if kinds <= {str}:
        return column
    if kinds <= {bool, np.bool_}:
        return column if column.isna().any() else column.astype(bool)
    if all(issubclass(k, int | float | np.number) and k is not bool for k in kinds):
        return _finite(column.where(column.notna(), np.nan).astype(np.float64), name)
    shown = ", ".join(sorted(k.__name__ for k in kinds))
    raise DataError(
        f"Column `{name}` must hold numbers or strings, but it is an object column of {shown}; "
        "convert it with pandas.to_numeric or astype('category')."
    )


def _finite(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    plain = column
    if pd.api.types.is_extension_array_dtype(column.dtype):
        whole = pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any()
        plain = column.astype(np.int64) if whole else column.astype(np.float64)
    infinite = np.isinf(plain.to_numpy(dtype=np.float64, na_value=np.nan))
    if infinite.any():
        raise DataError(
            f"Column `{name}` must be finite, but it has {int(infinite.sum())} infinite value(s) "
            f"(first in row {int(np.flatnonzero(infinite)[0])}); drop or replace them."
        )
    return plain


def _check_varies(distinct: int, value: object, name: str) -> None:
    if distinct < 2:
        raise DataError(
            f"The response `{name}` must vary, but it is {value!r} in every row: "
            "there is nothing to learn."
        )
