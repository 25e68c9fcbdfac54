"""Inputs of the last step of a fitted model, and the columns that donors replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.data.design import Design, FrameDesign, Swap
from pyinterp.data.sample import Sample
from pyinterp.models.trees import Levels

# From design rows to the inputs of a model.
Before: TypeAlias = Callable[[Matrix], Any]
# Columns and their values.
ColumnValues: TypeAlias = tuple[IntArray, FloatArray]

ByName: TypeAlias = Mapping[Any, Sequence[Any] | None]

# Rows that are tried with all donors, and times that all rows are tried with a donor each.
PROBES, MEETINGS = 4, 3
# Pairs that earlier steps transform at a time.
SLICE = 2**15


@dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """The numbers that a sample's rows are for the last step of a fitted model.

    Attributes
    ----------
    design : Design
        How variables are encoded.
    sample : Sample
        The rows.
    before : callable or None
        From design rows to inputs: earlier steps of a pipeline.
    levels : Levels
        The model's own levels.
    cast : callable or None
        ``cast(inputs, columns)`` returns inputs of some columns in the precision of the model.
    """

    design: Design
    sample: Sample
    before: Before | None = None
    levels: Levels = ()
    cast: Callable[[FloatArray, IntArray], FloatArray] | None = None

    @cached_property
    def rows(self) -> FloatArray:
        """The sample's inputs, shape (n, columns)."""
        design = self.design
        if not isinstance(design, FrameDesign):
            return self._of(design.rows_of(self.sample))
        if self.before is None and (rows := self.sample.numbers(design.variables)) is not None:
            return self._of(rows)
        return self.of(self.sample.variables)

    def of(self, variables: pd.DataFrame) -> FloatArray:
        """Return the inputs of other rows."""
        design = self.design
        if self.before is None and isinstance(design, FrameDesign):  # whatever library's it is
            return self._of(design.plain(variables))
        return self._of(design.encode(variables))

    def separate_columns(self, variables: Sequence[str]) -> ColumnValues | None:
        """Return the columns that the variables alone determine, and their values in the rows.

        None if other variables have a part in them, or earlier steps may give them one.
        """
        if self.before is not None or self.design.others(variables):
            return None
        columns = self.design.driven(variables)
        return columns, self.rows[:, columns]

    def shuffle(self, most: int) -> FloatArray | None:
        """Return rows in which every variable is another row's, at most so many.

        None unless the model is given numbers that each come from one variable alone.
        """
        design = self.design
        if self.before is not None or self.cast is not None or design.discrete:
            return None
        if isinstance(design, FrameDesign) and self.sample.numbers(design.variables) is None:
            return None
        if design.single or design.columns_by_variable is None:
            return None
        rows, rng = self.rows, np.random.default_rng(0)
        # Half of the rows, so that their means are others.
        new = rows[: min(-(-len(rows) // 2), most)].copy()
        for columns in design.columns_by_variable:
            others = rng.permutation(len(rows))[: len(new)]
            new[:, columns] = rows[others[:, None], columns]
        return new

    def by_donor(self, variables: Sequence[str], donors: pd.DataFrame) -> ColumnValues | None:
        """Return the columns that the variables determine, and their values by donor.

        None if a column depends on the row's other variables too.
        """
        design = self.design
        if self.before is None and isinstance(design, FrameDesign):
            # Every column of a frame is one variable; categories become the model's own codes.
            levels: ByName = {}
            if self.levels:
                levels = _by_name(design.plain(self.sample.variables), self.levels)
            columns, values = design.driven(variables), _codes(donors, levels, variables)
        else:
            swap = design.swap(self.sample, variables, donors)
            if self.before is not None:
                return self._by_donor_of_steps(swap, len(donors))
            if swap.by_donor is None:
                return None
            columns, values = swap.by_donor
        return columns, values if self.cast is None else self.cast(values, columns)

    def by_pair(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> ColumnValues | None:
        """Return the column in which rows ``rows[a]`` change with donors ``index[a]``, and values.

        Values have shape (b, k, 1), or (b, k, 0) if no column changes. None if several do. The
        inputs of all pairs are compared, not some at random.
        """
        swap = self.design.swap(self.sample, variables, donors)
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
        return columns, values.reshape(*index.shape, 1)[..., : len(columns)]

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

    def _of(self, matrix: Matrix) -> FloatArray:
        """Return the model's inputs, (n, columns), of rows of the design."""
        inputs = matrix if self.before is None else self.before(matrix)
        values = numbers(inputs, self.levels)
        return values if self.cast is None else self.cast(values, np.arange(values.shape[1]))


def numbers(inputs: Any, levels: Levels = ()) -> FloatArray:
    """Return the columns of a matrix or frame as numbers, categories as their codes.

    Parameters
    ----------
    inputs : DataFrame, array or sparse matrix
    levels : Levels
        The model's own levels; other columns of the type category are coded by theirs.
    """
    if isinstance(inputs, pd.DataFrame):
        return _codes(inputs, _by_name(inputs, levels))
    dense = inputs.toarray() if hasattr(inputs, "toarray") else inputs
    if isinstance(levels, Mapping) and np.asarray(dense).dtype == object:
        return _codes(pd.DataFrame(dense), levels)
    return np.asarray(dense, dtype=np.float64)


def _by_name(frame: pd.DataFrame, levels: Levels) -> ByName:
    """Return a model's levels by the name of the column."""
    if isinstance(levels, Mapping):
        return {frame.columns[j]: names for j, names in levels.items()}
    if not levels:
        return {}
    return dict(zip(frame.select_dtypes("category").columns, levels, strict=False))


def _codes(frame: pd.DataFrame, levels: ByName, names: Iterable[Any] | None = None) -> FloatArray:
    """Return columns of a frame as numbers, categories as the model's codes."""
    names = frame.columns if names is None else names
    return np.column_stack([_number(frame[name], levels.get(name, ())) for name in names])


def _number(column: pd.Series[Any], levels: Sequence[Any] | None) -> FloatArray:
    """Return a column as numbers; what is no level is missing."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    if levels is None or (len(levels) == 0 and not categories):
        return np.asarray(column, dtype=np.float64)
    if len(levels) == 0:
        codes = column.cat.codes.to_numpy()
    elif categories:
        codes = column.cat.set_categories(levels).cat.codes.to_numpy()
    else:
        codes = pd.Index(levels).get_indexer(pd.Index(column))
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def _differ(a: FloatArray, b: FloatArray) -> np.ndarray:
    """Return where two arrays differ; missing values are the same."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
