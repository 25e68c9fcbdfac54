"""Tree ensembles as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import BoolArray, FloatArray, IntArray
from pyinterp.models.links import Link
from pyinterp.models.trees import Ensemble, TreeNodes
from pyinterp.representation import frozen
from pyinterp.whatif.walks.bits import LEAF, Trees, TreeSplits, preorder

LEAST = 1e-280  # so that no unit is too small for a double
# The first fields of `Trees`, with the values of leaves in units of 1; and their types in `Trees`,
# but for tables of categories.
Part = tuple[Any, ...]
KINDS = (np.int32, np.float64, np.bool_, np.int32, np.int32, np.int32, np.float64)


@frozen
class Forest(Ensemble):
    """An ensemble whose trees are flat arrays, in the place of `nodes`."""

    trees: Trees

    def cast(self, inputs: FloatArray, columns: IntArray) -> FloatArray:
        """Return inputs of some columns as the model compares them, in double precision."""
        kind = np.float32 if self.single else np.float64
        values = np.array(np.asarray(inputs, kind), np.float64, order="C")
        values[values == kind(self.missing)] = np.nan
        for j, column in enumerate(columns):
            if int(column) in self.categories:
                codes = pd.Index(self.categories[int(column)]).get_indexer(pd.Index(values[:, j]))
                values[:, j] = np.where(codes < 0, np.nan, codes)
        return values

    def finish(self, sums: FloatArray) -> FloatArray:
        """Return predictions from sums over trees, shape (..., outputs)."""
        return self.link(self.base + self.scale * sums)

    def splits(self, rows: FloatArray) -> TreeSplits:
        """Return one split of all that part the rows, shape (n, columns), in the same way."""
        trees, columns = self.trees, rows.shape[1]
        of = np.full(len(trees.column), LEAF, np.int32)
        # Stable, on few bytes: a radix sort.
        kind = np.int16 if columns < 2**15 else np.int32
        by_column = np.argsort(trees.column.astype(kind), kind="stable")
        ends = np.searchsorted(trees.column[by_column], np.arange(columns + 1))
        first, categorical = np.zeros(columns + 1, np.int64), np.zeros(columns, np.int64)
        parts = []
        for c in range(columns):
            nodes = by_column[ends[c] : ends[c + 1]]
            numerical, others = nodes[trees.category[nodes] < 0], nodes[trees.category[nodes] >= 0]
            edges, sides, which = self._edges(numerical, rows[:, c])
            categorical[c] = first[c] + len(edges)
            first[c + 1] = categorical[c] + len(others)
            of[numerical] = first[c] + which
            of[others] = categorical[c] + np.arange(len(others))
            parts.append((edges, sides, np.full(len(edges), -1, np.int32)))
            parts.append(
                (np.zeros(len(others)), trees.missing_left[others], trees.category[others])
            )
        threshold, missing_left, category = map(np.concatenate, zip(*parts, strict=True))
        return TreeSplits(
            of=of,
            first=first,
            categorical=categorical,
            threshold=threshold,
            missing_left=missing_left,
            category=category,
        )

    def _edges(self, nodes: IntArray, x: FloatArray) -> tuple[FloatArray, BoolArray, IntArray]:
        """Return the different numerical splits of a column, and which of them each node has."""
        thresholds, sides = self.trees.threshold[nodes], self.trees.missing_left[nodes]
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        # Thresholds between the same two rows part them alike.
        few = len(values) < len(nodes)
        edges = np.append(-np.inf, values) if few else np.unique(thresholds)
        which = np.searchsorted(edges, thresholds, side="right") - 1
        if not missing.any():
            return edges, np.zeros(len(edges), bool), which
        both = np.tile([False, True], len(edges))
        return np.repeat(edges, 2), both, 2 * which + sides


def in_preorder(nodes: TreeNodes) -> Part:
    """Return trees, whose left and right children are -1 at leaves, in preorder."""
    left, right, roots = nodes.left, nodes.right, nodes.roots
    order, inner = np.arange(len(left)), np.flatnonzero(left >= 0)
    if (left[inner] != inner + 1).any():  # most of scikit-learn's trees come in this order
        order = order[: preorder(left, right, roots, order)]
    place = np.empty(len(left), np.intp)
    place[order] = np.arange(len(order))
    is_leaf = left[order] < 0
    child = place[right[order]]
    child[is_leaf] = np.arange(is_leaf.sum())
    category, tables = np.full(len(order), -1), list[BoolArray]()
    for q, (listed, to_left) in nodes.categories.items():
        category[place[q]] = len(tables)
        table = np.full(int(listed.max(initial=-1)) + 2, not to_left)
        table[listed] = to_left
        tables.append(table)
    return (
        np.where(is_leaf, LEAF, nodes.column[order]),
        nodes.threshold[order],
        nodes.missing_left[order],
        category,
        tables,
        child,
        place[roots],
        nodes.leaves[order][is_leaf],
    )


def join_trees(parts: Iterable[Part]) -> Trees:
    """Return all trees, the values of their leaves in whole multiples of a unit."""
    fields: list[list[npt.NDArray[Any]]] = [[] for _ in KINDS]
    tables: list[BoolArray] = []
    nodes = number = 0
    for column, threshold, missing_left, category, listed, right, roots, leaves in parts:
        child = right + np.where(column == LEAF, number, nodes)
        table = np.where(category < 0, -1, category + len(tables))
        part = (column, threshold, missing_left, table, child, roots + nodes, leaves)
        for values, each, kind in zip(fields, part, KINDS, strict=True):
            values.append(each.astype(kind))
        tables.extend(listed)
        nodes, number = nodes + len(column), number + len(leaves)
    # One after the other, without the parts of those before: half the memory.
    column, threshold, missing_left, category, right, roots, leaves = (
        np.concatenate(fields.pop(0)) for _ in KINDS
    )
    # The last column stands for categories never listed.
    width = max(map(len, tables), default=1)
    left_categories = np.zeros((max(len(tables), 1), width), np.bool_)
    for k, table in enumerate(tables):
        left_categories[k] = table[-1]
        left_categories[k, : len(table)] = table
    # As many bits as sums over trees leave: as precise as sums of doubles, but exact.
    largest = max(float(np.abs(leaves).max(initial=0.0)), LEAST)
    bits = 61 - int(np.ceil(np.log2(len(roots)))) - int(np.frexp(largest)[1])
    unit = float(np.ldexp(1.0, -bits))
    leaves /= unit
    return Trees(
        column=column,
        threshold=threshold,
        missing_left=missing_left,
        category=category,
        left_categories=left_categories,
        right=right,
        roots=roots,
        leaves=np.rint(leaves, out=leaves).astype(np.int64),
        unit=unit,
        stack=int(np.diff(np.append(roots, len(column))).max()) // 2 + 1,
    )


def joint_forest(forests: Sequence[Forest], link: Link) -> Forest:
    """Return one forest with the outputs of several, one after the other.

    Parameters
    ----------
    forests : sequence of Forest
        They compare inputs, scale sums and have outputs alike.
    link : callable
        From the sums of all.
    """
    parts, base = [], np.stack([forest.base for forest in forests])
    for f, forest in enumerate(forests):
        trees, leaves = forest.trees, np.zeros((len(forest.trees.leaves), *base.shape))
        leaves[:, f] = trees.leaves * trees.unit
        parts.append((*trees[:7], leaves.reshape(len(leaves), base.size)))
    return replace(forests[0], trees=join_trees(parts), base=base.ravel(), link=link)
