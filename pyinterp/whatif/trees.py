"""Exact what-if predictions of tree ensembles: one walk for 64 rows and all donors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.prediction_checks import check_finite
from pyinterp.models.predictor import Predictor
from pyinterp.parallel import go_on
from pyinterp.samplers import Distinct
from pyinterp.whatif.batched import BatchedWhatIf
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.inputs import Inputs
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
from pyinterp.whatif.whatif import PAIRS, Block, Engine

__all__ = ["TreesWhatIf"]

# A block's predictions should stay in the processor's cache until a loss has used them.
BLOCK_BYTES = 2**20
# Answers to splits are kept for the next question up to this size.
BITS_BYTES = 2**24
NOWHERE = np.zeros(0, np.int32)
# Additions of leaf values that are worth an exact mean. Donors of one column are added by ranges;
# those of several columns cost one addition per row, donor and tree.
ADDITIONS = 1e9
# Of one walk, which ends before Ctrl-C is heard: groups of rows, and pairs of a row and a donor.
MOST_GROUPS, MOST_PAIRS = 16, 2**26


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
    inputs : Inputs
        The rows as the trees compare them.
    """

    def __init__(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        *,
        forest: Forest,
        inputs: Inputs,
        memory_mb: float = 256.0,
        factual: FloatArray | None = None,
    ) -> None:
        super().__init__(predictor, design, sample, memory_mb=memory_mb, factual=factual)
        self.engine = Engine("trees, exact")
        self._forest, self._inputs = forest, inputs
        self._bytes = min(BLOCK_BYTES, int(memory_mb * 2**20))

    def take(self, rows: IntArray) -> TreesWhatIf:
        """Return what-if predictions of the same model on some of the rows."""
        sample = self.sample.take(rows)
        return TreesWhatIf(
            self.predictor, self.design, sample, forest=self._forest,
            inputs=self._inputs.on(sample), memory_mb=self._memory_mb,
            factual=self.factual[rows],
        )  # fmt: skip

    def most_pairs(self, variables: Sequence[str], donors: Distinct, loss: Loss) -> float:
        """No bound for squared error and one column, whose sums need no predictions."""
        fallback = super().most_pairs(variables, donors, loss)
        replaced = self._inputs.replaced(variables, donors.values)
        if replaced is None:
            return fallback
        if self._one_range(*replaced) is None:
            return max(fallback, ADDITIONS / len(self._trees.roots))
        return np.inf if self._sums_squares(loss) else PAIRS

    def most_draws(self, variables: Sequence[str]) -> float:
        """Many for one column of numbers, which `paired` walks."""
        own = self.sample.variables[list(variables)]
        replaced = self._inputs.replaced(variables, own)
        walked = replaced is not None and self._numbers(*replaced)
        return PAIRS if walked else super().most_draws(variables)

    def computed(self, whatif: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return the engine's predictions of its rows, then of others, and their rounding.

        Leaf values are added up without any: whole numbers of a small unit.
        """
        outputs = self._trees.leaves.shape[1]
        out = np.empty((outputs, 1, len(self._rows)))
        cross_ranges(self._trees, self._splits, self._bits, self._rows, -1, NOWHERE, out)
        rows = self._inputs.of(whatif)
        sums = np.zeros((outputs, len(rows)), np.int64)
        add_up(self._trees, rows, sums)
        own, others = out[:, 0].T[self._place], np.asarray(sums.T * self._trees.unit)
        predictions = self._forest.finish(np.concatenate([own, others]))
        return predictions, np.zeros_like(predictions)

    def distinct(self, variables: Sequence[str]) -> Distinct:
        """Return donors; numbers between the same two thresholds predict alike and are one."""
        exact = super().distinct(variables)
        replaced = self._inputs.replaced(variables, exact.values)
        if replaced is None or any(self._categorical(int(c)) for c in replaced[0]):
            return exact
        columns, values = replaced
        codes = np.empty(values.shape, np.intp)
        for j, column in enumerate(columns):
            cuts = np.unique(self._trees.threshold[self._trees.column == column])
            codes[:, j] = np.searchsorted(cuts, values[:, j], side="left")
            codes[np.isnan(values[:, j]), j] = len(cuts) + 1
        return exact.merged(codes)

    def cross(self, variables: Sequence[str], donors: pd.DataFrame) -> Iterator[Block]:
        """Predict every row with the `variables` of every donor, in blocks of rows."""
        replaced = self._inputs.replaced(variables, donors)
        if replaced is None:
            yield from super().cross(variables, donors)
            return
        columns, values = replaced
        outputs = self._trees.leaves.shape[1]
        step = max(1, self._bytes // (8 * GROUP * len(donors) * outputs)) * GROUP
        ranges = self._one_range(columns, values)
        for start in range(0, len(self._rows), step):
            go_on()
            rows = self._rows[start : start + step]
            bits = self._bits[start // GROUP : (start + step) // GROUP]
            if ranges is None:
                place = np.full(rows.shape[1], -1)
                place[columns] = np.arange(len(columns))
                whole = np.zeros((outputs, len(donors), len(rows)), np.int64)
                cross_parts(self._trees, self._splits, bits, rows, place, values, whole)
                sums = np.asarray(whole * self._trees.unit, dtype=np.float64)
            else:
                sums = np.empty((outputs, len(donors), len(rows)))
                increasing, driven, position = ranges
                cross_ranges(self._trees, self._splits, bits, rows, driven, position, sums)
                if not (np.diff(increasing) > 0).all():
                    sums = sums[:, np.argsort(increasing)]
            predictions = self._forest.finish(sums.transpose(2, 1, 0))
            check_finite(predictions, self.predictor.name)
            yield Block(self._order[start : start + step], predictions)

    def paired(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the `variables` of donors ``index[a]``."""
        found = self._inputs.paired(rows, variables, donors, index)
        if found is None or not self._numbers(*found):
            return super().paired(rows, variables, donors, index)
        columns, given = found
        driven = int(columns[0]) if len(columns) else -1
        (b, k), outputs = index.shape, self._trees.leaves.shape[1]
        sums = np.empty((b, k, outputs))
        group = min(GROUP, max(1, self._bytes // (8 * k * outputs)))
        in_order = np.argsort(self._place[rows], kind="stable")
        for start in range(0, b, group):
            some = in_order[start : start + group]
            values, block = given[some], np.empty((len(some), k, outputs))
            kept = self._inputs.rows[rows[some]]
            if (values[:, 1:] >= values[:, :-1]).all():
                add_up_pairs(self._trees, self._splits, kept, driven, values, block)
                sums[some] = block
                continue
            increasing = np.argsort(values, axis=1)
            values = np.take_along_axis(values, increasing, axis=1)
            add_up_pairs(self._trees, self._splits, kept, driven, values, block)
            sums[some[:, None], increasing] = block
        predictions = self._forest.finish(sums)
        check_finite(predictions, self.predictor.name)
        return predictions

    def summed_losses(
        self, variables: Sequence[str], donors: Distinct, y: FloatArray, loss: Loss
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses summed over donors, and over rows."""
        replaced = self._inputs.replaced(variables, donors.values)
        ranges = None if replaced is None else self._one_range(*replaced)
        if ranges is None or not self._sums_squares(loss):
            return super().summed_losses(variables, donors, y, loss)
        increasing, driven, position = ranges
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(increasing))
        in_order = np.empty(len(y))
        responses, counts = y[self._order], donors.counts[increasing].astype(np.float64)
        groups = min(MOST_GROUPS, max(1, MOST_PAIRS // (GROUP * len(counts))))
        for start in range(0, len(y), groups * GROUP):
            go_on()
            part = slice(start, start + groups * GROUP)
            bits = self._bits[start // GROUP : start // GROUP + groups]
            squared_pairs(
                self._trees, self._splits, bits, self._rows[part], driven, position,
                responses[part], float(self._forest.base[0]), self._forest.scale,
                counts, in_order[part], over_rows,
            )  # fmt: skip
        over_donors[self._order] = in_order
        return over_donors, over_rows[np.argsort(increasing)]

    def _sums_squares(self, loss: Loss) -> bool:
        return loss is LOSSES["squared"] and self._forest.linear

    def _one_range(
        self, columns: IntArray, values: FloatArray
    ) -> tuple[IntArray, int, np.ndarray] | None:
        """Return donors in increasing order, their column, and how many go left at its nodes.

        None unless donors replace one column of numbers, none missing, or none at all.
        """
        if not self._numbers(columns, values):
            return None
        if len(columns) == 0:
            return np.arange(len(values)), -1, NOWHERE
        column = int(columns[0])
        increasing = np.argsort(values[:, 0], kind="stable")
        position = np.zeros(len(self._trees.column), np.int32)
        nodes = np.flatnonzero(self._trees.column == column)
        thresholds = self._trees.threshold[nodes]
        position[nodes] = np.searchsorted(values[increasing, 0], thresholds, side="right")
        return increasing, column, position

    def _numbers(self, columns: IntArray, values: FloatArray) -> bool:
        """Whether columns are one of numbers, none missing, or none at all."""
        if len(columns) > 1 or any(self._categorical(int(c)) for c in columns):
            return False
        return len(columns) == 0 or not np.isnan(values).any()

    def _categorical(self, column: int) -> bool:
        return bool(self._splits.categorical[column] < self._splits.first[column + 1])

    @cached_property
    def _trees(self) -> Trees:
        return self._forest.trees

    @cached_property
    def _splits(self) -> Splits:
        return self._forest.splits(self._inputs.rows)

    @cached_property
    def _bits(self) -> np.ndarray:
        """Which rows every split sends to the left; empty if that is too much to keep."""
        groups, splits = -(-len(self._rows) // GROUP), len(self._splits.threshold)
        if 8 * groups * splits > BITS_BYTES:
            groups = 0
        bits = np.empty((groups, splits), np.uint64)
        left_bits(self._splits, self._trees.left_categories, self._rows, bits)
        return bits

    @cached_property
    def _order(self) -> IntArray:
        """An order of rows in which those that part late follow each other."""
        leaf = np.empty(len(self._inputs.rows), np.int64)
        first_leaves(self._trees, self._inputs.rows, leaf)
        return np.argsort(leaf, kind="stable")

    @cached_property
    def _place(self) -> IntArray:
        """The place of every row in that order."""
        return np.argsort(self._order)

    @cached_property
    def _rows(self) -> FloatArray:
        return np.ascontiguousarray(self._inputs.rows[self._order])
