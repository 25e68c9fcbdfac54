"""Rows in blocks, and columns as numbers, indicators of levels or their codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import Column, FloatArray, IntArray
from pyinterp.data.columns import is_category
from pyinterp.errors import DataError

BLOCK = 200_000  # draws that are predicted at a time


def blocks(n: int, per_row: int) -> Iterator[IntArray]:
    """Yield rows 0, ..., n - 1 so that a block has at most `BLOCK` draws, or one row."""
    step = max(1, BLOCK // max(1, per_row))
    for start in range(0, n, step):
        yield np.arange(start, min(start + step, n))


def levels_of(column: Column) -> list[Any]:
    """Return the levels that occur, in order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [v for v in column.cat.categories if (column == v).any()]
    return sorted(column.dropna().unique().tolist())


def encode(
    frame: pd.DataFrame, sample: pd.DataFrame, codes: frozenset[str] = frozenset()
) -> FloatArray:
    """Return numbers, and an indicator for each level that occurs in `sample`, (n, p)."""
    return np.concatenate(list(by_column(frame, sample, codes).values()), axis=1)


def by_column(
    frame: pd.DataFrame, sample: pd.DataFrame, codes: frozenset[str] = frozenset()
) -> dict[str, FloatArray]:
    """Return numbers, or an indicator for each level that occurs in `sample`, by column.

    Numbers in `codes` are codes of levels.
    """
    parts = {}
    for name, column in frame.items():
        if is_category(column) or name in codes:
            levels = np.array(levels_of(sample[str(name)]), object)
            same = column.to_numpy(object)[:, None] == levels
            parts[str(name)] = same.astype(np.float64)
        else:
            parts[str(name)] = column.to_numpy(np.float64)[:, None]
    return parts


def codes_of(column: Column, levels: Sequence[Any]) -> IntArray:
    """Return the position of every value in `levels`; raise `DataError` for other values."""
    same = column.to_numpy(object)[:, None] == np.array(levels, object)
    unseen = np.flatnonzero(~same.any(axis=1))
    if len(unseen):
        raise DataError(
            f"Every level must occur in the data that the learner was made with, but "
            f"{column.iloc[unseen[0]]!r} of `{column.name}` does not; make the learner with data "
            "that have all levels."
        )
    return np.asarray(same.argmax(axis=1), np.intp)
