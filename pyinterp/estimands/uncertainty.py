"""Importance for predictive uncertainty: likelihood- and entropy-PFI (Wood et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyinterp.checks import check_choice
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.scales import position_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem
from pyinterp.estimands.importance.losses import Permutations
from pyinterp.estimands.importance.permutation import Replacement, permutation_importance
from pyinterp.estimands.importance.relation import Relation
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.models.predictor import Predictor
from pyinterp.samplers import SAMPLERS, is_conditional


def likelihood_importance(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    which_class: Any = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
) -> Estimand:
    r"""Likelihood permutation feature importance.

    .. math:: PFI_L(j) = E[-\log q(Y | \tilde X_j, X_{-j})] - E[-\log q(Y | X)]

    (Wood et al. 2024, eq. 6), in nats; for classes it is the PFI for log loss.
    """
    predictor = _predictive(problem, relation, "negative log likelihoods", "they")
    loss = negative_log_likelihood(predictor, position_of(predictor, which_class))
    importance = permutation_importance(
        problem, features, loss=loss, permutations=permutations, relation=relation, sampler=sampler
    )
    of_class = () if which_class is None else (f"class {which_class}",)
    return replace(
        importance,
        words=replace(
            importance.words,
            label=f"{importance.words.label}_L",
            title=f"likelihood-based {importance.words.title}",
            quantity=f"likelihood-{importance.words.label}",
            unit="nats" if relation == "difference" else "",
            details=(*importance.words.details, *of_class),
        ),
        coverage=("likelihood-PFI",) if importance.coverage == ("PFI",) else (),
    )


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
    (Proposition 1) or if q does not depend on it (Proposition 2). It is also 0 for conditional
    draws of any feature (Proposition 3), which are refused.
    """
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
    predictor = _predictive(problem, relation, "entropies", "entropy")
    position = position_of(predictor, which_class)
    importance = permutation_importance(
        problem,
        features,
        loss=entropy(predictor, position),
        permutations=permutations,
        relation=relation,
        of_response=False,
    )
    null = importance.parameter.null
    of_class = () if which_class is None else (f"class {which_class}",)
    is_ratio = relation == "ratio"
    what = "Factor by which" if is_ratio else "Increase, in nats, of"
    return replace(
        importance,
        words=replace(
            importance.words,
            label="PFI_H",
            title=f"entropy-based {importance.words.title}",
            quantity="entropy-PFI",
            details=("ratio", *of_class) if is_ratio else of_class,
            unit="" if is_ratio else "nats",
            meaning=(
                f"{what} the expected entropy of the predictive distribution"
                f"{' grows' if is_ratio else ''} when the feature is replaced by an independent "
                "draw."
            ),
            notes=(
                f"Near {null:g}: the feature is independent of the others, or the model does not "
                f"use it; above {null:g}: the model is surer where it agrees with the others.",
            ),
        ),
        parameter=Parameter(null=null),
        coverage=() if is_ratio else ("entropy-PFI",),
        score=None
        if problem.population.y is None
        else negative_log_likelihood(predictor, position),
        kind=None if predictor.distribution is None else "distribution",
    )


def _predictive(problem: Problem, relation: Relation, losses: str, one: str) -> Predictor:
    """Return the predictor of distributions; of densities there are no ratios."""
    predictor = problem.predictive
    family = predictor.distribution
    if relation == "ratio" and not (family is None or family.discrete):
        raise OptionError(
            f"A ratio of {losses} is not defined for densities: {one} may be negative; use "
            '`relation="difference"`.'
        )
    return predictor
