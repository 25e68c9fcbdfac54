"""Probabilities of ranks and regions if the truth is taken as t around the estimates."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray

CHUNKS, CHUNK = 100, 1000


def rank_probabilities(estimate: FloatArray, cov: FloatArray, df: float) -> FloatArray:
    r"""Return the probability of each rank for each term, shape (q, q).

    The largest has rank 1. Terms are t with `df` degrees of freedom around their estimates,
    jointly with covariance (scale) `cov`: exact for two terms, else shares of draws. Ties, which
    only terms without variance have, are split evenly.
    """
    q = len(estimate)
    if q == 1:
        return np.ones((1, 1))
    if q == 2:
        spread = np.sqrt(max(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1], 0.0))
        gap = estimate[0] - estimate[1]
        above = stats.t.cdf(gap / spread, df) if spread > 0 else 0.5 + 0.5 * np.sign(gap)
        return np.array([[above, 1 - above], [1 - above, above]])
    rng = np.random.default_rng(0)
    values, vectors = np.linalg.eigh(cov)
    # The symmetric root: eigenvectors alone turn with last bits where eigenvalues are equal.
    root = vectors * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T
    counts = np.zeros((q, q))
    for _ in range(CHUNKS):
        normal = rng.normal(size=(CHUNK, q)) @ root.T
        if np.isfinite(df):
            normal /= np.sqrt(rng.chisquare(df, size=(CHUNK, 1)) / df)
        # Columns in random order, so that those that tie take turns.
        columns = rng.permutation(q)
        order = columns[np.argsort(-(estimate + normal)[:, columns], axis=1, kind="stable")]
        for rank in range(q):
            counts[:, rank] += np.bincount(order[:, rank], minlength=q)
    return counts / (CHUNKS * CHUNK)
