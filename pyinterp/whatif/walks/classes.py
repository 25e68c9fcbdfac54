"""Walks that sum losses of one class's probability, row by row, where donors change it."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import compiled_loop
from pyinterp.whatif.walks.bits import GROUP, NONE, ONE, all_rows, bits_of, lowest, stacks

# Losses of the probability p of one class: -log p or -log(1 - p), (1 - p)² or p², -p log p, and
# that plus -(1 - p) log(1 - p).
LOG, SQUARE, ENTROPY, BOTH_ENTROPIES = 0, 1, 2, 3


@compiled_loop
def _loss(kind, p, member, least):  # pragma: no cover - compiled
    """Return the loss of a probability; the logarithm is taken of `least` at least."""
    if kind == LOG:
        q = p if member else 1 - p
        return -np.log(min(max(q, least), 1.0))
    if kind == SQUARE:
        error = 1 - p if member else p
        return error * error
    p = min(max(p, 0.0), 1.0)
    loss = -p * np.log(p) if p > 0 else 0.0
    if kind == BOTH_ENTROPIES and p < 1:
        loss -= (1 - p) * np.log(1 - p)
    return loss


@compiled_loop
def _note_changes(  # pragma: no cover - compiled
    trees, splits, bits, everyone, driven, position, outputs, node, word, low, high, changes, marks
):
    """Note where a group's sums over trees change along increasing donors of one column.

    Parameters
    ----------
    bits, everyone, driven, position, node, word, low, high
        As for `_walk_ranges`.
    outputs : int64, (b,)
        The output that is summed for each row of the group.
    changes : int64, (64, donors + 1)
        Added to.
    marks : uint64, (64, words)
        The bits of donors at which a row's sum may change are set.
    """
    split, right, leaves = splits.of, trees.right, trees.leaves
    begin = splits.first[driven] if driven >= 0 else 0
    end = splits.first[driven + 1] if driven >= 0 else 0
    for t in range(len(trees.roots)):
        node[0], word[0], low[0], high[0] = trees.roots[t], everyone, 0, changes.shape[1] - 1
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
            while rows != NONE:
                i = lowest(rows)
                rows &= rows - ONE
                value = leaves[right[q], outputs[i]]
                if value != 0:
                    changes[i, lo] += value
                    changes[i, hi] -= value
                    marks[i, lo >> 6] |= ONE << np.uint64(lo & 63)
                    marks[i, hi >> 6] |= ONE << np.uint64(hi & 63)


@compiled_loop
def one_class_pairs(  # pragma: no cover - compiled
    trees, splits, answers, rows, driven, position, outputs, member, kind, logistic, base, scale,
    least, before, over_donors, over_rows,
):  # fmt: skip
    """Add up losses of one class's probability over donors, and over rows.

    A row's loss is computed anew only where its probability changes along increasing donors.

    Parameters
    ----------
    answers, rows, driven, position
        As for `cross_ranges`.
    outputs : int64, (n,)
        The output of the trees that gives each row's class.
    member : bool, (n,)
        Whether the row is of this class.
    kind : int
        `LOG`, `SQUARE`, `ENTROPY` or `BOTH_ENTROPIES`.
    logistic : bool
        Whether probabilities are the logistic function of base + scale * sum, or that itself.
    base : float64, (outputs,)
    scale, least : float
        As of `_loss`.
    before : float64, (donors + 1,)
        How many rows' donors are before each of the distinct ones.
    over_donors : float64, (n,)
        Result: each row's losses summed over donors.
    over_rows : float64, (donors,)
        Added to: by how much the sum over rows changes from the donor before.
    """
    donors = len(over_rows)
    node, word, low, high = stacks(trees)
    scratch = np.empty(len(splits.threshold), np.uint64)
    changes = np.zeros((GROUP, donors + 1), np.int64)
    marks = np.zeros((GROUP, (donors + GROUP) // GROUP), np.uint64)
    factor = scale * trees.unit
    for start in range(0, rows.shape[0], GROUP):
        group = rows[start : start + GROUP]
        b = group.shape[0]
        bits = bits_of(trees, splits, answers, start, group, scratch)
        _note_changes(
            trees, splits, bits, all_rows(b), driven, position, outputs[start : start + b], node,
            word, low, high, changes, marks,
        )  # fmt: skip
        for i in range(b):
            intercept, seen = base[outputs[start + i]], member[start + i]
            marks[i, 0] |= ONE
            running, since, loss, total = 0, 0, 0.0, 0.0
            for w in range(marks.shape[1]):
                marked = marks[i, w]
                marks[i, w] = NONE
                while marked != NONE:
                    d = (w << 6) + lowest(marked)
                    marked &= marked - ONE
                    change = changes[i, d]
                    changes[i, d] = 0
                    if d == donors or (change == 0 and d > 0):
                        continue
                    running += change
                    p = intercept + factor * running
                    if logistic:
                        p = 1 / (1 + np.exp(-p))
                    total += (before[d] - before[since]) * loss
                    new = _loss(kind, p, seen, least)
                    over_rows[d] += new - loss
                    loss, since = new, d
            over_donors[start + i] = total + (before[donors] - before[since]) * loss
