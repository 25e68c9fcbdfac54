"""Inputs of the last step of a fitted model, and the columns that donors replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from pyinterp._typing import BoolArray, Column, FloatArray, IntArray, Matrix, TwoArrays
from pyinterp.data.design import ArrayDesign, Design, FrameDesign, Swap
from pyinterp.data.sample import Sample
from pyinterp.models.trees import Levels
from pyinterp.whatif.steps import origins

# From design rows to the inputs of a model.
Before = Callable[[Matrix], Any]
# Columns and their values.
ColumnValues = tuple[IntArray, FloatArray]

ByName = Mapping[Any, Sequence[Any] | None]

# Rows that are tried with all donors, and times that all rows are tried with a donor each.
PROBES, MEETINGS = 4, 3
NONE = np.zeros(0, np.intp)
# Pairs that earlier steps transform at a time.
SLICE = 2**15
# The last grid of every design: its variables, points, and columns by point, for all its models.
_Grid: TypeAlias = tuple[tuple[str, ...], pd.DataFrame, ColumnValues | None]
GRIDS: WeakKeyDictionary[Design, _Grid] = WeakKeyDictionary()


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
        if self.before is not None and isinstance(self.design, FrameDesign):
            return self.of(self.sample.variables)
        return self.through(self._plain_rows)

    def of(self, variables: pd.DataFrame) -> FloatArray:
        """Return the inputs of other rows."""
        design = self.design
        if self.before is None and isinstance(design, FrameDesign):  # whatever library's it is
            return self.through(design.plain(variables))
        return self.through(design.encode(variables))

    def separate_columns(self, variables: Sequence[str]) -> ColumnValues | None:
        """Return the columns that the variables alone determine, and their values in the rows.

        None if other variables have a part in them, or earlier steps may give them one.
        """
        separate = self._columns_after if self.before else self.design.columns_by_variable
        if separate is not None:
            parts = [separate[name] for name in variables]
            columns = parts[0] if len(parts) == 1 else np.concatenate(parts)
        elif self.before is not None or self.design.others(variables):
            return None
        else:
            columns = self.design.driven(variables)
        return columns, self.rows[:, columns]

    @cached_property
    def _columns_after(self) -> dict[str, IntArray] | None:
        """The columns of earlier steps that come from each variable; None if one comes from none.

        Of rows in which every variable is another row's, a column that comes from one variable has
        the values of that variable's rows.
        """
        rows, rng, names = self.rows, np.random.default_rng(0), self.design.variables
        by_variable = self.design.columns_by_variable
        known = None if by_variable is None else origins(self.before, len(self.design.columns))
        if by_variable is not None and known is not None:
            order = np.argsort(known, kind="stable")
            made = np.split(
                order, np.searchsorted(known[order], np.arange(1, len(self.design.columns)))
            )
            return {
                n: np.concatenate([made[k] for k in of] or [NONE]) for n, of in by_variable.items()
            }
        places = np.tile(np.arange(len(rows))[:, None], len(names))
        times = MEETINGS if len(rows) <= SLICE else 1
        sources = np.concatenate([rng.permuted(places, axis=0) for _ in range(times)])
        after = self.through(self._meeting(sources))
        v, c = np.nonzero(~_differ(after[:1], rows[sources[0]]))
        start = size = 1
        while start < len(sources):  # of the pairs that are left more and more rows
            some = slice(start, start + size)
            same = ~_differ(after[some][:, c], rows[sources[some][:, v], c]).any(axis=0)
            v, c, start, size = v[same], c[same], start + size, 2 * size
        varies = np.atleast_1d(_differ(rows, rows[:1]).any(axis=0))
        if (np.bincount(c, minlength=len(varies)) != 1)[varies].any():
            return None  # or from several, if few rows have another value
        v, c = v[varies[c]], c[varies[c]]
        ends = np.searchsorted(v, np.arange(1, len(names)))
        return dict(zip(names, np.split(c, ends), strict=True))

    def _meeting(self, sources: IntArray) -> Any:
        """Return design rows whose variable v has the value of row ``sources[:, v]``."""
        design, rows = self.design, self._plain_rows
        if isinstance(rows, pd.DataFrame) or design.columns_by_variable is None:
            variables = self.sample.variables
            columns = zip(design.variables, sources.T, strict=True)
            every = {name: variables[name].array.take(of) for name, of in columns}
            return design.encode(pd.DataFrame(every))
        owner = np.zeros(len(design.columns), np.intp)  # of an intercept any
        for v, driven in enumerate(design.columns_by_variable.values()):
            owner[driven] = v
        return rows[sources[:, owner], np.arange(len(owner))]

    @cached_property
    def _plain_rows(self) -> Any:
        """Return the sample's design rows, as plain columns if the model is given a frame."""
        design, sample, rows = self.design, self.sample, None
        if isinstance(design, ArrayDesign) and design.dtype == np.float64:
            rows = sample.numbers(design.variables)
        if not isinstance(design, FrameDesign):
            return design.rows_of(sample) if rows is None else rows
        rows = None if self.before is not None else sample.numbers(design.variables)
        return design.plain(sample.variables) if rows is None else rows

    def shuffle(self, most: int) -> TwoArrays | None:
        """Return design rows, and further ones in which every variable is another row's.

        At most so many. None unless they are numbers that each come from one variable alone.
        """
        design, n = self.design, self.sample.nobs
        if design.columns_by_variable is None or isinstance(self._plain_rows, pd.DataFrame):
            return None
        # Half of the rows, so that their means are others.
        size = min(-(-n // 2), most), len(design.variables)
        return self._plain_rows, self._meeting(np.random.default_rng(0).integers(n, size=size))

    def by_donor(self, variables: Sequence[str], donors: pd.DataFrame) -> ColumnValues | None:
        """Return the columns that the variables determine, and their values by donor.

        None if a column depends on the row's other variables too.
        """
        design, grid = self.design, not self.levels and len(donors) < self.sample.nobs
        if self.before is not None:
            swap = design.swap(self.sample, variables, donors)
            return self._by_donor_of_steps(swap, variables, len(donors))
        names, points, found = GRIDS.get(design, ((), donors, None))
        if not grid or names != (*variables,) or not donors.equals(points):
            if isinstance(design, FrameDesign):
                # Every column of a frame is one variable; categories become the model's own codes.
                levels: ByName = {}
                if self.levels:
                    levels = _by_name(design.plain(self.sample.variables), self.levels)
                found = design.driven(variables), _codes(donors, levels, variables)
            else:
                found = design.swap(self.sample, variables, donors).by_donor
            if grid:
                GRIDS[design] = (*variables,), donors.copy(), found
        if found is None or self.cast is None:
            return found
        return found[0], self.cast(found[1], found[0])

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
            inputs = self.through(swap.matrix(targets[part], sources[part]))
            original = self.rows[targets[part]]
            changed = np.flatnonzero(_differ(inputs, original).any(axis=0))
            if len(columns) == 0 and len(changed) == 1:  # not before
                columns, values[:start] = changed, self.rows[targets[:start], changed[0]]
            if len(np.setdiff1d(changed, columns)):
                return None
            if len(columns):
                values[part] = inputs[:, columns[0]]
        return columns, values.reshape(*index.shape, 1)[..., : len(columns)]

    def _by_donor_of_steps(
        self, swap: Swap, variables: Sequence[str], donors: int
    ) -> ColumnValues | None:
        """Return `by_donor` from the results of earlier steps, for some rows with every donor."""
        n = len(self.rows)
        probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
        every = np.tile(np.arange(donors), len(probes))
        probed = self.through(swap.matrix(np.repeat(probes, donors), every))
        probed = probed.reshape(len(probes), donors, -1)
        columns = np.flatnonzero(_differ(probed, self.rows[probes, None]).any(axis=(0, 1)))
        own, _ = self.separate_columns(variables) or (NONE, None)
        separate = len(own) > 0 and bool(np.isin(columns, own).all())
        if separate:
            columns = own  # with those that move in other rows alone: flags of missing values
        if _differ(probed[..., columns], probed[0][:, columns]).any():
            return None
        values = np.ascontiguousarray(probed[0][:, columns])
        if separate:
            return columns, values
        # All donors were tried for a few rows; now all rows, each with donors at random.
        rng = np.random.default_rng(0)
        for _ in range(MEETINGS):
            sources = rng.integers(donors, size=n)
            expected = self.rows.copy()
            expected[:, columns] = values[sources]
            if _differ(self.through(swap.matrix(np.arange(n), sources)), expected).any():
                return None
        return columns, values

    def through(self, matrix: Matrix) -> FloatArray:
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
    return np.asarray(dense, np.float64)


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


def _number(column: Column, levels: Sequence[Any] | None) -> FloatArray:
    """Return a column as numbers; a value that is no level is missing."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    if levels is None or (len(levels) == 0 and not categories):
        return np.asarray(column, np.float64)
    if len(levels) == 0:
        codes = column.cat.codes.to_numpy()
    elif categories:
        codes = column.cat.set_categories(levels).cat.codes.to_numpy()
    else:
        codes = pd.Index(levels).get_indexer(pd.Index(column))
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def _differ(a: FloatArray, b: FloatArray) -> BoolArray:
    """Return where two arrays differ; missing values are the same."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
