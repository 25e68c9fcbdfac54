"""Ranks of estimates with their uncertainty: how probable each rank is for each term."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray

__all__ = ["rank_probabilities"]

CHUNK = 1000


def rank_probabilities(
    estimate: FloatArray, cov: FloatArray, df: float, *, draws: int, seed: int
) -> tuple[FloatArray, bool]:
    r"""Return the probability of each rank for each term, shape (q, q), and whether it is exact.

    Rank 1 is that of the largest. Terms are t with `df` degrees of freedom around their estimates,
    jointly with covariance (scale) `cov`: exact for two terms, else shares of draws. Ties, which
    only terms without variance have, are split evenly.
    """
    q = len(estimate)
    if q == 1:
        return np.ones((1, 1)), True
    if q == 2:
        spread = np.sqrt(max(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1], 0.0))
        gap = estimate[0] - estimate[1]
        first = stats.t.cdf(gap / spread, df) if spread > 0 else 0.5 + 0.5 * np.sign(gap)
        return np.array([[first, 1 - first], [1 - first, first]]), True
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    counts = np.zeros((q, q))
    for size in _chunks(draws):
        normal = rng.normal(size=(size, q)) @ root.T
        if np.isfinite(df):
            normal /= np.sqrt(rng.chisquare(df, size=(size, 1)) / df)
        # Columns in random order, so that those that tie take turns.
        columns = rng.permutation(q)
        order = columns[np.argsort(-(estimate + normal)[:, columns], axis=1, kind="stable")]
        for rank in range(q):
            counts[:, rank] += np.bincount(order[:, rank], minlength=q)
    return counts / draws, False


def _chunks(draws: int) -> list[int]:
    whole, rest = divmod(draws, CHUNK)
    return [CHUNK] * whole + ([rest] if rest else [])
