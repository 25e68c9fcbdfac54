"""Exact what-if predictions of tree ensembles: one walk for 64 rows and all donors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.prediction_checks import check_finite
from pyinterp.parallel import go_on
from pyinterp.samplers import Distinct, distinct
from pyinterp.whatif.batches import BatchedWhatIf
from pyinterp.whatif.class_losses import sums_of_classes
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.inputs import ColumnValues, Inputs
from pyinterp.whatif.walks import (
    GROUP,
    Splits,
    Trees,
    add_up,
    add_up_pairs,
    cross_parts,
    cross_ranges,
    first_leaves,
    left_bits,
    squared_pairs,
)
from pyinterp.whatif.whatif import PAIRS, PREDICTIONS, Block, Engine, FeatureWhatIf, WhatIf

__all__ = ["TreesFeature", "TreesWhatIf"]

# From rows and the bits of `left_bits` to sums over trees, shape (outputs, donors, rows).
Walk: TypeAlias = Callable[[FloatArray, np.ndarray], FloatArray]

# A block's predictions should stay in the processor's cache until a loss has used them.
BLOCK_BYTES = 2**20
# The bits of rows and splits are kept for the next feature up to this size.
BITS_BYTES = 2**24
NOWHERE = np.zeros(0, np.int32)
# Additions of leaf values that are worth an exact mean. Donors of one column are added by ranges;
# those of several columns cost one addition per row, donor and tree.
ADDITIONS = 1e9
# Of one walk, which ends before Ctrl-C is heard: groups of rows, and pairs of a row and a donor.
MOST_GROUPS, MOST_PAIRS = 16, 2**26


class TreesWhatIf(WhatIf):
    """What-if predictions of a tree ensemble, without predicting copies of rows.

    Parameters
    ----------
    batched : BatchedWhatIf
        Predicts where a walk can't: columns that depend on replaced and on kept variables.
    forest : Forest
        The trees.
    inputs : Inputs
        The rows as the trees compare them.
    factual : ndarray, optional
        Predictions on the rows as they are; by default computed when first used.
    """

    def __init__(
        self,
        batched: BatchedWhatIf,
        *,
        forest: Forest,
        inputs: Inputs,
        factual: FloatArray | None = None,
    ) -> None:
        engine = Engine("trees, exact")
        super().__init__(batched.predictor, batched.design, batched.sample, engine, factual)
        self.batched, self.forest, self.inputs = batched, forest, inputs
        self.block_bytes = min(BLOCK_BYTES, int(batched.memory_mb * 2**20))

    def take(self, rows: IntArray) -> TreesWhatIf:
        """Return what-if predictions of the same model on some of the rows."""
        batched, factual = self.batched.take(rows), self.factual[rows]
        inputs = self.inputs.on(batched.sample)
        return TreesWhatIf(batched, forest=self.forest, inputs=inputs, factual=factual)

    def of(self, variables: Sequence[str]) -> TreesFeature:
        """Return what-if predictions with some variables replaced together."""
        return TreesFeature(self, variables)

    def compute(self, whatif: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return the engine's predictions of its rows, then of what-if rows, and their rounding.

        Rounding is 0: leaf values are whole multiples of a small unit, which add up exactly.
        """
        outputs = self.trees.leaves.shape[1]
        out = np.empty((outputs, 1, len(self.rows)))
        cross_ranges(self.trees, self.splits, self.bits, self.rows, -1, NOWHERE, out)
        rows = self.inputs.of(whatif)
        sums = np.zeros((outputs, len(rows)), np.int64)
        add_up(self.trees, rows, sums)
        observed, others = out[:, 0].T[self.place], np.asarray(sums.T * self.trees.unit)
        predictions = self.forest.finish(np.concatenate([observed, others]))
        return predictions, np.zeros_like(predictions)

    def categorical(self, column: int) -> bool:
        """Whether the trees split a column by categories."""
        return bool(self.splits.categorical[column] < self.splits.first[column + 1])

    @cached_property
    def trees(self) -> Trees:
        """The trees as arrays for walks."""
        return self.forest.trees

    @cached_property
    def splits(self) -> Splits:
        """The splits that part the rows differently."""
        return self.forest.splits(self.inputs.rows)

    @cached_property
    def bits(self) -> np.ndarray:
        """Which rows every split sends to the left; empty if it were more than `BITS_BYTES`."""
        groups, splits = -(-len(self.rows) // GROUP), len(self.splits.threshold)
        if 8 * groups * splits > BITS_BYTES:
            groups = 0
        bits = np.empty((groups, splits), np.uint64)
        left_bits(self.splits, self.trees.left_categories, self.rows, bits)
        return bits

    @cached_property
    def order(self) -> IntArray:
        """An order of rows in which those of the same leaf of the first tree are together."""
        leaf = np.empty(len(self.inputs.rows), np.int64)
        first_leaves(self.trees, self.inputs.rows, leaf)
        return np.argsort(leaf, kind="stable")

    @cached_property
    def place(self) -> IntArray:
        """The place of every row in that order."""
        return np.argsort(self.order)

    @cached_property
    def rows(self) -> FloatArray:
        """The rows in that order."""
        return np.ascontiguousarray(self.inputs.rows[self.order])


class TreesFeature(FeatureWhatIf):
    """What-if predictions of a feature of a tree ensemble.

    For one row, a tree's prediction is a step function of the replaced columns. A walk that
    branches only where they split yields it for every donor.

    Parameters
    ----------
    whatif : TreesWhatIf
        The trees and their rows.
    variables : sequence of str
        The variables that are replaced together.
    """

    def __init__(self, whatif: TreesWhatIf, variables: Sequence[str]) -> None:
        super().__init__(whatif.sample, variables)
        self._whatif = whatif

    @cached_property
    def donors(self) -> Distinct:
        """Distinct donors; numbers between the same two thresholds predict alike and are one."""
        exact = distinct(self.sample.variables, self.variables)
        replaced = self._whatif.inputs.by_donor(self.variables, exact.frame)
        if replaced is None or any(self._whatif.categorical(int(c)) for c in replaced[0]):
            return exact
        columns, values = replaced
        trees, codes = self._whatif.trees, np.empty(values.shape, np.intp)
        for j, column in enumerate(columns):
            cuts = np.unique(trees.threshold[trees.column == column])
            codes[:, j] = np.searchsorted(cuts, values[:, j], side="left")
            codes[np.isnan(values[:, j]), j] = len(cuts) + 1
        return exact.merge(codes)

    @cached_property
    def _batches(self) -> FeatureWhatIf:
        return self._whatif.batched.of(self.variables)

    def most_pairs(self, loss: Loss) -> float:
        """No bound for squared error and one column, whose sums need no predictions."""
        if self._of_donors is None:
            return super().most_pairs(loss)
        if self._one_range(*self._of_donors) is None:
            return max(PREDICTIONS, ADDITIONS / len(self._whatif.trees.roots))
        return np.inf if self._sums_squares(loss) else PAIRS

    @property
    def most_draws(self) -> float:
        """Many for one column of numbers, for which `pairs` walks the trees."""
        walked = self._of_donors is not None and self._numbers(*self._of_donors)
        return PAIRS if walked else PREDICTIONS

    def cross(self, donors: pd.DataFrame | None = None) -> Iterator[Block]:
        """Predict every row with the variables of every donor, in blocks of rows."""
        replaced, whatif = self._by_donor(donors), self._whatif
        if replaced is None:
            yield from self._batches.cross(self._frame(donors))
            return
        size = GROUP * len(replaced[1]) * whatif.trees.leaves.shape[1]
        step = max(1, whatif.block_bytes // (8 * size)) * GROUP
        walk = self._by_ranges(*replaced) or self._by_parts(*replaced)
        for start in range(0, len(whatif.rows), step):
            go_on()
            part = slice(start, start + step)
            sums = walk(whatif.rows[part], whatif.bits[start // GROUP : (start + step) // GROUP])
            predictions = whatif.forest.finish(sums.transpose(2, 1, 0))
            check_finite(predictions, whatif.predictor.name)
            yield Block(whatif.order[part], predictions)

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``."""
        changed, whatif = self._by_pair(rows, index, donors), self._whatif
        if changed is None or not self._numbers(*changed):
            return self._batches.pairs(rows, index, self._frame(donors))
        columns, values = changed
        driven = int(columns[0]) if len(columns) else -1
        (b, k), outputs = index.shape, whatif.trees.leaves.shape[1]
        sums = np.empty((b, k, outputs))
        group = min(GROUP, max(1, whatif.block_bytes // (8 * k * outputs)))
        in_order = np.argsort(whatif.place[rows], kind="stable")
        for start in range(0, b, group):
            some = in_order[start : start + group]
            increasing = np.argsort(values[some], axis=1, kind="stable")
            ordered = np.take_along_axis(values[some], increasing, axis=1)
            targets, block = whatif.inputs.rows[rows[some]], np.empty((len(some), k, outputs))
            add_up_pairs(whatif.trees, whatif.splits, targets, driven, ordered, block)
            sums[some[:, None], increasing] = block
        predictions = whatif.forest.finish(sums)
        check_finite(predictions, whatif.predictor.name)
        return predictions

    def summed_losses(self, y: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return losses summed over donors, and over rows."""
        whatif = self._whatif
        ranges = None if self._of_donors is None else self._one_range(*self._of_donors)
        if ranges is None:
            return super().summed_losses(y, loss)
        if not self._sums_squares(loss):
            sums = sums_of_classes(whatif, ranges, self.donors.counts, y, loss)
            return super().summed_losses(y, loss) if sums is None else sums
        increasing, driven, position = ranges
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(increasing))
        in_order, counts = np.empty(len(y)), self.donors.counts[increasing].astype(np.float64)
        responses = y[whatif.order]
        groups = min(MOST_GROUPS, max(1, MOST_PAIRS // (GROUP * len(counts))))
        for start in range(0, len(y), groups * GROUP):
            go_on()
            part = slice(start, start + groups * GROUP)
            bits = whatif.bits[start // GROUP : start // GROUP + groups]
            squared_pairs(
                whatif.trees, whatif.splits, bits, whatif.rows[part], driven, position,
                responses[part], float(whatif.forest.base[0]), whatif.forest.scale,
                counts, in_order[part], over_rows,
            )  # fmt: skip
        over_donors[whatif.order] = in_order
        return over_donors, over_rows[np.argsort(increasing)]

    def _by_ranges(self, columns: IntArray, values: FloatArray) -> Walk | None:
        """Return the walk for donors of one column of numbers; None for others."""
        ranges = self._one_range(columns, values)
        if ranges is None:
            return None
        increasing, driven, position = ranges
        in_order = bool((np.diff(increasing) > 0).all())
        trees, splits = self._whatif.trees, self._whatif.splits

        def walk(rows: FloatArray, bits: np.ndarray) -> FloatArray:
            sums = np.empty((trees.leaves.shape[1], len(values), len(rows)))
            cross_ranges(trees, splits, bits, rows, driven, position, sums)
            return sums if in_order else sums[:, np.argsort(increasing)]

        return walk

    def _by_parts(self, columns: IntArray, values: FloatArray) -> Walk:
        """Return the walk for donors of any columns."""
        trees, splits = self._whatif.trees, self._whatif.splits

        def walk(rows: FloatArray, bits: np.ndarray) -> FloatArray:
            place = np.full(rows.shape[1], -1)
            place[columns] = np.arange(len(columns))
            sums = np.zeros((trees.leaves.shape[1], len(values), len(rows)), np.int64)
            cross_parts(trees, splits, bits, rows, place, values, sums)
            return np.asarray(sums * trees.unit, dtype=np.float64)

        return walk

    def _by_pair(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None
    ) -> ColumnValues | None:
        """Return the column in which rows change with donors, if any, and its values.

        None if there are several, or if they can't be told apart.
        """
        frame, inputs = self._frame(donors), self._whatif.inputs
        if not inputs.prefers_donors(len(frame), index.size):
            return inputs.by_pair(rows, self.variables, frame, index)
        replaced = self._by_donor(donors)
        if replaced is None or len(replaced[0]) > 1:
            return None
        columns, values = replaced
        return columns, values[index, 0] if len(columns) else np.zeros(index.shape)

    def _sums_squares(self, loss: Loss) -> bool:
        return loss == LOSSES["squared"] and self._whatif.forest.linear

    @cached_property
    def _of_donors(self) -> ColumnValues | None:
        """The columns that the feature determines, and values by donor; None if rows matter."""
        return self._whatif.inputs.by_donor(self.variables, self.donors.frame)

    def _by_donor(self, donors: pd.DataFrame | None) -> ColumnValues | None:
        if donors is None:
            return self._of_donors
        return self._whatif.inputs.by_donor(self.variables, self._frame(donors))

    def _one_range(
        self, columns: IntArray, values: FloatArray
    ) -> tuple[IntArray, int, np.ndarray] | None:
        """Return donors in increasing order, their column, and how many go left at its nodes.

        None unless donors replace one column of numbers, none missing, or no column.
        """
        if not self._numbers(columns, values):
            return None
        if len(columns) == 0:
            return np.arange(len(values)), -1, NOWHERE
        column, trees = int(columns[0]), self._whatif.trees
        increasing = np.argsort(values[:, 0], kind="stable")
        position = np.zeros(len(trees.column), np.int32)
        nodes = np.flatnonzero(trees.column == column)
        thresholds = trees.threshold[nodes]
        position[nodes] = np.searchsorted(values[increasing, 0], thresholds, side="right")
        return increasing, column, position

    def _numbers(self, columns: IntArray, values: FloatArray) -> bool:
        """Whether donors replace one column of numbers, none missing, or no column."""
        if len(columns) > 1 or any(self._whatif.categorical(int(c)) for c in columns):
            return False
        return len(columns) == 0 or not np.isnan(values).any()
