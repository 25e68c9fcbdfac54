"""Exact what-if predictions of tree ensembles: one walk for 64 rows and all donors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.parallel import go_on
from pyinterp.samplers import Distinct
from pyinterp.whatif.class_losses import sums_of_classes
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.inputs import Before, Inputs, in_turn
from pyinterp.whatif.links import first
from pyinterp.whatif.read_forest import read_forest
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
from pyinterp.whatif.whatif import NO_COLUMNS, NO_VALUES, PAIRS, PREDICTIONS, SINGLE, ExactWhatIf

# The bits of rows and splits are kept for the next feature up to this size.
BITS_BYTES = 2**24
# Additions of leaf values that are worth an exact mean. Donors of one column are added by ranges;
# donors of several columns cost one addition per row, donor and tree.
ADDITIONS = 1e9
# Of one walk, which ends before Ctrl-C is heard: groups of rows, and pairs of a row and a donor.
MOST_GROUPS, MOST_PAIRS = 16, 2**26


class TreesWhatIf(ExactWhatIf):
    """What-if predictions of a tree ensemble.

    For one row, a tree's prediction is a step function of the replaced columns. A walk that
    branches only where they split yields it for every donor.
    """

    name = "trees"
    # A block's predictions should stay in the processor's cache until a loss has used them.
    block_bytes = 2**20
    model: Forest

    read = staticmethod(read_forest)

    def encode(self, before: Before | None) -> Inputs:
        """Return the rows as the trees compare them."""
        inputs = super().encode(in_turn(before, self.model.before))
        return replace(inputs, levels=self.model.levels, cast=self.model.cast)

    @property
    def tolerance(self) -> float:
        """The largest deviation from the model's own predictions, in units of their spread."""
        return SINGLE if self.model.single_sums else super().tolerance

    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns."""
        copies = np.repeat(rows, len(values), axis=0)
        copies[:, columns] = np.tile(values, (len(rows), 1))
        sums = np.zeros((len(self.model.base), len(copies)), np.int64)
        add_up(self.trees, copies, sums)
        predictions = self.model.finish(np.asarray(sums.T * self.trees.unit))
        return predictions.reshape(len(rows), len(values), *predictions.shape[1:])

    def compute(self, whatif: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return predictions of the engine's rows, then of what-if rows, and their rounding.

        Rounding is 0: leaf values are whole multiples of a small unit, which add up exactly.
        """
        parts = [predictions[:, 0] for _, predictions in self.blocks(NO_COLUMNS, NO_VALUES)]
        others = self.table(whatif, NO_COLUMNS, NO_VALUES)[:, 0]
        predictions = np.concatenate([np.concatenate(parts)[self.place], others])
        return predictions, np.zeros_like(predictions)

    def donors(self, variables: Sequence[str]) -> Distinct:
        """Return distinct donors; numbers between the same two thresholds are one."""
        exact = super().donors(variables)
        replaced = self.columns_of(variables, exact)
        if replaced is None or any(map(self._is_categorical, replaced[0])):
            return exact
        columns, values = replaced
        trees, codes = self.trees, np.empty(values.shape, np.intp)
        for j, column in enumerate(columns):
            cuts = np.unique(trees.threshold[trees.column == column])
            codes[:, j] = np.searchsorted(cuts, values[:, j], side="left")
            codes[np.isnan(values[:, j]), j] = len(cuts) + 1
        return exact.merge(codes)

    def blocks(
        self, columns: IntArray, values: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield positions of rows, and their predictions with the values of every donor."""
        trees, splits, outputs = self.trees, self.splits, len(self.model.base)
        place = np.full(self.rows.shape[1], -1)
        place[columns] = np.arange(len(columns))
        numbers = self._are_numbers(columns, values)
        if numbers:
            increasing, driven, position = self._ranges(columns, values)
            back = np.argsort(increasing)
        bound = min(self.block_bytes, int(self.memory_mb * 2**20))
        step = max(1, bound // (8 * GROUP * len(values) * outputs)) * GROUP
        for start in range(0, len(self.rows), step):
            go_on()
            part = slice(start, start + step)
            rows, bits = self.rows[part], self.bits[start // GROUP : (start + step) // GROUP]
            if numbers:
                sums = np.empty((outputs, len(values), len(rows)))
                cross_ranges(trees, splits, bits, rows, driven, position, sums)
                sums = sums[:, back]
            else:
                units = np.zeros((outputs, len(values), len(rows)), np.int64)
                cross_parts(trees, splits, bits, rows, place, values, units)
                sums = np.asarray(units * trees.unit)
            yield self.order[part], self.model.finish(sums.transpose(2, 1, 0))

    def pairs(self, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray | None:
        """Predict rows each with numbers of its own for one column, shape (b, k, 1); else None."""
        if not self._are_numbers(columns, values):
            return None
        driven = int(columns[0]) if len(columns) else -1
        (b, k), outputs = values.shape[:2], len(self.model.base)
        donors = values[..., 0] if len(columns) else np.zeros((b, k))
        sums = np.empty((b, k, outputs))
        bound = min(self.block_bytes, int(self.memory_mb * 2**20))
        group = min(GROUP, max(1, bound // (8 * k * outputs)))
        in_order = np.argsort(self.place[rows], kind="stable")
        for start in range(0, b, group):
            some = in_order[start : start + group]
            increasing = np.argsort(donors[some], axis=1, kind="stable")
            ordered = np.take_along_axis(donors[some], increasing, axis=1)
            targets, block = self.inputs.rows[rows[some]], np.empty((len(some), k, outputs))
            add_up_pairs(self.trees, self.splits, targets, driven, ordered, block)
            sums[some[:, None], increasing] = block
        return self.model.finish(sums)

    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""
        if not self._are_numbers(columns, values):
            return max(PREDICTIONS, ADDITIONS / len(self.trees.roots))
        return np.inf if loss == LOSSES["squared"] and self.model.link is first else PAIRS

    def most_draws(self, columns: IntArray, values: FloatArray) -> float:
        """Many for one column of numbers, for which `pairs` walks the trees."""
        return PAIRS if self._are_numbers(columns, values) else PREDICTIONS

    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Sum losses over donors and over rows; None unless walks find them."""
        order = self.predictor.order
        if not self._are_numbers(columns, values) or not (order is None or order.same):
            return None
        increasing, driven, position = self._ranges(columns, values)
        if loss != LOSSES["squared"] or self.model.link is not first:
            return sums_of_classes(self, (increasing, driven, position), counts, y, loss)
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(increasing))
        in_order, times = np.empty(len(y)), counts[increasing].astype(np.float64)
        responses, base = y[self.order], float(self.model.base[0])
        groups = min(MOST_GROUPS, max(1, MOST_PAIRS // (GROUP * len(times))))
        for start in range(0, len(y), groups * GROUP):
            go_on()
            part = slice(start, start + groups * GROUP)
            bits = self.bits[start // GROUP : start // GROUP + groups]
            squared_pairs(
                self.trees, self.splits, bits, self.rows[part], driven, position,
                responses[part], base, self.model.scale, times, in_order[part], over_rows,
            )  # fmt: skip
        over_donors[self.order] = in_order
        return over_donors, over_rows[np.argsort(increasing)]

    def _are_numbers(self, columns: IntArray, values: FloatArray) -> bool:
        """Whether donors replace one column of numbers, none missing, or no column."""
        if len(columns) > 1 or any(map(self._is_categorical, columns)):
            return False
        return not np.isnan(values).any()

    def _is_categorical(self, column: np.intp) -> bool:
        """Whether the trees split a column by categories."""
        return bool(self.splits.categorical[column] < self.splits.first[column + 1])

    def _ranges(
        self, columns: IntArray, values: FloatArray
    ) -> tuple[IntArray, int, npt.NDArray[np.int32]]:
        """Return numbers in increasing order, their column, and how many go left at its nodes."""
        if len(columns) == 0:
            return np.arange(len(values)), -1, np.zeros(0, np.int32)
        column, trees = int(columns[0]), self.trees
        increasing = np.argsort(values[:, 0], kind="stable")
        position = np.zeros(len(trees.column), np.int32)
        nodes = np.flatnonzero(trees.column == column)
        thresholds = trees.threshold[nodes]
        position[nodes] = np.searchsorted(values[increasing, 0], thresholds, side="right")
        return increasing, column, position

    @property
    def trees(self) -> Trees:
        """The trees as arrays for walks."""
        return self.model.trees

    @cached_property
    def splits(self) -> Splits:
        """The splits that part the rows differently."""
        return self.model.splits(self.inputs.rows)

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
        """An order of rows in which rows of the same leaf of the first tree are together."""
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
