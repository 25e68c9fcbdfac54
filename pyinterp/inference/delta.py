"""The delta method: variances of estimates by the covariance of a model's coefficients."""

from __future__ import annotations

from typing import cast

import numpy as np

from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.replicates import CoefficientErrors, Replicates
from pyinterp.inference.variance import Variance


def delta(replicates: Replicates) -> Variance:
    r"""Variance of a function of the coefficients of one model, its rows as they are.

    .. math:: V = J \Sigma J^\top = \sum_k d_k d_k^\top, \quad d_k = J r_k,
        \quad \Sigma = \sum_k r_k r_k^\top

    where J are the derivatives of the estimates with respect to the coefficients and
    :math:`\Sigma` is their covariance. ``get_margeff`` of statsmodels and marginaleffects take the
    same variance. Degrees of freedom are the ones of the model's tests.
    """
    # Results without them are refused before.
    errors = cast("CoefficientErrors", replicates.coefficient_errors)
    clusters = replicates.parts[0].evaluations.clusters is not None
    law = "z" if np.isinf(errors.df) else f"t, {errors.df:g} df"
    return Variance(
        cov=errors.changes.T @ errors.changes,
        df=errors.df,
        label=f"delta ({errors.cov_type})" if errors.cov_type else "",
        note=(
            f"Intervals (delta method, {law}) are for this model fitted to new responses of these "
            "rows, by the covariance of its coefficients"
            + (", in which clusters count only if the model was fitted so." if clusters else ".")
        ),
    )


register_variance("delta", delta, needs="coefficients")
