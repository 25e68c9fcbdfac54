"""Variables as numbers, for the learners within samplers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pyinterp.sample import FloatArray

__all__ = ["encoded", "is_category", "levels_of"]


def is_category(column: pd.Series[Any]) -> bool:
    """Whether a variable has levels, not numbers; True and False are levels."""
    return bool(not pd.api.types.is_numeric_dtype(column) or column.dtype == bool)


def levels_of(column: pd.Series[Any]) -> list[Any]:
    """Return the levels that occur, in order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [v for v in column.cat.categories if (column == v).any()]
    return sorted(column.dropna().unique().tolist())


def encoded(frame: pd.DataFrame, population: pd.DataFrame) -> FloatArray:
    """Return numbers as they are and one indicator per level of `population`, shape (n, p)."""
    parts = [np.empty((len(frame), 0))]
    for name, column in frame.items():
        if is_category(column):
            levels = np.array(levels_of(population[str(name)]), dtype=object)
            parts.append((column.to_numpy(dtype=object)[:, None] == levels).astype(np.float64))
        else:
            parts.append(column.to_numpy(dtype=np.float64)[:, None])
    return np.concatenate(parts, axis=1)
