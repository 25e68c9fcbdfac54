"""How two expected losses are compared: by their difference or their ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimand import Parameter, Problem
from pyinterp.estimands.estimate import Estimate, Measurement
from pyinterp.losses.rowwise import Loss
from pyinterp.ranges import POSITIVE

Relation: TypeAlias = Literal["difference", "ratio"]

PARAMETERS: Mapping[Relation, Parameter] = {
    "difference": Parameter(null=0.0, no_effect=0.0),
    "ratio": Parameter(null=1.0, no_effect=1.0, range=POSITIVE),
}

# A feature that the model never uses can differ from 0 by the rounding of sums in another order.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """The comparison of two expected losses, and the words for it.

    Attributes
    ----------
    read : callable
        Of measurements of a "changed" and the "original" loss.
    parameter : Parameter
    unit : str
    details : tuple of str
        Words that headers add.
    change : str
        The beginning of the sentence on the meaning of a value.
    """

    read: Callable[[Measurement], Estimate]
    parameter: Parameter
    unit: str
    details: tuple[str, ...]
    change: str

    @classmethod
    def of(cls, relation: Relation, loss: Loss, problem: Problem) -> Comparison:
        """Return the comparison of a loss by a relation, which is checked."""
        check_choice("relation", relation, ("difference", "ratio"))
        parameter = PARAMETERS[relation]
        if relation == "ratio":
            change = f"Factor by which expected {loss.name} grows"
            return cls(ratio, parameter, "", (loss.name, "ratio"), change)
        response = problem.population.response
        unit = loss.unit.format(y=response.name if response else "")
        change = f"Increase in expected {loss.name}{f', in units of {unit},' if unit else ''}"
        return cls(difference, parameter, unit, (loss.name,), change)


def difference(measurement: Measurement) -> Estimate:
    """Return the increase of a loss; exactly 0 where it is the same up to rounding."""
    changed, original = measurement["changed"], measurement["original"]
    return without_rounding(changed.minus(original), original.value)


def ratio(measurement: Measurement) -> Estimate:
    """Return the factor by which a loss is larger."""
    changed, original = measurement["changed"], measurement["original"]
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
