"""Exact what-if predictions of tree ensembles: one walk for 64 rows and all donors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from pyinterp._typing import BoolArray, FloatArray, IntArray, TwoArrays
from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import EPSILON, LOSSES, Loss
from pyinterp.models.links import identity, logistic, only_sum
from pyinterp.parallel import outcomes, stop_if_over
from pyinterp.samplers import Distinct
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.read_forest import read_forest
from pyinterp.whatif.walks.bits import GROUP, LEAF, Trees, TreeSplits, add_up, group_bits
from pyinterp.whatif.walks.cross import (
    BOTH_ENTROPIES,
    ENTROPY,
    LOG,
    SQUARE,
    cross_pairs,
    summed_pairs,
    sums_by_column,
)
from pyinterp.whatif.walks.donors_per_row import add_up_pairs
from pyinterp.whatif.whatif import NO_COLUMNS, NO_VALUES, PAIRS, PREDICTIONS, ExactWhatIf

# The bits of rows and splits are kept for the next feature up to this size.
BITS_BYTES = 2**24
# Additions of leaf values that are worth an exact mean. Donors of one column are added by ranges;
# donors of several columns cost one addition per row, donor and tree.
ADDITIONS = 1e9
# Of one walk, which ends before Ctrl-C is heard: groups of rows, and pairs of a row and a donor.
MOST_GROUPS, MOST_PAIRS = 16, 2**26
# The share of columns that trees split on, up to which those that do not are added up apart.
MOST_USES = 0.8


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

    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns."""
        copies = np.repeat(rows, len(values), axis=0)
        copies[:, columns] = np.tile(values, (len(rows), 1))
        sums = np.zeros((len(self.model.base), len(copies)), np.int64)
        add_up(self.trees, copies, sums)
        predictions = self.model.finish(np.asarray(sums.T * self.trees.unit))
        return predictions.reshape(len(rows), len(values), *predictions.shape[1:])

    def predictions_with_rounding(self, whatif: FloatArray) -> TwoArrays:
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
        trees, outputs = self.trees, len(self.model.base)
        increasing, steps = self._steps(columns, values)
        back = np.argsort(increasing)
        if self._are_numbers(columns, values):
            values = values[:, :0]  # steps say how many donors go to the left
        bound = min(self.block_bytes, int(self.memory_mb * 2**20))
        step = min(MOST_GROUPS, max(1, bound // (8 * GROUP * len(values) * outputs))) * GROUP
        for start in range(0, len(self.rows), step):
            stop_if_over()
            some = slice(start, start + step)
            units = np.zeros((outputs, len(values), len(self.rows[some])), np.int64)
            cross_pairs(trees, steps, self._bits(some), values, units)
            sums = np.asarray(units[:, back] * trees.unit)
            yield self.order[some], self.model.finish(sums.transpose(2, 1, 0))

    def pairs(self, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray | None:
        """Predict b rows, each with k numbers of its own for one column; None if not of numbers.

        `values` has shape (b, k, 1). Rows are walked in the order of their leaves, and the numbers
        of a row in increasing order; both are put back.
        """
        if not self._are_numbers(columns, values):
            return None
        _, steps = self._steps(columns, np.empty((0, len(columns))))
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
            add_up_pairs(self.trees, self.splits, steps, targets, ordered, block)
            sums[some[:, None], increasing] = block
        return self.model.finish(sums)

    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""
        if not self._are_numbers(columns, values):
            return max(PREDICTIONS, ADDITIONS / len(self.trees.roots))
        return np.inf if loss == LOSSES["squared"] and self.model.link is only_sum else PAIRS

    def most_draws(self, columns: IntArray, values: FloatArray) -> float:
        """Many for one column of numbers, for which `pairs` walks the trees."""
        return PAIRS if self._are_numbers(columns, values) else PREDICTIONS

    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> TwoArrays | None:
        """Sum losses over donors and over rows; None unless walks find them."""
        model = self.model
        if not self._are_numbers(columns, values) or self.predictor.order:
            return None
        parts = list(_parts(model, y[self.order], loss))
        if not parts:
            return None
        increasing, steps = self._steps(columns, values)
        over_donors, over_rows = np.zeros(len(y)), np.zeros(len(increasing))
        times = counts[increasing].astype(np.float64)
        length = min(MOST_GROUPS, max(1, MOST_PAIRS // (GROUP * len(times)))) * GROUP
        trees, apart = self._split_on(columns)

        def add_up_rows(some: slice) -> FloatArray:
            sums = np.zeros(len(times))
            for outputs, responses, kind in parts:
                stop_if_over()
                rest = np.zeros(len(outputs[some]), np.int64)
                if apart:
                    by_column = self._sums_by_column(outputs, some)
                    rest = by_column[-1] - by_column[columns[0]]
                summed_pairs(
                    trees, steps, self._bits(some), outputs[some], responses[some],
                    kind, model.link is logistic, model.base, model.scale, EPSILON, times,
                    rest, over_donors[some], sums,
                )  # fmt: skip
            return sums

        starts = range(0, len(y), length)
        jobs = [partial(add_up_rows, slice(start, start + length)) for start in starts]
        for sums in self._sums(jobs):  # in the order of the rows, whatever the number of threads
            over_rows += sums
        return over_donors[self.place], over_rows[np.argsort(increasing)]

    @cached_property
    def _uses(self) -> BoolArray:
        """Whether every tree splits on every column; the last stands for all trees."""
        roots, nodes = self.trees.roots, np.flatnonzero(self.trees.column >= 0)
        uses = np.zeros((len(roots), self.rows.shape[1] + 1), bool)
        uses[np.searchsorted(roots, nodes, "right") - 1, self.trees.column[nodes]] = True
        uses[:, -1] = True
        return uses

    def _split_on(self, columns: IntArray) -> tuple[Trees, bool]:
        """Return the trees that split on a column, and whether the others are added up apart."""
        size = 8 * self._uses.shape[1] * len(self.rows) * len(self.model.base)
        few = self._uses[:, :-1].mean() <= MOST_USES and size <= self.memory_mb * 2**20
        if not few or not len(columns):
            return self.trees, False
        return self.trees._replace(roots=self.trees.roots[self._uses[:, columns[0]]]), True

    def _sums_by_column(self, outputs: IntArray, some: slice) -> npt.NDArray[np.int64]:
        """Return sums of leaves of the trees that split on each column, shape (columns + 1, rows).

        The last row is the sum of all trees. Sums are whole multiples of the trees' unit, and are
        kept for every block of rows with the outputs of its rows.
        """
        key = some.start, outputs[some].tobytes()
        if key not in self._by_column:
            sums = np.zeros((self._uses.shape[1], len(outputs[some])), np.int64)
            sums_by_column(
                self.trees, self.splits.of, self._bits(some), outputs[some], self._uses, sums
            )
            self._by_column[key] = sums
        return self._by_column[key]

    @cached_property
    def _by_column(self) -> dict[tuple[int, bytes], npt.NDArray[np.int64]]:
        """What `_sums_by_column` made, by the first row and the rows' outputs."""
        return {}

    def _sums(self, jobs: Sequence[Callable[[], FloatArray]]) -> Iterator[FloatArray]:
        """Yield the outcomes of jobs, done by as many threads as the model predicts with."""
        threads = getattr(self.predictor.estimator, "n_jobs", None)
        threads = -1 if threads == 0 else threads  # all, to XGBoost and LightGBM
        if threads in (None, 1) or len(jobs) == 1:
            yield from (job() for job in jobs)
            return
        label = self.predictor.name
        with outcomes(
            jobs, len(jobs), n_jobs=threads, label=label, progress=False, in_memory=True
        ) as done:
            yield from done

    def _are_numbers(self, columns: IntArray, values: FloatArray) -> bool:
        """Whether donors replace one column of numbers, none missing, or no column."""
        if len(columns) > 1 or any(map(self._is_categorical, columns)):
            return False
        return not np.isnan(values).any()

    def _is_categorical(self, column: np.intp) -> bool:
        """Whether the trees split a column by categories."""
        return bool(self.splits.categorical[column] < self.splits.first[column + 1])

    def _steps(
        self, columns: IntArray, values: FloatArray
    ) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Return an order of donors, increasing if they are numbers, and the steps of walks."""
        trees, steps = self.trees, self.splits.of.copy()
        increasing, numbers = np.arange(len(values)), self._are_numbers(columns, values)
        for v, column in enumerate(columns):
            nodes = np.flatnonzero(trees.column == column)
            steps[nodes] = LEAF - 1 - v
            if numbers:
                increasing = np.argsort(values[:, 0], kind="stable")
                ordered, thresholds = values[increasing, 0], trees.threshold[nodes]
                steps[nodes] -= np.searchsorted(ordered, thresholds, side="right")
        return increasing, steps

    @property
    def trees(self) -> Trees:
        """The trees as arrays for walks."""
        return self.model.trees

    @cached_property
    def splits(self) -> TreeSplits:
        """The splits that part the rows differently."""
        return self.model.splits(self.inputs.rows)

    @cached_property
    def bits(self) -> npt.NDArray[np.uint64] | None:
        """Which rows every split sends to the left, for all features; None if it were large."""
        large = 8 * len(self.rows) * len(self.splits.threshold) > GROUP * BITS_BYTES
        return None if large else self._bits_of(self.rows)

    def _bits(self, some: slice) -> npt.NDArray[np.uint64]:
        """Return `bits` of a block of rows, made anew if all are too many to be kept."""
        if self.bits is None:
            return self._bits_of(self.rows[some])
        return self.bits[some.start // GROUP : some.stop // GROUP]

    def _bits_of(self, rows: FloatArray) -> npt.NDArray[np.uint64]:
        """Return which rows every split sends to the left, as words of 64 rows: (words, splits)."""
        bits = np.empty((-(-len(rows) // GROUP), len(self.splits.threshold)), np.uint64)
        for group, word in enumerate(bits):
            some = rows[group * GROUP : (group + 1) * GROUP]
            group_bits(self.splits, self.trees.left_categories, some, word)
        return bits

    @cached_property
    def order(self) -> IntArray:
        """An order of rows in which rows of the same leaf of the first tree are together."""
        numbers = np.arange(len(self.trees.leaves))[:, None]
        first_tree = self.trees._replace(roots=self.trees.roots[:1], leaves=numbers)
        leaf = np.zeros((1, len(self.inputs.rows)), np.int64)
        add_up(first_tree, self.inputs.rows, leaf)
        return np.argsort(leaf[0], kind="stable")

    @cached_property
    def place(self) -> IntArray:
        """The place of every row in that order."""
        return np.argsort(self.order)

    @cached_property
    def rows(self) -> FloatArray:
        """The rows in that order."""
        return np.ascontiguousarray(self.inputs.rows[self.order])


def _parts(
    forest: Forest, y: FloatArray, loss: Loss
) -> Iterator[tuple[npt.NDArray[np.int64], FloatArray, int]]:
    """Yield the parts of a loss, which is their sum: each row's output and response, and the kind.

    Each depends on the mean, or on the probability of one class only. None of other losses.
    """
    outputs, k = np.zeros(len(y), np.int64), len(forest.base)
    if loss == LOSSES["squared"] and forest.link is only_sum:
        yield outputs, y, SQUARE
    elif forest.link not in (identity, logistic):
        return
    elif loss == LOSSES["log"] and forest.link is identity:
        yield y.astype(np.int64), np.ones(len(y)), LOG
    elif loss == LOSSES["log"]:
        yield outputs, y, LOG
    elif loss in (LOSSES["brier"], CLASS_ENTROPY):
        kind = SQUARE if loss == LOSSES["brier"] else ENTROPY if k > 2 else BOTH_ENTROPIES
        if k <= 2:
            yield outputs + (k - 1), y, kind
            return
        for c in range(k):
            yield outputs + c, (y == c).astype(np.float64), kind
