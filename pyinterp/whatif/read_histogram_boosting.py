"""Conversion of scikit-learn's histogram gradient boosting to `Forest`, with its categories.

The model codes categories by an encoder of its own, whose codes the trees compare. A category that
training did not have is missing to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.whatif.forest import Forest, link_of
from pyinterp.whatif.nodes import Nodes

__all__ = ["histogram_forest", "levels_by_column"]

LINKS = {
    "IdentityLink": "identity",
    "LogLink": "exponential",
    "LogitLink": "sigmoid",
    "MultinomialLogit": "softmax",
}
BITS = 32  # of a word of the sets of categories that go to the left


def histogram_forest(estimator: Any) -> Forest | None:
    """Return the trees of a fitted model; None for an unknown link."""
    base = np.ravel(estimator._baseline_prediction).astype(np.float64)
    link = link_of(LINKS.get(type(estimator._loss.link).__name__, ""), len(base))
    if link is None:
        return None
    place, nodes = _places(estimator), Nodes()
    for stage in estimator._predictors:
        for output, tree in enumerate(stage):
            _add(nodes, tree, place, output, len(base))
    return nodes.forest(
        base=base, scale=1.0, link=link, single=False, categories=_numeric_categories(estimator)
    )


def levels_by_column(estimator: Any) -> Mapping[int, Sequence[Any] | None]:
    """Return the levels of columns of categories, by column, in order; None for numbers."""
    every = _categories(estimator)
    return {j: None if _are_numbers(c) else c.tolist() for j, c in every.items()}


def _add(nodes: Nodes, tree: Any, place: npt.NDArray[np.intp], output: int, outputs: int) -> None:
    """Add one tree, whose columns are those of the encoder's output."""
    of, is_leaf = tree.nodes, tree.nodes["is_leaf"].astype(bool)
    categorical = np.flatnonzero(of["is_categorical"].astype(bool) & ~is_leaf)
    leaves = np.zeros((len(of), outputs))
    leaves[:, output] = of["value"]
    nodes.add(
        left=np.where(is_leaf, -1, of["left"].astype(np.int64)),
        right=np.where(is_leaf, -1, of["right"].astype(np.int64)),
        column=place[np.where(is_leaf, 0, of["feature_idx"])],
        threshold=of["num_threshold"],
        missing_left=of["missing_go_to_left"],
        categories={
            int(q): (_members(tree.raw_left_cat_bitsets[of["bitset_idx"][q]]), True)
            for q in categorical
        },
        leaves=leaves,
    )


def _members(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Return the numbers whose bits are set."""
    bits = (words[:, None] >> np.arange(BITS, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel()).astype(np.int64)


def _places(estimator: Any) -> npt.NDArray[np.intp]:
    """Return the user's column of every column that the trees split: categories come first."""
    categorical = estimator.is_categorical_
    if categorical is None:
        return np.arange(estimator.n_features_in_)
    return np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])


def _categories(estimator: Any) -> dict[int, npt.NDArray[Any]]:
    """Return the categories of the training data by column, without the missing one, the last."""
    if estimator.is_categorical_ is None:
        return {}
    encoder = estimator._preprocessor.named_transformers_["encoder"]
    columns = np.flatnonzero(estimator.is_categorical_).tolist()
    observed = (np.asarray(c)[~pd.isna(np.asarray(c))] for c in encoder.categories_)
    return dict(zip(columns, observed, strict=True))


def _are_numbers(categories: npt.NDArray[Any]) -> bool:
    return categories.dtype.kind in "biuf"


def _numeric_categories(estimator: Any) -> dict[int, FloatArray]:
    """Return the categories that are numbers, by column: their codes are their positions."""
    every = _categories(estimator)
    return {j: c.astype(np.float64) for j, c in every.items() if _are_numbers(c)}
