"""How well a feature is predicted from the other features and the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyinterp.data.features import Features
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.estimate import Measurement, ModelOnRows
from pyinterp.estimands.positivity import positivity, samplers_of, variance_parts
from pyinterp.samplers import Sampler, SamplerLike

__all__ = ["redundancy"]


def redundancy(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""R² of each feature on the other features and the response, out of sample.

    (Wood et al. 2024, Figure 7, on the right). Without the response it is `positivity`.
    """
    without = positivity(problem, features, sampler=sampler)
    chosen = problem.choose(features)
    samplers = samplers_of(problem, chosen, sampler)
    name = problem.response.name
    return replace(
        without,
        key=("redundancy", *without.key[1:]) if isinstance(without.key, tuple) else without.key,
        measure=partial(_measure, features=chosen, samplers=samplers),
        words=replace(
            without.words,
            label="R²_j, y",
            title="redundancy",
            quantity=f"R² of a feature on the others and {name}",
            meaning=(
                f"Share of the feature's variance that the other variables and {name} explain, "
                "out of sample."
            ),
            remarks=None,
        ),
    )


def _measure(
    case: ModelOnRows, *, features: Features, samplers: Mapping[str, Sampler]
) -> Measurement:
    return variance_parts(case, features, samplers, with_response=True)
