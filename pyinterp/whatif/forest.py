"""Tree ensembles as flat arrays, and the links from sums over trees to predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import linalg, special

from pyinterp._typing import FloatArray
from pyinterp.whatif.walks import Splits, Trees

__all__ = ["LEAF", "Forest", "alike", "first", "identity", "joint_forest", "link_of", "sigmoid"]

LEAF = -1
LEAST = 1e-280  # so that no unit is too small for a double


@dataclass(frozen=True, kw_only=True)
class Forest:
    """A tree ensemble: f(x) = link(base + scale * sum over trees of the leaf that x reaches).

    Nodes are in preorder: the left child of node q is q + 1. Numerical nodes send x to the left if
    x <= threshold, and missing x to the side of `missing_left`.

    Attributes
    ----------
    column : ndarray of int32, shape (nodes,)
        The column that a node splits on; -1 for leaves.
    threshold : ndarray of float64, shape (nodes,)
    right : ndarray of int32, shape (nodes,)
        The right child; for leaves the row of `leaves`.
    missing_left : ndarray of bool, shape (nodes,)
    category : ndarray of int32, shape (nodes,)
        For categorical nodes the row of `left_categories`; -1 for numerical ones.
    left_categories : ndarray of bool, shape (categorical nodes, largest category + 2)
        Which categories go to the left; the last column stands for all others.
    roots : ndarray of int32, shape (trees,)
    leaves : ndarray of float64, shape (leaves, outputs)
    base : ndarray of float64, shape (outputs,)
    scale : float
    link : callable
        From sums, shape (..., outputs), to predictions, shape (...) or (..., classes).
    single : bool
        Whether the model compares inputs in single precision.
    missing : float
        The value that stands for a missing one.
    categories : mapping of int to ndarray
        By column, numbers that are categories: trees compare their positions, and take others for
        missing.
    """

    column: npt.NDArray[np.int32]
    threshold: FloatArray
    right: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.bool_]
    category: npt.NDArray[np.int32]
    left_categories: npt.NDArray[np.bool_]
    roots: npt.NDArray[np.int32]
    leaves: FloatArray
    base: FloatArray
    scale: float
    link: Callable[[FloatArray], FloatArray]
    single: bool
    missing: float = np.nan
    categories: Mapping[int, FloatArray] = field(default_factory=dict)

    @property
    def linear(self) -> bool:
        """Whether predictions are base + scale * sum, one number per row."""
        return self.link is first

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

    @property
    def trees(self) -> Trees:
        """The trees as arrays for walks, leaf values in whole multiples of a unit."""
        sizes = np.diff(np.append(self.roots, len(self.column)))
        # As many bits as sums over trees leave: as precise as sums of doubles, but exact.
        largest = max(float(np.abs(self.leaves).max(initial=0.0)), LEAST)
        bits = 61 - int(np.ceil(np.log2(len(self.roots)))) - int(np.frexp(largest)[1])
        unit = float(np.ldexp(1.0, -bits))
        return Trees(
            column=self.column,
            threshold=self.threshold,
            missing_left=self.missing_left,
            category=self.category,
            left_categories=self.left_categories,
            right=self.right,
            roots=self.roots,
            leaves=np.rint(self.leaves / unit).astype(np.int64),
            unit=unit,
            stack=int(sizes.max()) // 2 + 1,
        )

    def splits(self, rows: FloatArray) -> Splits:
        """Return one split of all that part the rows, shape (n, columns), in the same way."""
        columns = rows.shape[1]
        of = np.full(len(self.column), LEAF, np.int32)
        # Stable, on few bytes: a radix sort.
        kind = np.int16 if columns < 2**15 else np.int32
        by_column = np.argsort(self.column.astype(kind), kind="stable")
        ends = np.searchsorted(self.column[by_column], np.arange(columns + 1))
        first, categorical = np.zeros(columns + 1, np.int64), np.zeros(columns, np.int64)
        parts = []
        for c in range(columns):
            nodes = by_column[ends[c] : ends[c + 1]]
            numerical, others = nodes[self.category[nodes] < 0], nodes[self.category[nodes] >= 0]
            edges, sides, which = self._edges(numerical, rows[:, c])
            categorical[c] = first[c] + len(edges)
            first[c + 1] = categorical[c] + len(others)
            of[numerical] = first[c] + which
            of[others] = categorical[c] + np.arange(len(others))
            parts.append((edges, sides, np.full(len(edges), -1, np.int32)))
            parts.append((np.zeros(len(others)), self.missing_left[others], self.category[others]))
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
        thresholds, sides = self.threshold[nodes], self.missing_left[nodes]
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


def alike(forests: Sequence[Forest]) -> bool:
    """Whether forests compare inputs, scale sums and have outputs alike."""
    return len({(f.scale, f.single, str(f.missing), f.leaves.shape[1]) for f in forests}) == 1


def joint_forest(
    forests: Sequence[Forest], starts: Sequence[int], link: Callable[[FloatArray], FloatArray]
) -> Forest:
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
    nodes = _before_each([len(f.column) for f in forests])
    leaves = _before_each([len(f.leaves) for f in forests])
    lists = _before_each([len(f.left_categories) for f in forests])
    columns, rights, categories = [], [], []
    for f, start, node, leaf, listed in zip(forests, starts, nodes, leaves, lists, strict=True):
        inner = f.column >= 0
        columns.append(np.where(inner, f.column + start, LEAF))
        rights.append(f.right + np.where(inner, node, leaf))
        categories.append(np.where(f.category >= 0, f.category + listed, -1))
    return replace(
        forests[0],
        column=np.concatenate(columns).astype(np.int32),
        threshold=np.concatenate([f.threshold for f in forests]),
        right=np.concatenate(rights).astype(np.int32),
        missing_left=np.concatenate([f.missing_left for f in forests]),
        category=np.concatenate(categories).astype(np.int32),
        left_categories=_same_width([f.left_categories for f in forests]),
        roots=np.concatenate(
            [f.roots + node for f, node in zip(forests, nodes, strict=True)]
        ).astype(np.int32),
        leaves=np.ascontiguousarray(linalg.block_diag(*[f.leaves for f in forests])),
        base=np.concatenate([f.base for f in forests]),
        link=link,
        categories={
            column + start: seen
            for f, start in zip(forests, starts, strict=True)
            for column, seen in f.categories.items()
        },
    )


def _before_each(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _same_width(tables: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    """Return tables of categories one below the other; the last column stands for all others."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate(
        [np.pad(table, ((0, 0), (0, width - table.shape[1])), mode="edge") for table in tables]
    )


def identity(sums: FloatArray) -> FloatArray:
    """Return sums as they are, one per class."""
    return sums


def first(sums: FloatArray) -> FloatArray:
    """Return the only sum."""
    return sums[..., 0]


def _exponential(sums: FloatArray) -> FloatArray:
    return np.asarray(np.exp(sums[..., 0]))


def sigmoid(sums: FloatArray) -> FloatArray:
    """Return probabilities of two classes, from the only sum."""
    p = special.expit(sums[..., 0])
    return np.stack([1 - p, p], axis=-1)


def _softmax(sums: FloatArray) -> FloatArray:
    return np.asarray(special.softmax(sums, axis=-1))


def link_of(name: str, outputs: int) -> Callable[[FloatArray], FloatArray] | None:
    """Return the function for a postprocessor of treelite; None for one that is not implemented."""
    if name == "identity":
        return first if outputs == 1 else identity
    if outputs == 1:
        return {"sigmoid": sigmoid, "exponential": _exponential}.get(name)
    return {"softmax": _softmax}.get(name)
