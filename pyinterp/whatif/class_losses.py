"""Sums of losses of class probabilities of trees, each from the probability of one class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import EPSILON, LOSSES, Loss
from pyinterp.parallel import go_on
from pyinterp.whatif.forest import Forest
from pyinterp.whatif.links import identity, logistic
from pyinterp.whatif.walks import BOTH_ENTROPIES, ENTROPY, GROUP, LOG, SQUARE, one_class_pairs

if TYPE_CHECKING:
    from pyinterp.whatif.trees import TreesWhatIf


# Of one walk, which ends before Ctrl-C is heard: groups of rows, and pairs of a row and a donor.
MOST_GROUPS, MOST_PAIRS = 16, 2**26


class Part(NamedTuple):
    """A part of a loss that depends on the probability of one class only.

    Attributes
    ----------
    outputs : ndarray of int64, shape (n,)
        The output of the trees that gives each row's class.
    members : ndarray of bool, shape (n,)
        Whether the row is of this class.
    kind : int
    """

    outputs: npt.NDArray[np.int64]
    members: npt.NDArray[np.bool_]
    kind: int


def sums_of_classes(
    whatif: TreesWhatIf,
    ranges: tuple[IntArray, int, np.ndarray],
    counts: IntArray,
    y: FloatArray,
    loss: Loss,
) -> tuple[FloatArray, FloatArray] | None:
    """Return losses summed over donors, and over rows; None for what has no such parts.

    Parameters
    ----------
    whatif : TreesWhatIf
    ranges : tuple
        Donors in increasing order, their column, and how many go left at its nodes.
    counts : ndarray of shape (m,)
        How many donors each distinct one stands for.
    y : ndarray of shape (n,)
        Positions in the classes.
    loss : Loss
    """
    parts = list(_parts(whatif.model, y[whatif.order].astype(np.int64), loss))
    if not parts:
        return None
    increasing, driven, position = ranges
    before = np.concatenate([[0.0], np.cumsum(counts[increasing])])
    groups = min(MOST_GROUPS, max(1, MOST_PAIRS // (GROUP * len(increasing))))
    in_order, steps = np.zeros(len(y)), np.zeros(len(increasing))
    for part in parts:
        for start in range(0, len(y), groups * GROUP):
            go_on()
            some = slice(start, start + groups * GROUP)
            rows = whatif.rows[some]
            over_donors = np.empty(len(rows))
            one_class_pairs(
                whatif.trees, whatif.splits,
                whatif.bits[start // GROUP : start // GROUP + groups],
                rows, driven, position, part.outputs[some], part.members[some], part.kind,
                whatif.model.link is logistic, whatif.model.base, whatif.model.scale, EPSILON,
                before, over_donors, steps,
            )  # fmt: skip
            in_order[some] += over_donors
    over_rows = np.empty(len(increasing))
    over_rows[increasing] = np.cumsum(steps)
    return in_order[whatif.place], over_rows


def _parts(forest: Forest, y: npt.NDArray[np.int64], loss: Loss) -> Iterator[Part]:
    """Yield the parts of a loss, of which it is the sum; none if there are none."""
    classes = len(forest.base)
    if forest.link not in (identity, logistic):
        return
    if loss == LOSSES["log"]:
        yield Part(y * (forest.link is identity), (y == 1) | (forest.link is identity), LOG)
        return
    if loss != LOSSES["brier"] and loss != CLASS_ENTROPY:
        return
    two = classes <= 2
    kind = SQUARE if loss == LOSSES["brier"] else BOTH_ENTROPIES if two else ENTROPY
    for k in (classes - 1,) if two else range(classes):
        yield Part(np.full_like(y, k), y == (1 if two else k), kind)
