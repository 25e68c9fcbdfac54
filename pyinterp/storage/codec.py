"""Values as JSON and named arrays, and back: by the types that their classes state."""

from __future__ import annotations

import hashlib
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.errors import FileError, OptionError, quote
from pyinterp.storage.forms import FORMS

Tree: TypeAlias = Any  # what JSON holds
Array: TypeAlias = npt.NDArray[Any]
CLASS, ARRAY = "class", "array"
NUMBERS = {np.float64: "f", np.int64: "iu", np.bool_: "b", np.uint8: "u"}


class Writer:
    """Makes trees of values; equal arrays are kept once.

    Attributes
    ----------
    arrays : dict of str to ndarray
        To which trees refer by name: the fields that lead to the first of them.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[bytes, str] = {}

    def tree(self, value: Any, name: str) -> Tree:
        """Return the tree of a value whose arrays have names that begin so.

        Raises
        ------
        OptionError
            If files can't hold it.
        """
        if isinstance(value, np.float64 | np.integer | np.bool_ | np.str_):
            value = value.item()
        kind = type(value)
        if value is None or kind in (bool, str, int) or (kind is float and math.isfinite(value)):
            return value
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            return {ARRAY: self._name(value, name)}
        if kind in (list, tuple, set, frozenset) or isinstance(value, Mapping):
            return self._several(value, name)
        for tag, form in FORMS.items():
            if isinstance(value, form.types):
                return {tag: self.tree(form.parts(value), name)}
        if is_of_package(kind) and (state := state_of(value)) is not None:
            parts = {part: self.tree(each, f"{name}/{part}") for part, each in state.items()}
            return {CLASS: kind.__name__, **parts}
        if callable(value) and not isinstance(value, type):
            return {"function": [function_name(value)]}
        raise OptionError(
            f"Files can't hold {quote(value)}, of type {kind.__name__}: leave it out before saving."
        )

    def _several(self, value: Any, name: str) -> Tree:
        if isinstance(value, Mapping):
            keys = [self.tree(key, f"{name}/keys/{k}") for k, key in enumerate(value)]
            pairs = [*zip(keys, self._several([*value.values()], name), strict=True)]
            return dict(pairs) if all(isinstance(key, str) for key in value) else pairs
        if isinstance(value, set | frozenset):
            value = sorted(value, key=repr)  # their order differs between sessions
        return [self.tree(part, f"{name}/{k}") for k, part in enumerate(value)]

    def _name(self, array: Array, name: str) -> str:
        data = array.copy(order="K")  # sums depend on the order of values in memory
        by_columns = data.flags.f_contiguous and not data.flags.c_contiguous
        digest = hashlib.blake2b(data.tobytes(order="F" if by_columns else "C"), digest_size=16)
        digest.update(f"{data.dtype.str} {data.shape} {by_columns}".encode())
        known = self._names.setdefault(digest.digest(), name)
        if known == name:
            self.arrays[name] = data
        return known


class Reader:
    """Makes values of trees; raises an error, of whatever kind, where a tree is no value's.

    Parameters
    ----------
    array : callable
        ``array(name)`` returns the array of that name.
    most : int
        Rows of ranges, in all: a few words can stand for more than the memory holds.
    """

    def __init__(self, array: Callable[[str], Array], most: int) -> None:
        self._array, self._most = array, most

    def value(self, tree: Tree, stated: Any = Any) -> Any:
        """Return the value of a tree, of a type that an annotation states."""
        kind, inner = typing.get_origin(stated) or stated, typing.get_args(stated)
        if kind in _READ:
            return _READ[kind](self, tree, inner)
        if not isinstance(kind, type):  # a variable
            return self._any(tree)
        of_class = isinstance(tree, dict) and CLASS in tree
        value = self._object(tree, kind) if of_class else self._any(tree)
        kinds: Any = (int, float) if kind is float else kind
        if not isinstance(value, kinds) or (isinstance(value, bool) and kind in (int, float)):
            raise unlike(tree, kind)
        return value

    def _any(self, tree: Tree) -> Any:
        """Return a value of a type that nobody states: of a user, such as the name of a class."""
        if isinstance(tree, list):
            return tuple(map(self._any, tree))
        if not isinstance(tree, dict):
            return tree
        tag = next(iter(tree), "")
        if tag == ARRAY:
            return self._array(tree[tag])
        if tag not in FORMS:
            raise unlike(tree, "value")
        value = FORMS[tag].value(*map(self._any, tree[tag]))
        self._most -= len(value) if isinstance(value, pd.RangeIndex) else 0
        if self._most < 0:
            raise FileError("its indices have more rows than it can have")
        return value

    def _object(self, tree: dict[str, Tree], kind: type) -> Any:
        name = tree[CLASS]
        found = [each for each in family(kind) if each.__name__ == name]
        if not found:
            raise unlike(name, kind)
        stated = types_of(found[0])
        parts = {part: each for part, each in tree.items() if part != CLASS}
        return found[0](**{part: self.value(each, stated[part]) for part, each in parts.items()})

    def _one_of(self, tree: Tree, kinds: tuple[Any, ...]) -> Any:
        for kind in kinds:
            try:
                return self.value(tree, kind)
            except FileError as error:
                last = error
        raise last

    def _choice(self, tree: Tree, choices: tuple[Any, ...]) -> Any:
        if tree not in choices:
            raise unlike(tree, choices)
        return tree

    def _numbers(self, tree: Tree, inner: tuple[Any, ...]) -> Array:
        array = self._any(tree)
        (number,) = typing.get_args(inner[-1]) or inner
        kinds = NUMBERS.get(number, "fiubUO")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            raise unlike(tree, number)
        return array

    def _list(self, tree: Tree, inner: tuple[Any, ...]) -> list[Any]:
        if not isinstance(tree, list):
            raise unlike(tree, list)
        return [self.value(part, inner[0]) for part in tree]

    def _tuple(self, tree: Tree, inner: tuple[Any, ...]) -> tuple[Any, ...]:
        if inner[-1:] == (Ellipsis,):
            return tuple(self._list(tree, inner))
        if not isinstance(tree, list) or len(tree) != len(inner):
            raise unlike(tree, tuple)
        return tuple(map(self.value, tree, inner))

    def _mapping(self, tree: Tree, inner: tuple[Any, ...]) -> dict[Any, Any]:
        pairs = [*tree.items()] if isinstance(tree, dict) else self._list(tree, (list[Any],))
        return {self.value(key, inner[0]): self.value(part, inner[1]) for key, part in pairs}

    def _function(self, tree: Tree, _: tuple[Any, ...]) -> Any:
        value = self._any(tree)
        if not callable(value):
            raise unlike(tree, "function")
        return value


_READ: dict[Any, Callable[[Reader, Tree, tuple[Any, ...]], Any]] = {
    Any: lambda reader, tree, _: reader._any(tree),
    typing.Union: Reader._one_of,
    types.UnionType: Reader._one_of,
    typing.Literal: Reader._choice,
    # The second is a type of its own since numpy 2.5.
    **dict.fromkeys([np.ndarray, np.typing.NDArray], Reader._numbers),
    list: Reader._list,
    Sequence: Reader._list,
    tuple: Reader._tuple,
    frozenset: lambda reader, tree, inner: frozenset(reader._list(tree, inner)),
    Mapping: Reader._mapping,
    dict: Reader._mapping,
    Callable: Reader._function,
}


class _Pandas:
    """Pandas with a Series that takes the type of its values, as annotations write it."""

    class Series:
        def __class_getitem__(cls, _: object) -> type:
            return pd.Series

    def __getattr__(self, name: str) -> Any:
        return getattr(pd, name)


@cache
def types_of(kind: type) -> dict[str, Any]:
    """Return the types that a class states for what it is made of."""
    by_fields = is_dataclass(kind) or hasattr(kind, "_fields")
    made_by: Any = kind if by_fields else vars(kind)["__init__"]
    # Frames of other libraries are named for type checkers alone.
    return typing.get_type_hints(made_by, localns={"pd": _Pandas(), "ForeignFrame": Any})


def family(kind: type) -> Iterator[type]:
    """Yield a class and those that are made of it, of this package."""
    if is_of_package(kind):
        yield kind
    for each in list[type](kind.__subclasses__()):
        yield from family(each)


def is_of_package(kind: type) -> bool:
    """Whether a class is a public one of this package: no file makes objects of others."""
    return kind.__module__.startswith("pyinterp.") and kind.__name__[0] != "_"


def state_of(value: Any) -> dict[str, Any] | None:
    """Return the arguments with which the class of a value makes an equal one."""
    kept = getattr(value, "state_on_file", None)
    if kept is not None:
        return dict(kept())
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value) if part.init}
    return dict(value._asdict()) if hasattr(value, "_asdict") else None


def function_name(function: Any) -> str:
    """Return what a function is called; a partial one by its function."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__qualname__", type(inner).__name__))


def unlike(tree: Tree, kind: Any) -> FileError:
    """Return the error of a tree that is no value of a type."""
    return FileError(f"{quote(tree, 40)} is no {getattr(kind, '__name__', 'value')}")
