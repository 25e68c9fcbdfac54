"""Whether a value has the type that a class states for it: files are checked by these types."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd


class _Pandas:
    """Pandas with a Series that takes the type of its values, as annotations write it."""

    class Series:
        def __class_getitem__(cls, _: object) -> type:
            return pd.Series

    def __getattr__(self, name: str) -> Any:
        return getattr(pd, name)


@cache
def types_of(kind: type) -> dict[str, Any]:
    """Return the types that the fields of a class state."""
    return typing.get_type_hints(kind, localns={"pd": _Pandas()})


def has_type(value: object, stated: Any) -> bool:
    """Whether a value, and all that is in it, has a type."""
    origin, inner = typing.get_origin(stated), typing.get_args(stated)
    if stated is Any or isinstance(stated, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(has_type(value, each) for each in inner)
    if origin is not None:
        return _HAVE.get(origin, _is_sequence)(value, origin, inner)
    if stated in (float, int):
        number = int | float if stated is float else int
        return isinstance(value, number) and not isinstance(value, bool)
    return isinstance(value, stated)


def _is_choice(value: object, _: Any, inner: tuple[Any, ...]) -> bool:
    return value in inner


def _is_array(value: object, _: Any, inner: tuple[Any, ...]) -> bool:
    (number,) = typing.get_args(inner[1])
    return isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS.get(number, "fiubUO")


def _is_tuple(value: object, _: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    if inner[-1:] == (Ellipsis,):
        return all(has_type(part, inner[0]) for part in value)
    return len(value) == len(inner) and all(map(has_type, value, inner))


def _is_function(value: object, _: Any, __: tuple[Any, ...]) -> bool:
    return callable(value)


def _is_mapping(value: object, _: Any, inner: tuple[Any, ...]) -> bool:
    return isinstance(value, Mapping) and all(
        has_type(key, inner[0]) and has_type(part, inner[1]) for key, part in value.items()
    )


def _is_sequence(value: object, origin: Any, inner: tuple[Any, ...]) -> bool:
    same = isinstance(value, origin) and not isinstance(value, str)
    return same and all(has_type(part, inner[0]) for part in typing.cast(list[Any], value))


NUMBERS = {np.float64: "f", np.int64: "iu", np.bool_: "b"}
_HAVE: dict[Any, Callable[[object, Any, tuple[Any, ...]], bool]] = {
    typing.Literal: _is_choice,
    np.ndarray: _is_array,
    tuple: _is_tuple,
    Callable: _is_function,
    Mapping: _is_mapping,
    dict: _is_mapping,
}
