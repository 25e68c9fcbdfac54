"""Frames, series, indexes and columns of pandas: what they are made of, and made of it again."""

from __future__ import annotations

import re
from typing import Any, TypeAlias
from zoneinfo import available_timezones

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

from pyinterp.errors import FileError, quote

OFFSET = re.compile(r"UTC([+-]\d\d:\d\d(:\d\d)?)?")
Parts: TypeAlias = dict[str, Any]
Values: TypeAlias = npt.NDArray[Any] | ExtensionArray


def parts_of_frame(frame: pd.DataFrame) -> Parts:
    """Return the columns, their names and the index of a frame."""
    columns = [_values(frame.iloc[:, place]) for place in range(frame.shape[1])]
    return {"columns": columns, "names": frame.columns, "index": frame.index}


def frame_of(columns: list[Values], names: pd.Index, index: pd.Index) -> pd.DataFrame:
    """Return the frame of its columns."""
    every = [series_of(values, place, index) for place, values in enumerate(columns)]
    return pd.DataFrame(dict(enumerate(every)), index=index).set_axis(names, axis=1)


def parts_of_series(series: pd.Series[Any]) -> Parts:
    """Return the values, the name and the index of a series."""
    return {"values": _values(series), "name": series.name, "index": series.index}


def series_of(values: Values, name: Any, index: pd.Index) -> pd.Series[Any]:
    """Return the series of its values."""
    return pd.Series(values, name=name, index=index, dtype=values.dtype)


def parts_of_range(index: pd.RangeIndex) -> Parts:
    """Return the ends and the name of an index of numbers in a row."""
    return {"start": index.start, "stop": index.stop, "step": index.step, "name": index.name}


def range_of(start: int, stop: int, step: int, name: Any) -> pd.RangeIndex:
    """Return the index of its ends."""
    return pd.RangeIndex(start, stop, step, name=name)


def parts_of_levels(index: pd.MultiIndex) -> Parts:
    """Return the levels, codes and names of an index."""
    return {"levels": list(index.levels), "codes": list(index.codes), "names": list(index.names)}


def levels_of(levels: list[Any], codes: list[Any], names: list[Any]) -> pd.MultiIndex:
    """Return the index of its levels."""
    return pd.MultiIndex(levels=levels, codes=codes, names=names)


def parts_of_index(index: pd.Index) -> Parts:
    """Return the values and the name of an index."""
    return {"values": _values(index), "name": index.name}


def index_of(values: Values, name: Any) -> pd.Index:
    """Return the index of its values."""
    return pd.Index(values, name=name, dtype=values.dtype, tupleize_cols=False)


def parts_of_category(values: pd.Categorical) -> Parts:
    """Return codes and levels."""
    return {"codes": values.codes, "levels": values.categories, "ordered": bool(values.ordered)}


def category_of(codes: Any, levels: pd.Index, ordered: bool) -> pd.Categorical:
    """Return the categories of codes."""
    return pd.Categorical.from_codes(codes, categories=levels, ordered=ordered)


def parts_of_column(values: ExtensionArray) -> Parts:
    """Return the values of a column, as objects or as moments of UTC, and their type."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        utc = pd.DatetimeIndex(values).tz_convert("UTC").tz_localize(None)
        return {"dtype": str(values.dtype), "values": utc.to_numpy()}
    return {"dtype": _type_name(values.dtype), "values": np.asarray(values, dtype=object)}


def column_of(dtype: str, values: npt.NDArray[Any]) -> ExtensionArray:
    """Return the values of a column of a type."""
    if values.dtype.kind != "M":
        kind: Any = pd.api.types.pandas_dtype(dtype)
        plain: ExtensionArray = pd.array(values, dtype=kind)
        return plain
    _check_zone(dtype.removesuffix("]").partition(", ")[2])
    zone: Any = pd.DatetimeTZDtype.construct_from_string(dtype)
    return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(zone.tz).array


def parts_of_stamp(value: pd.Timestamp) -> Parts:
    """Return a moment of UTC, and its zone."""
    zone = None if value.tz is None else str(value.tz)
    return {"moment": np.asarray(value.asm8), "zone": zone}


def stamp_of(moment: Any, zone: str | None) -> pd.Timestamp:
    """Return the moment in its zone."""
    stamp = pd.Timestamp(moment[()])
    if zone is not None:
        _check_zone(zone)
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(zone)


def parts_of_duration(value: pd.Timedelta) -> Parts:
    """Return a duration as an array."""
    return {"duration": np.asarray(value.asm8)}


def duration_of(duration: Any) -> pd.Timedelta:
    """Return the duration of an array."""
    return pd.Timedelta(duration[()])


def _values(column: pd.Series[Any] | pd.Index) -> Values:
    """Return an array of numpy where that is what the column has, and a column of pandas else."""
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array


def _check_zone(zone: str) -> None:
    """Raise `FileError` unless a time zone is one by name: others may name files to open."""
    if zone not in available_timezones() and not OFFSET.fullmatch(zone):
        raise FileError(f"there is no time zone {quote(zone)}")


def _type_name(dtype: Any) -> str:
    """Return the name by which pandas makes a type again."""
    if isinstance(dtype, pd.StringDtype):
        missing = "str" if dtype.na_value is not pd.NA else "string"
        return missing if missing == "str" else f"string[{dtype.storage}]"
    return str(dtype)
