"""Bayesian correlated t test with a region of practical equivalence."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.errors import InferenceError
from pyinterp.inference.variance import Variance

__all__ = ["rope_probabilities"]


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
