"""Walks down trees that branch only where the replaced columns split, compiled by numba.

Rows are walked in groups of 64: bit i of a word stands for row i of the group. Before the walk,
`_left_bits` answers every split for all rows of a group at once; a walk then carries the word of
the rows that are still with it, and parts it at splits of kept columns. At splits of replaced
columns it parts the donors instead. With numba's JIT disabled the same functions run as Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

__all__ = [
    "GROUP",
    "Splits",
    "Trees",
    "add_up",
    "add_up_pairs",
    "cross_parts",
    "cross_ranges",
    "first_leaves",
    "left_bits",
    "preorder",
    "squared_pairs",
]

GROUP = 64


class Trees(NamedTuple):
    """Trees, all in one array of nodes in preorder: the left child of node q is q + 1.

    Attributes
    ----------
    column : int32, (nodes,)
        The column that a node splits on; -1 for leaves.
    threshold : float64, (nodes,)
        Numerical nodes send x to the left if x <= threshold,
    missing_left : bool, (nodes,)
        and missing x to this side.
    category : int32, (nodes,)
        For categorical nodes the row of `left_categories`; -1 for numerical ones.
    left_categories : bool, (categorical nodes, largest category + 2)
        Which categories go to the left; the last column stands for all others.
    right : int32, (nodes,)
        The right child; for leaves the row of `leaves`.
    roots : int32, (trees,)
    leaves : int64, (leaves, outputs)
        In multiples of `unit`: whole numbers add up exactly, in any order.
    unit : float
    stack : int
        No tree is deeper.
    """

    column: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    missing_left: npt.NDArray[np.bool_]
    category: npt.NDArray[np.int32]
    left_categories: npt.NDArray[np.bool_]
    right: npt.NDArray[np.int32]
    roots: npt.NDArray[np.int32]
    leaves: npt.NDArray[np.int64]
    unit: float
    stack: int


class Splits(NamedTuple):
    """The splits that part a sample's rows differently, sorted by column.

    Attributes
    ----------
    of : int32, (nodes,)
        The split at each node; -1 for leaves.
    first, categorical : int64, (columns + 1,) and (columns,)
        Splits of column c are ``first[c]`` to ``first[c + 1]``: numerical ones with increasing
        thresholds, from ``categorical[c]`` on categorical ones.
    threshold : float64, (splits,)
    missing_left : bool, (splits,)
    category : int32, (splits,)
        As in `Trees`.
    """

    of: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    categorical: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float64]
    missing_left: npt.NDArray[np.bool_]
    category: npt.NDArray[np.int32]


_NONE, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# The position of a word's only bit: the powers of two differ modulo 67.
_PRIME = np.uint64(67)
_POSITION = np.zeros(67, np.int64)
for _i in range(GROUP):
    _POSITION[2**_i % 67] = _i


@numba.njit(nogil=True, cache=True)
def _lowest(word):  # pragma: no cover - compiled
    """Return the position of the lowest bit."""
    return _POSITION[(word & (~word + _ONE)) % _PRIME]


@numba.njit(nogil=True, cache=True)
def _everyone(b):  # pragma: no cover - compiled
    return _ALL if b == GROUP else (_ONE << np.uint64(b)) - _ONE


@numba.njit(nogil=True, cache=True)
def _goes_left(at, k, x, left_categories):  # pragma: no cover - compiled
    """Whether a node (`at` is Trees) or a split (`at` is Splits) sends x to the left."""
    if np.isnan(x):
        return at.missing_left[k]
    listed = at.category[k]
    if listed < 0:
        return x <= at.threshold[k]
    last = left_categories.shape[1] - 1
    return left_categories[listed, int(x) if 0 <= x < last else last]


@numba.njit(nogil=True, cache=True)
def _left_bits(splits, left_categories, rows, bits):  # pragma: no cover - compiled
    """Answer every split for at most 64 rows: `bits`, (splits,), are those that go to the left."""
    b = rows.shape[0]
    for c in range(rows.shape[1]):
        start, stop = splits.first[c], splits.categorical[c]
        if start < stop:
            x = rows[:, c].copy()
            order = np.argsort(x)
            known = b
            while known > 0 and np.isnan(x[order[known - 1]]):
                known -= 1
            # The rows up to a threshold change only where it passes one of them.
            word, s = _NONE, start
            for k in range(known):
                until = start + np.searchsorted(splits.threshold[start:stop], x[order[k]])
                while s < until:
                    bits[s] = word
                    s += 1
                word |= _ONE << np.uint64(order[k])
            while s < stop:
                bits[s] = word
                s += 1
            missing = _NONE
            for k in range(known, b):
                missing |= _ONE << np.uint64(order[k])
            if missing != _NONE:
                for s in range(start, stop):
                    if splits.missing_left[s]:
                        bits[s] |= missing
        for s in range(stop, splits.first[c + 1]):
            word = _NONE
            for i in range(b):
                if _goes_left(splits, s, rows[i, c], left_categories):
                    word |= _ONE << np.uint64(i)
            bits[s] = word


@numba.njit(nogil=True, cache=True)
def left_bits(splits, left_categories, rows, bits):  # pragma: no cover - compiled
    """Answer every split for all rows: `bits`, uint64, (groups of 64 rows, splits)."""
    for g in range(bits.shape[0]):
        _left_bits(splits, left_categories, rows[g * GROUP : (g + 1) * GROUP], bits[g])


@numba.njit(nogil=True, cache=True)
def _bits_of(trees, splits, known, start, group, scratch):  # pragma: no cover - compiled
    """Return the answers to splits for the group of rows from `start`, known or found now."""
    if len(known) > 0:
        return known[start // GROUP]
    _left_bits(splits, trees.left_categories, group, scratch)
    return scratch


@numba.njit(nogil=True, cache=True)
def _stacks(trees):  # pragma: no cover - compiled
    """Return stacks of nodes, of rows and of ranges of donors, for one walk at a time."""
    node, low, high = (
        np.empty(trees.stack, np.int64),
        np.empty(trees.stack, np.int64),
        np.empty(trees.stack, np.int64),
    )
    return node, np.empty(trees.stack, np.uint64), low, high


@numba.njit(nogil=True, cache=True)
def preorder(left, right, out):  # pragma: no cover - compiled
    """List the nodes of a tree in preorder: `out`, int64, (nodes,); return how many there are."""
    stack = np.empty(len(left) + 1, np.int64)
    stack[0], top, count = 0, 1, 0
    while top > 0:
        top -= 1
        q = stack[top]
        out[count] = q
        count += 1
        if left[q] >= 0:
            stack[top], stack[top + 1] = right[q], left[q]
            top += 2
    return count


@numba.njit(nogil=True, cache=True)
def _leaf(trees, q, row):  # pragma: no cover - compiled
    """Return the leaf that a row reaches from node q."""
    while trees.column[q] >= 0:
        x = row[trees.column[q]]
        q = q + 1 if _goes_left(trees, q, x, trees.left_categories) else trees.right[q]
    return q


@numba.njit(nogil=True, cache=True)
def first_leaves(trees, rows, out):  # pragma: no cover - compiled
    """Find the leaf of the first tree that each row reaches: `out`, int64, (n,)."""
    for i in range(rows.shape[0]):
        out[i] = _leaf(trees, trees.roots[0], rows[i])


@numba.njit(nogil=True, cache=True)
def add_up(trees, rows, out):  # pragma: no cover - compiled
    """Add up the trees for rows as they are, one by one: `out`, int64, (outputs, n), added to."""
    for t in range(len(trees.roots)):
        for i in range(rows.shape[0]):
            q = _leaf(trees, trees.roots[t], rows[i])
            for k in range(trees.leaves.shape[1]):
                out[k, i] += trees.leaves[trees.right[q], k]


@numba.njit(nogil=True, cache=True)
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
                    if left == _NONE:
                        q = right[q]
                    elif rest == _NONE:
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
                    while left != _NONE:
                        i = _lowest(left)
                        left &= left - _ONE
                        enter[i] += value
                        leave[i] -= value


@numba.njit(nogil=True, cache=True)
def cross_ranges(trees, splits, known, rows, driven, position, out):  # pragma: no cover - compiled
    """Add up the trees for rows x increasing donors of one numerical column.

    Parameters
    ----------
    known : uint64, (groups, splits)
        The result of `left_bits` for these rows; without groups it is found here.
    rows : float64, (b, columns)
    driven, position
        As for `_walk_ranges`.
    out : float64, (outputs, donors, b)
        Result: sums over trees.
    """
    node, word, low, high = _stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    sums = np.zeros((out.shape[0], out.shape[1] + 1, GROUP), np.int64)
    touched = np.zeros(out.shape[1] + 1, np.bool_)
    running = np.empty(GROUP, np.int64)
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        b = group.shape[0]
        bits = _bits_of(trees, splits, known, start, group, scratch)
        _walk_ranges(
            trees, splits, bits, _everyone(b), driven, position, node, word, low, high, sums,
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


@numba.njit(nogil=True, cache=True)
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
    _left_bits(splits, trees.left_categories, rows, bits)
    least, most = donors[:, 0].copy(), donors[:, k - 1].copy()
    first, begun = _in_order(least)  # rows that have a donor up to some value
    last, over = _in_order(most)  # and those that have none beyond it
    table, per_unit = _tables(donors)
    node, word, _, _ = _stacks(trees)
    upper = np.empty(trees.stack)
    changes = np.zeros((b, k + 1, outputs), np.int64)
    reached, value = np.empty(b, np.int64), np.empty((b, outputs), np.int64)
    for t in range(len(trees.roots)):
        node[0], word[0], upper[0] = trees.roots[t], _everyone(b), np.inf
        reached[:], value[:] = 0, 0
        top = 1
        while top > 0:
            top -= 1
            q, here, highest = node[top], word[top], upper[top]
            s = split[q]
            while s >= 0:
                if begin <= s < end:
                    left = here & begun[_up_to(first, 0, b, threshold[q])]
                    rest = here & ~over[_up_to(last, 0, b, threshold[q])]
                else:
                    left = here & bits[s]
                    rest = here & ~bits[s]
                if left == _NONE:
                    q = right[q]
                elif rest == _NONE:
                    q += 1
                else:
                    node[top], word[top], upper[top] = right[q], rest, highest
                    top += 1
                    here = left
                    if begin <= s < end:  # a split may lie beyond one above it
                        highest = min(highest, threshold[q])
                    q += 1
                s = split[q]
            while here != _NONE:
                i = _lowest(here)
                here &= here - _ONE
                p = reached[i]
                for o in range(outputs):
                    changes[i, p, o] += leaves[right[q], o] - value[i, o]
                    value[i, o] = leaves[right[q], o]
                if highest >= most[i]:
                    reached[i] = k
                elif highest >= least[i]:
                    u = _bucket(highest, least[i], per_unit[i], table.shape[1] - 1)
                    reached[i] = max(p, _up_to(donors[i], table[i, u], table[i, u + 1], highest))
    running = np.empty(outputs, np.int64)
    for i in range(b):
        running[:] = 0
        for d in range(k):
            for o in range(outputs):
                running[o] += changes[i, d, o]
                out[i, d, o] = running[o] * trees.unit


@numba.njit(nogil=True, cache=True)
def _up_to(values, lo, hi, x):  # pragma: no cover - compiled
    """Return how many of increasing values are at most x, if between lo and hi of them are."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if values[middle] <= x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@numba.njit(nogil=True, cache=True)
def _in_order(x):  # pragma: no cover - compiled
    """Return the values of at most 64 rows in increasing order, and words of rows.

    Word p has the rows with the p lowest values.
    """
    order = np.argsort(x)
    words = np.empty(len(x) + 1, np.uint64)
    words[0] = _NONE
    for p in range(len(x)):
        words[p + 1] = words[p] | (_ONE << np.uint64(order[p]))
    return x[order], words


@numba.njit(nogil=True, cache=True)
def _tables(donors):  # pragma: no cover - compiled
    """Return where every row's increasing donors are, by equally wide buckets of their span.

    Row i has its donors of bucket u from ``table[i, u]`` to ``table[i, u + 1]``: few, unless most
    are near each other and one is far off, so that a search among them is short. Also returns the
    number of buckets per unit.
    """
    (b, k), buckets = donors.shape, 4 * donors.shape[1]
    table, per_unit = np.empty((b, buckets + 1), np.int32), np.zeros(b)
    for i in range(b):
        span = donors[i, k - 1] - donors[i, 0]
        if span > 0:
            per_unit[i] = buckets / span
        u = 0
        for d in range(k):
            at = _bucket(donors[i, d], donors[i, 0], per_unit[i], buckets)
            while u <= at:
                table[i, u] = d
                u += 1
        table[i, u:] = k
    return table, per_unit


@numba.njit(nogil=True, cache=True)
def _bucket(x, least, per_unit, buckets):  # pragma: no cover - compiled
    """Return the bucket of x >= least, which never falls while x grows, rounding included."""
    at = (x - least) * per_unit
    return int(at) if at < buckets else buckets - 1  # also where something overflows


@numba.njit(nogil=True, cache=True)
def squared_pairs(  # pragma: no cover - compiled
    trees, splits, known, rows, driven, position, y, base, scale, counts, over_donors, over_rows
):
    """Add up squared errors over donors, and over rows, without keeping predictions.

    Parameters
    ----------
    known, rows, driven, position
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
    node, word, low, high = _stacks(trees)
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
        bits = _bits_of(trees, splits, known, start, group, scratch)
        _walk_ranges(
            trees, splits, bits, _everyone(b), driven, position, node, word, low, high, sums,
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


@numba.njit(nogil=True, cache=True)
def cross_parts(  # pragma: no cover - compiled
    trees, splits, known, rows, place, values, out
):
    """Add up the trees for rows x donors of several columns, of categories or of missing values.

    The donors that reach a node are kept as a part of one array, which a split divides in place.

    Parameters
    ----------
    known, rows
        As for `cross_ranges`.
    place : int64, (columns,)
        The column of `values` that replaces a column; -1 if it is kept.
    values : float64, (donors, replaced columns)
    out : int64, (outputs, donors, b), zero at the start
        Result: sums over trees, in multiples of the unit.
    """
    split, right, leaves = splits.of, trees.right, trees.leaves
    node, word, low, high = _stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    order = np.arange(values.shape[0])
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        everyone = _everyone(group.shape[0])
        bits = _bits_of(trees, splits, known, start, group, scratch)
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
                        if left == _NONE:
                            q = right[q]
                        elif rest == _NONE:
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
                            while left != _NONE:
                                out[k, d, start + _lowest(left)] += value
                                left &= left - _ONE


@numba.njit(nogil=True, cache=True)
def _divide(trees, q, values, v, order, lo, hi):  # pragma: no cover - compiled
    """Put the donors of a part that go to the left first; return where the others begin."""
    while lo < hi:
        d = order[lo]
        if _goes_left(trees, q, values[d, v], trees.left_categories):
            lo += 1
        else:
            hi -= 1
            order[lo], order[hi] = order[hi], d
    return lo
