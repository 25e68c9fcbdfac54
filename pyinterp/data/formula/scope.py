"""What a formula's names stand for: functions of the language first, then names of the caller."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import patsy.builtins
from patsy.state import Standardize

from pyinterp.errors import FormulaError, short

__all__ = ["DOUBLE", "LANGUAGE", "check_not_hidden", "double", "in_reach", "is_called", "namespace"]

DOUBLE = "_double"


class RScale(Standardize):  # type: ignore[misc]  # patsy has no types
    """R's ``scale``: the standard deviation divides by n - 1, where patsy divides by n."""

    def memorize_chunk(self, x: Any) -> None:
        """Take rows into the mean and the standard deviation."""
        super().memorize_chunk(x, ddof=1)

    def transform(self, x: Any) -> Any:
        """Return the rows less the mean, over the standard deviation."""
        return super().transform(x, ddof=1)


LANGUAGE: Mapping[str, Any] = {
    **{name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__},
    "scale": patsy.stateful_transform(RScale),
    "np": np,
}


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


def namespace(names: Iterable[str], scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `names` that are no columns stand for; Python's own functions are not listed."""
    return {
        name: LANGUAGE[name] if name in LANGUAGE else scope[name]
        for name in names
        if name in LANGUAGE or name in scope
    } | {DOUBLE: double}


def in_reach(name: str, scope: Mapping[str, Any]) -> bool:
    """Whether code may use a name that is no column."""
    return name in LANGUAGE or name in scope or hasattr(builtins, name)


def is_called(name: str, scope: Mapping[str, Any]) -> bool:
    """Whether a name that is no column is that of a function."""
    return name in LANGUAGE or callable(scope.get(name, getattr(builtins, name, None)))


def check_not_hidden(name: str, scope: Mapping[str, Any], written: str) -> None:
    """Raise if a function of the language and one of the caller have the same name.

    A variable of the caller such as ``C = 1.0`` can't be meant where a function is called.
    """
    if name not in LANGUAGE or name not in scope:
        return
    theirs = scope[name]
    if theirs is not LANGUAGE[name] and (callable(theirs) or isinstance(theirs, ModuleType)):
        raise FormulaError(
            f"`{name}` of `{short(written)}` could mean the function of formulas or that of the "
            "code around the formula; rename the latter."
        )
