"""What the last step of a fitted model is given, and what donors change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pyinterp.design import Design, FrameDesign, IntArray, Matrix, Swap
from pyinterp.sample import FloatArray, Sample

__all__ = ["Inputs", "final_step"]

PROBES = 4


class Inputs:
    """The numbers that the last step of a fitted model is given for a sample's rows.

    Parameters
    ----------
    design : Design
        How variables are encoded.
    sample : Sample
        The rows.
    before : callable or None
        From design rows to inputs: earlier steps of a pipeline, or a model's own formula.
    cast : callable
        ``cast(inputs, columns)`` returns inputs of some columns as the model takes them.
    """

    def __init__(
        self,
        design: Design,
        sample: Sample,
        *,
        before: Callable[[Matrix], Any] | None,
        cast: Callable[[FloatArray, IntArray], FloatArray],
    ) -> None:
        self._design, self._sample, self._cast = design, sample, cast
        self._before = before
        # The last question and its answer: importances ask thrice.
        self._last: tuple[tuple[str, ...], pd.DataFrame, Any] | None = None
        self._columnwise = before is None and not isinstance(design, FrameDesign)

    @cached_property
    def rows(self) -> FloatArray:
        """The sample's inputs, shape (n, columns)."""
        return self._of(self._design.encode(self._sample.variables))

    def replaced(
        self, variables: Sequence[str], donors: pd.DataFrame
    ) -> tuple[IntArray, FloatArray] | None:
        """Return the columns that donors drive, and their values; None if rows matter too."""
        if self._last is None or self._last[0] != tuple(variables) or self._last[1] is not donors:
            self._last = tuple(variables), donors, self._find(variables, donors)
        return self._last[2]

    def _find(
        self, variables: Sequence[str], donors: pd.DataFrame
    ) -> tuple[IntArray, FloatArray] | None:
        swap = self._design.swap(self._sample.variables, variables, donors)
        if self._columnwise:
            if swap.replaced is None:
                return None
            columns, values = swap.replaced
            return columns, self._cast(values, columns)
        return self._observed(swap, len(donors))

    def _observed(self, swap: Swap, donors: int) -> tuple[IntArray, FloatArray] | None:
        """Find out what donors change from what the earlier steps return."""
        n = len(self.rows)
        every = np.arange(donors)
        probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
        seen = [self._of(swap.matrix(np.full(donors, row), every)) for row in probes]
        driven = np.zeros(self.rows.shape[1], dtype=bool)
        for row, matrix in zip(probes, seen, strict=True):
            driven |= _differ(matrix, self.rows[row]).any(axis=0)
        columns = np.flatnonzero(driven)
        if any(_differ(matrix[:, columns], seen[0][:, columns]).any() for matrix in seen):
            return None
        values = np.ascontiguousarray(seen[0][:, columns])
        # All donors for a few rows were seen; now all rows, each with a donor.
        given = np.arange(n) % donors
        expected = self.rows.copy()
        expected[:, columns] = values[given]
        actual = self._of(swap.matrix(np.arange(n), given))
        return None if _differ(actual, expected).any() else (columns, values)

    def _of(self, matrix: Matrix) -> FloatArray:
        numbers = _numbers(matrix if self._before is None else self._before(matrix))
        return self._cast(numbers, np.arange(numbers.shape[1]))


def final_step(estimator: Any) -> tuple[Any, Callable[[Matrix], Any] | None]:
    """Return the last step of a pipeline, and the earlier ones as a function."""
    steps = getattr(estimator, "steps", None)
    if not steps:
        return estimator, None
    return steps[-1][1], estimator[:-1].transform if len(steps) > 1 else None


def _numbers(made: Any) -> FloatArray:
    """Return columns as numbers, categories as their codes."""
    if isinstance(made, pd.DataFrame):
        columns = [
            c.cat.codes.where(c.cat.codes >= 0) if isinstance(c.dtype, pd.CategoricalDtype) else c
            for _, c in made.items()
        ]
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
    dense = made.toarray() if hasattr(made, "toarray") else made
    return np.asarray(dense, dtype=np.float64)


def _differ(a: FloatArray, b: FloatArray) -> np.ndarray:
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
