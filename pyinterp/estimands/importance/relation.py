"""How two expected losses are compared: by their difference or their ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.features import Features
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
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


def comparison(
    problem: Problem,
    features: Features,
    loss: Loss,
    relation: Relation,
    words: Words,
    **fields: Any,
) -> Estimand:
    """Return how much a loss grows for every feature, measured as "changed" and "original" loss.

    The meaning in `words` is the end of the sentence: when it grows. `fields` are the estimand's
    other ones.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    response, is_ratio = problem.population.response, relation == "ratio"
    unit = "" if is_ratio or response is None else loss.unit.format(y=response.name)
    change = f"Increase in expected {loss.name}{f', in units of {unit},' if unit else ''}"
    if is_ratio:
        change = f"Factor by which expected {loss.name} grows"
    return Estimand(
        terms=Terms.plain(list(features)),
        read=ratio if is_ratio else difference,
        words=replace(
            words,
            details=(loss.name, "ratio") if is_ratio else (loss.name,),
            unit=unit,
            meaning=f"{change} when {words.meaning}",
        ),
        parameter=PARAMETERS[relation],
        score=loss,
        **fields,
    )


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
