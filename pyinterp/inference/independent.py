"""Differences of independent estimates: variances add up, df by Welch and Satterthwaite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from pyinterp.errors import InferenceError
from pyinterp.inference.evaluations import Evaluations
from pyinterp.inference.refit_sums import RefitSums
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.variance import Variance

Places = Sequence[tuple[int, int]]


def independent_difference(parts: Sequence[Replicates], places: Places) -> Replicates:
    """Return differences of means over refits; there are none of single refits or rows."""
    values = np.array([part.per_refit.mean(axis=0) for part in parts])
    errors = [part.mc_variance for part in parts]
    value = np.concatenate([values[one] - values[other] for one, other in places])
    mc_variance = np.concatenate([errors[one] + errors[other] for one, other in places])
    nothing = np.empty(0, np.intp)
    return Replicates(
        evaluations=Evaluations(rows=nothing, at=(nothing,), groups=(None,)),
        sums=RefitSums(values=value[None], mc_variance=mc_variance[None]),
    )


def independent_variance(parts: Sequence[Variance], places: Places) -> Variance:
    r"""Variance of differences of independent estimates.

    .. math:: V = V_1 + V_2, \quad \nu = V^2 / (V_1^2 / \nu_1 + V_2^2 / \nu_2)

    (Welch 1947; Satterthwaite 1946). Several differences have the smallest df of them, which is
    cautious.
    """
    if len({part.cov_type for part in parts}) > 1:
        kinds = ", ".join(dict.fromkeys(f'"{part.cov_type}"' for part in parts))
        raise InferenceError(
            "Variances of independent estimates must be of one type to be compared, but these are "
            f"{kinds}; use `cov_type=`."
        )
    q, each = len(parts[0].cov), np.eye(len(parts))
    signs = np.array([each[one] - each[other] for one, other in places])
    weights = np.kron(signs, np.eye(q))
    df = min(_welch(parts[one], parts[other]) for one, other in places)
    several = ", the smallest of all differences" if len(places) * q > 1 else ""
    return Variance(
        cov=weights @ block_diag(*(part.cov for part in parts)) @ weights.T,
        df=df,
        cov_type=parts[0].cov_type,
        label=f"{parts[0].label}, unpaired",
        rows_only=parts[0].rows_only,
        reason=next((part.reason for part in parts if part.reason), ""),
        note=(
            f"Intervals (unpaired, {df:.4g} df by Welch and Satterthwaite{several}) take the "
            f"estimates as independent, each with its variance ({parts[0].label})."
        ),
    )


def _welch(one: Variance, other: Variance) -> float:
    """Return the smallest degrees of freedom over terms."""
    v, w = np.diag(one.cov), np.diag(other.cov)
    below = v**2 / one.df + w**2 / other.df
    vary = below > 0
    if not vary.any():
        return float(min(one.df, other.df) if np.isnan(below).any() else np.inf)
    df = (v + w)[vary] ** 2 / below[vary]
    return float(df.min())
