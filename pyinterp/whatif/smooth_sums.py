"""Sums of smooth losses over donors that lie on a line, from a few values per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy import fft

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import LOSSES

# Losses without kinks, but where probabilities are clipped.
SMOOTH = (CLASS_ENTROPY, *map(LOSSES.get, ("log", "brier", "rps", "poisson", "gamma", "binomial")))
# Degrees of the polynomials that are tried, one after the other, for rows that need more.
NODES = (32, 64, 128)
# The largest of the last coefficients, in units of the rows' mean loss.
TOLERANCE = 1e-11
LAST = 4
BLOCK_BYTES = 2**20


def line_of(points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return middle, half length and places in [-1, 1] of points on a line; None for others.

    Parameters
    ----------
    points : ndarray of shape (m, outputs)

    Returns
    -------
    middle, half : ndarray of shape (outputs,)
    place : ndarray of shape (m,)
        Points are ``middle + place * half``.
    """
    widest = int(np.ptp(points, axis=0).argmax())
    along = points[:, widest]
    ends = points[[along.argmin(), along.argmax()]]
    middle, half = ends.mean(axis=0), np.diff(ends, axis=0)[0] / 2
    if half[widest] == 0:
        return middle, half, np.zeros(len(points))
    place = np.clip((along - middle[widest]) / half[widest], -1, 1)
    off = np.abs(middle + place[:, None] * half - points).max()
    rounding = 8 * np.finfo(np.float64).eps * np.abs(points).max()
    return (middle, half, place) if off <= rounding else None


def smooth_sums(
    losses: Callable[[IntArray, FloatArray], FloatArray],
    n: int,
    place: FloatArray,
    counts: IntArray,
    *,
    outputs: int,
    reach: float,
) -> TwoArrays:
    """Sum losses over donors, and over rows, by interpolation along the line of donors.

    A row's loss is a function of the donor's place. Its values at the extrema of a Chebyshev
    polynomial give the coefficients of a polynomial, whose last ones tell how well it
    interpolates [1]_. Rows that no polynomial interpolates meet all donors.

    Parameters
    ----------
    losses : callable
        ``losses(rows, place)`` returns losses of rows, by number, at places, shape
        (rows, places).
    n : int
        Number of rows.
    place : ndarray of shape (m,)
        Places of the distinct donors, in [-1, 1].
    counts : ndarray of shape (m,)
        How many donors each stands for.
    outputs : int
        Numbers that a loss is computed from, for the size of blocks.
    reach : float
        Half the range of the donors' linear predictors. Nodes must not be further apart than 1 on
        this scale, so that no bump of a loss lies between two of them.

    Returns
    -------
    over_donors : ndarray of shape (n,)
    over_rows : ndarray of shape (m,)

    References
    ----------
    .. [1] Trefethen, L. N. (2013). Approximation Theory and Approximation Practice, chapters 3
       and 8. SIAM.
    """
    over_donors, over_rows = np.empty(n), np.zeros(len(place))
    rest = np.arange(n)
    for nodes in NODES:
        if 2 * nodes > len(place):
            break
        if reach * np.pi > nodes - 1:
            continue
        at = np.cos(np.pi * np.arange(nodes) / (nodes - 1))
        polynomials = chebvander(place, nodes - 1)
        of_donors, total, uneven = counts @ polynomials, np.zeros(nodes), []
        for rows in in_cache(rest, nodes * outputs):
            coefficients = fft.dct(losses(rows, at), type=1, axis=1) / (nodes - 1)
            coefficients[:, [0, -1]] /= 2
            size = TOLERANCE * np.abs(coefficients[:, 0]).mean()
            even = np.abs(coefficients[:, -LAST:]).max(axis=1) <= size
            over_donors[rows[even]] = coefficients[even] @ of_donors
            total += coefficients[even].sum(axis=0)
            uneven.append(rows[~even])
        over_rows += polynomials @ total
        rest = np.concatenate(uneven)
        if not len(rest):
            break
    for rows in in_cache(rest, len(place) * outputs):
        matrix = losses(rows, place)
        over_donors[rows] = matrix @ counts
        over_rows += matrix.sum(axis=0)
    return over_donors, over_rows


def in_cache(rows: IntArray, width: int) -> Iterator[IntArray]:
    """Yield the rows in blocks whose numbers stay in the processor's cache."""
    step = max(1, BLOCK_BYTES // (8 * width))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
