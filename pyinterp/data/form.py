"""The form of the user's rows: container, names and types, in which models see rows again.

Estimands read plain columns (`pyinterp.data.columns`). Rows for training and prediction are
written back in the form that the user's rows have, so that a model never sees the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from pyinterp._typing import Column, Matrix
from pyinterp.data.columns import is_exotic
from pyinterp.data.frames import foreign_frame


@dataclass(frozen=True)
class Form:
    """How the user's frame is written.

    Attributes
    ----------
    types : mapping of str to dtype
        The types of the columns, by name: of pandas, or of narwhals for other libraries.
    labels : mapping of str to hashable
        The user's labels of columns whose names are no texts.
    library : narwhals.Implementation or None
        The library of frames that are not pandas'.
    missing : mapping of str to object
        The missing value, by column, where the type does not say: None, NaN or NA.
    objects : mapping of str to mapping of float to object
        The user's objects that are numbers, by column, under their values.
    """

    types: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    library: Any = None
    missing: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, Mapping[float, Any]] = field(default_factory=dict)

    def of_columns(self, frame: pd.DataFrame, names: Sequence[str]) -> Self:
        """Return the form with the objects of those columns of the user's frame that hold some."""
        objects, missing = {}, dict(self.missing)
        for name in names:
            if self.library is not None or name not in frame or frame[name].dtype != object:
                continue
            column = frame[name]
            absent = column.isna()
            if absent.any():
                missing[name] = column[absent].iloc[0]
            present = column[~absent]
            if not all(isinstance(value, str) for value in present):
                objects[name] = {float(value): value for value in present.unique()}
        return replace(self, objects=objects, missing=missing)

    def write(self, frame: pd.DataFrame, index: pd.Index | None = None) -> Matrix:
        """Return rows of plain columns in the user's form, with the user's names of the rows."""
        if self.library is not None:
            first, *others = (self._foreign(frame[name], str(name)) for name in frame)
            foreign: Matrix = first.to_frame().with_columns(*others).to_native()
            return foreign
        held = {str(name): dtype for name, dtype in frame.dtypes.items()}
        other = [n for n, dtype in self.types.items() if held.get(n, dtype) != dtype]
        cast = {n: _cast(frame[n], self.types[n]) for n in other}
        cast |= {n: self._as_objects(frame[n], n) for n in self.objects if n in frame}
        written = frame.assign(**cast) if cast else frame
        if self.labels:
            written = written.set_axis([self.labels.get(c, c) for c in written.columns], axis=1)
        return written if index is None else written.set_axis(index, axis=0)

    def _as_objects(self, column: Column, name: str) -> Column:
        """Return numbers as the user's objects; values that the user has not are numbers."""
        known, none = self.objects[name], self.missing.get(name)
        values = [none if pd.isna(v) else known.get(float(v), v) for v in column]
        return pd.Series(values, column.index, dtype=object)

    def _foreign(self, column: Column, name: str) -> nw.Series[Any]:
        """Return a column as a series of the user's library, of its type if the values fit."""
        dtype = self.types.get(name)
        if column.dtype.kind in "iufb" and (name in self.missing or not column.isna().any()):
            values: Any = column.to_numpy()
        elif column.dtype.kind == "M":
            values = [None if pd.isna(m) else m for m in pd.DatetimeIndex(column).to_pydatetime()]
        else:
            values = column.astype(object).where(column.notna(), None).tolist()
        if dtype is not None and dtype.is_integer() and column.dtype.kind == "f":
            dtype = dtype if (column.dropna() % 1 == 0).all() else nw.Float64()
        if isinstance(dtype, nw.Enum):  # a cast loses the levels
            return nw.new_series(name, values, dtype, backend=self.library)
        series = nw.new_series(name, values, backend=self.library)
        if dtype is None or series.dtype == dtype:
            return series
        cast = series.cast(dtype)
        if dtype.is_decimal() and not _same(cast.cast(nw.Float64()).to_numpy(), column):
            return series
        return cast


def form_of(data: object, frame: pd.DataFrame) -> Form:
    """Return the form of the user's rows, which are `frame` with names that are texts."""
    labels: dict[str, Any] = {}
    if isinstance(data, pd.DataFrame):
        labels = {str(label): label for label in data.columns if not isinstance(label, str)}
    elif (foreign := foreign_frame(data)) is not None:
        schema = foreign.schema
        whole = [n for n, t in schema.items() if t.is_float() and not foreign[n].null_count()]
        missing = dict.fromkeys(whole, np.nan)  # NaN, and no null
        return Form(types=dict(schema), library=foreign.implementation, missing=missing)
    # Half and long precision and foreign bytes, in which few learners compute, are doubles.
    types = {str(name): t for name, t in frame.dtypes.items() if not is_exotic(t)}
    return Form(types=types, labels=labels)


def _cast(column: Column, dtype: Any) -> Column:
    """Return a column in the user's type, or as it is if that can't hold its values."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            cast = column.astype(dtype)
    except (TypeError, ValueError, NotImplementedError, OverflowError):
        return column
    exact = pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)
    if str(dtype).startswith("decimal"):
        return cast if _same(cast.to_numpy(np.float64, na_value=np.nan), column) else column
    held = cast.notna() == column.notna()
    if exact and column.dtype != object:
        held &= column.isna() | (cast == column).fillna(value=False)
    return cast if held.all() else column


def _same(decimals: Any, column: Column) -> bool:
    """Whether decimals, as doubles, hold the numbers of a column, which may have more digits."""
    numbers = column.to_numpy(np.float64)
    return np.allclose(np.asarray(decimals, np.float64), numbers, 1e-14, 0.0, equal_nan=True)
