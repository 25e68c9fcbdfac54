"""Probabilities of ranks and regions if the truth is taken as t around the estimates."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.errors import InferenceError
from pyinterp.inference.variance import Variance

CHUNK = 1000


def rank_probabilities(
    estimate: FloatArray, cov: FloatArray, df: float, *, draws: int, seed: int
) -> tuple[FloatArray, bool]:
    r"""Return the probability of each rank for each term, shape (q, q), and whether it is exact.

    The largest has rank 1. Terms are t with `df` degrees of freedom around their estimates,
    jointly with covariance (scale) `cov`: exact for two terms, else shares of draws. Ties, which
    only terms without variance have, are split evenly.
    """
    q = len(estimate)
    if q == 1:
        return np.ones((1, 1)), True
    if q == 2:
        spread = np.sqrt(max(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1], 0.0))
        gap = estimate[0] - estimate[1]
        above = stats.t.cdf(gap / spread, df) if spread > 0 else 0.5 + 0.5 * np.sign(gap)
        return np.array([[above, 1 - above], [1 - above, above]]), True
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(cov)
    # The symmetric root: eigenvectors alone turn with last bits where eigenvalues are equal.
    root = vectors * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T
    counts = np.zeros((q, q))
    for first in range(0, draws, CHUNK):
        size = min(CHUNK, draws - first)
        normal = rng.normal(size=(size, q)) @ root.T
        if np.isfinite(df):
            normal /= np.sqrt(rng.chisquare(df, size=(size, 1)) / df)
        # Columns in random order, so that those that tie take turns.
        columns = rng.permutation(q)
        order = columns[np.argsort(-(estimate + normal)[:, columns], axis=1, kind="stable")]
        for rank in range(q):
            counts[:, rank] += np.bincount(order[:, rank], minlength=q)
    return counts / draws, False


def rope_probabilities(
    estimate: FloatArray, bse: FloatArray, variance: Variance, rope: float
) -> FloatArray:
    r"""Return posterior probabilities below, in and above [-rope, rope], shape (q, 3).

    The posterior of a difference is Student's t with m - 1 df around the mean difference, scale

    .. math:: \sqrt{(1/m + \rho/(1 - \rho)) s^2}, \quad \rho = n_2/(n_1 + n_2)

    (Corani and Benavoli 2015), so that :math:`\rho/(1 - \rho) = n_2/n_1` is the correction of
    Nadeau and Bengio. Where all refits agree the posterior is a point.
    """
    if variance.cov_type != "corrected" or "unpaired" in variance.label:
        raise InferenceError(
            "The Bayesian correlated t test is for paired results of repeated splits with "
            f'`cov_type="corrected"`, not "{variance.label}"; fit with '
            '`resampling=pi.Subsampling(...)`, or pass `cov_type="corrected"`.'
        )
    spread = np.where(bse > 0, bse, np.finfo(float).tiny)
    below = stats.t.cdf((-rope - estimate) / spread, variance.df)
    above = stats.t.sf((rope - estimate) / spread, variance.df)
    within = np.clip(1 - below - above, 0.0, 1.0)
    return np.column_stack([below, within, above])
