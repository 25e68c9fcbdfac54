"""Tree ensembles as flat arrays, read from fitted models, through treelite where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import treelite
from scipy import special
from sklearn.base import is_classifier
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pyinterp.engine.walk import Splits, Trees, preorder
from pyinterp.sample import FloatArray

__all__ = ["Forest", "read_forest"]

LEAF = -1
LEAST = 1e-280  # so that no unit is too small for a double
LARGEST = 2**24  # category; treelite reads a missing one as a huge number
_CATEGORICAL = 2  # treelite's node types: 0 leaf, 1 numerical, 2 categorical
_LESS = 2  # treelite's comparisons: 2 is <, 3 is <=


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
    left_categories : ndarray of bool, shape (categorical nodes, largest category + 1)
        Which categories go to the left.
    roots : ndarray of int32, shape (trees,)
    leaves : ndarray of float64, shape (leaves, outputs)
    base : ndarray of float64, shape (outputs,)
    scale : float
    link : callable
        From sums, shape (..., outputs), to predictions, shape (...) or (..., classes).
    single : bool
        Whether the model compares inputs in single precision.
    known : mapping of int to ndarray
        By column, the categories of the training data, if the model takes others for missing.
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
    known: Mapping[int, FloatArray] = field(default_factory=dict)

    @property
    def linear(self) -> bool:
        """Whether predictions are base + scale * sum, one number per row."""
        return self.link is _first

    def cast(self, inputs: FloatArray, columns: npt.NDArray[np.intp]) -> FloatArray:
        """Return inputs of some columns as the model compares them, in double precision."""
        kind = np.float32 if self.single else np.float64
        made = np.array(np.asarray(inputs, dtype=kind), dtype=np.float64, order="C")
        for j, column in enumerate(columns):
            if int(column) in self.known:
                made[~np.isin(made[:, j], self.known[int(column)]), j] = np.nan
        return made

    def finish(self, sums: FloatArray) -> FloatArray:
        """Return predictions from sums over trees, shape (..., outputs)."""
        return self.link(self.base + self.scale * sums)

    @property
    def trees(self) -> Trees:
        """The trees, as walks want them."""
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
        """Return the splits that part the rows, shape (n, columns), differently."""
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
        """Return numerical splits of a column (thresholds and sides), and which each node has."""
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


def read_forest(estimator: Any) -> Forest | None:
    """Return the trees of a fitted ensemble, or None if it is not one that can be read.

    Reads scikit-learn's trees, random and extra forests, gradient boosting and histogram gradient
    boosting, XGBoost and LightGBM.
    """
    if isinstance(estimator, DecisionTreeClassifier | DecisionTreeRegressor):
        return _of_trees([estimator.tree_], classifier=is_classifier(estimator))
    if isinstance(estimator, ForestClassifier | ForestRegressor):
        trees = [member.tree_ for member in estimator.estimators_]
        return _of_trees(trees, classifier=is_classifier(estimator))
    model = _treelite(estimator)
    return None if model is None else _of_treelite(model, estimator)


def _treelite(estimator: Any) -> Any:
    package = type(estimator).__module__.partition(".")[0]
    try:
        if package == "sklearn":
            with np.errstate(invalid="ignore"):  # a missing value among the categories
                return treelite.sklearn.import_model(estimator)
        if package == "xgboost" and estimator.get_params().get("booster") != "gblinear":
            return treelite.frontend.from_xgboost(estimator.get_booster())
        if package == "lightgbm":
            return treelite.frontend.from_lightgbm(estimator.booster_)
    except (treelite.TreeliteError, NotImplementedError, AttributeError, TypeError, ValueError):
        return None
    return None


def _of_trees(trees: list[Any], *, classifier: bool) -> Forest | None:
    """Read scikit-learn's trees, which are in preorder and are averaged, without a copy."""
    values = np.concatenate([np.asarray(tree.value, dtype=np.float64) for tree in trees])
    if values.shape[1] != 1:  # several responses
        return None
    sizes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    column = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
    is_leaf = column < 0
    right = np.concatenate([tree.children_right for tree in trees]).astype(np.int32)
    right += np.repeat(roots, sizes)
    right[is_leaf] = np.arange(int(is_leaf.sum()), dtype=np.int32)
    column[is_leaf] = LEAF
    leaves = values[is_leaf, 0, :]
    if classifier:
        leaves = leaves / leaves.sum(axis=1, keepdims=True)
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
        link=_identity if classifier else _first,
        single=True,
    )


def _of_treelite(model: Any, estimator: Any) -> Forest | None:
    header = model.get_header_accessor()
    if int(header.get_field("num_target")[0]) != 1:
        return None
    outputs = int(header.get_field("num_class")[0])
    classes = header.get_field("class_id")
    vectors = int(np.prod(header.get_field("leaf_vector_shape"))) > 1
    link = _link(str(header.get_field("postprocessor")), outputs)
    if link is None:
        return None
    nodes = _Nodes()
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
    histogram = "HistGradientBoosting" in type(estimator).__name__
    return nodes.forest(
        # A copy: treelite gives views of memory that goes with its model.
        base=np.array(header.get_field("base_scores"), dtype=np.float64),
        scale=1.0 / model.num_tree if averaged else 1.0,
        link=link,
        single=package == "xgboost" or (package == "sklearn" and not histogram),
        known=_categories(estimator) if histogram else {},
    )


def _categories(estimator: Any) -> dict[int, FloatArray]:
    """Return the training data's categories, by column, of histogram gradient boosting."""
    if getattr(estimator, "is_categorical_", None) is None:
        return {}
    encoder = estimator._preprocessor.named_transformers_["encoder"]
    columns = np.flatnonzero(estimator.is_categorical_).tolist()
    return dict(zip(columns, map(np.asarray, encoder.categories_), strict=True))


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
    """Return, for every categorical node, its list and whether the list goes to the left."""
    if not int(get("has_categorical_split")[0]):
        return {}
    listed, begin, end = (get(f"category_list{part}") for part in ("", "_begin", "_end"))
    to_right = get("category_list_right_child")
    return {
        int(q): (_in_use(listed[int(begin[q]) : int(end[q])]), not to_right[q])
        for q in np.flatnonzero(get("node_type") == _CATEGORICAL)
    }


def _in_use(categories: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return categories without what stands for a missing value."""
    codes = categories.astype(np.int64)
    return codes[(codes >= 0) & (codes < LARGEST)]


class _Nodes:
    """Trees collected one after the other, put into preorder."""

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
        known: Mapping[int, FloatArray],
    ) -> Forest:
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
            known=known,
        )


def _preorder(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    inner = np.flatnonzero(left >= 0)
    if (left[inner] == inner + 1).all():  # scikit-learn's trees come in this order
        return np.arange(len(left))
    order = np.empty(len(left), np.int64)
    return order[: preorder(left, right, order)]


def _identity(sums: FloatArray) -> FloatArray:
    return sums


def _first(sums: FloatArray) -> FloatArray:
    return sums[..., 0]


def _exponential(sums: FloatArray) -> FloatArray:
    return np.asarray(np.exp(sums[..., 0]))


def _sigmoid(sums: FloatArray) -> FloatArray:
    p = special.expit(sums[..., 0])
    return np.stack([1 - p, p], axis=-1)


def _softmax(sums: FloatArray) -> FloatArray:
    return np.asarray(special.softmax(sums, axis=-1))


def _link(name: str, outputs: int) -> Callable[[FloatArray], FloatArray] | None:
    """Return treelite's postprocessor; None if there is none like it here."""
    if name == "identity":
        return _first if outputs == 1 else _identity
    if outputs == 1:
        return {"sigmoid": _sigmoid, "exponential": _exponential}.get(name)
    return {"softmax": _softmax}.get(name)
