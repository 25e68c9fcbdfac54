"""Walks for all rows x all donors of some columns."""

import numpy as np

from pyinterp.parallel.loops import Loop
from pyinterp.whatif.walks.bits import GROUP, LEAF, NONE, ONE, all_rows, goes_left, lowest

# Losses of the prediction p of a row: (y - p)²; if p is the probability of one class, to which the
# row belongs or not (y is 1 or 0), -log p or -log(1 - p), -p log p, and that plus
# -(1 - p) log(1 - p).
SQUARE, LOG, ENTROPY, BOTH_ENTROPIES = 0, 1, 2, 3


@Loop
def _next_leaf(  # pragma: no cover - compiled
    trees, steps, bits, order, values, node, word, low, high, top
):
    """Walk down to the next leaf; return the height of the stacks, leaf, rows, range of donors.

    Parameters
    ----------
    steps : int32, (nodes,)
        The splits of nodes on kept columns, `LEAF` at leaves; ``LEAF - 1 - p`` on replaced ones,
        where p is how many donors go to the left, of increasing numbers of one column; of others
        the column of `values`.
    bits : uint64, (splits,)
        The rows that go to the left.
    order : int64, (donors,)
        The donors. A split divides those that reach a node in place, if `values` has columns.
    values : float64, (donors, replaced columns)
        None of increasing numbers: the donors that reach a node are then always a range.
    node, word, low, high : arrays, (trees.stack,)
        Stacks.
    top : int
        How many nodes are on them.
    """
    top -= 1
    q, rows, lo, hi = node[top], word[top], low[top], high[top]
    s = steps[q]
    while s != LEAF:
        left, rest, until, since = rows, rows, hi, lo
        if s >= 0:
            left, rest = rows & bits[s], rows & ~bits[s]
        elif values.shape[1] == 0:
            until = since = min(max(LEAF - 1 - s, lo), hi)
        else:
            until = since = _divide(trees, q, values, LEAF - 1 - s, order, lo, hi)
        if left == NONE or until == lo:
            q = trees.right[q]
        else:
            if rest != NONE and since < hi:
                node[top], word[top], low[top], high[top] = trees.right[q], rest, since, hi
                top += 1
                rows, hi = left, until
            q += 1
        s = steps[q]
    return top, trees.right[q], rows, lo, hi


@Loop
def _stacks(trees):  # pragma: no cover - compiled
    """Return stacks of nodes, of rows and of ranges of donors, for one walk at a time."""
    low, high = np.empty(trees.stack, np.int64), np.empty(trees.stack, np.int64)
    return np.empty(trees.stack, np.int64), np.empty(trees.stack, np.uint64), low, high


@Loop
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


@Loop
def cross_pairs(trees, steps, bits, values, out):  # pragma: no cover - compiled
    """Add up the trees for rows x donors.

    Where the donors that reach a leaf are a range of increasing numbers, its value is added at the
    start of the range, and taken off at its end; adding up along donors gives the sums.

    Parameters
    ----------
    steps, values
        As for `_next_leaf`.
    bits : uint64, (groups of 64 rows, splits)
        The rows that go to the left.
    out : int64, (outputs, donors, b), zero at the start
        Result: sums over trees, in multiples of the unit.
    """
    order, ranges = np.arange(values.shape[0]), values.shape[1] == 0
    node, word, low, high = _stacks(trees)
    sums = np.zeros((out.shape[0], len(order) + 1, GROUP), np.int64)
    running = np.empty(GROUP, np.int64)
    for g in range(bits.shape[0]):
        start = g * GROUP
        b = min(GROUP, out.shape[2] - start)
        for root in trees.roots:
            node[0], word[0], low[0], high[0], top = root, all_rows(b), 0, len(order), 1
            while top > 0:
                top, leaf, here, lo, hi = _next_leaf(
                    trees, steps, bits[g], order, values, node, word, low, high, top
                )
                for k in range(out.shape[0]):
                    value = trees.leaves[leaf, k]
                    if value != 0 and ranges:
                        enter, leave, left = sums[k, lo], sums[k, hi], here
                        while left != NONE:
                            i = lowest(left)
                            left &= left - ONE
                            enter[i] += value
                            leave[i] -= value
                    elif value != 0:
                        for d in order[lo:hi]:
                            left = here
                            while left != NONE:
                                out[k, d, start + lowest(left)] += value
                                left &= left - ONE
        if ranges:
            for k in range(out.shape[0]):
                running[:] = 0
                for d in range(len(order)):
                    for i in range(b):
                        running[i] += sums[k, d, i]
                        out[k, d, start + i] = running[i]
            sums[:] = 0


@Loop
def _loss(kind, p, y, least):  # pragma: no cover - compiled
    """Return the loss of a prediction; the logarithm is taken of `least` at least."""
    if kind == SQUARE:
        return (y - p) * (y - p)
    if kind == LOG:
        q = p if y == 1 else 1 - p
        return -np.log(min(max(q, least), 1.0))
    p = min(max(p, 0.0), 1.0)
    loss = -p * np.log(p) if p > 0 else 0.0
    if kind == BOTH_ENTROPIES and p < 1:
        loss -= (1 - p) * np.log(1 - p)
    return loss


@Loop
def summed_pairs(  # pragma: no cover - compiled
    trees, steps, bits, outputs, y, kind, logistic, base, scale, least, counts,
    rest, over_donors, over_rows,
):  # fmt: skip
    """Add up losses over increasing donors, and over rows, without keeping predictions.

    A row's loss is computed anew only where its prediction changes along donors.

    Parameters
    ----------
    steps, bits
        As for `cross_pairs`.
    outputs : int64, (n,)
        The output of the trees from which each row's loss is computed.
    y : float64, (n,)
    kind : int
        `SQUARE`, `LOG`, `ENTROPY` or `BOTH_ENTROPIES`.
    logistic : bool
        Whether predictions are the logistic function of base + scale * sum, or that itself.
    base : float64, (outputs,)
    scale, least : float
        `least` as of `_loss`.
    counts : float64, (donors,)
        How many donors each stands for.
    rest : int64, (n,)
        Each row's sum of trees that are not walked, in multiples of the unit.
    over_donors : float64, (n,)
        Added to: each row's losses summed over donors.
    over_rows : float64, (donors,)
        Added to: each donor's losses summed over rows.
    """
    donors, values = np.arange(len(counts)), np.empty((0, 0))
    node, word, low, high = _stacks(trees)
    sums = np.zeros((len(donors) + 1, GROUP), np.int64)
    touched = np.zeros(len(donors) + 1, np.bool_)
    running, total = np.empty(GROUP, np.int64), np.empty(GROUP)
    losses, halves = np.empty(GROUP), np.empty(GROUP)
    factor, several = scale * trees.unit, trees.leaves.shape[1] > 1
    for g in range(bits.shape[0]):
        start = g * GROUP
        b = min(GROUP, len(y) - start)
        output, response = outputs[start : start + b], y[start : start + b]
        intercept = base[output]
        for root in trees.roots:
            node[0], word[0], low[0], high[0], top = root, all_rows(b), 0, len(donors), 1
            while top > 0:
                top, leaf, here, lo, hi = _next_leaf(
                    trees, steps, bits[g], donors, values, node, word, low, high, top
                )
                touched[lo] = touched[hi] = True
                enter, leave = sums[lo], sums[hi]
                value = trees.leaves[leaf, 0]
                while here != NONE:
                    i = lowest(here)
                    here &= here - ONE
                    if several:
                        value = trees.leaves[leaf, output[i]]
                    enter[i] += value
                    leave[i] -= value
        losses[:], total[:] = 0.0, 0.0
        running[:b] = rest[start : start + b]
        touched[0] = True
        met, over_group = 0.0, 0.0  # donors since the last change, and the losses that they make
        for d in donors:
            if touched[d]:
                touched[d] = False
                for i in range(b):
                    total[i] += met * losses[i]
                if kind == SQUARE and not logistic:
                    for i in range(b):
                        running[i] += sums[d, i]
                        error = response[i] - (intercept[i] + factor * running[i])
                        losses[i] = error * error
                else:
                    for i in range(b):
                        if sums[d, i] != 0 or d == 0:
                            running[i] += sums[d, i]
                            p = intercept[i] + factor * running[i]
                            if logistic:
                                p = 1 / (1 + np.exp(-p))
                            losses[i] = _loss(kind, p, response[i], least)
                sums[d] = 0
                # Added up by halves: fast, and in one order with and without compilation.
                for i in range(GROUP):  # a whole array would bring its errors, seconds to compile
                    halves[i] = losses[i]
                width = GROUP // 2
                while width > 0:
                    for i in range(width):
                        halves[i] += halves[i + width]
                    width //= 2
                met, over_group = 0.0, halves[0]
            met += counts[d]
            over_rows[d] += over_group
        sums[-1], touched[-1] = 0, False
        for i in range(b):
            over_donors[start + i] += total[i] + met * losses[i]


@Loop
def sums_by_column(trees, steps, bits, outputs, uses, out):  # pragma: no cover - compiled
    """Add up, for every column, the trees that use it, for the rows as they are.

    Parameters
    ----------
    steps, bits, outputs
        As for `summed_pairs`, without replaced columns.
    uses : bool, (trees, columns)
    out : int64, (columns, n), zero at the start
        Result, in multiples of the unit.
    """
    order, values = np.arange(1), np.empty((0, 0))
    node, word, low, high = _stacks(trees)
    own = np.empty(GROUP, np.int64)
    several = trees.leaves.shape[1] > 1
    for g in range(bits.shape[0]):
        start = g * GROUP
        b = min(GROUP, out.shape[1] - start)
        for t in range(len(trees.roots)):
            node[0], word[0], low[0], high[0], top = trees.roots[t], all_rows(b), 0, 1, 1
            while top > 0:
                top, leaf, here, _, _ = _next_leaf(
                    trees, steps, bits[g], order, values, node, word, low, high, top
                )
                value = trees.leaves[leaf, 0]
                while here != NONE:
                    i = lowest(here)
                    here &= here - ONE
                    own[i] = trees.leaves[leaf, outputs[start + i]] if several else value
            for c in range(out.shape[0]):
                if uses[t, c]:
                    for i in range(b):
                        out[c, start + i] += own[i]
