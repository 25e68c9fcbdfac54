"""Earlier steps of a pipeline that only scale numbers, as arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from pyinterp._typing import FloatArray, IntArray

# From rows of numbers to what steps make of them.
OfNumbers = Callable[[Any], FloatArray]


def arithmetic(steps: Sequence[Any]) -> OfNumbers | None:
    """Return the map of numbers by fitted steps, one after the other; None if one is unknown.

    It gives the bits that their ``transform`` gives of doubles, without reading and checking the
    rows anew, which takes milliseconds a call.
    """
    found = [_of_step(step) for step in steps]
    parts = [part for part in found if part is not None]
    return partial(_through, parts) if len(parts) == len(found) else None


def origins(before: Any, columns: int) -> IntArray | None:
    """Return the column from which arithmetic makes each of its columns; None of other steps.

    Column j moves in the rows that are the binary digits of j + 1. None too if a move is lost.
    """
    if not isinstance(before, partial) or before.func is not _through:
        return None
    powers = 2 ** np.arange(columns.bit_length())
    digits = (np.arange(1, columns + 1) & powers[:, None]) > 0
    after = before(np.vstack([np.zeros(columns), digits]))
    source = powers @ (after[1:] != after[0]) - 1
    return None if (source < 0).any() else source


def _through(parts: Sequence[OfNumbers], values: Any) -> FloatArray:
    """Return values after all parts."""
    for part in parts:
        values = part(values)
    return np.asarray(values, np.float64)


def _of_step(step: Any) -> OfNumbers | None:
    """Return the map of numbers by one fitted step, if its class is known."""
    reader = READERS.get(type(step))
    return None if reader is None else reader(step)


def _of_columns(step: Any) -> OfNumbers | None:
    """Return the parts of columns side by side."""
    parts: list[tuple[Any, OfNumbers]] = []
    for name, inside, _ in step.transformers_:
        columns = step._transformer_to_input_indices[name]
        if not len(columns) or inside == "drop":
            continue
        part = _of_step(inside)
        if part is None:
            return None
        parts.append((columns, part))
    if not parts:
        return None
    return lambda values: np.hstack([part(values[:, columns]) for columns, part in parts])


def _of_imputer(step: Any) -> OfNumbers | None:
    """Return columns as they are: rows have no gaps. Columns without a value are left out."""
    gap, known = step.missing_values, np.asarray(step.statistics_)
    if not (isinstance(gap, float) and np.isnan(gap)) or step.indicator_ is not None:
        return None
    return np.asarray if known.dtype.kind == "f" and np.isfinite(known).all() else None


def _less_and_by(center: Any, scale: Any) -> OfNumbers:
    """Return values less the center, in units of the scale; None of either changes nothing."""

    def scaled(values: Any) -> FloatArray:
        values = values if center is None else values - center
        return np.asarray(values if scale is None else values / scale)

    return scaled


# Of classes themselves: what inherits them may do something else.
READERS: dict[type, Callable[[Any], OfNumbers | None]] = {
    str: lambda step: np.asarray if step == "passthrough" else None,
    type(None): lambda _: np.asarray,
    Pipeline: lambda step: arithmetic([inside for _, inside in step.steps]),
    ColumnTransformer: _of_columns,
    FunctionTransformer: lambda step: np.asarray if step.func is None else None,
    SimpleImputer: _of_imputer,
    StandardScaler: lambda step: _less_and_by(step.mean_ if step.with_mean else None, step.scale_),
    RobustScaler: lambda step: _less_and_by(step.center_, step.scale_),
    MaxAbsScaler: lambda step: (
        None if step.get_params().get("clip") else _less_and_by(None, step.scale_)
    ),
    MinMaxScaler: lambda step: (
        None if step.clip else lambda values: values * step.scale_ + step.min_
    ),
}
