"""MVIM, CVIM and adjusted MVIM: importance under squared loss (Khan, Saarela and Kustra 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from pyinterp.checks import check_choice
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.accumulated_effects import additive_importance
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.estimate import Estimate, Measurement
from pyinterp.estimands.importance.losses import Permutations
from pyinterp.estimands.importance.permutation import (
    Replacement,
    check_permutations,
    permutation_importance,
)
from pyinterp.estimands.importance.relation import difference
from pyinterp.estimands.positivity import samplers_of
from pyinterp.samplers import SamplerLike, check_sampler, is_conditional

Adjustment: TypeAlias = Literal["linear", "additive"]

# From here on 1 / (1 - R²) multiplies errors by a thousand or more: AMVIM is missing.
LARGEST_R2 = 0.999
NOTHING_LEFT = (
    f"R²_j is {LARGEST_R2:g} or more, or not defined, in some refit, so nothing is left to "
    "adjust from"
)


def mvim(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    permutations: Permutations = "auto",
) -> Estimand:
    r"""Marginal variable importance metric, :math:`MVIM = e_{switch} - e_{orig}` (eq. 3)."""
    return _squared_pfi(problem, features, permutations, "marginal", label="MVIM")


def cvim(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Conditional variable importance metric, :math:`CVIM = e_{cond} - e_{orig}` (eq. 19)."""
    samplers = samplers_of(problem, problem.choose(features), sampler)
    for name, one in samplers.items():
        if not one.independent_draws:  # as knockoffs
            raise OptionError(
                f"CVIM needs draws that do not depend on the feature's own value given the others, "
                f"but those for `{name}` do ({one.label}); use another sampler, or "
                '`pfi(sampler="knockoff")`.'
            )
    return _squared_pfi(problem, features, permutations, samplers, label="CVIM")


def amvim(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    method: Adjustment = "linear",
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Adjusted MVIM: the marginal importance that CVIM, or the feature's effect, implies.

    .. math:: AMVIM = CVIM / (1 - R^2_j), \qquad \text{or} \quad 2 V(f_j(X_j))

    (eq. 33, and eq. 6 with the accumulated local effect as :math:`f_j`).
    """
    check_choice("method", method, ("linear", "additive"))
    if method == "additive":
        check_permutations(permutations)
        check_sampler(sampler)
        if (permutations, sampler) != ("auto", "conditional"):
            raise OptionError(
                '`method="additive"` draws nothing, so it takes no `permutations` and no `sampler`.'
            )
        return additive_importance(problem, features)
    conditional = cvim(problem, features, permutations=permutations, sampler=sampler)
    chosen = problem.choose(features)
    reasons = {name: _not_linear(problem, variables) for name, variables in chosen.items()}
    return replace(
        conditional,
        read=partial(_adjust, linear=np.array([reason is None for reason in reasons.values()])),
        words=replace(
            conditional.words,
            label="AMVIM",
            title="adjusted marginal variable importance",
            meaning=(
                "CVIM / (1 - R²_j), the MVIM of a feature that enters linearly, without "
                "interactions, and whose variance given the others is constant."
            ),
            missing={name: reason or NOTHING_LEFT for name, reason in reasons.items()},
        ),
        coverage=("AMVIM",),
    )


def _squared_pfi(
    problem: Problem,
    features: str | Sequence[str] | None,
    permutations: Permutations,
    sampler: Replacement,
    *,
    label: str,
) -> Estimand:
    """Return PFI under squared error; of two classes, of the indicator of the second."""
    classes = problem.response.classes
    if classes is not None and len(classes) > 2:
        raise OptionError(
            f"{label} is defined by squared error, for a numeric response or two classes; "
            f'`{problem.response.name}` has {len(classes)}. `pfi(loss="brier", ...)` serves '
            "more classes."
        )
    importance = permutation_importance(
        problem,
        features,
        loss="squared" if classes is None else "brier",
        permutations=permutations,
        sampler=sampler,
    )
    kind = "conditional" if is_conditional(sampler) else "marginal"
    return replace(
        importance,
        words=replace(
            importance.words,
            label=label,
            title=f"{kind} variable importance",
            details=(problem.squared_loss.name,),
        ),
    )


def _not_linear(problem: Problem, variables: tuple[str, ...]) -> str | None:
    """Return why a feature can't enter linearly; None if it can."""
    if len(variables) > 1:
        return "a group can't enter linearly"
    column = problem.population.variables[variables[0]]
    levels = variables[0] in problem.discrete or is_category(column)
    if levels and column.nunique() > 2:
        return 'more than two levels can\'t enter linearly; `method="additive"` serves them'
    return None


def _adjust(measurement: Measurement, *, linear: np.ndarray) -> Estimate:
    conditional = difference(measurement)
    unexplained, variance = measurement["unexplained"], measurement["variance"]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = unexplained.value / variance.value  # 1 - R²
    factor = variance.over(unexplained)
    whole = share >= 1  # R² <= 0: nothing to adjust
    adjustable = linear & (share > 1 - LARGEST_R2) & np.isfinite(share)
    scale = np.where(adjustable, np.where(whole, 1.0, factor.value), np.nan)
    spread = np.where(adjustable & ~whole, conditional.value * (factor.rows - factor.value), 0.0)
    return Estimate(
        value=conditional.value * scale,
        rows=conditional.rows * scale + np.where(np.isnan(scale), np.nan, spread),
        donors=None if conditional.donors is None else conditional.donors * scale,
        mc_variance=conditional.mc_variance * scale**2,
    )
