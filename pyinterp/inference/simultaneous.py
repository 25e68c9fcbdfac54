"""Simultaneous intervals: all terms are covered at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha
from pyinterp.inference.intervals import Alternative

DRAWS = 100_000
Root = tuple[tuple[float, ...], ...]
# Eigenvalues of a correlation matrix below this share of the largest are rounding.
RANK = 1e-10


@dataclass(frozen=True)
class LargestT:
    r"""The distribution of the largest of several t statistics (sup-t).

    Of :math:`\max_j |t_j|` (of :math:`\max_j t_j` if one-sided), t multivariate with `df` degrees
    of freedom (infinite: normal) and the correlations of a covariance matrix.

    Parameters
    ----------
    root : tuple of tuple of float
        A root of the correlations: a row of length 1 per term that varies, a column per dimension;
        () if fewer than two vary.
    df : float
    tails : {1, 2}

    Notes
    -----
    Such a t is a uniform direction u of dimension r, the rank of the correlations, times a radius
    whose square is r times an F(r, df). So

    .. math:: P(\max_j t_j > q) = E_u\, P\left(F_{r, df} > \frac{q^2}{r\, m(u)^2}\right)

    for q > 0, m(u) the largest :math:`a_j^\top u` over terms, none if that is negative. Only the
    direction is drawn, with a fixed seed, and the tail is not. The error of q (its standard
    deviation) is below 0.1% for up to 20 terms and alpha of 0.001 or more, and 0.4% for 50
    independent normal terms.
    """

    root: Root
    df: float
    tails: int

    @classmethod
    def of(cls, cov: FloatArray, df: float, alternative: Alternative) -> LargestT:
        """Return the distribution for a covariance matrix; terms without variance do not count."""
        tails = 2 if alternative == "two-sided" else 1
        spread = np.sqrt(np.clip(np.diag(cov), 0.0, None))
        vary = spread > 0
        if vary.sum() < 2:
            return cls((), df, tails)
        scaled = cov[np.ix_(vary, vary)] / np.outer(spread[vary], spread[vary])
        values, vectors = np.linalg.eigh(scaled)
        positive = values > RANK * values[-1]
        root = vectors[:, positive] * np.sqrt(values[positive])
        unit = root / np.linalg.norm(root, axis=1, keepdims=True)
        return cls(tuple(map(tuple, unit.tolist())), df, tails)

    def level(self, alpha: float) -> float:
        """Return the level at which pointwise intervals cover all terms at once, at most alpha."""
        check_alpha(alpha)
        if not self.root:
            return alpha

        def exceeded(q: float) -> float:
            return tail_probability(self, q) - alpha

        # One term alone exceeds the first with probability alpha; all together, the second at most.
        first, last = (
            stats.t.isf(a / self.tails, self.df) for a in (alpha, alpha / len(self.root))
        )
        if exceeded(first) <= 0:
            return alpha
        q = last if exceeded(last) >= 0 else brentq(exceeded, first, last, xtol=1e-6)
        return min(float(self.tails * stats.t.sf(q, self.df)), alpha)

    def p_values(self, single: FloatArray) -> FloatArray:
        """Return p-values for all terms at once: how probable a largest t above each statistic is.

        Parameters
        ----------
        single : ndarray of shape (q,)
            p-values of the statistics one by one.
        """
        if not self.root:
            return single
        # The quantile of each p-value has the statistic's side with it.
        quantiles = stats.t.isf(single / self.tails, self.df)
        joint = np.array([np.nan if np.isnan(q) else tail_probability(self, q) for q in quantiles])
        return np.asarray(np.clip(joint, single, np.minimum(len(self.root) * single, 1.0)))


@lru_cache(maxsize=16)  # tests, intervals and tables need the same
def _largest(root: Root, tails: int) -> FloatArray:
    """Return the largest :math:`a_j^T u` over terms j, for random directions u."""
    rng = np.random.default_rng(0)
    each = np.array(root)
    values = []
    for size in [DRAWS // 20] * 10:
        direction = rng.normal(size=(size, each.shape[1]))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        terms = direction @ each.T
        # Every direction and the one opposite.
        if tails == 2:
            values.append(np.abs(terms).max(axis=1))
        else:
            values += [terms.max(axis=1), -terms.min(axis=1)]
    return np.concatenate(values)


@lru_cache(maxsize=1024)  # likewise
def tail_probability(of: LargestT, q: float) -> float:
    """Return the probability that the largest t is above q."""
    largest, rank, df = _largest(of.root, of.tails), len(of.root[0]), of.df
    positive = largest > 0
    if q >= 0:
        return float(_outside(q, largest[positive], rank, df).sum() / len(largest))
    within = 1 - _outside(q, largest[~positive], rank, df)
    return float((positive.sum() + within.sum()) / len(largest))


def _outside(q: float, scale: FloatArray, rank: int, df: float) -> FloatArray:
    """Return the probability that the radius is above q / scale."""
    with np.errstate(divide="ignore"):
        square = np.square(q / scale)
    if np.isinf(df):
        return stats.chi2.sf(square, rank)
    return stats.f.sf(square / rank, rank, df)
