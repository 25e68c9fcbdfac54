"""Values as a tree of JSON and a list of arrays, and back."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

from pyinterp.errors import FileError, OptionError, quote
from pyinterp.storage import tables
from pyinterp.storage.kinds import kind_of, name_of
from pyinterp.storage.types import has_type, types_of

Tree: TypeAlias = Any  # what JSON holds
Array: TypeAlias = npt.NDArray[Any]
TAG = "$"  # the key of a tree's kind, where it is not what JSON has itself


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


@dataclass(frozen=True)
class KeyText:
    """The key of an estimand, as files keep it.

    Attributes
    ----------
    text : str
    """

    text: str


class Form(NamedTuple):
    """How files keep the values of some types.

    Attributes
    ----------
    tag : str
        What files call it.
    types : tuple of type
    parts : callable
        ``parts(value)`` returns, by name, what a value is made of.
    value : callable
        ``value(*parts)`` makes it again, from its parts in their order.
    """

    tag: str
    types: tuple[type, ...]
    parts: Callable[[Any], dict[str, Any]]
    value: Callable[..., Any]


class Writer:
    """Makes trees of values; equal arrays are kept once.

    Attributes
    ----------
    arrays : list of ndarray
        To which trees refer by position.
    """

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._places: dict[bytes, int] = {}

    def tree(self, value: Any) -> Tree:
        """Return the tree of a value.

        Raises
        ------
        OptionError
            If files can't hold it.
        """
        kind = type(value)  # numbers of numpy are floats and texts too
        if value is None or kind in (bool, str, int) or (kind is float and math.isfinite(value)):
            return value
        if isinstance(value, list):
            return [self.tree(part) for part in value]
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            return {TAG: "array", "place": self._place(value)}
        tag, parts = self.parts(value)
        return {TAG: tag, **{name: self.tree(part) for name, part in parts.items()}}

    def parts(self, value: Any) -> tuple[str, dict[str, Any]]:
        """Return the tag of a value, and its parts by name."""
        if (name := name_of(type(value))) is not None:
            return name, state_of(value)
        for form in FORMS:
            if isinstance(value, form.types):
                return form.tag, form.parts(value)
        if callable(value) and not isinstance(value, type):
            return "AbsentFunction", {"name": function_name(value)}
        raise OptionError(
            f"Files can't hold {quote(value)}, of type {type(value).__name__}: leave it out before "
            "saving."
        )

    def _place(self, array: Array) -> int:
        data = array.copy(order="K")  # sums depend on the order of values in memory
        by_columns = data.flags.f_contiguous and not data.flags.c_contiguous
        digest = hashlib.blake2b(data.tobytes(order="F" if by_columns else "C"), digest_size=16)
        digest.update(f"{data.dtype.str} {data.shape} {by_columns}".encode())
        place = self._places.setdefault(digest.digest(), len(self.arrays))
        if place == len(self.arrays):
            self.arrays.append(data)
        return place


class Reader:
    """Makes values of trees; raises an error, of whatever kind, where a tree is no value's.

    Parameters
    ----------
    array : callable
        ``array(place)`` returns the array of that number.
    most : int
        Rows of a table at most: a few words can stand for more than the memory holds.
    """

    def __init__(self, array: Callable[[int], Array], most: int) -> None:
        self._array, self._most = array, most

    def value(self, tree: Tree) -> Any:
        """Return the value of a tree."""
        if isinstance(tree, list):
            return [self.value(part) for part in tree]
        if not isinstance(tree, dict):
            return tree
        parts = {name: self.value(part) for name, part in tree.items()}
        tag = parts.pop(TAG, None)
        if tag == "array":
            return self._array(*parts.values())
        for form in FORMS:
            if tag == form.tag:
                value = form.value(*parts.values())
                if isinstance(value, pd.RangeIndex) and len(value) > self._most:
                    raise FileError(f"an index has {len(value)} rows")
                return value
        return _object(tag, parts)


def state_of(value: Any) -> dict[str, Any]:
    """Return the arguments with which the class of a value makes an equal one."""
    kept = getattr(value, "state_on_file", None)
    if kept is not None:
        return dict(kept())
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value) if part.init}
    return dict(value._asdict())


def function_name(function: Any) -> str:
    """Return what a function is called; a partial one by its function."""
    inner = function.func if isinstance(function, partial) else function
    name = getattr(inner, "__qualname__", type(inner).__name__)
    return str(name)


def _object(tag: Any, parts: dict[str, Any]) -> Any:
    kind = kind_of(tag) if isinstance(tag, str) else None
    if kind is None:
        raise FileError(f"there is no class {quote(tag)}")
    if hasattr(kind, "state_on_file"):
        return kind(**parts)
    stated = types_of(kind)  # type: ignore[arg-type] # mypy: a class is hashable
    for name, part in parts.items():
        if name not in stated:
            raise FileError(f"{tag} has no `{name}`")
        if not has_type(part, stated[name]):
            raise FileError(f"`{name}` of {tag} can't be {quote(part)}")
    return kind(**parts)


def _objects(array: Array) -> dict[str, Any]:
    return {"shape": list(array.shape), "parts": list(array.ravel())}


def _array_of(shape: list[int], parts: list[Any]) -> Array:
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array.reshape(shape)


def _parts(value: Any) -> dict[str, Any]:
    return {"parts": list(value)}


def _sorted_parts(value: Any) -> dict[str, Any]:
    return {"parts": sorted(value, key=repr)}  # the order of sets differs between sessions


def _moment(text: str, fold: int) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(fold=fold)


# The first whose type it is keeps a value.
FORMS = (
    Form("scalar", (np.generic,), lambda v: {"array": np.asarray(v)}, lambda array: array[()]),
    Form("float", (float,), lambda v: {"text": str(float(v))}, float),
    Form("bytes", (bytes,), lambda v: {"text": v.hex()}, bytes.fromhex),
    Form("tuple", (tuple,), _parts, tuple),
    Form("set", (set,), _sorted_parts, set),
    Form("frozenset", (frozenset,), _sorted_parts, frozenset),
    Form("dict", (Mapping,), lambda v: {"parts": list(v.items())}, dict),
    Form("objects", (np.ndarray,), _objects, _array_of),
    Form("NA", (type(pd.NA),), lambda _: {}, lambda: pd.NA),
    Form("NaT", (type(pd.NaT),), lambda _: {}, lambda: pd.NaT),
    Form("Timestamp", (pd.Timestamp,), tables.parts_of_stamp, tables.stamp_of),
    Form("Timedelta", (pd.Timedelta,), tables.parts_of_duration, tables.duration_of),
    Form(
        "datetime", (datetime.datetime,), lambda v: {"text": v.isoformat(), "fold": v.fold}, _moment
    ),
    Form("date", (datetime.date,), lambda v: {"text": v.isoformat()}, datetime.date.fromisoformat),
    Form("DataFrame", (pd.DataFrame,), tables.parts_of_frame, tables.frame_of),
    Form("Series", (pd.Series,), tables.parts_of_series, tables.series_of),
    Form("RangeIndex", (pd.RangeIndex,), tables.parts_of_range, tables.range_of),
    Form("MultiIndex", (pd.MultiIndex,), tables.parts_of_levels, tables.levels_of),
    Form("Index", (pd.Index,), tables.parts_of_index, tables.index_of),
    Form("Categorical", (pd.Categorical,), tables.parts_of_category, tables.category_of),
    Form("column", (ExtensionArray,), tables.parts_of_column, tables.column_of),
)
