"""Inputs of the last step of a fitted model, and the columns that donors replace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.data.design import Design, FrameDesign, Swap
from pyinterp.data.sample import Sample

__all__ = ["ColumnValues", "Inputs"]

# Columns and their values.
ColumnValues: TypeAlias = tuple[IntArray, FloatArray]

PROBES, MEETINGS = 4, 3
# Pairs that earlier steps transform at a time.
SLICE = 2**15


class Inputs:
    """The numbers that a sample's rows are for the last step of a fitted model.

    Parameters
    ----------
    design : Design
        How variables are encoded.
    sample : Sample
        The rows.
    before : callable or None
        From design rows to inputs: earlier steps of a pipeline, or a model's own formula.
    mixes : callable, optional
        ``mixes(variables, all)`` says whether some input depends both on these and on others of
        all variables; by default this is tried out.
    levels : sequence of sequences, optional
        The model's own levels of the columns of categories, in order.
    cast : callable
        ``cast(inputs, columns)`` returns inputs of some columns in the precision of the model.

    Attributes
    ----------
    columnwise : bool
        Whether inputs are columns of the design, so that those of donors need no rows.
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

    def by_donor(self, variables: Sequence[str], donors: pd.DataFrame) -> ColumnValues | None:
        """Return the columns that the variables determine, and their values by donor.

        None if a column depends on the row's other variables too.
        """
        names = list(self._sample.variables.columns)
        if self._mixes is not None and self._mixes(variables, names):
            return None
        if self.columnwise and isinstance(self._design, FrameDesign):
            return self._columns_of_frame(self._design, variables, donors)
        swap = self._design.swap(self._sample.variables, variables, donors)
        if self.columnwise:
            if swap.by_donor is None:
                return None
            columns, values = swap.by_donor
            return columns, self._cast(values, columns)
        return self._by_donor_of_steps(swap, len(donors))

    def prefers_donors(self, donors: int, pairs: int) -> bool:
        """Whether `by_donor` needs less work than `by_pair`, which makes the inputs of all pairs.

        Earlier steps take whole rows: `by_donor` makes `PROBES` of every donor, `by_pair` one of
        every pair.
        """
        return self.columnwise or PROBES * donors < pairs

    def by_pair(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> ColumnValues | None:
        """Return the column in which rows ``rows[a]`` change with donors ``index[a]``, and values.

        Values have shape (b, k); there may be no column. None if several columns change. The
        inputs of all pairs are compared, not some at random.
        """
        swap = self._design.swap(self._sample.variables, variables, donors)
        targets, sources = np.repeat(rows, index.shape[1]), index.ravel()
        columns, values = np.empty(0, np.intp), np.zeros(len(targets))
        for start in range(0, len(targets), SLICE):
            part = slice(start, start + SLICE)
            inputs = self._of(swap.matrix(targets[part], sources[part]))
            original = self.rows[targets[part]]
            changed = np.flatnonzero(_differ(inputs, original).any(axis=0))
            if len(columns) == 0 and len(changed) == 1:  # not before
                columns, values[:start] = changed, self.rows[targets[:start], changed[0]]
            if len(np.setdiff1d(changed, columns)):
                return None
            if len(columns):
                values[part] = inputs[:, columns[0]]
        return columns, values.reshape(index.shape)

    def _columns_of_frame(
        self, design: FrameDesign, variables: Sequence[str], donors: pd.DataFrame
    ) -> ColumnValues:
        """Return `by_donor` for a model that takes a frame, whose columns are the variables."""
        columns = design.driven(variables)
        frame = design.encode(self._sample.variables.iloc[:0])
        names = list(frame.columns[columns])
        levels_of = dict(zip(frame.select_dtypes("category").columns, self._levels, strict=False))
        levels = [levels_of[name] for name in names if name in levels_of]
        return columns, self._cast(_numbers(donors[names], levels), columns)

    def _by_donor_of_steps(self, swap: Swap, donors: int) -> ColumnValues | None:
        """Return `by_donor` from the results of earlier steps, for some rows with every donor."""
        n = len(self.rows)
        every = np.arange(donors)
        probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
        probed = [self._of(swap.matrix(np.full(donors, row), every)) for row in probes]
        driven = np.zeros(self.rows.shape[1], dtype=bool)
        for row, matrix in zip(probes, probed, strict=True):
            driven |= _differ(matrix, self.rows[row]).any(axis=0)
        columns = np.flatnonzero(driven)
        if any(_differ(matrix[:, columns], probed[0][:, columns]).any() for matrix in probed):
            return None
        values = np.ascontiguousarray(probed[0][:, columns])
        # All donors were tried for a few rows; now all rows, each with donors at random.
        rng = np.random.default_rng(0)
        for _ in range(MEETINGS):
            sources = rng.integers(donors, size=n)
            expected = self.rows.copy()
            expected[:, columns] = values[sources]
            if _differ(self._of(swap.matrix(np.arange(n), sources)), expected).any():
                return None
        return columns, values

    def of(self, variables: pd.DataFrame) -> FloatArray:
        """Return the inputs of other rows."""
        return self._of(self._design.encode(variables))

    def _of(self, matrix: Matrix) -> FloatArray:
        inputs = matrix if self._before is None else self._before(matrix)
        numbers = _numbers(inputs, self._levels)
        return self._cast(numbers, np.arange(numbers.shape[1]))


def _numbers(inputs: Any, levels: Sequence[Sequence[Any]]) -> FloatArray:
    """Return the columns of a matrix or frame as numbers, categories as their codes."""
    if isinstance(inputs, pd.DataFrame):
        in_order, columns = iter(levels), []
        for _, column in inputs.items():
            if isinstance(column.dtype, pd.CategoricalDtype):
                coded = column.cat.set_categories(next(in_order)) if levels else column
                columns.append(coded.cat.codes.where(coded.cat.codes >= 0))
            else:
                columns.append(column)
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
    dense = inputs.toarray() if hasattr(inputs, "toarray") else inputs
    return np.asarray(dense, dtype=np.float64)


def _differ(a: FloatArray, b: FloatArray) -> np.ndarray:
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
