"""Walks for all rows x all donors of several columns, of categories or of missing values."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import compiled_loop
from pyinterp.whatif.walks.bits import (
    GROUP,
    NONE,
    ONE,
    all_rows,
    bits_of,
    goes_left,
    lowest,
    stacks,
)

__all__ = ["cross_parts"]


@compiled_loop
def cross_parts(  # pragma: no cover - compiled
    trees, splits, answers, rows, place, values, out
):
    """Add up the trees for rows x donors of several columns, of categories or of missing values.

    The donors that reach a node are kept as a part of one array, which a split divides in place.

    Parameters
    ----------
    answers, rows
        As for `cross_ranges`.
    place : int64, (columns,)
        The column of `values` that replaces a column; -1 if it is kept.
    values : float64, (donors, replaced columns)
    out : int64, (outputs, donors, b), zero at the start
        Result: sums over trees, in multiples of the unit.
    """
    split, right, leaves = splits.of, trees.right, trees.leaves
    node, word, low, high = stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    order = np.arange(values.shape[0])
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        everyone = all_rows(group.shape[0])
        bits = bits_of(trees, splits, answers, start, group, scratch)
        for t in range(len(trees.roots)):
            node[0], word[0], low[0], high[0] = trees.roots[t], everyone, 0, len(order)
            top = 1
            while top > 0:
                top -= 1
                q, here, lo, hi = node[top], word[top], low[top], high[top]
                s = split[q]
                while s >= 0:
                    v = place[trees.column[q]]
                    if v >= 0:
                        p = _divide(trees, q, values, v, order, lo, hi)
                        if p == hi:
                            q += 1
                        elif p == lo:
                            q = right[q]
                        else:
                            node[top], word[top], low[top], high[top] = right[q], here, p, hi
                            top += 1
                            hi = p
                            q += 1
                    else:
                        left = here & bits[s]
                        rest = here & ~bits[s]
                        if left == NONE:
                            q = right[q]
                        elif rest == NONE:
                            q += 1
                        else:
                            node[top], word[top], low[top], high[top] = right[q], rest, lo, hi
                            top += 1
                            here = left
                            q += 1
                    s = split[q]
                for k in range(leaves.shape[1]):
                    value = leaves[right[q], k]
                    if value != 0:
                        for d in order[lo:hi]:
                            left = here
                            while left != NONE:
                                out[k, d, start + lowest(left)] += value
                                left &= left - ONE


@compiled_loop
def _divide(trees, q, values, v, order, lo, hi):  # pragma: no cover - compiled
    """Put the donors of a part that go to the left first; return where the others begin."""
    while lo < hi:
        d = order[lo]
        if goes_left(trees, q, values[d, v], trees.left_categories):
            lo += 1
        else:
            hi -= 1
            order[lo], order[hi] = order[hi], d
    return lo
