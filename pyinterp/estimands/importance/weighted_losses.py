"""Losses with a feature replaced by the values of all other rows, rows and donors weighted."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.estimands.estimand import Estimate
from pyinterp.losses.rowwise import Loss
from pyinterp.whatif import FeatureWhatIf

__all__ = ["weighted_pairs"]


def weighted_pairs(
    whatif: FeatureWhatIf, y: FloatArray, losses: FloatArray, loss: Loss, weights: FloatArray
) -> tuple[Estimate, Estimate]:
    r"""Return the weighted mean loss with a feature replaced, and with its own values.

    .. math:: \sum_i w_i \bar L_i / W, \quad
        \bar L_i = \sum_{k \ne i} w_k L_{ik} / (W - w_i), \quad W = \sum_i w_i

    The mean over rows of what each meets among the others: the original losses have their weighted
    mean, and a feature that is never used has importance 0.
    """
    donors, others = whatif.donors, weights.sum() - weights
    if len(donors.frame) == 1:  # constant here: replacing it changes nothing
        original = _estimate(losses, np.average(losses, weights=weights), weights)
        return original, original
    of_donor = np.bincount(donors.of_row, weights, minlength=len(donors.frame))
    over_donors, over_rows = np.empty(len(y)), np.zeros(len(donors.frame))
    for rows, predictions in whatif.cross():
        matrix = loss(y[rows, None], predictions)
        over_donors[rows] = matrix @ of_donor
        over_rows += (weights[rows] / others[rows]) @ matrix
    shares = weights / others
    # Every row also met its own values, with which it has its original loss.
    as_row = (over_donors - weights * losses) / others
    as_donor = over_rows[donors.of_row] - shares * losses
    return (
        _estimate(as_row, as_donor, weights),
        _estimate(losses, shares @ losses - shares * losses, weights),
    )


def _estimate(as_row: FloatArray, as_donor: FloatArray | float, weights: FloatArray) -> Estimate:
    """Return the weighted mean of `as_row`, and contributions as weighted deviations from it."""
    mean = Estimate.of_rows(as_row[:, None], weights)
    deviations = weights / weights.mean() * (as_donor - mean.value)
    return Estimate(
        value=mean.value, rows=mean.rows, donors=deviations[:, None], mc_variance=np.zeros(1)
    )
