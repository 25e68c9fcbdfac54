"""Walks for rows each with other donors for one numerical column."""

import numpy as np

from pyinterp.parallel.loops import Loop
from pyinterp.whatif.walks.bits import LEAF, NONE, ONE, all_rows, group_bits, lowest


@Loop
def add_up_pairs(trees, splits, steps, rows, donors, out):  # pragma: no cover - compiled
    """Add up the trees for a group of rows, each with other donors for a numerical column.

    At splits on the column the rows that have a donor on a side go to that side: some go to both.
    A row meets its leaves in increasing order of donors, each from where the one before ended, so
    that only the end must be found among its donors. There a tree's part of the prediction
    changes; adding up changes along donors gives predictions.

    Parameters
    ----------
    steps : int32, (nodes,)
        The splits of nodes on kept columns, `LEAF` at leaves, less than that on the replaced one.
    rows : float64, (b, columns)
        At most 64 rows of the sample, in any order.
    donors : float64, (b, k)
        Increasing in every row, none missing.
    out : float64, (b, k, outputs)
        Result: sums over trees.
    """
    (b, k), outputs = donors.shape, out.shape[2]
    right, leaves, threshold = trees.right, trees.leaves, trees.threshold
    bits = np.empty(len(splits.threshold), np.uint64)
    group_bits(splits, trees.left_categories, rows, bits)
    least, most = donors[:, 0].copy(), donors[:, k - 1].copy()
    first, begun = _in_order(least)  # rows that have a donor up to some value
    last, over = _in_order(most)  # and those that have none beyond it
    node, word = np.empty(trees.stack, np.int64), np.empty(trees.stack, np.uint64)
    upper = np.empty(trees.stack)
    changes = np.zeros((b, k + 1, outputs), np.int64)
    reached, value = np.empty(b, np.int64), np.empty((b, outputs), np.int64)
    for root in trees.roots:
        node[0], word[0], upper[0], top = root, all_rows(b), np.inf, 1
        reached[:], value[:] = 0, 0
        while top > 0:
            top -= 1
            q, here, highest = node[top], word[top], upper[top]
            s = steps[q]
            while s != LEAF:
                if s < LEAF:
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
                    if s < LEAF:  # a split may lie beyond one above it
                        highest = min(highest, threshold[q])
                    q += 1
                s = steps[q]
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


@Loop
def _up_to(values, lo, hi, x):  # pragma: no cover - compiled
    """Return how many of increasing values are at most x, if between lo and hi of them are.

    In fewer steps than `np.searchsorted` would need for all values.
    """
    while lo < hi:
        middle = (lo + hi) >> 1
        if values[middle] <= x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@Loop
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
