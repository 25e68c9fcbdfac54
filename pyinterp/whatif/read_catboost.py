"""Conversion of CatBoost's symmetric trees of numbers to `Forest`.

All nodes of a level have the same split: bit j of a leaf's number says to which side of split j
its rows are.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pyinterp.whatif.forest import Forest, Nodes
from pyinterp.whatif.links import exponential, first, logistic, softmax

LINKS = {
    "Logloss": logistic, "CrossEntropy": logistic, "MultiClass": softmax,
    "Poisson": exponential, "Tweedie": exponential,
}  # fmt: skip
MOST_LEAVES = 2**22
LISTS = ("float_features_index", "tree_depth", "tree_split_feature_index", "tree_split_border")


def catboost_forest(model: Any) -> Forest | None:
    """Return the trees of a fitted model; None if not symmetric, huge, or not of numbers alone."""
    try:
        params = model.get_all_params()
    except sys.modules["catboost"].CatBoostError:  # of sums of models
        return None
    others = (
        model.get_cat_feature_indices, model.get_text_feature_indices,
        model.get_embedding_feature_indices,
    )  # fmt: skip
    if params.get("grow_policy") != "SymmetricTree" or any(ask() for ask in others):
        return None
    scale, bias = model.get_scale_and_bias()
    base = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    leaves = model.get_leaf_values().reshape(-1, len(base))
    if len(leaves) > MOST_LEAVES:
        return None
    # Of the formats that have all digits the fastest.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.py")
        model.save_model(str(path), format="python")
        code = path.read_text(encoding="utf-8")
    texts = [code.partition(f" {name} = [")[2].partition("]")[0] for name in LISTS]
    used, depths, features, places = (np.array(re.findall(r"\d+", text), np.intp) for text in texts)
    borders = [model.get_borders()[c] for c in used]
    starts = np.cumsum([0, *map(len, borders)])[features]
    # The last stands for the splits of leaves, which have none.
    threshold = np.append(np.concatenate([[], *borders])[starts + places - 1], 0)
    column = np.append(used[features], 0)
    missing_left, nodes = params.get("nan_mode") != "Max", Nodes()
    split, leaf = np.cumsum(depths) - depths, np.cumsum(2**depths) - 2**depths
    for depth in np.unique(depths):
        # Node q has children 2q + 1 and 2q + 2; the last split is at the root.
        some, q = np.flatnonzero(depths == depth), np.arange(2 ** (depth + 1) - 1)
        roots, inner = np.arange(len(some)) * len(q), q < 2**depth - 1
        level = np.log2(q[inner] + 1).astype(np.intp)
        at = np.full((len(some), len(q)), -1)
        at[:, inner] = split[some, None] + depth - 1 - level
        values = np.zeros((*at.shape, len(base)))
        values[:, ~inner] = leaves[leaf[some, None] + np.arange(2**depth)]
        left = np.where(inner, roots[:, None] + 2 * q + 1, -1).ravel()
        nodes.add(
            left=left,
            right=np.where(left < 0, -1, left + 1),
            column=column[at.ravel()],
            threshold=threshold[at.ravel()],
            missing_left=np.full(at.size, missing_left),
            leaves=values.reshape(at.size, -1),
            roots=roots,
        )
    loss = str(params["loss_function"]).partition(":")[0]
    return Forest(
        trees=nodes.trees(), base=base, scale=scale, link=LINKS.get(loss, first), single=True
    )
