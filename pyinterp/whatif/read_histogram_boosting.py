"""Conversion of scikit-learn's histogram gradient boosting to `Forest`, with its categories.

The model has an encoder of categories, whose codes the trees compare. A category that
training did not have is missing to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.whatif.forest import Forest, Nodes
from pyinterp.whatif.links import Link, exponential, first, logistic, softmax

LINKS: Mapping[str, Link] = {
    "IdentityLink": first,
    "LogLink": exponential,
    "LogitLink": logistic,
    "MultinomialLogit": softmax,
}
BITS = 32  # of a word of the sets of categories that go to the left


def histogram_forest(estimator: Any) -> Forest | None:
    """Return the trees of a fitted model; None for an unknown link."""
    base = np.ravel(estimator._baseline_prediction).astype(np.float64)
    link = LINKS.get(type(estimator._loss.link).__name__)
    if link is None:
        return None
    every, columns = _categories(estimator), np.arange(estimator.n_features_in_)
    place = np.concatenate([list(every), np.setdiff1d(columns, list(every))]).astype(np.intp)
    nodes = Nodes()
    for stage in estimator._predictors:
        for output, tree in enumerate(stage):
            fields, is_leaf = tree.nodes, tree.nodes["is_leaf"].astype(bool)
            leaves = np.zeros((len(fields), len(base)))
            leaves[:, output] = fields["value"]
            categories = {}
            for q in np.flatnonzero(fields["is_categorical"].astype(bool) & ~is_leaf):
                words = tree.raw_left_cat_bitsets[fields["bitset_idx"][q]]
                categories[int(q)] = _members(words), True
            nodes.add(
                left=np.where(is_leaf, -1, fields["left"].astype(np.int64)),
                right=np.where(is_leaf, -1, fields["right"].astype(np.int64)),
                # The trees split columns of categories first.
                column=place[np.where(is_leaf, 0, fields["feature_idx"])],
                threshold=fields["num_threshold"],
                missing_left=fields["missing_go_to_left"],
                leaves=leaves,
                categories=categories,
            )
    numbers = {j for j, c in every.items() if c.dtype.kind in "biuf"}
    return Forest(
        trees=nodes.trees(),
        base=base,
        scale=1.0,
        link=link,
        single=False,
        levels={j: None if j in numbers else c.tolist() for j, c in every.items()},
        categories={j: every[j].astype(np.float64) for j in numbers},
    )


def _members(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Return the numbers whose bits are set."""
    bits = (words[:, None] >> np.arange(BITS, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel()).astype(np.int64)


def _categories(estimator: Any) -> dict[int, npt.NDArray[Any]]:
    """Return the categories of the training data by column, without the missing one, the last."""
    if estimator.is_categorical_ is None:
        return {}
    encoder = estimator._preprocessor.named_transformers_["encoder"]
    columns = np.flatnonzero(estimator.is_categorical_).tolist()
    observed = (np.asarray(c)[~pd.isna(np.asarray(c))] for c in encoder.categories_)
    return dict(zip(columns, observed, strict=True))
