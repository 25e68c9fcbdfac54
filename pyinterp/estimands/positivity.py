"""Shares of a feature's variance that the others explain: positivity, and redundancy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pyinterp.data.features import Features, Names
from pyinterp.errors import OptionError, list_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Remark, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import ONE_GROUP, method, side_by_side
from pyinterp.samplers import Sampler, SamplerLike, Target, check_sampler, choose_sampler
from pyinterp.samplers.choice import check_draws

# Above it a feature hardly varies given the others: its importance rests on few rows.
NEAR = 0.9


WIDE = (
    "columns are more than half of the rows, so that E(feature | others) is not learned; see the "
    'page "More columns than rows"'
)
POOR = (f"Draws given the others are poorly learned: {WIDE}.",)
OF_ONE = ("R²_j is of one variable: groups have none.",)


@method("positivity")
def positivity(
    problem: Problem, features: Names | None = None, *, sampler: SamplerLike = "conditional"
) -> Estimand:
    r"""Positivity diagnostic: the share of a feature's variance that the others explain.

    .. math:: R^2_j = 1 - V(X_j \mid X_{-j}) / V(X_j)

    (Khan, Saarela and Kustra 2025, eq. 17), out of sample. Above 0.9 tables warn: the feature
    hardly varies given the others.

    Parameters
    ----------
    {features}
    {sampler}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        Between 0 and 1, or negative where the features are predicted worse than by their mean.

    Examples
    --------
    >>> res.positivity(["bmi", "bp"]).params.round(2).to_dict()
    {'bmi': 0.14, 'bp': 0.19}
    """
    single = [name for group in problem.features.values() for name in group]
    chosen = problem.choose(single if features is None else features)
    samplers = samplers_of(problem, chosen, sampler)
    groups = [name for name, variables in chosen.items() if len(variables) > 1]
    return Estimand(
        key=("positivity", tuple(chosen.items()), tuple(samplers.items())),
        terms=Terms.plain(list(chosen)),
        measure=partial(variance_parts, features=chosen, samplers=samplers),
        read=_read,
        words=Words(
            label="R²_j",
            title="positivity diagnostic",
            quantity="R² of a feature on the others",
            meaning=(
                "Share of the feature's variance that the other variables explain, out of "
                "sample: 0 or below if they do not predict it (in a balanced experiment it is "
                "below 0); at 1 positivity is violated, as given the others the feature does not "
                "vary."
            ),
            always=OF_ONE[: len(groups)]
            + POOR[: 2 * len(problem.design.columns) > problem.sample.nobs],
            zero_variance="the feature is predicted equally well in all refits",
            missing={
                name: "a group" if name in groups else "constant in the evaluation rows of a refit"
                for name, variables in chosen.items()
            },
            remarks=Remark(
                f"Near violation of positivity (R²_j above {NEAR:g}): {{}}. Given the other "
                "variables they hardly vary, so conditional importance is small whatever the model "
                "does with them, and marginal importance extrapolates.",
                low=NEAR,
            ),
        ),
        parameter=Parameter(range=(-np.inf, 1.0)),
        why_no_weights=None,
    )


@method("redundancy", refused={"by": ONE_GROUP})
def redundancy(
    problem: Problem, features: Names | None = None, *, sampler: SamplerLike = "conditional"
) -> Mapping[str, Estimand]:
    """How well each feature is predicted from the others, without and with the response.

    R²_j out of sample, as in `positivity` and Figure 7 of Wood et al. (2024). A feature that
    the others do not predict, but the others and the response do, is informative and
    independent.

    Parameters
    ----------
    {features}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    ImportanceResults
        With "others" and "response"; one term per feature.

    Examples
    --------
    >>> res.redundancy(["bmi", "bp"]).summary_frame().iloc[:, :2].round(2)
          measure  estimate
    term
    bmi      R²_j      0.14
    bp       R²_j      0.19
    bmi   R²_j, y      0.35
    bp    R²_j, y      0.25
    """
    functions = {"others": positivity, "response": _with_response}
    return side_by_side(
        problem, {n: partial(f, features=features, sampler=sampler) for n, f in functions.items()}
    )


def _with_response(problem: Problem, features: Names | None, *, sampler: SamplerLike) -> Estimand:
    r"""R² of each feature on the other features and the response, out of sample.

    (Wood et al. 2024, Figure 7, on the right). Without the response it is `positivity`.
    """
    without = positivity(problem, features, sampler=sampler)
    measure: Any = without.measure
    name = problem.response.name
    return replace(
        without,
        key=("redundancy", without.key),
        measure=partial(measure, with_response=True),
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


def samplers_of(
    problem: Problem,
    features: Features,
    sampler: SamplerLike,
    *,
    why_no_weights: str | None = None,
    independent: bool = False,
) -> Mapping[str, Sampler]:
    """Return the sampler of every feature; raise `OptionError` with all that is in its way.

    Parameters
    ----------
    problem : Problem
    features : mapping of str to tuple of str
    sampler : str, Sampler or mapping
    why_no_weights : str, optional
        Why the call takes no sampling weights, whatever the sampler.
    independent : bool
        Whether draws must not depend on the feature's own value, as for CVIM.
    """
    check_sampler(sampler, features)
    data, weights = problem.sample.variables, problem.sample.weights
    chosen, obstacles = dict[str, Sampler](), list[str]()
    lacking = data[[name for names in features.values() for name in names]].isna().sum()
    if counts := {f"`{name}`": count for name, count in lacking.items() if count}:
        obstacles.append(
            f"A sampler learns {list_of(counts)} from the other variables, but "
            f"{'it is' if len(counts) == 1 else 'they are'} missing in {list_of(counts.values())} "
            f'of {len(data)} rows; leave those rows out by `missing="drop"`, name other features, '
            "use imputed columns, or means of answered items, or use `loco`: no draws, but no P."
        )
    for name, variables in features.items():
        target = Target(name, variables, bool(problem.discrete & set(variables)))
        try:
            chosen[name] = choose_sampler(sampler, target, data)
            check_draws(chosen[name], weights, name if independent else "")
        except OptionError as error:
            obstacles += error.args
    if why_no_weights is not None and weights is not None:
        obstacles.append(f"The call takes no sampling weights, because {why_no_weights}.")
    if obstacles:
        raise OptionError(*dict.fromkeys(obstacles))
    return chosen


def variance_parts(
    case: ModelOnRows,
    features: Features,
    samplers: Mapping[str, Sampler],
    *,
    with_response: bool = False,
) -> Measurement:
    """Return the variance of every feature, and its variance given the others: unexplained."""
    distributions = [
        case.conditional(samplers[name], variables, with_response=with_response)
        for name, variables in features.items()
    ]
    gap, weights = np.full(case.evaluation.nobs, np.nan), case.weights
    return {
        part: Estimate.of_rows(np.column_stack([gap if v is None else v for v in values]), weights)
        for part, values in (
            ("unexplained", [d.squared_residuals for d in distributions]),
            ("variance", [d.squared_deviations for d in distributions]),
        )
    }


def _read(measurement: Measurement) -> Estimate:
    """Return R²_j: one minus the share of a feature's variance that the others leave."""
    share = measurement["unexplained"].over(measurement["variance"])
    return replace(share, value=1 - share.value, rows=1 - share.rows)
