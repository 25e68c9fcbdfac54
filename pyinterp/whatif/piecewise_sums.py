"""Sums of losses that are polynomials of y - f, piece by piece, from sorted values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.losses.rowwise import LOSSES

Pieces = Sequence[tuple[float, tuple[float, float, float]]]

# Where a piece begins, and its a, b, c of a + b u + c u^2; even functions of u, without jumps.
PIECES = {
    LOSSES["absolute"]: ((-np.inf, (0.0, -1.0, 0.0)), (0.0, (0.0, 1.0, 0.0))),
    LOSSES["huber"]: (
        (-np.inf, (-0.5, -1.0, 0.0)),
        (-1.0, (0.0, 0.0, 0.5)),
        (1.0, (-0.5, 1.0, 0.0)),
    ),
}


def piecewise_sums(
    rows: FloatArray, donors: FloatArray, counts: IntArray, pieces: Pieces
) -> TwoArrays:
    r"""Sum losses of :math:`r_i - b_d` over donors, and over rows, in O(n log n).

    Parameters
    ----------
    rows, donors : ndarray of shape (n,) and (m,)
        r, what the kept columns leave of the response, and b, what replaced ones predict.
    counts : ndarray of shape (m,)
        How many donors each stands for.
    pieces : sequence
        Of the loss.

    Returns
    -------
    over_donors : ndarray of shape (n,)
    over_rows : ndarray of shape (m,)
    """
    middle = np.average(donors, weights=counts)  # running sums of large values cost digits
    r, b, of_r, of_b = rows - middle, donors - middle, np.argsort(rows), np.argsort(donors)
    over_donors, over_rows = np.empty(len(r)), np.empty(len(b))
    over_donors[of_r] = _sum_over_others(r[of_r], b[of_b], counts[of_b], pieces)
    over_rows[of_b] = _sum_over_others(b[of_b], r[of_r], np.ones(len(r)), pieces)
    return over_donors, over_rows


def _sum_over_others(
    points: FloatArray, others: FloatArray, counts: Any, pieces: Pieces
) -> FloatArray:
    """Return the sums over others of the losses of every point, both in order.

    Within a piece lie the others of an interval that moves with the point. The sums of their
    counts, values and squares are differences of running sums.
    """
    degree = max(k for _, of in pieces for k in range(3) if of[k])
    running = np.zeros((len(others) + 1, degree + 1))
    for k in range(degree + 1):
        np.cumsum(counts * others**k, out=running[1:, k])
    # Sums over the others that are in no piece before: all are above minus infinity.
    places = [np.searchsorted(others, points - begin) for begin, _ in pieces[1:]]
    before = [running[-1:], *(running.take(place, axis=0) for place in places), running[:1]]
    total = np.zeros(len(points))
    for (_, (a, b, c)), above, below in zip(pieces, before, before[1:], strict=False):
        number, values, *squares = (above - below).T
        total += number * (a + points * (b + c * points)) - values * (b + 2 * c * points)
        if squares:
            total += c * squares[0]
    return total
