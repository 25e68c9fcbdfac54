"""What a formula's names stand for: functions of the language first, then names of the caller."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from pyinterp.data.formula.coding import FUNCTIONS

__all__ = ["DOUBLE", "LANGUAGE", "Scope", "double", "namespace"]

DOUBLE = "_double"
LANGUAGE: Mapping[str, Any] = {**FUNCTIONS, "np": np}


def double(values: Any) -> Any:
    """Return numbers and truth values in double precision, as R computes; others as they are.

    Whole numbers of NumPy overflow, and its truth values have no sum, in silence.
    """
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") in "biuf":
        if isinstance(values, pd.Series) and not isinstance(dtype, np.dtype):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            return pd.Series(numbers, index=values.index)
        return values.astype(np.float64)
    return float(values) if isinstance(values, bool) else values


class Scope(Mapping[str, Any]):
    """Names of the caller that a formula uses, which can be pickled: modules by their names."""

    def __init__(self, names: Iterable[str], scope: Mapping[str, Any]) -> None:
        self._values = {name: scope[name] for name in names if name in scope}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getstate__(self) -> dict[str, tuple[bool, Any]]:
        values = self._values.items()
        modules = {name: value.__name__ for name, value in values if isinstance(value, ModuleType)}
        return {name: (name in modules, modules.get(name, value)) for name, value in values}

    def __setstate__(self, state: dict[str, tuple[bool, Any]]) -> None:
        self._values = {
            name: importlib.import_module(value) if module else value
            for name, (module, value) in state.items()
        }


def namespace(names: Iterable[str], scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `names` that are no columns stand for; Python's own functions are not listed."""
    values = {**scope, **LANGUAGE}
    return {name: values[name] for name in names if name in values} | {DOUBLE: double}
