"""Walks for rows as they are."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import compiled_loop
from pyinterp.whatif.walks.bits import goes_left

__all__ = ["add_up", "first_leaves", "preorder"]


@compiled_loop
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


@compiled_loop
def _leaf(trees, q, row):  # pragma: no cover - compiled
    """Return the leaf that a row reaches from node q."""
    while trees.column[q] >= 0:
        x = row[trees.column[q]]
        q = q + 1 if goes_left(trees, q, x, trees.left_categories) else trees.right[q]
    return q


@compiled_loop
def first_leaves(trees, rows, out):  # pragma: no cover - compiled
    """Write into `out`, int64, (n,), the leaf of the first tree that each row reaches."""
    for i in range(rows.shape[0]):
        out[i] = _leaf(trees, trees.roots[0], rows[i])


@compiled_loop
def add_up(trees, rows, out):  # pragma: no cover - compiled
    """Add up the trees for rows as they are, one by one: `out`, int64, (outputs, n), added to."""
    for t in range(len(trees.roots)):
        for i in range(rows.shape[0]):
            q = _leaf(trees, trees.roots[t], rows[i])
            for k in range(trees.leaves.shape[1]):
                out[k, i] += trees.leaves[trees.right[q], k]
