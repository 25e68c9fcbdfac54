"""What the last step of a fitted model is given, and what donors change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.data.design import Design, FrameDesign, Swap
from pyinterp.data.sample import Sample

__all__ = ["Inputs", "Replaced"]

# Columns and their values.
Replaced: TypeAlias = tuple[IntArray, FloatArray]

PROBES, MEETINGS = 4, 3
# Pairs of which the earlier steps are asked at a time.
SLICE = 2**15


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
    mixes : callable, optional
        ``mixes(variables, all)`` tells whether some input depends on these and on others of all
        variables too, where that is known.
    levels : sequence of sequences, optional
        The model's own levels of the columns of categories, in order.
    cast : callable
        ``cast(inputs, columns)`` returns inputs of some columns as the model takes them.

    Attributes
    ----------
    columnwise : bool
        Whether inputs are columns of the design, so that donors' are had without rows.
    """

    def __init__(
        self,
        design: Design,
        sample: Sample,
        *,
        before: Callable[[Matrix], Any] | None,
        mixes: Callable[[Sequence[str], Sequence[str]], bool] | None = None,
        levels: Sequence[Sequence[Any]] = (),
        cast: Callable[[FloatArray, IntArray], FloatArray],
    ) -> None:
        self._design, self._sample, self._cast = design, sample, cast
        self._before, self._mixes, self._levels = before, mixes, levels
        self.columnwise = before is None

    def on(self, sample: Sample) -> Inputs:
        """Return the inputs of other rows, encoded alike."""
        return Inputs(
            self._design,
            sample,
            before=self._before,
            mixes=self._mixes,
            levels=self._levels,
            cast=self._cast,
        )

    @cached_property
    def rows(self) -> FloatArray:
        """The sample's inputs, shape (n, columns)."""
        return self._of(self._design.encode(self._sample.variables))

    def replaced(self, variables: Sequence[str], donors: pd.DataFrame) -> Replaced | None:
        """Return the columns that donors drive, and their values; None if rows matter too."""
        known = list(self._sample.variables.columns)
        if self._mixes is not None and self._mixes(variables, known):
            return None
        if self.columnwise and isinstance(self._design, FrameDesign):
            return self._columns_of_frame(self._design, variables, donors)
        swap = self._design.swap(self._sample.variables, variables, donors)
        if self.columnwise:
            if swap.replaced is None:
                return None
            columns, values = swap.replaced
            return columns, self._cast(values, columns)
        return self._observed(swap, len(donors))

    def shared(self, donors: int, pairs: int) -> bool:
        """Whether `replaced` tells what donors change for less than seeing all pairs of them.

        Earlier steps take whole rows: `replaced` makes some of every donor, and pairs are some.
        """
        return self.columnwise or PROBES * donors < pairs

    def changed(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> Replaced | None:
        """Return the column in which rows ``rows[a]`` change with donors ``index[a]``, if any.

        With its values, shape (b, k). None if there are several. The inputs of all pairs are
        compared: nothing is left to chance.
        """
        swap = self._design.swap(self._sample.variables, variables, donors)
        kept, given = np.repeat(rows, index.shape[1]), index.ravel()
        columns, values = np.empty(0, np.intp), np.zeros(len(kept))
        for start in range(0, len(kept), SLICE):
            part = slice(start, start + SLICE)
            made, own = self._of(swap.matrix(kept[part], given[part])), self.rows[kept[part]]
            changed = np.flatnonzero(_differ(made, own).any(axis=0))
            if len(columns) == 0 and len(changed) == 1:  # not before
                columns, values[:start] = changed, self.rows[kept[:start], changed[0]]
            if len(np.setdiff1d(changed, columns)):
                return None
            if len(columns):
                values[part] = made[:, columns[0]]
        return columns, values.reshape(index.shape)

    def _columns_of_frame(
        self, design: FrameDesign, variables: Sequence[str], donors: pd.DataFrame
    ) -> Replaced:
        """Return what donors are where a model reads each column of a frame on its own."""
        columns = design.driven(variables)
        frame = design.encode(self._sample.variables.iloc[:0])
        names = list(frame.columns[columns])
        known = dict(zip(frame.select_dtypes("category").columns, self._levels, strict=False))
        levels = [known[name] for name in names if name in known]
        return columns, self._cast(_numbers(donors[names], levels), columns)

    def _observed(self, swap: Swap, donors: int) -> Replaced | None:
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
        # All donors for a few rows were seen; now all rows, each with donors at random.
        rng = np.random.default_rng(0)
        for _ in range(MEETINGS):
            given = rng.integers(donors, size=n)
            expected = self.rows.copy()
            expected[:, columns] = values[given]
            if _differ(self._of(swap.matrix(np.arange(n), given)), expected).any():
                return None
        return columns, values

    def of(self, variables: pd.DataFrame) -> FloatArray:
        """Return the inputs of other rows."""
        return self._of(self._design.encode(variables))

    def _of(self, matrix: Matrix) -> FloatArray:
        made = matrix if self._before is None else self._before(matrix)
        numbers = _numbers(made, self._levels)
        return self._cast(numbers, np.arange(numbers.shape[1]))


def _numbers(made: Any, levels: Sequence[Sequence[Any]]) -> FloatArray:
    """Return columns as numbers, categories as their codes."""
    if isinstance(made, pd.DataFrame):
        own, columns = iter(levels), []
        for _, column in made.items():
            if isinstance(column.dtype, pd.CategoricalDtype):
                known = column.cat.set_categories(next(own)) if levels else column
                columns.append(known.cat.codes.where(known.cat.codes >= 0))
            else:
                columns.append(column)
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
    dense = made.toarray() if hasattr(made, "toarray") else made
    return np.asarray(dense, dtype=np.float64)


def _differ(a: FloatArray, b: FloatArray) -> np.ndarray:
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
