"""Digests that equal values share, in this and other sessions; functions count by their code."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyinterp.errors import NO_VALUE, OptionError, reason
from pyinterp.storage.codec import FORMS, KeyDigest, Tree, Writer, function_name
from pyinterp.storage.kinds import name_of

# Folders of packages, of this environment or of another whose packages it sees.
PACKAGES = (f"{os.sep}site-packages", f"{os.sep}dist-packages")


def fingerprint(value: Any) -> str:
    """Return a text that equal values share, in this and other sessions.

    Functions and classes of the user count by their code, by what they enclose and by the values
    of the script that they use; functions of installed packages by their names. Objects count by
    their class and by what they hold; locks, which hold nothing, by their class.

    Raises
    ------
    OptionError
        If a value can't be told from another of its class, such as a connection.
    """
    if isinstance(value, KeyDigest):
        return value.digest
    writer = _Fingerprint()
    digest = hashlib.sha256(json.dumps(writer.tree(value), sort_keys=True).encode())
    for array in writer.arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


class _Fingerprint(Writer):
    """Makes trees that need not be read again."""

    def __init__(self) -> None:
        super().__init__()
        self._within: set[int] = set()

    def tree(self, value: Any) -> Tree:
        if id(value) in self._within:  # a function that calls itself, an object that holds itself
            return "again"
        self._within.add(id(value))
        try:
            return super().tree(value)
        finally:
            self._within.discard(id(value))

    def parts(self, value: Any) -> tuple[str, dict[str, Any]]:
        for kind, parts in OF_KINDS.items():
            if isinstance(value, kind):
                return kind.__name__, parts(value)
        if isinstance(value, set | frozenset):  # in another order in every session
            return "set", {"parts": sorted(json.dumps(self.tree(part)) for part in value)}
        if name_of(type(value)) or any(isinstance(value, form.types) for form in FORMS):
            return super().parts(value)
        return "object", {"class": type(value), **_of_object(value)}


def _of_object(value: Any) -> dict[str, Any]:
    """Return what an object holds; of an estimator its settings, and what it has learned."""
    held = getattr(value, "__dict__", {})
    if hasattr(value, "get_params"):
        learned = {name: part for name, part in held.items() if name.endswith("_")}
        return {"settings": value.get_params(deep=False), "learned": learned}
    if hasattr(value, "py_func") and type(value).__module__.startswith("numba."):
        return {"function": value.py_func}
    if held:
        return {"held": dict(held)}
    if not NO_VALUE.search(text := repr(value)):
        return {"text": text}
    try:
        return {"pickle": value.__reduce_ex__(2)[1:3]}  # such as the state of a random generator
    except (TypeError, ValueError) as error:
        raise OptionError(
            "The functions and objects of this call must hold values that can be compared with "
            f"those of another call, but a value of type {type(value).__name__} can't be: "
            f"{reason(error)}. Use an array or a pandas frame, or make it within the function."
        ) from error


def _of_function(function: FunctionType) -> dict[str, Any]:
    """Return what tells a function from others of its name."""
    kept: dict[str, Any] = {
        "name": f"{function.__module__}.{function_name(function)}",
        "cells": [cell.cell_contents for cell in function.__closure__ or ()],
        "defaults": [function.__defaults__, function.__kwdefaults__],
    }
    if _is_of_a_package(function.__module__):
        return kept
    used = set(_names(function.__code__)) & function.__globals__.keys()
    values = {name: function.__globals__[name] for name in sorted(used)}
    return {**kept, "code": _of_code(function.__code__), "values": values}


def _of_class(kind: type) -> dict[str, Any]:
    """Return the functions of a class and of those it inherits from, but for packages'."""
    functions = {
        f"{place} {name}": part
        for place, each in enumerate(kind.__mro__)
        if not _is_of_a_package(each.__module__)
        for name, part in vars(each).items()
        if isinstance(part, FunctionType)
    }
    return {"name": f"{kind.__module__}.{kind.__qualname__}", "functions": functions}


def _is_of_a_package(module: str | None) -> bool:
    """Whether a module is of this package, of the language, or of an installed package."""
    top = (module or "").partition(".")[0]
    if top == "__main__":  # of notebooks and of worker processes its file is a package's
        return False
    if top in sys.stdlib_module_names or top == "pyinterp":
        return True
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return any(file.startswith(p + os.sep) for p in sys.path if p.endswith(PACKAGES))


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, and functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _of_code(code: CodeType) -> dict[str, Any]:
    constants = [_of_code(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return {"code": code.co_code, "names": code.co_names, "constants": constants}


OF_KINDS: dict[type, Callable[[Any], dict[str, Any]]] = {
    partial: lambda v: {"of": v.func, "with": v.args, "and": v.keywords},
    MethodType: lambda v: {"of": v.__func__, "self": v.__self__},
    FunctionType: _of_function,
    type: _of_class,
    logging.Logger: lambda v: {"name": v.name},
    **dict.fromkeys((BuiltinFunctionType, np.ufunc, ModuleType), lambda v: {"name": v.__name__}),
    threading.local: lambda v: {"held": dict(v.__dict__)},
    weakref.ref: lambda v: {"to": v()},
    **dict.fromkeys((type(threading.Lock()), type(threading.RLock())), lambda _: {}),
}
