"""Walks for all rows x all donors: numbers of one column that reach a node are a range."""

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


@compiled_loop
def _walk_ranges(  # pragma: no cover - compiled
    trees, splits, bits, everyone, driven, position, node, word, low, high, sums, touched
):
    """Add up the trees for a group of rows x increasing donors of one numerical column.

    Donors are in increasing order, so that a split on the column sends the first of them to the
    left: those that reach a node are always a range. Leaf values are added at the range's start
    and taken off at its end; who calls adds up along donors.

    Parameters
    ----------
    bits : uint64, (splits,)
        The rows that go to the left.
    everyone : uint64
        The rows of the group.
    driven : int
        The column; -1 for none.
    position : int32, (nodes,)
        For nodes that split on it, how many donors go to the left.
    node, word, low, high : arrays, (trees.stack,)
        Stacks.
    sums : int64, (outputs, donors + 1, 64)
        Added to.
    touched : bool, (donors + 1,)
        Set for donors at which some row's prediction changes.
    """
    split, right, leaves = splits.of, trees.right, trees.leaves
    begin = splits.first[driven] if driven >= 0 else 0
    end = splits.first[driven + 1] if driven >= 0 else 0
    for t in range(len(trees.roots)):
        node[0], word[0], low[0], high[0] = trees.roots[t], everyone, 0, sums.shape[1] - 1
        top = 1
        while top > 0:
            top -= 1
            q, rows, lo, hi = node[top], word[top], low[top], high[top]
            s = split[q]
            while s >= 0:
                if begin <= s < end:
                    p = position[q]
                    if hi <= p:
                        q += 1
                    elif lo >= p:
                        q = right[q]
                    else:
                        node[top], word[top], low[top], high[top] = right[q], rows, p, hi
                        top += 1
                        hi = p
                        q += 1
                else:
                    left = rows & bits[s]
                    rest = rows & ~bits[s]
                    if left == NONE:
                        q = right[q]
                    elif rest == NONE:
                        q += 1
                    else:
                        node[top], word[top], low[top], high[top] = right[q], rest, lo, hi
                        top += 1
                        rows = left
                        q += 1
                s = split[q]
            touched[lo] = touched[hi] = True
            for k in range(leaves.shape[1]):
                value = leaves[right[q], k]
                if value != 0:
                    enter, leave = sums[k, lo], sums[k, hi]
                    left = rows
                    while left != NONE:
                        i = lowest(left)
                        left &= left - ONE
                        enter[i] += value
                        leave[i] -= value


@compiled_loop
def cross_ranges(  # pragma: no cover - compiled
    trees, splits, answers, rows, driven, position, out
):
    """Add up the trees for rows x increasing donors of one numerical column.

    Parameters
    ----------
    answers : uint64, (groups, splits)
        The result of `left_bits` for these rows; computed here if it has no groups.
    rows : float64, (b, columns)
    driven, position
        As for `_walk_ranges`.
    out : float64, (outputs, donors, b)
        Result: sums over trees.
    """
    node, word, low, high = stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    sums = np.zeros((out.shape[0], out.shape[1] + 1, GROUP), np.int64)
    touched = np.zeros(out.shape[1] + 1, np.bool_)
    running = np.empty(GROUP, np.int64)
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        b = group.shape[0]
        bits = bits_of(trees, splits, answers, start, group, scratch)
        _walk_ranges(
            trees, splits, bits, all_rows(b), driven, position, node, word, low, high, sums,
            touched,
        )  # fmt: skip
        for k in range(out.shape[0]):
            running[:] = 0
            for d in range(out.shape[1]):
                for i in range(GROUP):
                    running[i] += sums[k, d, i]
                    sums[k, d, i] = 0
                for i in range(b):
                    out[k, d, start + i] = running[i] * trees.unit
            sums[k, out.shape[1]] = 0


@compiled_loop
def squared_pairs(  # pragma: no cover - compiled
    trees, splits, answers, rows, driven, position, y, base, scale, counts, over_donors, over_rows
):
    """Add up squared errors over donors, and over rows, without keeping predictions.

    Parameters
    ----------
    answers, rows, driven, position
        As for `cross_ranges`.
    y : float64, (n,)
    base, scale : float
        Predictions are base + scale * sum over trees.
    counts : float64, (donors,)
        How many donors each stands for.
    over_donors : float64, (n,)
        Result: each row's squared errors summed over donors.
    over_rows : float64, (donors,)
        Added to: each donor's squared errors summed over rows.
    """
    donors = len(counts)
    node, word, low, high = stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    sums = np.zeros((1, donors + 1, GROUP), np.int64)
    touched = np.zeros(donors + 1, np.bool_)
    errors, halves = np.empty(GROUP), np.empty(GROUP)
    response, live = np.empty(GROUP), np.empty(GROUP)
    running, total = np.empty(GROUP, np.int64), np.empty(GROUP)
    factor = scale * trees.unit
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        b = group.shape[0]
        bits = bits_of(trees, splits, answers, start, group, scratch)
        _walk_ranges(
            trees, splits, bits, all_rows(b), driven, position, node, word, low, high, sums,
            touched,
        )  # fmt: skip
        response[:], live[:] = 0.0, 0.0
        response[:b], live[:b] = y[start : start + b] - base, 1.0
        errors[:], running[:], total[:] = 0.0, 0, 0.0
        touched[0] = True
        met, over_group = 0.0, 0.0  # donors since the last change, and the errors that they make
        for d in range(donors):
            if touched[d]:
                touched[d] = False
                for i in range(GROUP):
                    total[i] += met * errors[i]
                    running[i] += sums[0, d, i]
                    sums[0, d, i] = 0
                    error = (response[i] - factor * running[i]) * live[i]
                    errors[i] = error * error
                # Added up by halves: fast, and in one order with and without compilation.
                for i in range(32):
                    halves[i] = errors[i] + errors[i + 32]
                for i in range(16):
                    halves[i] += halves[i + 16]
                for i in range(8):
                    halves[i] += halves[i + 8]
                for i in range(4):
                    halves[i] += halves[i + 4]
                met, over_group = 0.0, (halves[0] + halves[2]) + (halves[1] + halves[3])
            met += counts[d]
            over_rows[d] += over_group
        sums[0, donors] = 0
        for i in range(b):
            over_donors[start + i] = total[i] + met * errors[i]


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
