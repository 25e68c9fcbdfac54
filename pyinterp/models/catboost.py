"""What CatBoost needs.

All nodes of a level of its symmetric trees have the same split: bit j of a leaf's number says to
which side of split j its rows are.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import OptionError
from pyinterp.models.library import RANKING, Library
from pyinterp.models.links import exponential, logistic, only_sum, softmax
from pyinterp.models.objectives import aim_by_words
from pyinterp.models.trees import Ensemble, TreeNodes

LINKS = {
    "Logloss": logistic, "CrossEntropy": logistic, "MultiClass": softmax,
    "Poisson": exponential, "Tweedie": exponential,
}  # fmt: skip
MOST_LEAVES = 2**22
LISTS = ("float_features_index", "tree_depth", "tree_split_feature_index", "tree_split_border")
# Losses whose `predict` is on another scale than the response, by the kind of prediction that is
# not.
SCORES = {
    "Probability": {"CrossEntropy", "Focal", "Logloss", "MultiClass", "MultiClassOneVsAll"},
    "Exponent": {"Poisson", "Tweedie"},
}


def _check(model: Any) -> None:
    """Raise `OptionError` if a model of the general class predicts scores."""
    if type(model).__name__ != "CatBoost":
        return
    # Read from a file, it has no parameters of its own.
    params = model.get_all_params() if model.is_fitted() else model.get_params()
    loss = str(params.get("loss_function", params.get("objective", "RMSE")))
    for kind, losses in SCORES.items():
        if loss.partition(":")[0] in losses:
            classes = ", with `classes=`" if kind == "Probability" else ""
            raise OptionError(
                f"Predictions must be on the scale of the response, but CatBoost with the loss "
                f"{loss} predicts scores; use CatBoostClassifier or CatBoostRegressor, or give "
                "pi.FittedModel the function "
                f'`lambda X: model.predict(X, prediction_type="{kind}")`{classes}.'
            )


def _stops(_: Any, rounds: int) -> Mapping[str, Any]:
    """Return options of `fit` that stop training after so many rounds without gain."""
    return {"early_stopping_rounds": rounds, "verbose": False}


def _trees(model: Any) -> Ensemble | None:
    """Return the trees of a fitted model; None if not symmetric, huge, or not of numbers alone."""
    params = model.get_all_params()  # sums of models have none
    others = (
        model.get_cat_feature_indices, model.get_text_feature_indices,
        model.get_embedding_feature_indices,
    )  # fmt: skip
    if params.get("grow_policy") != "SymmetricTree" or any(ask() for ask in others):
        return None
    scale, bias = model.get_scale_and_bias()
    base = np.atleast_1d(np.asarray(bias, np.float64))
    leaves = model.get_leaf_values().reshape(-1, len(base))
    if len(leaves) > MOST_LEAVES:
        return None
    # Of the formats that have all digits the fastest.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.py")
        model.save_model(str(path), format="python")
        code = path.read_text(encoding="utf-8")
    # Its lists of whole numbers; borders and leaves are the model's own.
    texts = [code.partition(f" {name} = [")[2].partition("]")[0] for name in LISTS]
    lists = [np.array(re.findall(r"\d+", text), np.intp) for text in texts]
    loss = str(params["loss_function"]).partition(":")[0]
    return Ensemble(
        nodes=_nodes(lists, model.get_borders(), leaves, params.get("nan_mode") != "Max"),
        base=base,
        scale=scale,
        link=LINKS.get(loss, only_sum),
        single=True,  # values are compared in single precision
    )


def _nodes(
    lists: Sequence[IntArray], every: Mapping[int, Any], leaves: FloatArray, missing_left: bool
) -> Iterator[TreeNodes]:
    """Yield the trees of every depth."""
    used, depths, features, places = lists
    borders = [every[c] for c in used]
    starts = np.cumsum([0, *map(len, borders)])[features]
    # The last stands for the splits of leaves, which have none.
    threshold = np.append(np.concatenate([[], *borders])[starts + places - 1], 0)
    column = np.append(used[features], 0)
    split, leaf = np.cumsum(depths) - depths, np.cumsum(2**depths) - 2**depths
    for depth in np.unique(depths):
        # Node q has children 2q + 1 and 2q + 2; the last split is at the root.
        some, q = np.flatnonzero(depths == depth), np.arange(2 ** (depth + 1) - 1)
        roots, inner = np.arange(len(some)) * len(q), q < 2**depth - 1
        level = np.log2(q[inner] + 1).astype(np.intp)
        at = np.full((len(some), len(q)), -1)
        at[:, inner] = split[some, None] + depth - 1 - level
        values = np.zeros((*at.shape, leaves.shape[1]))
        values[:, ~inner] = leaves[leaf[some, None] + np.arange(2**depth)]
        left = np.where(inner, roots[:, None] + 2 * q + 1, -1).ravel()
        yield TreeNodes(
            left=left,
            right=np.where(left < 0, -1, left + 1),
            column=column[at.ravel()],
            threshold=threshold[at.ravel()],
            missing_left=np.full(at.size, missing_left),
            leaves=values.reshape(at.size, -1),
            roots=roots,
        )


CATBOOST = Library(
    package="catboost",
    families={"boosting": r"catboost\..*"},
    defaults={"random_seed": 0, "thread_count": -1},
    check=_check,
    rates="trained",  # in training it starts at a rate of 1 in any unit
    aim=aim_by_words,
    validation={},
    stops=_stops,
    names=lambda model: getattr(model, "feature_names_", None),
    default_name="{}",
    categories=lambda model: getattr(model, "get_cat_feature_indices", list)(),
    trees=_trees,
    remedies={
        "Bad value for num_feature": "name columns of texts in `cat_features` or `text_features`.",
        "it means no categorical features": (
            "an array of numbers has no categories: pass a data frame in which they are texts or "
            'whole numbers, and with a formula `design="frame"`.'
        ),
        "Invalid type for cat_feature": (
            "categories must be texts or whole numbers, none of them missing: fill and convert "
            "them, `X['g'].fillna('missing').astype(str)`."
        ),
        "require nontrivial groups": RANKING,
    },
)
