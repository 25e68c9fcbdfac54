"""Permutation importance: how much worse predictions get without a feature's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import pandas as pd

from pyinterp.checks import check_choice, is_count
from pyinterp.data.features import Features
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.estimand import Estimand, Estimate, Measurement, ModelOnRows, Problem, Terms
from pyinterp.estimands.importance.conditional_losses import conditional_losses
from pyinterp.estimands.importance.marginal_losses import Permutations, marginal_losses
from pyinterp.estimands.importance.relation import NULL, RANGE, Relation, difference, ratio
from pyinterp.estimands.positivity import positivity, samplers_of, variance_parts
from pyinterp.losses.rowwise import Loss, LossLike, choose
from pyinterp.samplers import Sampler, SamplerLike, check_names, check_sampler, is_conditional

__all__ = [
    "ALL_PAIRS",
    "SOME_PAIRS",
    "Permutations",
    "Replacement",
    "check_permutations",
    "no_weights_of",
    "permutation_importance",
    "read_difference",
    "read_ratio",
]

Replacement: TypeAlias = Literal["marginal"] | SamplerLike


def permutation_importance(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    loss: LossLike | None = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
) -> Estimand:
    r"""Permutation feature importance (PFI) of features.

    .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

    with :math:`\tilde X_S` an independent draw from the marginal distribution of :math:`X_S`
    (Molnar et al. 2021, eq. 3), or from its distribution given :math:`X_C`; or the ratio of the two
    expectations.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    check_permutations(permutations)
    chosen = problem.choose(features)
    row_loss = choose(loss, problem.predictor, problem.response)
    beside: Estimand | None = None
    samplers: Mapping[str, Sampler] = {}
    if is_conditional(sampler):
        check_sampler(sampler)
        check_names(sampler, chosen)
        drawn = [name for name in chosen if not isinstance(sampler, Mapping) or name in sampler]
        beside = positivity(problem, drawn, sampler=sampler)
        samplers = samplers_of(problem, problem.choose(drawn), sampler)
    conditional = beside is not None
    unit = row_loss.unit.format(y=problem.response.name) if relation == "difference" else ""
    label = "cPFI" if conditional else "PFI"
    return Estimand(
        key=("pfi", tuple(chosen.items()), row_loss, permutations, tuple(samplers.items())),
        terms=Terms.plain(list(chosen)),
        measure=partial(
            _measure, features=chosen, loss=row_loss, permutations=permutations, samplers=samplers
        ),
        read=read_difference if relation == "difference" else read_ratio,
        label=label,
        title=_title(chosen, samplers),
        details=(row_loss.name, *(("ratio",) if relation == "ratio" else ())),
        null=NULL[relation],
        varies_as_square=True,
        range=RANGE[relation],
        unit=unit,
        meaning=_meaning(row_loss, relation, unit, chosen, samplers),
        notes=_notes(problem, chosen, samplers),
        coverage=_coverage(relation, permutations, conditional=conditional),
        exact="All draws, no Monte Carlo error." if conditional else ALL_PAIRS,
        inexact=SOME_PAIRS,
        zero_variance="never used by the learner in any refit, which does not mean certainly 0",
        no_weights=no_weights_of(permutations, conditional=conditional),
        diagnostic=beside,
        loss=row_loss,
        values=_values(problem, chosen) if permutations == "all" and not conditional else (),
    )


SOME_PAIRS = 'as some of all permutations are used; `permutations="all"` has none'
ALL_PAIRS = "All pairs of rows, no Monte Carlo error."


def _measure(
    case: ModelOnRows,
    *,
    features: Features,
    loss: Loss,
    permutations: Permutations,
    samplers: Mapping[str, Sampler],
) -> Measurement:
    serving = case.serving(loss)
    losses = loss(case.y, serving.factual)
    pairs = []
    for name, whatif in serving.of_all(features):
        draw = partial(case.draw, name)
        if name in samplers:
            distribution = case.conditional(samplers[name], whatif.variables)
            pair = conditional_losses(
                whatif,
                case.y,
                losses,
                distribution=distribution,
                loss=loss,
                draws=permutations,
                rng=draw(),
            )
        else:
            pair = marginal_losses(
                whatif,
                case.y,
                losses,
                loss=loss,
                permutations=permutations,
                draw=draw,
                weights=case.weights,
            )
        pairs.append(pair)
    return {
        "switched": Estimate.stack([switched for switched, _ in pairs]),
        "original": Estimate.stack([original for _, original in pairs]),
        **(
            variance_parts(case, {name: features[name] for name in samplers}, samplers)
            if samplers
            else {}
        ),
    }


def read_difference(measurement: Measurement) -> Estimate:
    """Return the mean loss with the feature replaced minus the mean loss."""
    return difference(measurement["switched"], measurement["original"])


def read_ratio(measurement: Measurement) -> Estimate:
    """Return the mean loss with the feature replaced over the mean loss."""
    return ratio(measurement["switched"], measurement["original"])


def no_weights_of(permutations: Permutations, *, conditional: bool) -> str:
    """Return why a PFI takes no sampling weights; empty for all pairs of rows."""
    if conditional:
        return "its samplers learn from rows that weigh the same"
    if not isinstance(permutations, str):
        return 'weighted donors are those of all pairs of rows, `permutations="all"`'
    return ""


def _coverage(
    relation: Relation, permutations: Permutations, *, conditional: bool
) -> tuple[str, ...]:
    if conditional:
        return ("conditional PFI",) if relation == "difference" else ()
    if relation == "ratio":
        return ("PFI, ratio",)
    if isinstance(permutations, str):
        return ("PFI over all pairs", "PFI")
    return ("PFI by 5 permutations", "PFI") if permutations == 5 else ("PFI",)


def _title(features: Features, samplers: Mapping[str, Sampler]) -> str:
    title = "permutation feature importance"
    if not samplers:
        return title
    return (
        f"conditional {title}" if len(samplers) == len(features) else f"{title}, partly conditional"
    )


def _meaning(
    loss: Loss, relation: Relation, unit: str, features: Features, samplers: Mapping[str, Sampler]
) -> str:
    if relation == "difference":
        what = f"Increase in expected {loss.name}{f', in units of {unit},' if unit else ''}"
    else:
        what = f"Factor by which expected {loss.name} grows"
    draw = "a draw given the other features" if samplers else "an independent draw"
    if 0 < len(samplers) < len(features):
        draw += f" ({list_of(samplers)}), or an independent draw (the others)"
    labels = {sampler.label for sampler in samplers.values()}
    draws = f" Draws: {labels.pop()}." if len(labels) == 1 else ""
    return f"{what} when the feature is replaced by {draw}.{draws}"


def _notes(
    problem: Problem, features: Features, samplers: Mapping[str, Sampler]
) -> tuple[str, ...]:
    notes = []
    labels: dict[str, list[str]] = {}
    for name, sampler in samplers.items():
        labels.setdefault(sampler.label, []).append(name)
    if len(labels) > 1:
        draws = "; ".join(f"{label} ({', '.join(names)})" for label, names in labels.items())
        notes.append(f"Draws: {draws}.")
    data = problem.population.variables
    constant = [name for name, vs in features.items() if not any(_varies(data[v]) for v in vs)]
    if constant:
        names = ", ".join(f"`{n}`" for n in constant)
        notes.append(f"{names}: constant in the data, so nothing can be replaced.")
    return tuple(notes)


def check_permutations(permutations: object) -> None:
    """Raise `OptionError` unless this is "auto", "all" or a number of at least 2."""
    if isinstance(permutations, str):
        check_choice("permutations", permutations, ("auto", "all"))
    elif not is_count(permutations, 2):
        raise OptionError(
            '`permutations` must be "auto", "all" or a whole number of at least 2 (the Monte Carlo '
            f"error of one permutation is unknown), not {quote(permutations)}."
        )


def _values(problem: Problem, features: Features) -> tuple[int, ...]:
    """Return how many distinct values every feature has."""
    data = problem.population.variables
    return tuple(len(data[list(names)].drop_duplicates()) for names in features.values())


def _varies(column: pd.Series[Any]) -> bool:
    return len(column.unique()) > 1  # a missing value is another one
