"""Values that JSON has not, such as dates and the frames of pandas: their parts, and back."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast
from zoneinfo import available_timezones

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from pyinterp._typing import Column
from pyinterp.errors import FileError, OptionError, quote
from pyinterp.storage.texts import KeyText

OFFSET = re.compile(r"UTC([+-]\d\d:\d\d)?")
NUMBER = r"(?:bool|u?int\d\d?|float\d\d)"
# Of columns. Others could name files to open, or have texts of any length.
TYPES = re.compile(
    rf"str|boolean|(?i:{NUMBER})|string\[\w+\]|Sparse\[{NUMBER}, \w+\]"
    r"|\w+(?:\[\w+(?:, tz=(?P<zone>[^]]+))?\])?\[pyarrow\]"
)


@dataclass(frozen=True)
class AbsentFunction:
    """A function that a file names, but does not hold.

    Attributes
    ----------
    name : str
    """

    name: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Raise `FileError`."""
        raise FileError(
            f"A file holds no functions: `{self.name}` is not in it. Ask a new fit for what needs "
            "this function."
        )


class Codec(NamedTuple):
    """How files keep the values of some types.

    Attributes
    ----------
    types : tuple of type
    parts : callable
        ``parts(value)`` returns a list of what a value is made of.
    value : callable
        ``value(*parts)`` makes it again.
    """

    types: tuple[type, ...]
    parts: Callable[[Any], list[Any]]
    value: Callable[..., Any]


def _values(column: Column | pd.Index) -> Any:
    """Return an array of numpy if the column has one, else a column of pandas."""
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array


def _series(values: Any, name: Any, index: pd.Index) -> Column:
    """Return a series of pandas from its values, name and index."""
    return pd.Series(values, index, values.dtype, name)


def _frame(columns: tuple[Any, ...], names: pd.Index, index: pd.Index) -> pd.DataFrame:
    """Return a frame of pandas from its columns, their names and the index."""
    every = [_series(values, None, index) for values in columns]
    return pd.DataFrame(dict(enumerate(every)), index=index).set_axis(names, axis=1)


def _objects(shape: tuple[int, ...], parts: tuple[Any, ...]) -> Any:
    """Return an array of Python's objects of this shape."""
    array = np.empty(len(parts), object)
    array[:] = parts
    return array.reshape(shape)


def _parts_of_column(values: ExtensionArray) -> list[Any]:
    """Return the type of a column, and its values as objects or as moments of UTC."""
    dtype = values.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        utc = pd.DatetimeIndex(values).tz_convert("UTC").tz_localize(None)
        return [f"datetime64[{dtype.unit}, {_zone_of(dtype.tz)}]", utc.to_numpy()]
    name = str(dtype)
    if isinstance(dtype, pd.StringDtype):
        name = f"string[{dtype.storage}]" if dtype.na_value is pd.NA else "str"
    _check_type(name)
    return [name, np.asarray(values, object)]


def _check_type(name: str) -> None:
    """Raise `OptionError` unless a column's type is on the list, and its time zone is one."""
    if not (found := TYPES.fullmatch(name)):
        raise OptionError(
            f"Files can't hold columns of type {quote(name)}: make them numbers or texts."
        )
    if zone := found["zone"]:
        _zone(zone)


def _column(dtype: str, values: Any) -> ExtensionArray:
    """Return a column of pandas' types, or of times with a zone, by the type's name."""
    if values.dtype.kind == "M":
        zone = _zone(dtype.removesuffix("]").partition(", ")[2])
        return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(zone).array
    _check_type(dtype)
    # pandas 2 has the type under no name.
    kind = pd.StringDtype(na_value=np.nan) if dtype == "str" else dtype
    return cast(ExtensionArray, pd.array(values, dtype=kind))


def _stamp(moment: Any, zone: str | None) -> pd.Timestamp:
    """Return a time of pandas from one in UTC, an array of shape (), and its zone's name."""
    stamp = pd.Timestamp(moment[()])
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(_zone(zone))


def _zone_of(zone: datetime.tzinfo) -> str:
    """Return the name of a time zone of Python, after a check."""
    if isinstance(zone, datetime.timezone):  # its name may be one of a zone with summer time
        zone = datetime.timezone(zone.utcoffset(None))
    return _zone(str(zone))


@cache  # names are read from the disk
def _zone(name: str) -> str:
    """Return the name of a time zone, if it is one: others may name files to open."""
    if not OFFSET.fullmatch(name) and name not in available_timezones():
        raise OptionError(
            f"Files can't hold the time zone {quote(name)}: convert its times to UTC."
        )
    return name


# By what files call them; the first whose type it is keeps a value.
CODECS = {
    "dict": Codec((), list, lambda *pairs: dict(pairs)),
    "set": Codec((), list, lambda *parts: frozenset(parts)),
    "scalar": Codec((np.generic,), lambda v: [np.asarray(v)], lambda array: array[()]),
    "float": Codec((float,), lambda v: [str(v)], float),
    "bytes": Codec((bytes,), lambda v: [v.hex()], bytes.fromhex),
    "function": Codec((AbsentFunction,), lambda v: [v.name], AbsentFunction),
    "key": Codec((KeyText,), lambda v: [v.text], KeyText),
    "objects": Codec((np.ndarray,), lambda v: [list(v.shape), v.ravel().tolist()], _objects),
    "NA": Codec((type(pd.NA),), lambda _: [], lambda: pd.NA),
    "NaT": Codec((type(pd.NaT),), lambda _: [], lambda: pd.NaT),
    "Timestamp": Codec(
        (pd.Timestamp,), lambda v: [np.asarray(v.asm8), v.tz and _zone_of(v.tz)], _stamp
    ),
    "Timedelta": Codec(
        (pd.Timedelta,), lambda v: [np.asarray(v.asm8)], lambda array: pd.Timedelta(array[()])
    ),
    "datetime": Codec(
        (datetime.datetime,),
        lambda v: [v.isoformat(), v.fold],
        lambda text, fold: datetime.datetime.fromisoformat(text).replace(fold=fold),
    ),
    "date": Codec((datetime.date,), lambda v: [v.isoformat()], datetime.date.fromisoformat),
    "DataFrame": Codec(
        (pd.DataFrame,),
        lambda v: [[_values(v.iloc[:, j]) for j in range(v.shape[1])], v.columns, v.index],
        _frame,
    ),
    "Series": Codec((pd.Series,), lambda v: [_values(v), v.name, v.index], _series),
    "RangeIndex": Codec(
        (pd.RangeIndex,),
        lambda v: [v.start, v.stop, v.step, v.name],
        lambda start, stop, step, name: pd.RangeIndex(start, stop, step, name=name),
    ),
    "MultiIndex": Codec(
        (pd.MultiIndex,),
        lambda v: [list(v.levels), list(v.codes), list(v.names)],
        lambda levels, codes, names: pd.MultiIndex(levels, codes, names=names),
    ),
    "Index": Codec(
        (pd.Index,),
        lambda v: [_values(v), v.name],
        lambda values, name: pd.Index(values, values.dtype, name=name, tupleize_cols=False),
    ),
    "Categorical": Codec(
        (pd.Categorical,),
        lambda v: [v.codes, v.categories, bool(v.ordered)],
        pd.Categorical.from_codes,
    ),
    "column": Codec((ExtensionArray,), _parts_of_column, _column),
}
