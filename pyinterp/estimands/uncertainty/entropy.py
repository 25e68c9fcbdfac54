"""Entropy-PFI: how much less sure the model gets without a feature's values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pyinterp.checks import check_choice
from pyinterp.data.features import Features
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.scales import position_of
from pyinterp.estimands.estimand import Estimand, Estimate, Measurement, ModelOnRows, Problem, Terms
from pyinterp.estimands.importance.marginal_losses import marginal_losses
from pyinterp.estimands.importance.permutation import (
    ALL_PAIRS,
    SOME_PAIRS,
    Permutations,
    Replacement,
    check_permutations,
    no_weights_of,
    read_difference,
    read_ratio,
)
from pyinterp.estimands.importance.relation import NULL, Relation
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.losses.rowwise import Loss
from pyinterp.samplers import SAMPLERS, is_conditional

__all__ = ["entropy_importance"]


def entropy_importance(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    which_class: Any = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
) -> Estimand:
    r"""Entropy permutation feature importance, which does not look at the response.

    .. math:: PFI_H(j) = E\{H[q(\cdot | \tilde X_j, X_{-j})]\} - E\{H[q(\cdot | X)]\}

    with :math:`\tilde X_j` an independent draw from the marginal law of :math:`X_j` (Wood et al.
    2024, section 3.2), in nats. It is 0 if :math:`X_j` is independent of the other features
    (Proposition 1), if q does not depend on it (Proposition 2), and for conditional draws of any
    feature (Proposition 3), which are refused.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    check_permutations(permutations)
    if isinstance(sampler, str):
        check_choice("sampler", sampler, ("marginal", "conditional", *SAMPLERS))
    if is_conditional(sampler):
        raise OptionError(
            "Entropy-PFI is 0 for every feature and model if the feature is drawn given the "
            "others: the draws have the joint distribution of the data, so the mean entropy stays "
            "what it is (Wood et al. 2024, Proposition 3). It measures what breaking the "
            'dependence does; leave `sampler="marginal"`, and use `likelihood_pfi` for '
            "conditional draws."
        )
    predictor = problem.predictive
    chosen = problem.choose(features)
    position = position_of(predictor, which_class)
    loss = entropy(predictor, position)
    family = predictor.distribution
    if relation == "ratio" and not (family is None or family.discrete):
        raise OptionError(
            "A ratio of entropies is not defined for densities, whose entropy may be negative; "
            'use `relation="difference"`.'
        )
    ratio = relation == "ratio"
    null = NULL[relation]
    of_class = () if which_class is None else (f"class {which_class}",)
    what = "Factor by which" if ratio else "Increase, in nats, of"
    return Estimand(
        key=("entropy-pfi", tuple(chosen.items()), loss, permutations),
        terms=Terms.plain(list(chosen)),
        measure=partial(_measure, features=chosen, loss=loss, permutations=permutations),
        read=read_ratio if ratio else read_difference,
        label="PFI_H",
        title="entropy-based permutation feature importance",
        quantity="entropy-PFI",
        details=(*(("ratio",) if ratio else ()), *of_class),
        meaning=(
            f"{what} the expected entropy of the predictive distribution"
            f"{' grows' if ratio else ''} when the feature is replaced by an independent draw."
        ),
        notes=(
            f"Near {null:g}: the feature is independent of the others, or the model does not use "
            f"it; above {null:g}: the model is surer where it agrees with the others.",
        ),
        null=null,
        unit="" if ratio else "nats",
        coverage=() if ratio else ("entropy-PFI",),
        exact=ALL_PAIRS,
        inexact=SOME_PAIRS,
        zero_variance="never used by the learner in any refit, which does not mean certainly 0",
        loss=None if problem.population.y is None else negative_log_likelihood(predictor, position),
        distributional=family is not None,
        no_weights=no_weights_of(permutations, conditional=False),
    )


def _measure(
    case: ModelOnRows, *, features: Features, loss: Loss, permutations: Permutations
) -> Measurement:
    serving, nothing = case.serving(loss), np.zeros(case.sample.nobs)
    entropies = loss(nothing, serving.factual)
    pairs = [
        marginal_losses(
            serving.of(variables),
            nothing,
            entropies,
            loss=loss,
            permutations=permutations,
            draw=partial(case.draw, name),
            weights=case.weights,
        )
        for name, variables in features.items()
    ]
    return {
        "switched": Estimate.stack([switched for switched, _ in pairs]),
        "original": Estimate.stack([original for _, original in pairs]),
    }
