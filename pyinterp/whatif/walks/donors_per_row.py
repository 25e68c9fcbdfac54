"""Walks for rows each with donors of its own for one numerical column."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import compiled_loop
from pyinterp.whatif.walks.bits import NONE, ONE, all_rows, group_bits, lowest, stacks


@compiled_loop
def add_up_pairs(trees, splits, rows, driven, donors, out):  # pragma: no cover - compiled
    """Add up the trees for a group of rows, each with donors of its own for a numerical column.

    At splits on the column the rows that have a donor on a side go to that side: some go to both.
    A row meets its leaves in increasing order of donors, each from where the one before ended, so
    that only the end must be found among its donors. There a tree's part of the prediction
    changes; adding up changes along donors gives predictions.

    Parameters
    ----------
    rows : float64, (b, columns)
        At most 64 rows of the sample, in any order.
    driven : int
        The column; -1 for none.
    donors : float64, (b, k)
        Increasing in every row, none missing.
    out : float64, (b, k, outputs)
        Result: sums over trees.
    """
    (b, k), outputs = donors.shape, out.shape[2]
    split, right, leaves, threshold = splits.of, trees.right, trees.leaves, trees.threshold
    begin = splits.first[driven] if driven >= 0 else 0
    end = splits.first[driven + 1] if driven >= 0 else 0
    bits = np.empty(len(splits.threshold), np.uint64)
    group_bits(splits, trees.left_categories, rows, bits)
    least, most = donors[:, 0].copy(), donors[:, k - 1].copy()
    first, begun = _in_order(least)  # rows that have a donor up to some value
    last, over = _in_order(most)  # and those that have none beyond it
    (node, word, _, _), upper = stacks(trees), np.empty(trees.stack)
    changes = np.zeros((b, k + 1, outputs), np.int64)
    reached, value = np.empty(b, np.int64), np.empty((b, outputs), np.int64)
    for t in range(len(trees.roots)):
        node[0], word[0], upper[0], top = trees.roots[t], all_rows(b), np.inf, 1
        reached[:], value[:] = 0, 0
        while top > 0:
            top -= 1
            q, here, highest = node[top], word[top], upper[top]
            s = split[q]
            while s >= 0:
                if begin <= s < end:
                    left = here & begun[_up_to(first, 0, b, threshold[q])]
                    rest = here & ~over[_up_to(last, 0, b, threshold[q])]
                else:
                    left, rest = here & bits[s], here & ~bits[s]
                if left == NONE:
                    q = right[q]
                elif rest == NONE:
                    q += 1
                else:
                    node[top], word[top], upper[top] = right[q], rest, highest
                    top += 1
                    here = left
                    if begin <= s < end:  # a split may lie beyond one above it
                        highest = min(highest, threshold[q])
                    q += 1
                s = split[q]
            while here != NONE:
                i = lowest(here)
                here &= here - ONE
                p = reached[i]
                for o in range(outputs):
                    changes[i, p, o] += leaves[right[q], o] - value[i, o]
                    value[i, o] = leaves[right[q], o]
                if highest >= most[i]:
                    reached[i] = k
                elif highest >= least[i]:
                    reached[i] = _up_to(donors[i], p, k, highest)
    for i in range(b):
        value[i] = 0
        for d in range(k):
            for o in range(outputs):
                value[i, o] += changes[i, d, o]
                out[i, d, o] = value[i, o] * trees.unit


@compiled_loop
def _up_to(values, lo, hi, x):  # pragma: no cover - compiled
    """Return how many of increasing values are at most x, if between lo and hi of them are."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if values[middle] <= x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled_loop
def _in_order(x):  # pragma: no cover - compiled
    """Return the values of at most 64 rows in increasing order, and words of rows.

    Word p has the rows with the p lowest values.
    """
    order = np.argsort(x)
    words = np.empty(len(x) + 1, np.uint64)
    words[0] = NONE
    for p in range(len(x)):
        words[p + 1] = words[p] | (ONE << np.uint64(order[p]))
    return x[order], words
