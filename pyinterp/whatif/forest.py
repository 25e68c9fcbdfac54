"""Tree ensembles as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg

from pyinterp._typing import FloatArray
from pyinterp.whatif.inputs import Before, Levels
from pyinterp.whatif.links import Link
from pyinterp.whatif.walks import Splits, Trees, preorder

# By categorical node, categories, and whether these are what goes to the left.
Categories = Mapping[int, tuple[npt.NDArray[np.int64], bool]]

LEAF = -1
LEAST = 1e-280  # so that no unit is too small for a double


@dataclass(frozen=True, kw_only=True)
class Forest:
    """A tree ensemble: f(x) = link(base + scale * sum over trees of the leaf that x reaches).

    Attributes
    ----------
    trees : Trees
    base : ndarray of float64, shape (outputs,)
    scale : float
    link : callable
        From sums, shape (..., outputs), to predictions, shape (...) or (..., classes).
    single : bool
        Whether the model compares inputs in single precision.
    single_sums : bool
        Whether it adds up in single precision.
    missing : float
        The value that stands for a missing one.
    levels : Levels
        The levels by which it codes categories.
    before : callable or None
        What the model itself makes of rows before trees compare them.
    categories : mapping of int to ndarray
        By column, numbers that are categories: trees compare their positions, and take others for
        missing.
    """

    trees: Trees
    base: FloatArray
    scale: float
    link: Link
    single: bool
    single_sums: bool = False
    missing: float = np.nan
    levels: Levels = ()
    before: Before | None = None
    categories: Mapping[int, FloatArray] = field(default_factory=dict)

    def cast(self, inputs: FloatArray, columns: npt.NDArray[np.intp]) -> FloatArray:
        """Return inputs of some columns as the model compares them, in double precision."""
        kind = np.float32 if self.single else np.float64
        values = np.array(np.asarray(inputs, dtype=kind), dtype=np.float64, order="C")
        values[values == kind(self.missing)] = np.nan
        for j, column in enumerate(columns):
            if int(column) in self.categories:
                codes = pd.Index(self.categories[int(column)]).get_indexer(pd.Index(values[:, j]))
                values[:, j] = np.where(codes < 0, np.nan, codes)
        return values

    def finish(self, sums: FloatArray) -> FloatArray:
        """Return predictions from sums over trees, shape (..., outputs)."""
        return self.link(self.base + self.scale * sums)

    def splits(self, rows: FloatArray) -> Splits:
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
        return Splits(
            of=of,
            first=first,
            categorical=categorical,
            threshold=threshold,
            missing_left=missing_left,
            category=category,
        )

    def _edges(
        self, nodes: npt.NDArray[np.intp], x: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
        """Return the different numerical splits of a column, and which of them each node has."""
        thresholds, sides = self.trees.threshold[nodes], self.trees.missing_left[nodes]
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        # Thresholds between the same two rows part them alike.
        few = len(values) < len(nodes)
        edges = np.append(-np.inf, values) if few else np.unique(thresholds)
        which = np.searchsorted(edges, thresholds, side="right") - 1
        if not missing.any():
            return edges, np.zeros(len(edges), dtype=bool), which
        both = np.tile([False, True], len(edges))
        return np.repeat(edges, 2), both, 2 * which + sides


class Nodes:
    """The nodes of all trees, added one tree after the other and put into preorder."""

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[np.generic], ...]] = []
        self._lists: list[tuple[npt.NDArray[np.int64], bool]] = []
        self._roots, self._leaf_count = [0], 0

    def add(
        self,
        *,
        left: npt.NDArray[np.integer],
        right: npt.NDArray[np.integer],
        column: npt.NDArray[np.integer],
        threshold: npt.NDArray[np.floating],
        missing_left: npt.NDArray[np.generic],
        leaves: FloatArray,
        categories: Categories | None = None,
    ) -> None:
        """Add a tree, whose left and right children are -1 at leaves."""
        order = _preorder(left, right)
        place = np.argsort(order)
        is_leaf = left[order] < 0
        child = place[right[order]] + self._roots[-1]
        child[is_leaf] = self._leaf_count + np.arange(is_leaf.sum())
        category = np.full(len(order), -1)
        for q, listed in (categories or {}).items():
            category[place[q]] = len(self._lists)
            self._lists.append(listed)
        column = np.where(is_leaf, LEAF, column[order])
        values = leaves[order][is_leaf]
        self._parts.append((column, threshold[order], missing_left[order], category, child, values))
        self._roots.append(self._roots[-1] + len(order))
        self._leaf_count += len(values)

    def trees(self) -> Trees:
        """Return all trees."""
        column, threshold, missing_left, category, right, leaves = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        largest = max((int(listed.max(initial=-1)) for listed, _ in self._lists), default=-1)
        goes_left = np.zeros((max(len(self._lists), 1), largest + 2), dtype=bool)
        for k, (listed, to_left) in enumerate(self._lists):
            goes_left[k] = not to_left  # the last column stands for categories never listed
            goes_left[k, listed] = to_left
        return _trees(
            column, threshold, missing_left, category, goes_left, right, self._roots[:-1], leaves
        )


def _preorder(
    left: npt.NDArray[np.integer], right: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    inner = np.flatnonzero(left >= 0)
    if (left[inner] == inner + 1).all():  # most of scikit-learn's trees come in this order
        return np.arange(len(left))
    order = np.empty(len(left), np.int64)
    return order[: preorder(left, right, order)]


def _trees(
    column: npt.ArrayLike,
    threshold: npt.ArrayLike,
    missing_left: npt.ArrayLike,
    category: npt.ArrayLike,
    left_categories: npt.NDArray[np.bool_],
    right: npt.ArrayLike,
    roots: npt.ArrayLike,
    leaves: FloatArray,
) -> Trees:
    """Return trees, the values of their leaves in whole multiples of a unit."""
    columns, starts = np.asarray(column, np.int32), np.asarray(roots, np.int32)
    # As many bits as sums over trees leave: as precise as sums of doubles, but exact.
    largest = max(float(np.abs(leaves).max(initial=0.0)), LEAST)
    bits = 61 - int(np.ceil(np.log2(len(starts)))) - int(np.frexp(largest)[1])
    unit = float(np.ldexp(1.0, -bits))
    return Trees(
        column=columns,
        threshold=np.asarray(threshold, np.float64),
        missing_left=np.asarray(missing_left, np.bool_),
        category=np.asarray(category, np.int32),
        left_categories=left_categories,
        right=np.asarray(right, np.int32),
        roots=starts,
        leaves=np.ascontiguousarray(np.rint(leaves / unit), np.int64),
        unit=unit,
        stack=int(np.diff(np.append(starts, len(columns))).max()) // 2 + 1,
    )


def alike(forests: Sequence[Forest]) -> bool:
    """Whether forests compare inputs, scale sums and have outputs alike."""
    return len({(f.scale, f.single, str(f.missing), len(f.base)) for f in forests}) == 1


def joint_forest(forests: Sequence[Forest], starts: Sequence[int], link: Link) -> Forest:
    """Return one forest with the outputs of several, one after the other.

    Parameters
    ----------
    forests : sequence of Forest
        They are `alike`.
    starts : sequence of int
        The first column of each.
    link : callable
        From the sums of all.
    """
    nodes = leaves = lists = 0  # of the forests before
    parts, categories = [], {}
    for forest, start in zip(forests, starts, strict=True):
        trees = forest.trees
        inner, listed = trees.column >= 0, trees.category >= 0
        parts.append(
            (
                np.where(inner, trees.column + start, LEAF),
                trees.threshold,
                trees.missing_left,
                np.where(listed, trees.category + lists, -1),
                trees.right + np.where(inner, nodes, leaves),
                trees.roots + nodes,
            )
        )
        nodes, leaves = nodes + len(inner), leaves + len(trees.leaves)
        lists += len(trees.left_categories)
        categories.update({start + c: numbers for c, numbers in forest.categories.items()})
    column, threshold, missing_left, category, right, roots = map(
        np.concatenate, zip(*parts, strict=True)
    )
    tables = [forest.trees.left_categories for forest in forests]
    width = max(table.shape[1] for table in tables)
    # Tables have the same width: the last column stands for all other categories.
    goes_left = np.concatenate(
        [np.pad(table, ((0, 0), (0, width - table.shape[1])), mode="edge") for table in tables]
    )
    values = linalg.block_diag(*[forest.trees.leaves * forest.trees.unit for forest in forests])
    return replace(
        forests[0],
        trees=_trees(column, threshold, missing_left, category, goes_left, right, roots, values),
        base=np.concatenate([forest.base for forest in forests]),
        link=link,
        categories=categories,
    )
