"""The rows or clusters that were sampled, and corrections for their number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pyinterp._typing import FloatArray, IntArray

__all__ = ["Units", "units_of"]


class Units(NamedTuple):
    """The rows or clusters that were sampled.

    Attributes
    ----------
    of_row : ndarray of int or None
        The cluster of every row, from 0; None if rows were sampled.
    number : int
    factor : float
        By which the sum of squares over units is multiplied, so that its expectation is right.
    df : float
    """

    of_row: IntArray | None
    number: int
    factor: float
    df: float

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over the rows of every unit of values less their mean."""
        centered: FloatArray = values - values.mean(axis=0)
        if self.of_row is None:
            return centered
        sums = np.zeros((self.number, centered.shape[1]))
        np.add.at(sums, self.of_row, centered)
        return sums


def units_of(n: int, cluster: IntArray | None, weights: FloatArray | None) -> Units:
    r"""Return the units of n rows with their clusters and sampling weights.

    For shares p of the weights, df are Kish's effective number :math:`1 / \sum p^2` less 1. The
    factor :math:`1 / (1 + \sum p^2 - 2 \sum p^3 / \sum p^2)` makes the variance of a weighted mean
    unbiased if values are independent, of one variance. A cluster weighs what its rows do on
    average. Of equal weights these are n - 1 and n / (n - 1).
    """
    of_row, number = None, n
    if cluster is not None:
        names, of_row = np.unique(cluster, return_inverse=True)
        number = len(names)
    if number < 2:
        return Units(of_row, number, factor=np.nan, df=0)
    if weights is None:
        return Units(of_row, number, factor=number / (number - 1), df=number - 1)
    if of_row is not None:
        weights = np.bincount(of_row, weights) / np.bincount(of_row)
    shares = weights / weights.sum()
    squares = float(shares @ shares)
    factor = 1 / (1 + squares - 2 * float((shares**3).sum()) / squares)
    return Units(of_row, number, factor=factor, df=1 / squares - 1)
