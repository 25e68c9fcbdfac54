"""Conversion of fitted tree ensembles to `Forest`, through treelite for boosted trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import treelite
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pyinterp._typing import FloatArray
from pyinterp.whatif.forest import LEAF, Forest, first, identity, link_of
from pyinterp.whatif.inputs import Levels
from pyinterp.whatif.nodes import Nodes
from pyinterp.whatif.read_histogram_boosting import histogram_forest, levels_by_column
from pyinterp.whatif.read_xgboost import stored_levels, xgboost_model

__all__ = ["levels_of", "read_forest"]

LARGEST = 2**24  # category; treelite reads a missing one as a huge number
_CATEGORICAL = 2  # treelite's node types: 0 leaf, 1 numerical, 2 categorical
_LESS = 2  # treelite's comparisons: 2 is <, 3 is <=


def read_forest(estimator: Any) -> Forest | None:
    """Return the trees of a fitted ensemble; None for other models.

    Reads scikit-learn's trees, random and extra forests, gradient boosting and histogram gradient
    boosting, XGBoost and LightGBM.
    """
    single = isinstance(estimator, DecisionTreeClassifier | DecisionTreeRegressor)
    if single or isinstance(estimator, ForestClassifier | ForestRegressor):
        fitted = [estimator] if single else getattr(estimator, "estimators_", [])
        trees = [member.tree_ for member in fitted if hasattr(member, "tree_")]
        return _of_trees(trees, classifier=is_classifier(estimator)) if trees else None
    if isinstance(estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return histogram_forest(estimator)
    model = _treelite(estimator)
    return None if model is None else _of_treelite(model, estimator)


def levels_of(estimator: Any) -> Levels:
    """Return the levels by which an ensemble codes categories.

    LightGBM codes columns of the type category, in order; the others those that they name.
    """
    if isinstance(estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return levels_by_column(estimator)
    if type(estimator).__module__.startswith("xgboost"):
        return stored_levels(estimator)
    return getattr(getattr(estimator, "booster_", None), "pandas_categorical", None) or ()


def _treelite(estimator: Any) -> Any:
    """Return an ensemble as a model of treelite; None if treelite can't read it."""
    package = type(estimator).__module__.partition(".")[0]
    try:
        if package == "sklearn":
            return treelite.sklearn.import_model(estimator)
        if package == "xgboost" and estimator.get_params().get("booster") != "gblinear":
            return xgboost_model(estimator)
        if package == "lightgbm" and not estimator.get_params().get("zero_as_missing"):
            return treelite.frontend.from_lightgbm(estimator.booster_)
    except (treelite.TreeliteError, NotImplementedError, AttributeError, TypeError, ValueError):
        return None
    return None


def _of_trees(trees: list[Any], *, classifier: bool) -> Forest | None:
    """Return the forest of scikit-learn's trees, which are averaged; most are in preorder."""
    values = np.concatenate([np.asarray(tree.value, dtype=np.float64) for tree in trees])
    if values.shape[1] != 1:  # several responses
        return None
    if any(
        (t.children_left[t.feature >= 0] != np.flatnonzero(t.feature >= 0) + 1).any() for t in trees
    ):  # grown best first
        return _reorder(trees, classifier=classifier)
    sizes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    column = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
    is_leaf = column < 0
    right = np.concatenate([tree.children_right for tree in trees]).astype(np.int32)
    right += np.repeat(roots, sizes)
    right[is_leaf] = np.arange(int(is_leaf.sum()), dtype=np.int32)
    column[is_leaf] = LEAF
    leaves = _shares(values[is_leaf, 0, :], classifier=classifier)
    return Forest(
        column=column,
        threshold=np.concatenate([tree.threshold for tree in trees]),
        right=right,
        missing_left=np.concatenate([tree.missing_go_to_left for tree in trees]).astype(bool),
        category=np.full(len(column), -1, np.int32),
        left_categories=np.zeros((1, 1), dtype=bool),
        roots=roots,
        leaves=np.ascontiguousarray(leaves),
        base=np.zeros(leaves.shape[1]),
        scale=1.0 / len(trees),
        link=identity if classifier else first,
        single=True,
    )


def _reorder(trees: list[Any], *, classifier: bool) -> Forest:
    nodes = Nodes()
    for tree in trees:
        leaves = _shares(np.asarray(tree.value, dtype=np.float64)[:, 0, :], classifier=classifier)
        nodes.add(
            left=tree.children_left,
            right=tree.children_right,
            column=tree.feature,
            threshold=tree.threshold,
            missing_left=tree.missing_go_to_left,
            categories={},
            leaves=leaves,
        )
    outputs = nodes.leaves[0].shape[1]
    return nodes.forest(
        base=np.zeros(outputs),
        scale=1.0 / len(trees),
        link=identity if classifier else first,
        single=True,
    )


def _shares(leaves: FloatArray, *, classifier: bool) -> FloatArray:
    """Return leaf values; of classes as shares, since older trees have counts."""
    return leaves / leaves.sum(axis=1, keepdims=True) if classifier else leaves


def _of_treelite(model: Any, estimator: Any) -> Forest | None:
    """Return the forest of a model of treelite; None for several responses or an unknown link."""
    header = model.get_header_accessor()
    if int(header.get_field("num_target")[0]) != 1:
        return None
    outputs = int(header.get_field("num_class")[0])
    classes = header.get_field("class_id")
    vectors = int(np.prod(header.get_field("leaf_vector_shape"))) > 1
    link = link_of(str(header.get_field("postprocessor")), outputs)
    if link is None:
        return None
    nodes = Nodes()
    for t in range(model.num_tree):
        get = model.get_tree_accessor(t).get_field
        left = get("cleft")
        leaves = _leaves(get, left, outputs, None if vectors else int(classes[t]))
        threshold = np.asarray(get("threshold"))
        strict = get("cmp") == _LESS
        # x < t is x <= the number before t, in the precision in which the model compares.
        below = np.nextafter(threshold, threshold.dtype.type(-np.inf))
        nodes.add(
            left=left,
            right=get("cright"),
            column=get("split_index"),
            threshold=np.where(strict, below, threshold),
            missing_left=get("default_left"),
            categories=_left_categories(get),
            leaves=leaves,
        )
    averaged = bool(header.get_field("average_tree_output")[0])
    package = type(estimator).__module__.partition(".")[0]
    return nodes.forest(
        # A copy: treelite gives views of memory that goes with its model.
        base=np.array(header.get_field("base_scores"), dtype=np.float64),
        scale=1.0 / model.num_tree if averaged else 1.0,
        link=link,
        single=package in ("xgboost", "sklearn"),
        missing=float(estimator.get_params()["missing"]) if package == "xgboost" else np.nan,
    )


def _leaves(
    get: Callable[[str], Any], left: npt.NDArray[Any], outputs: int, output: int | None
) -> FloatArray:
    values = np.zeros((len(left), outputs))
    if output is not None:
        values[:, output] = get("leaf_value")
        return values
    vector, begin = np.asarray(get("leaf_vector"), dtype=np.float64), get("leaf_vector_begin")
    for q in np.flatnonzero(left < 0):
        values[q] = vector[int(begin[q]) : int(begin[q]) + outputs]
    return values


def _left_categories(get: Callable[[str], Any]) -> dict[int, tuple[npt.NDArray[Any], bool]]:
    """Return, by categorical node, its list of categories and whether they go to the left."""
    if not int(get("has_categorical_split")[0]):
        return {}
    listed, begin, end = (get(f"category_list{part}") for part in ("", "_begin", "_end"))
    to_right = get("category_list_right_child")
    return {
        int(q): (_in_use(listed[int(begin[q]) : int(end[q])]), not to_right[q])
        for q in np.flatnonzero(get("node_type") == _CATEGORICAL)
    }


def _in_use(categories: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return categories without the codes that stand for missing values."""
    codes = categories.astype(np.int64)
    return codes[(codes >= 0) & (codes < LARGEST)]
