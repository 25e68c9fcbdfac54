"""Nodes of trees, collected in preorder, from which a `Forest` is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray
from pyinterp.whatif.forest import LEAF, Forest
from pyinterp.whatif.walks import preorder

__all__ = ["Nodes"]


class Nodes:
    """The nodes of all trees, added one tree after the other and put into preorder."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, ...]] = []
        self.roots: list[int] = []
        self.leaves: list[FloatArray] = []
        self.lists: list[tuple[npt.NDArray[Any], bool]] = []
        self.size = self.leaf_count = 0

    def add(
        self,
        *,
        left: npt.NDArray[Any],
        right: npt.NDArray[Any],
        column: npt.NDArray[Any],
        threshold: npt.NDArray[Any],
        missing_left: npt.NDArray[Any],
        categories: Mapping[int, tuple[npt.NDArray[Any], bool]],
        leaves: FloatArray,
    ) -> None:
        """Add a tree, whose left and right children are -1 at leaves."""
        order = _preorder(left, right)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        is_leaf = left[order] < 0
        child = np.where(is_leaf, 0, place[np.where(is_leaf, 0, right[order])] + self.size)
        child[is_leaf] = self.leaf_count + np.arange(int(is_leaf.sum()))
        category = np.full(len(order), -1, np.int32)
        for q, listed in categories.items():
            category[place[q]] = len(self.lists)
            self.lists.append(listed)
        self.parts.append(
            (
                np.where(is_leaf, LEAF, column[order]).astype(np.int32),
                np.asarray(threshold, dtype=np.float64)[order],
                child.astype(np.int32),
                np.asarray(missing_left, dtype=bool)[order],
                category,
            )
        )
        self.leaves.append(leaves[order][is_leaf])
        self.roots.append(self.size)
        self.size += len(order)
        self.leaf_count += int(is_leaf.sum())

    def forest(
        self,
        *,
        base: FloatArray,
        scale: float,
        link: Callable[[FloatArray], FloatArray],
        single: bool,
        missing: float = np.nan,
        categories: Mapping[int, FloatArray] | None = None,
    ) -> Forest:
        """Return the forest of all trees."""
        column, threshold, right, missing_left, category = (
            np.concatenate([p[k] for p in self.parts]) for k in range(5)
        )
        largest = max((int(c.max()) for c, _ in self.lists if len(c)), default=-1)
        goes_left = np.zeros((max(len(self.lists), 1), largest + 2), dtype=bool)
        for k, (listed, to_left) in enumerate(self.lists):
            goes_left[k] = not to_left  # the last column stands for categories never listed
            goes_left[k, listed] = to_left
        return Forest(
            column=column,
            threshold=threshold,
            right=right,
            missing_left=missing_left,
            category=category,
            left_categories=goes_left,
            roots=np.array(self.roots, dtype=np.int32),
            leaves=np.concatenate(self.leaves),
            base=base,
            scale=scale,
            link=link,
            single=single,
            missing=missing,
            categories=categories or {},
        )


def _preorder(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    inner = np.flatnonzero(left >= 0)
    if (left[inner] == inner + 1).all():  # scikit-learn's trees come in this order
        return np.arange(len(left))
    order = np.empty(len(left), np.int64)
    return order[: preorder(left, right, order)]
