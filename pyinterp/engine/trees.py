"""Exact what-if predictions of tree ensembles: one walk per row and tree for all donors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from pyinterp.design import Design, Matrix, Swap
from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.forest import Forest
from pyinterp.engine.walk import factual, many_columns, one_column, one_column_one_output
from pyinterp.engine.whatif import Block
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray, Sample
from pyinterp.samplers import Distinct, distinct

__all__ = ["TreesWhatIf"]

Transform = Callable[[Matrix], FloatArray]

# A block's sums should stay in the processor's second-level cache.
BLOCK_BYTES = 2**20
LEAST_ROWS = 16
# Predictions of a column's steps are kept up to this size, for the next estimand.
TABLE_BYTES = 2**21


class TreesWhatIf(BatchedWhatIf):
    """What-if predictions of a tree ensemble, without predicting copies of rows.

    For one row, a tree's prediction is a step function of the replaced columns. A walk that
    branches only where they split yields it for every donor.

    Parameters
    ----------
    predictor, design, sample, memory_mb
        As for `BatchedWhatIf`, which serves what a walk can't: columns that mix replaced and kept
        variables.
    forest : Forest
        The trees.
    transform : callable or None
        From design rows to the trees' inputs: earlier steps of a pipeline, or category codes.
    support : pandas.DataFrame or None
        All rows of the data, whose values later questions are likely to use.
    """

    def __init__(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        *,
        forest: Forest,
        transform: Transform | None = None,
        support: pd.DataFrame | None = None,
        memory_mb: float = 256.0,
    ) -> None:
        super().__init__(predictor, design, sample, memory_mb=memory_mb)
        self.name = "trees, exact"
        self._forest, self._transform = forest, transform
        self._support = support
        self._tables: dict[int, tuple[np.ndarray, FloatArray | None]] = {}
        self._bytes = min(BLOCK_BYTES, int(memory_mb * 2**20))

    @property
    def most_pairs(self) -> float:
        """No bound: a donor costs an addition."""
        return float("inf")

    @cached_property
    def rows(self) -> FloatArray:
        """The sample as the trees compare it."""
        matrix = self._design.encode(self.sample.variables)
        return self._forest.inputs(self._input(matrix))

    def own(self) -> FloatArray:
        """Return the engine's predictions on the rows as they are, to check them."""
        sums = np.zeros((len(self.rows), self._forest.leaves.shape[1]))
        factual(*self._arrays, self.rows, self._plain, sums)
        return self._forest.finish(sums)

    def distinct(self, variables: Sequence[str]) -> Distinct:
        """Return donors; numbers between the same two thresholds predict alike and are one."""
        exact = distinct(self.sample.variables, variables)
        values_of = exact[0]
        swap = self._design.swap(self.sample.variables, variables, values_of)
        replaced = self._replaced(swap, len(values_of))
        if replaced is None:
            return exact
        columns, values = replaced
        codes = np.empty(values.shape, np.intp)
        for j, column in enumerate(columns):
            if not self._numerical(int(column)):
                return exact
            cuts = self._cuts(int(column))
            codes[:, j] = np.searchsorted(cuts, values[:, j], side="left")
            codes[np.isnan(values[:, j]), j] = len(cuts) + 1
        _, first, merged = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        merged = merged.ravel()
        return Distinct(
            values=values_of.take(first).reset_index(drop=True),
            of_row=merged[exact.of_row].astype(np.intp),
            counts=np.bincount(merged, weights=exact.counts).astype(np.intp),
        )

    def cross(self, variables: Sequence[str], donors: pd.DataFrame) -> Iterator[Block]:
        """Predict every row with the `variables` of every donor, in blocks of rows."""
        swap = self._design.swap(self.sample.variables, variables, donors)
        replaced = self._replaced(swap, len(donors))
        if replaced is None:
            yield from super().cross(variables, donors)
            return
        columns, values = replaced
        if len(columns) == 1 and not np.isnan(values).any():
            known = self._known(int(columns[0]), values[:, 0], variables)
            if known is not None:
                yield Block(slice(0, len(known)), known)
                return
        outputs = self._forest.leaves.shape[1]
        step = max(LEAST_ROWS, self._bytes // (8 * (len(donors) + 1) * outputs))
        walk = self._walk(columns, values)
        for start in range(0, len(self.rows), step):
            block = self.rows[start : start + step]
            yield Block(slice(start, start + len(block)), self._forest.finish(walk(block)))

    def _known(
        self, column: int, values: FloatArray, variables: Sequence[str]
    ) -> FloatArray | None:
        """Return predictions for every row and donor from those kept; None if too many to keep.

        Between two thresholds of the column all donors predict alike. Steps that were asked for
        before, by an importance or a grid, are not walked again.
        """
        if not self._numerical(column):
            return None
        cuts = self._cuts(column)
        wanted = np.searchsorted(cuts, values, side="left")
        steps, table = self._tables.get(column, (np.empty(0, np.intp), None))
        missing = np.setdiff1d(wanted, steps)
        if len(missing) and table is None:
            missing = self._with_support(missing, cuts, variables)
        outputs = self._forest.leaves.shape[1]
        if len(self.rows) * (len(steps) + len(missing)) * outputs * 8 > TABLE_BYTES:
            return None
        if len(missing):
            walk = self._range_walk(column, np.append(cuts, np.inf)[missing])
            size = max(LEAST_ROWS, self._bytes // (8 * (len(missing) + 1) * outputs))
            starts = range(0, len(self.rows), size)
            new = np.concatenate(
                [self._forest.finish(walk(self.rows[k : k + size])) for k in starts]
            )
            order = np.argsort(np.concatenate([steps, missing]), kind="stable")
            table = (new if table is None else np.concatenate([table, new], axis=1))[:, order]
            steps = np.concatenate([steps, missing])[order]
            self._tables[column] = (steps, table)
        return None if table is None else table[:, np.searchsorted(steps, wanted)]

    def _with_support(
        self, steps: np.ndarray, cuts: FloatArray, variables: Sequence[str]
    ) -> np.ndarray:
        """Add the steps of all values in the data, which grids use, unless they are many more."""
        if self._support is None:
            return steps
        every, _, _ = distinct(self._support, variables)
        replaced = self._replaced(
            self._design.swap(self.sample.variables, variables, every), len(every)
        )
        if replaced is None:
            return steps
        more = np.union1d(steps, np.searchsorted(cuts, replaced[1][:, 0], side="left"))
        return more if len(more) <= 2 * len(steps) else steps

    def _cuts(self, column: int) -> FloatArray:
        """Return the thresholds of a column, increasing: a step lies between two of them."""
        return np.unique(self._forest.threshold[self._forest.column == column])

    def _walk(self, columns: np.ndarray, values: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the function from rows to sums over trees, shape (rows, donors, outputs)."""
        outputs = self._forest.leaves.shape[1]
        if len(columns) == 0:
            values = np.zeros((len(values), 1))
        elif len(columns) == 1 and self._numerical(int(columns[0])) and not np.isnan(values).any():
            return self._range_walk(int(columns[0]), values[:, 0])
        place = np.full(self.rows.shape[1], -1, np.int32)
        place[columns] = np.arange(len(columns))
        contiguous = np.ascontiguousarray(values)

        def walk(block: FloatArray) -> FloatArray:
            sums = np.zeros((len(block), len(values), outputs))
            many_columns(*self._arrays, block, place, contiguous, sums)
            return sums

        return walk

    def _range_walk(self, column: int, values: FloatArray) -> Callable[[FloatArray], FloatArray]:
        forest, outputs = self._forest, self._forest.leaves.shape[1]
        order = np.argsort(values, kind="stable")
        position = np.zeros(len(forest.column), np.int32)
        at = np.flatnonzero(forest.column == column)
        position[at] = np.searchsorted(values[order], forest.threshold[at], side="right")
        back = np.empty(len(order), np.intp)
        back[order] = np.arange(len(order))
        sorted_already = bool((back == np.arange(len(back))).all())

        def walk(block: FloatArray) -> FloatArray:
            sums = np.zeros((len(block), len(values) + 1, outputs))
            if self._plain and outputs == 1:
                one_column_one_output(
                    forest.column, self._with_leaves, forest.right, forest.roots,
                    block, column, position, sums[..., 0],
                )  # fmt: skip
            else:
                one_column(*self._arrays, block, column, position, self._plain, sums)
            np.cumsum(sums, axis=1, out=sums)
            return sums[:, :-1] if sorted_already else sums[:, back]

        return walk

    def _replaced(self, swap: Swap, donors: int) -> tuple[np.ndarray, FloatArray] | None:
        """Return the trees' columns that donors drive, and their values; None if rows matter."""
        if self._transform is None:
            if swap.replaced is None:
                return None
            columns, values = swap.replaced
            return columns, self._forest.inputs(values)
        # Whether earlier steps work column by column can be seen only from what they return.
        every = np.arange(donors)
        probes = np.unique(np.linspace(0, self.sample.nobs - 1, 4).astype(np.intp))
        seen = [
            self._forest.inputs(self._input(swap.matrix(np.full(donors, row), every)))
            for row in probes
        ]
        driven = np.zeros(self.rows.shape[1], dtype=bool)
        for row, matrix in zip(probes, seen, strict=True):
            driven |= _differ(matrix, self.rows[row]).any(axis=0)
        columns = np.flatnonzero(driven)
        if any(_differ(matrix[:, columns], seen[0][:, columns]).any() for matrix in seen):
            return None
        values = np.ascontiguousarray(seen[0][:, columns])
        # All donors for a few rows were seen; now all rows, each with a donor.
        rows = np.arange(self.sample.nobs)
        given = rows % donors
        expected = self.rows.copy()
        expected[:, columns] = values[given]
        actual = self._forest.inputs(self._input(swap.matrix(rows, given)))
        return None if _differ(actual, expected).any() else (columns, values)

    def _input(self, matrix: Matrix) -> Matrix | FloatArray:
        return matrix if self._transform is None else self._transform(matrix)

    def _numerical(self, column: int) -> bool:
        splits = self._forest.column == column
        return not (self._forest.category[splits] >= 0).any()

    @cached_property
    def _plain(self) -> bool:
        return not np.isnan(self.rows).any() and not (self._forest.category >= 0).any()

    @cached_property
    def _with_leaves(self) -> FloatArray:
        """Thresholds, with the leaves' values in their places."""
        forest = self._forest
        leaf = forest.column < 0
        both = forest.threshold.copy()
        both[leaf] = forest.leaves[forest.right[leaf], 0]
        return both

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        f = self._forest
        return (
            f.column,
            f.threshold,
            f.right,
            f.missing_left,
            f.category,
            f.left_categories,
            f.roots,
            f.leaves,
        )


def _differ(a: FloatArray, b: FloatArray) -> np.ndarray:
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
