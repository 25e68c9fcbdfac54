"""Conversion of fitted tree ensembles to `Forest`, through treelite for boosted trees."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import treelite
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.ensemble._forest import BaseForest
from sklearn.tree import BaseDecisionTree

from pyinterp._typing import FloatArray
from pyinterp.models.predictor import Kind
from pyinterp.whatif.calibration import mean_link, members, side_by_side
from pyinterp.whatif.forest import Categories, Forest, Nodes, joint_forest
from pyinterp.whatif.inputs import Levels
from pyinterp.whatif.links import Link, exponential, first, identity, logistic, softmax
from pyinterp.whatif.read_catboost import catboost_forest
from pyinterp.whatif.read_histogram_boosting import histogram_forest

LARGEST = 2**24  # category; treelite reads a missing one as a huge number
_CATEGORICAL = 2  # treelite's node types: 0 leaf, 1 numerical, 2 categorical
_LESS = 2  # treelite's comparisons: 2 is <, 3 is <=
NO_CATEGORIES: Mapping[str, list[Any]] = {"enc": [], "feature_segments": [], "sorted_idx": []}
# What nodes of scikit-learn's trees hold: another field would be another kind of split.
NODE = {"left_child", "right_child", "feature", "threshold", "missing_go_to_left"}
NODE |= {"impurity", "n_node_samples", "weighted_n_node_samples"}
# Treelite's postprocessors, for one output and for several.
_OF_ONE: dict[str, Link] = {"identity": first, "sigmoid": logistic, "exponential": exponential}
_OF_SEVERAL: dict[str, Link] = {"identity": identity, "softmax": softmax}


def read_forest(estimator: Any, kind: Kind) -> Forest | None:
    """Return the trees of a fitted ensemble; None for other models, and for labels.

    Reads scikit-learn's trees, random and extra forests, gradient boosting and histogram gradient
    boosting, XGBoost, LightGBM and CatBoost, and calibrated ones.
    """
    if kind == "label":
        return None
    if isinstance(estimator, CalibratedClassifierCV):
        return _calibrated_forest(estimator)
    if isinstance(estimator, BaseDecisionTree | BaseForest):
        return _of_trees(estimator)
    model, package = None, type(estimator).__module__.partition(".")[0]
    histograms = HistGradientBoostingClassifier | HistGradientBoostingRegressor
    if package == "catboost" or isinstance(estimator, histograms):
        return (catboost_forest if package == "catboost" else histogram_forest)(estimator)
    levels: Levels = ()
    try:
        if isinstance(estimator, GradientBoostingClassifier | GradientBoostingRegressor):
            model = treelite.sklearn.import_model(estimator)
        elif package == "xgboost" and estimator.booster != "gblinear":
            model, levels = _xgboost_model(estimator)
        elif package == "lightgbm" and not estimator.get_params().get("zero_as_missing"):
            model = treelite.frontend.from_lightgbm(estimator.booster_)
            levels = estimator.booster_.pandas_categorical or ()  # of category columns, in order
    except (treelite.TreeliteError, NotImplementedError, AttributeError, TypeError, ValueError):
        return None
    return None if model is None else _of_treelite(model, estimator, levels)


def _calibrated_forest(estimator: Any) -> Forest | None:
    """Return the trees of all models in a calibrated classifier; None if they can't be joined."""
    inside, forests = members(estimator), []
    for member in inside:
        forest = read_forest(member.last.model, "probability")
        if forest is None:
            return None
        if len(member.calibrators) == 1 and forest.link is identity and not member.scores:
            # Of two classes the calibrator is given the second only.
            leaves = np.ascontiguousarray(forest.trees.leaves[:, -1:])
            trees = forest.trees._replace(leaves=leaves)
            forest = replace(forest, trees=trees, base=forest.base[-1:])
        forests.append(forest)
    if len({(f.scale, f.single, str(f.missing), len(f.base)) for f in forests}) != 1:
        return None
    levels, link = (
        [forest.levels for forest in forests],
        mean_link([f.link for f in forests], inside),
    )
    codes = [{c: x.tolist() for c, x in forest.categories.items()} for forest in forests]
    same = levels == levels[:1] * len(levels) and codes == codes[:1] * len(codes)
    if same and all(member.last.before is None for member in inside):
        return joint_forest(forests, [0] * len(forests), link)
    widths = [int(member.last.model.n_features_in_) for member in inside]
    joint = joint_forest(forests, np.cumsum([0, *widths[:-1]]).tolist(), link)
    return replace(joint, before=side_by_side(inside, levels))


def _of_trees(estimator: Any) -> Forest | None:
    """Return the forest of scikit-learn's trees, which are averaged."""
    nodes, classifier = Nodes(), is_classifier(estimator)
    every = getattr(estimator, "estimators_", [estimator])
    fitted = [member.tree_ for member in every if hasattr(member, "tree_")]
    if not fitted or fitted[0].value.shape[1] != 1:  # several responses
        return None
    if set(fitted[0].__getstate__()["nodes"].dtype.names) != NODE:
        return None
    for tree in fitted:
        leaves = np.asarray(tree.value[:, 0, :], dtype=np.float64)
        if classifier:  # as shares: older trees have counts
            leaves = leaves / leaves.sum(axis=1, keepdims=True)
        nodes.add(
            left=tree.children_left,
            right=tree.children_right,
            column=tree.feature,
            threshold=tree.threshold,
            missing_left=tree.missing_go_to_left,
            leaves=leaves,
        )
    trees = nodes.trees()
    return Forest(
        trees=trees,
        base=np.zeros(trees.leaves.shape[1]),
        scale=1.0 / len(trees.roots),
        link=identity if classifier else first,
        single=True,
    )


def _of_treelite(model: Any, estimator: Any, levels: Levels) -> Forest | None:
    """Return the forest of a model of treelite; None for several responses or an unknown link."""
    header = model.get_header_accessor()
    if int(header.get_field("num_target")[0]) != 1:
        return None
    outputs = int(header.get_field("num_class")[0])
    classes = header.get_field("class_id")
    vectors = int(np.prod(header.get_field("leaf_vector_shape"))) > 1
    links = _OF_ONE if outputs == 1 else _OF_SEVERAL
    link = links.get(str(header.get_field("postprocessor")))
    if link is None:
        return None
    parts, categories, roots, start = [], {}, [], 0
    for t in range(model.num_tree):
        get = model.get_tree_accessor(t).get_field
        left, right = get("cleft"), get("cright")
        parts.append(
            (
                np.where(left < 0, -1, left + start), np.where(right < 0, -1, right + start),
                get("split_index"), get("threshold"), get("cmp"), get("default_left"),
                _leaves(get, left, outputs, None if vectors else int(classes[t])),
            )
        )  # fmt: skip
        categories.update({start + q: of for q, of in _left_categories(get).items()})
        roots.append(start)
        start += len(left)
    left, right, column, threshold, compare, missing_left, leaves = map(
        np.concatenate, zip(*parts, strict=True)
    )
    # x < t is x <= the number before t, in the precision in which the model compares.
    below = np.nextafter(threshold, threshold.dtype.type(-np.inf))
    nodes = Nodes()
    nodes.add(
        left=left,
        right=right,
        column=column,
        threshold=np.where(compare == _LESS, below, threshold),
        missing_left=missing_left,
        categories=categories,
        leaves=leaves,
        roots=np.array(roots),
    )
    averaged = bool(header.get_field("average_tree_output")[0])
    package = type(estimator).__module__.partition(".")[0]
    return Forest(
        trees=nodes.trees(),
        # A copy: treelite gives views of memory that goes with its model.
        base=np.array(header.get_field("base_scores"), dtype=np.float64),
        scale=1.0 / model.num_tree if averaged else 1.0,
        link=link,
        single=package in ("xgboost", "sklearn"),
        single_sums=package == "xgboost",
        missing=float(estimator.missing) if package == "xgboost" else np.nan,
        levels=levels,
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


def _left_categories(get: Callable[[str], Any]) -> Categories:
    """Return the categories of nodes, without the codes that stand for missing values."""
    if not int(get("has_categorical_split")[0]):
        return {}
    listed, begin, end = (get(f"category_list{part}") for part in ("", "_begin", "_end"))
    to_right = get("category_list_right_child")
    categories = {}
    for q in np.flatnonzero(get("node_type") == _CATEGORICAL):
        codes = listed[int(begin[q]) : int(end[q])].astype(np.int64)
        in_use = codes[(codes >= 0) & (codes < LARGEST)]
        categories[int(q)] = in_use, not to_right[q]
    return categories


def _xgboost_model(estimator: Any) -> tuple[Any, Levels]:
    """Return a fitted model as one of treelite, and the levels behind codes by column, if stored.

    Of early stopping the trees that predict are those up to the best iteration. treelite reads no
    model that stores the levels: they are taken out, and trees compare codes.
    """
    booster = whole = estimator.get_booster()
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    if "c" not in (booster.feature_types or ()):
        return treelite.frontend.from_xgboost(booster), {}
    content, stored = json.loads(booster.save_raw("json")), json.loads(whole.save_raw("json"))
    _xgboost_trees(content)["cats"] = NO_CATEGORIES
    # A part of the trees comes without the levels.
    levels = map(_xgboost_levels, _xgboost_trees(stored).get("cats", NO_CATEGORIES)["enc"])
    model = treelite.frontend.from_xgboost_json(json.dumps(content))
    return model, {j: of for j, of in enumerate(levels) if of}


def _xgboost_trees(content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a model that holds its trees; in `dart` it is a level deeper."""
    booster = content["learner"]["gradient_booster"]
    trees: dict[str, Any] = booster.get("gbtree", booster)["model"]
    return trees


def _xgboost_levels(encoding: Mapping[str, Any]) -> list[Any]:
    """Return levels in the order of their codes: numbers, or texts that are stored in a row."""
    values = encoding["values"]
    if "offsets" not in encoding:
        return list(values)
    text, ends = bytes(v % 256 for v in values), encoding["offsets"]
    return [text[a:b].decode() for a, b in itertools.pairwise(ends)]
