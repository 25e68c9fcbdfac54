"""Likelihood-PFI: how much less likely the responses get without a feature's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyinterp.errors import OptionError
from pyinterp.estimands.effects.scales import position_of
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.importance.permutation import (
    Permutations,
    Replacement,
    permutation_importance,
)
from pyinterp.estimands.importance.relation import Relation
from pyinterp.losses.predictive import negative_log_likelihood

__all__ = ["likelihood_importance"]


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
    predictor = problem.predictive
    family = predictor.distribution
    if relation == "ratio" and not (family is None or family.discrete):
        raise OptionError(
            "A ratio of negative log likelihoods is not defined for densities: they may be "
            'negative; use `relation="difference"`.'
        )
    loss = negative_log_likelihood(predictor, position_of(predictor, which_class))
    importance = permutation_importance(
        problem,
        features,
        loss=loss,
        permutations=permutations,
        relation=relation,
        sampler=sampler,
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
