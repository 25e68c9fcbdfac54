"""Values as JSON and named arrays, and back."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.errors import FileError, OptionError, quote
from pyinterp.storage.forms import FORMS

Tree: TypeAlias = Any  # what JSON holds
Array: TypeAlias = npt.NDArray[Any]
CLASS, ARRAY = "class", "array"


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
            return {"dict": [*zip(keys, self._several([*value.values()], name), strict=True)]}
        if isinstance(value, set | frozenset):  # their order differs between sessions
            return {"set": self._several(sorted(value, key=repr), name)}
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

    def value(self, tree: Tree, kind: type = object) -> Any:
        """Return the value of a tree, of a class or of those that are made of it."""
        value = self._any(tree)
        if not isinstance(value, kind):
            raise FileError(f"{quote(tree, 40)} is no {kind.__name__}")
        return value

    def _any(self, tree: Tree) -> Any:
        if isinstance(tree, list):
            return tuple(map(self._any, tree))
        if not isinstance(tree, dict):
            return tree
        tag, parts = next(iter(tree.items()), ("", ()))
        if tag == ARRAY:
            return self._array(str(parts))
        if tag == CLASS:
            fields_of = {name: self._any(part) for name, part in tree.items() if name != CLASS}
            kinds = [kind for kind in classes() if kind.__name__ == parts]
            return next(k for k in kinds if set(fields_of) == set(signature(k).parameters))(
                **fields_of
            )
        value = FORMS[tag].value(*map(self._any, parts))
        self._most -= len(value) if isinstance(value, pd.RangeIndex) else 0
        if self._most < 0:
            raise FileError("its indices have more rows than it can have")
        return value


@cache
def classes() -> list[type]:
    """Return the public classes of this package: no file makes objects of others."""
    modules = [module for name, module in sys.modules.items() if name.startswith("pyinterp.")]
    every = [kind for module in modules for kind in vars(module).values()]
    return [kind for kind in every if isinstance(kind, type) and is_of_package(kind)]


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
