"""Values of Python as values of R and back, column by column; rpy2's converters play no part.

========================  =========================  ==================================
pandas                    R                          back in pandas
========================  =========================  ==================================
float                     double, NaN as NA          float64, NA as NaN
int                       integer, or double beyond  int64, float64 if some are NA
bool                      logical                    bool, object if some are NA
category                  factor, levels in order,   category, ordered as the factor
                          unused ones included
str                       character                  str
========================  =========================  ==================================
"""

from __future__ import annotations

import numbers
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.data.columns import native
from pyinterp.errors import DataError, OptionError
from r_bridge.start import R

__all__ = [
    "RCode",
    "frame_from_r",
    "from_r",
    "level_texts",
    "text_from_r",
    "texts",
    "texts_to_r",
    "to_r",
]

NA_INTEGER = -(2**31)
LARGEST = 2**31 - 1
NA_REAL = np.array([0x7FF00000000007A2], dtype=np.uint64).view(np.float64)[0]


@dataclass(frozen=True)
class RCode:
    """An expression of R, for arguments that Python has no value for.

    Parameters
    ----------
    text : str
        Evaluated by R where it is used.

    Examples
    --------
    >>> import r_bridge
    >>> r_bridge.RCode("poisson(link = 'log')").text
    "poisson(link = 'log')"
    """

    text: str


def to_r(value: Any, r: R) -> Any:
    """Return the value as an object of R."""
    interface = r.interface
    if value is None or isinstance(value, interface.sexp.Sexp):
        return interface.NULL if value is None else value
    if isinstance(value, RCode):
        return r.helpers["code_of"](texts_to_r([value.text], r))
    if isinstance(value, pd.DataFrame):
        return _frame_to_r(value, r)
    if isinstance(value, Mapping):
        return _list_to_r(list(value.values()), [str(k) for k in value], r)
    if isinstance(value, list | tuple | range) and not (value and all(map(_is_plain, value))):
        return _list_to_r(list(value), None, r)
    return _vector_to_r(value, r)


def from_r(value: Any, r: R) -> Any:
    """Return an R data frame, vector or matrix as pandas or numpy has it, and all else as it is."""
    interface = r.interface
    if value.typeof == interface.RTYPES.NILSXP:
        return None
    if not isinstance(value, interface.SexpVector):
        return value
    if "data.frame" in tuple(value.rclass):
        return frame_from_r(value, r)
    if isinstance(value, interface.ListSexpVector):
        return value
    column = _column_from_r(value, r)
    shape = _attribute(value, "dim")
    if shape is None:
        return column
    return np.asarray(column).reshape([int(k) for k in shape], order="F")


def frame_from_r(value: Any, r: R) -> pd.DataFrame:
    """Return an R data frame, its row names left out."""
    names = text_from_r(r.interface.baseenv["names"](value))
    columns = {name: _column_from_r(value[i], r) for i, name in enumerate(names)}
    return pd.DataFrame(columns)


def text_from_r(value: Any) -> list[str]:
    """Return a character vector of R as strings."""
    return [str(item) for item in value]


def level_texts(levels: Iterable[Any]) -> list[str]:
    """Return the texts of levels, by which alone R tells them apart.

    Raises
    ------
    DataError
        If two have the same.
    """
    texts = [str(level) for level in levels]
    twice = [text for text, times in Counter(texts).items() if times > 1]
    if twice:
        raise DataError(
            f"Levels and classes must have different texts, by which R tells them apart; "
            f"{twice[0][:40]!r} stands for two. Rename one of them."
        )
    return texts


def texts(values: Iterable[str]) -> pd.Series[str]:
    """Return strings, of which there may be none, as a vector of strings."""
    return pd.Series(list(values), dtype=str)


def texts_to_r(texts: Sequence[str], r: R) -> Any:
    """Return strings, none of which may hold what R's strings can't."""
    for text in texts:
        if re.search("[\0\ud800-\udfff]", text):  # UTF-8 has no code for surrogates
            raise DataError(
                "R can be given text in UTF-8 without null characters, in names and values alike; "
                f"got {text[:40]!r}. Rename or replace it."
            )
    return r.interface.StrSexpVector(texts)


def _frame_to_r(frame: pd.DataFrame, r: R) -> Any:
    columns = [_column_to_r(frame.iloc[:, j], r, f"column `{c}`") for j, c in enumerate(frame)]
    listed = _list_to_r(columns, [str(c) for c in frame.columns], r)
    return r.helpers["frame_of"](listed, len(frame))


def _list_to_r(values: list[Any], names: list[str] | None, r: R) -> Any:
    listed = r.interface.ListSexpVector([to_r(v, r) for v in values])
    if names is not None:
        listed.names = texts_to_r(names, r)
    return listed


def _is_plain(value: object) -> bool:
    return isinstance(value, str | numbers.Real | np.bool_)


def _vector_to_r(value: Any, r: R) -> Any:
    """Return one value, or values of one kind."""
    if isinstance(value, np.ndarray):
        return _array_to_r(value, r)
    if _is_plain(value):
        return _column_to_r(pd.Series([value]), r, "a value")
    if isinstance(value, pd.Series | pd.Categorical | pd.Index | list | tuple | range):
        return _column_to_r(pd.Series(value), r, "values")
    raise OptionError(
        "R can be given numbers, strings, lists, mappings, arrays, data frames and "
        f"`r_bridge.RCode`, not {type(value).__name__}."
    )


def _array_to_r(values: npt.NDArray[Any], r: R) -> Any:
    column = _column_to_r(pd.Series(values.ravel(order="F")), r, "values")
    if values.ndim <= 1:
        return column
    shape = r.interface.IntSexpVector(values.shape)
    return r.interface.baseenv["dim<-"](column, value=shape)


def _column_to_r(column: pd.Series[Any], r: R, what: str) -> Any:
    column = native(column)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = level_texts(dtype.categories)
        positions = column.cat.codes.to_numpy().astype(np.int64)
        codes = _integers(positions + 1, positions < 0, r)
        return r.helpers["factor_of"](codes, texts_to_r(levels, r), bool(dtype.ordered))
    missing = column.isna().to_numpy(dtype=bool)
    present = column[~missing]
    if pd.api.types.is_object_dtype(dtype) and len(present):  # by what it holds
        dtype = present.infer_objects().dtype
    if pd.api.types.is_bool_dtype(dtype):
        values = _fill(column, present.astype(bool), missing, 0)
        return _integers(values, missing, r, logical=True)
    if pd.api.types.is_integer_dtype(dtype) and _fits(present):
        return _integers(_fill(column, present, missing, 0), missing, r)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        values = _fill(column, present, missing, NA_REAL)
        return r.interface.FloatSexpVector.from_memoryview(values.data)
    if {type(v) for v in present} <= {str, np.str_}:
        codes, distinct = pd.factorize(column)
        texts = texts_to_r([str(text) for text in distinct], r)
        return r.interface.baseenv["["](texts, _integers(codes + 1, missing, r))
    raise DataError(
        f"R can be given numbers, booleans, strings and categories, but {what} has dtype "
        f"{column.dtype}; convert it first."
    )


def _fits(values: pd.Series[Any]) -> bool:
    return not len(values) or (int(values.min()) > NA_INTEGER and int(values.max()) <= LARGEST)


def _fill(
    column: pd.Series[Any], present: pd.Series[Any], missing: npt.NDArray[np.bool_], fill: float
) -> npt.NDArray[Any]:
    """Return all values as an array, with `fill` where they are missing."""
    kind = np.int64 if isinstance(fill, int) else np.float64
    values = np.full(len(column), fill, dtype=kind)
    values[~missing] = present.to_numpy(dtype=kind)
    return values


def _integers(
    values: npt.NDArray[Any], missing: npt.NDArray[np.bool_], r: R, *, logical: bool = False
) -> Any:
    whole = np.where(missing, NA_INTEGER, values).astype(np.int32)
    kind = r.interface.BoolSexpVector if logical else r.interface.IntSexpVector
    return kind.from_memoryview(whole.data)


def _column_from_r(value: Any, r: R) -> Any:
    interface = r.interface
    if isinstance(value, interface.FloatSexpVector):
        return np.array(value.memoryview()).ravel(order="F")
    if isinstance(value, interface.IntSexpVector | interface.BoolSexpVector):
        whole = np.array(value.memoryview()).ravel(order="F")
        missing = whole == NA_INTEGER
        levels = _attribute(value, "levels")
        if levels is not None:
            return pd.Categorical.from_codes(
                np.where(missing, -1, whole - 1),
                categories=pd.Index(text_from_r(levels)),
                ordered="ordered" in tuple(value.rclass),
            )
        if isinstance(value, interface.BoolSexpVector):
            logical = (whole == 1).astype(object if missing.any() else bool)
            logical[missing] = None
            return logical
        return np.where(missing, np.nan, whole) if missing.any() else whole.astype(np.int64)
    if isinstance(value, interface.StrSexpVector):
        distinct = interface.baseenv["unique"](value)  # every text is read once
        absent = interface.NA_Character
        texts = np.array([None if t is absent else str(t) for t in distinct], dtype=object)
        return texts[np.array(interface.baseenv["match"](value, distinct).memoryview()) - 1]
    raise DataError(
        f"A column of R must hold numbers, logicals, strings or a factor, not {value.typeof.name}."
    )


def _attribute(value: Any, name: str) -> Any:
    try:
        return value.do_slot(name)
    except LookupError:
        return None
