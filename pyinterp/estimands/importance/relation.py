"""How two expected losses are compared: by their difference or their ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimand import Estimate, Parameter
from pyinterp.ranges import POSITIVE

__all__ = [
    "PARAMETERS",
    "Relation",
    "difference",
    "ratio",
    "with_loss_below",
    "without_rounding",
]

Relation: TypeAlias = Literal["difference", "ratio"]

PARAMETERS: Mapping[Relation, Parameter] = {
    "difference": Parameter(null=0.0, no_effect=0.0),
    "ratio": Parameter(null=1.0, no_effect=1.0, range=POSITIVE),
}

# A feature that the model never uses can differ from 0 by the rounding of sums in another order.
ROUNDING = 1e-12


def difference(changed: Estimate, original: Estimate) -> Estimate:
    """Return the increase of a loss; exactly 0 where it is the same up to rounding."""
    return without_rounding(changed.minus(original), original.value)


def ratio(changed: Estimate, original: Estimate) -> Estimate:
    """Return the factor by which a loss is larger."""
    if (original.value <= ROUNDING**2 * np.abs(changed.value)).any():
        raise InferenceError(
            "The ratio needs a positive loss, but it is 0 in some refit; use "
            '`relation="difference"`.'
        )
    return with_loss_below(changed.over(original), original.rows)


def with_loss_below(ratios: Estimate, rows: FloatArray) -> Estimate:
    """Return ratios that know the contributions, shape (n, 1), to the loss that divides them."""
    return replace(ratios, below=np.broadcast_to(rows, ratios.rows.shape))


def without_rounding(estimate: Estimate, scale: FloatArray) -> Estimate:
    """Set terms that are 0 in every row, up to rounding, to 0."""
    rows, donors = estimate.rows, estimate.donors
    largest = np.abs(rows if donors is None else np.maximum(np.abs(rows), np.abs(donors)))
    # Not "larger than", so that terms with missing contributions keep them.
    nonzero = ~(largest.max(axis=0) <= ROUNDING * np.abs(scale))
    return Estimate(
        value=np.where(nonzero, estimate.value, 0.0),
        rows=np.where(nonzero, rows, 0.0),
        donors=None if donors is None else np.where(nonzero, donors, 0.0),
        mc_variance=np.where(nonzero, estimate.mc_variance, 0.0),
    )
