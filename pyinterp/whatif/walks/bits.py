"""The trees, rows as they are, and the rows that splits send to the left: bit i is row i of 64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyinterp._typing import BoolArray, FloatArray
from pyinterp.parallel.loops import Loop

GROUP = 64
LEAF = -1
NONE, ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# The position of a word's only bit: the powers of two differ modulo 67.
_PRIME = np.uint64(67)
_POSITION = np.zeros(67, np.int64)
for _i in range(GROUP):
    _POSITION[2**_i % 67] = _i


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
        Depth that no tree exceeds.
    """

    column: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    category: npt.NDArray[np.int32]
    left_categories: BoolArray
    right: npt.NDArray[np.int32]
    roots: npt.NDArray[np.int32]
    leaves: npt.NDArray[np.int64]
    unit: float
    stack: int


class TreeSplits(NamedTuple):
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
    threshold: FloatArray
    missing_left: BoolArray
    category: npt.NDArray[np.int32]


@Loop
def lowest(word):  # pragma: no cover - compiled
    """Return the position of the lowest bit."""
    return _POSITION[(word & (~word + ONE)) % _PRIME]


@Loop
def all_rows(b):  # pragma: no cover - compiled
    """Return the word in which the bits of b rows are set."""
    return _ALL if b == GROUP else (ONE << np.uint64(b)) - ONE


@Loop
def goes_left(at, k, x, left_categories):  # pragma: no cover - compiled
    """Whether a node (`at` is Trees) or a split (`at` is TreeSplits) sends x to the left."""
    if np.isnan(x):
        return at.missing_left[k]
    listed = at.category[k]
    if listed < 0:
        return x <= at.threshold[k]
    last = left_categories.shape[1] - 1
    return left_categories[listed, int(x) if 0 <= x < last else last]


@Loop
def group_bits(splits, left_categories, rows, bits):  # pragma: no cover - compiled
    """Write into `bits`, (splits,), which of at most 64 rows every split sends to the left."""
    b = rows.shape[0]
    order = np.empty(GROUP, np.int64)
    for c in range(rows.shape[1]):
        start, stop = splits.first[c], splits.categorical[c]
        if start < stop:
            present, missing = 0, NONE
            for i in range(b):  # sorted here: NumPy's functions take seconds to compile
                x = rows[i, c]
                if np.isnan(x):
                    missing |= ONE << np.uint64(i)
                    continue
                k = present
                while k > 0 and rows[order[k - 1], c] > x:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = i
                present += 1
            # The rows up to a threshold change only where it passes one of them.
            word, s = NONE, start
            for k in range(present):
                while s < stop and splits.threshold[s] < rows[order[k], c]:
                    bits[s] = word
                    s += 1
                word |= ONE << np.uint64(order[k])
            while s < stop:
                bits[s] = word
                s += 1
            if missing != NONE:
                for s in range(start, stop):
                    if splits.missing_left[s]:
                        bits[s] |= missing
        for s in range(stop, splits.first[c + 1]):
            word = NONE
            for i in range(b):
                if goes_left(splits, s, rows[i, c], left_categories):
                    word |= ONE << np.uint64(i)
            bits[s] = word


@Loop
def preorder(left, right, roots, out):  # pragma: no cover - compiled
    """List the nodes of trees in preorder: `out`, int64, (nodes,); return how many there are."""
    stack = np.empty(len(left) + 1, np.int64)
    top, count = len(roots), 0
    stack[:top] = roots[::-1]
    while top > 0:
        top -= 1
        q = stack[top]
        out[count] = q
        count += 1
        if left[q] >= 0:
            stack[top], stack[top + 1] = right[q], left[q]
            top += 2
    return count


@Loop
def _leaf(trees, q, row):  # pragma: no cover - compiled
    """Return the leaf that a row reaches from node q."""
    while trees.column[q] >= 0:
        x = row[trees.column[q]]
        q = q + 1 if goes_left(trees, q, x, trees.left_categories) else trees.right[q]
    return q


@Loop
def add_up(trees, rows, out):  # pragma: no cover - compiled
    """Add the leaf of every tree to `out`, int64, (outputs, n), in units; rows are as they are."""
    for root in trees.roots:
        for i in range(rows.shape[0]):
            q = _leaf(trees, root, rows[i])
            for k in range(trees.leaves.shape[1]):
                out[k, i] += trees.leaves[trees.right[q], k]  # `right` of a leaf is its number
