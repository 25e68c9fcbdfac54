"""Trees of a fitted ensemble as plain arrays, of whatever library it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.models.links import Link, exponential, identity, logistic, only_sum, softmax
from pyinterp.representation import frozen

# A model's own levels: of all columns of the type category, in order, or of columns by position;
# None for a column whose levels are numbers, which stay as they are.
Levels = Sequence[Sequence[Any]] | Mapping[int, Sequence[Any] | None]
# By categorical node, categories, and whether these are what goes to the left.
Categories = Mapping[int, tuple[npt.NDArray[np.int64], bool]]

ONE_ROOT = np.zeros(1, np.intp)
LARGEST = 2**24  # category; treelite reads a missing one as a huge number
_CATEGORICAL = 2  # treelite's node types: 0 leaf, 1 numerical, 2 categorical
_LESS = 2  # treelite's comparisons: 2 is <, 3 is <=
# Treelite's postprocessors, for one output and for several.
_OF_ONE = {"identity": only_sum, "sigmoid": logistic, "exponential": exponential}
_OF_SEVERAL = {"identity": identity, "softmax": softmax}


class TreeNodes(NamedTuple):
    """Nodes of some trees.

    Attributes
    ----------
    left, right : ndarray of int
        Children; -1 at leaves.
    column : ndarray of int
    threshold : ndarray of float
        Up to it values go to the left.
    missing_left : ndarray
        Whether missing values go to the left.
    leaves : ndarray of shape (nodes, outputs)
    categories : mapping
        Of categorical nodes.
    roots : ndarray of int
    """

    left: npt.NDArray[np.integer]
    right: npt.NDArray[np.integer]
    column: npt.NDArray[np.integer]
    threshold: npt.NDArray[np.floating]
    missing_left: npt.NDArray[np.generic]
    leaves: FloatArray
    categories: Categories = {}  # noqa: RUF012 - never changed
    roots: IntArray = ONE_ROOT


@frozen
class Ensemble:
    """Trees: f(x) = link(base + scale * sum over trees of the leaf that x reaches).

    Attributes
    ----------
    nodes : iterable of TreeNodes
        Of all trees; they are read once.
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
    categories : mapping of int to ndarray
        By column, numbers that are categories: trees compare their positions, and take others for
        missing.
    """

    nodes: Iterable[TreeNodes]
    base: FloatArray
    scale: float = 1.0
    link: Link
    single: bool = False
    single_sums: bool = False
    missing: float = np.nan
    levels: Levels = ()
    categories: Mapping[int, FloatArray] = field(default_factory=dict)


def of_treelite(model: Any, **facts: Any) -> Ensemble | None:
    """Return the trees of a model of treelite; None for several responses or an unknown link.

    Parameters
    ----------
    model : treelite.Model
    **facts
        Of the library, as `Ensemble` has them.
    """
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
    threshold = np.where(compare == _LESS, below, threshold)
    averaged = bool(header.get_field("average_tree_output")[0])
    return Ensemble(
        nodes=[
            TreeNodes(
                left, right, column, threshold, missing_left, leaves, categories, np.array(roots)
            )
        ],
        # A copy: treelite gives views of memory that goes with its model.
        base=np.array(header.get_field("base_scores"), np.float64),
        scale=1.0 / model.num_tree if averaged else 1.0,
        link=link,
        **facts,
    )


def _leaves(
    get: Callable[[str], Any], left: npt.NDArray[Any], outputs: int, output: int | None
) -> FloatArray:
    """Return the values of every node, shape (nodes, outputs); 0 of nodes that split."""
    values = np.zeros((len(left), outputs))
    if output is not None:
        values[:, output] = get("leaf_value")
        return values
    vector, begin = np.asarray(get("leaf_vector"), np.float64), get("leaf_vector_begin")
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
