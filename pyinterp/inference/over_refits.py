"""Variances from the spread of refits: naive, and corrected for the rows that they share."""

from __future__ import annotations

from pyinterp.errors import InferenceError
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.replicates import Replicates, covariance
from pyinterp.inference.variance import Variance


def naive(replicates: Replicates) -> Variance:
    """Variance of the mean of m independent refits, s²/m with m - 1 df (Molnar et al. 2021, 7.3).

    Right if every refit has fresh data (c = 0); far too small if refits share rows.
    """
    m = replicates.number
    warning = (
        "; refits share rows, so these are too narrow"
        if replicates.evaluations.correction > 0
        else ""
    )
    return Variance(
        cov=covariance(replicates.per_refit) / m,
        df=m - 1,
        note=f"Intervals (naive, {m - 1} df) are for the learner over refits{warning}.",
    )


def corrected_variance(replicates: Replicates) -> Variance:
    """Nadeau and Bengio's variance (1/m + c) s², m - 1 df, c = n2/n1 (Molnar et al. 2021, 7.3).

    n1 and n2 count distinct rows or clusters, so that c = 0.368/0.632 = 0.582 for the bootstrap.
    """
    if replicates.evaluations.bootstraps is not None:
        raise InferenceError(
            '`cov_type="corrected"` is for splits of one data set, but these refits are on splits '
            "of different bootstrap samples, whose means show the sampling error themselves: use "
            '"bootstrap".'
        )
    m, c = replicates.number, replicates.evaluations.correction
    return Variance(
        cov=(1 / m + c) * covariance(replicates.per_refit),
        df=m - 1,
        note=f"Intervals (Nadeau-Bengio, c = {c:.3f}, {m - 1} df) are for the learner over refits.",
    )


register_variance("naive", naive, needs="refits")
register_variance("corrected", corrected_variance, needs="refits")
