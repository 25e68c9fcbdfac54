"""Variables as numbers, for the learners within samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.columns import is_category
from pyinterp.errors import DataError

__all__ = ["codes_of", "encode", "levels_of"]


def levels_of(column: pd.Series[Any]) -> list[Any]:
    """Return the levels that occur, in order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [v for v in column.cat.categories if (column == v).any()]
    return sorted(column.dropna().unique().tolist())


def encode(frame: pd.DataFrame, population: pd.DataFrame) -> FloatArray:
    """Return numbers, and an indicator for each level that occurs in `population`, (n, p)."""
    parts = [np.empty((len(frame), 0))]
    for name, column in frame.items():
        if is_category(column):
            levels = np.array(levels_of(population[str(name)]), dtype=object)
            parts.append((column.to_numpy(dtype=object)[:, None] == levels).astype(np.float64))
        else:
            parts.append(column.to_numpy(dtype=np.float64)[:, None])
    return np.concatenate(parts, axis=1)


def codes_of(column: pd.Series[Any], levels: Sequence[Any]) -> IntArray:
    """Return the position of every value in `levels`; raise `DataError` for other values."""
    same = column.to_numpy(dtype=object)[:, None] == np.array(levels, dtype=object)
    unseen = np.flatnonzero(~same.any(axis=1))
    if len(unseen):
        raise DataError(
            f"Every level must occur in the data that the learner was made with, but "
            f"{column.iloc[unseen[0]]!r} of `{column.name}` does not; make the learner with data "
            "that have all levels."
        )
    return np.asarray(same.argmax(axis=1), dtype=np.intp)
