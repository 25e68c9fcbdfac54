r"""Intervals of contrasts from the intervals of their terms, which need not be symmetric.

With limits :math:`l_i, u_i` of terms :math:`c_i` and their correlations :math:`\rho_{ij}`, the
lower limit of :math:`\sum_i w_i c_i` is

.. math:: \sum_i w_i c_i - \Big\{ \sum_{i, j} \rho_{ij}\, a_i a_j \Big\}^{1/2}, \qquad
    a_i = w_i (c_i - l_i) \text{ if } w_i > 0, \text{ else } w_i (u_i - c_i),

and the upper one takes the other sides (Zou and Donner 2008; "MOVER"). From the limits of 95%
intervals come a standard error below and one above, which serve at all levels. Their ratio to the
one of both sides is at most the largest, and at least the smallest, of 1 and the terms' ratios.

References
----------
Zou, Donner (2008). Construction of confidence limits about effect measures: a general approach.
Statistics in Medicine 27, 1693-1702.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.inference.intervals import Alternative, bounds, one_tail, t_quantile
from pyinterp.inference.variance import Variance

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True, repr=False)
class ContrastVariance(Variance):
    """The covariance of k contrasts, with a standard error for each side.

    Attributes
    ----------
    below, above : ndarray of shape (k,)
        Standard errors if the true value is below the estimate, and if it is above.
    """

    below: FloatArray
    above: FloatArray

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (k, 2); missing where `bse` is 0."""
        t = t_quantile(one_tail(alpha, alternative), self.df)
        # One-sided with alpha above 1/2 a limit is on the other side of the estimate.
        down, up = (self.below, self.above) if t >= 0 else (self.above, self.below)
        missing = np.where(bse > 0, 0.0, np.nan)
        return bounds(estimate - t * down + missing, estimate + t * up + missing, alternative)

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return t statistics by the standard errors on the side of the null values."""
        error = np.where(null < estimate, self.below, self.above)
        missing = np.full(len(bse), np.nan)
        return np.asarray(np.divide(estimate - null, error, out=missing, where=bse > 0))


def contrast_variance(
    weights: FloatArray, of_terms: Variance, terms: FloatArray, bse: FloatArray
) -> Variance:
    """Return the variance of contrasts: one for both sides, unless terms vary as squares.

    Parameters
    ----------
    weights : ndarray of shape (k, q)
    of_terms : Variance
    terms, bse : ndarray of shape (q,)
        Estimates of the terms and their standard errors.
    """
    both = Variance(
        cov=weights @ of_terms.cov @ weights.T,
        df=of_terms.df,
        note=of_terms.note,
        cov_type=of_terms.cov_type,
        label=of_terms.label,
    )
    if not of_terms.varies_as_square:
        return both
    low, high = of_terms.interval(terms, bse, ALPHA, "two-sided").T
    t = t_quantile(ALPHA / 2, of_terms.df)
    # Terms without an interval do not vary.
    down, up = np.nan_to_num(terms - low) / t, np.nan_to_num(high - terms) / t
    # Limits of terms that are nearly the same cancel, or do not where they should: a side is not
    # further from the plain standard error than one of the sides of the terms is.
    sides = np.divide([down, up], bse, out=np.ones((2, len(bse))), where=bse > 0)
    plain = np.sqrt(np.clip(np.diag(both.cov), 0.0, None))
    counts = (weights != 0) & (bse > 0)
    least = plain * np.where(counts, sides.min(axis=0), 1.0).min(axis=1, initial=1.0)
    most = plain * np.where(counts, sides.max(axis=0), 1.0).max(axis=1, initial=1.0)
    below, above = (
        np.clip(_root(weights * np.where(weights > 0, one, other), of_terms), least, most)
        for one, other in ((down, up), (up, down))
    )
    return ContrastVariance(**vars(both), below=below, above=above)


def _root(parts: FloatArray, of_terms: Variance) -> FloatArray:
    """Return the standard errors of sums whose parts have these, with the terms' correlations."""
    bse = np.sqrt(np.clip(np.diag(of_terms.cov), 0.0, None))
    scaled = np.divide(parts, bse, out=np.zeros_like(parts), where=bse > 0)
    squares = ((scaled @ of_terms.cov) * scaled).sum(axis=1)
    return np.asarray(np.sqrt(np.clip(squares, 0.0, None)))
