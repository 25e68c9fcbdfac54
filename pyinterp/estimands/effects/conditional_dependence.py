"""Partial dependence given the variable: the other variables as they go with the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.errors import OptionError, list_of
from pyinterp.estimands.effects.grids import Grid, points_of, variables_of
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.samplers import SamplerLike, is_conditional
from pyinterp.samplers.categorical import Categorical
from pyinterp.samplers.choice import check_names, choose_sampler
from pyinterp.samplers.residual import Residual
from pyinterp.samplers.sampler import ConditionalDistribution, Sampler, Target

POINTS = 1024  # at which the density of residuals is evaluated


# What only the marginal partial dependence has.
MARGINAL_ONLY = {"of": "prediction", "kind": "pd", "average": "mean"}


def dependence(
    problem: Problem, features: str | Sequence[str], *, sampler: Any = "marginal", **options: Any
) -> Estimand:
    """Return partial dependence, or conditional partial dependence if a sampler is named."""
    if not is_conditional(sampler):
        return partial_dependence(problem, features, **options)
    for option, default in MARGINAL_ONLY.items():
        if options.pop(option, default) != default:
            raise OptionError(
                f"Conditional partial dependence is a weighted mean of predictions: leave "
                f'`{option}` out, or `sampler="marginal"`.'
            )
    return conditional_dependence(problem, features, sampler=sampler, **options)


def conditional_dependence(
    problem: Problem,
    features: str | Sequence[str],
    *,
    sampler: SamplerLike,
    grid: Grid = "quantile",
    points: int | None = None,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Mean prediction at a value, over the other variables given the value.

    .. math:: E[f(x, X_C) | X_j = x] = E\Big[f(x, X_C) \frac{p(x | X_C)}{p(x)}\Big]

    A sampler learns the density of the variable given the others: the density of its residuals
    around its prediction, or probabilities of levels.
    """
    names = variables_of(problem, features, most=1, what="Conditional partial dependence")
    (name,) = names
    if isinstance(sampler, Mapping):
        check_names(sampler, {name: names})
    target = Target(name, names, name in problem.discrete)
    law = choose_sampler(sampler, target, problem.population.variables)
    if not isinstance(law, Residual | Categorical):
        raise OptionError(
            "Conditional partial dependence weights rows by the density of the variable given the "
            f'others, which "residual" and "categorical" have, but {type(law).__name__} has not.'
        )
    by_level = isinstance(law, Categorical)
    data = problem.population.variables
    rule = "unique" if by_level and isinstance(grid, str) else grid
    at = points_of(data, names, rule, points, problem.discrete)
    if by_level and (
        strange := [value for (value,) in at.cells if not (data[name] == value).any()]
    ):
        raise OptionError(
            f"`{name}` is drawn by levels, so its grid must be observed values; "
            f'{list_of(strange)} are not. Use `grid="unique"`, or `sampler="residual"`.'
        )
    outputs = Outputs.of(problem, scale, which_class)
    terms = at.terms(outputs.labels)
    how_likely = "probabilities of levels" if by_level else "density of residuals"
    return Estimand(
        key=("conditional pd", at, law, outputs),
        terms=terms,
        measure=partial(_measure, donors=at.frame(data), law=law, outputs=outputs),
        read=itemgetter("curve"),
        words=Words(
            label="PD",
            title="conditional partial dependence",
            quantity="conditional PD",
            of=name,
            details=outputs.details,
            unit=outputs.unit,
            meaning=(
                f"Mean {outputs.phrase} when `{name}` is set to the value shown, over rows "
                "weighted by how likely the value is given their other variables "
                f"({how_likely})."
            ),
            notes=(
                f"Nothing is drawn, so mcse is 0, but what the sampler learns of `{name}` depends "
                "on the seed (its learner's, and that of 5 folds where training rows are not "
                "known), which mcse leaves out: other seeds show by how much.",
            ),
            missing=dict.fromkeys(
                terms.names, "a value that no evaluation row of a refit makes likely"
            ),
        ),
        parameter=Parameter(effect=True, range=outputs.range),
    )


def _measure(
    case: ModelOnRows, *, donors: pd.DataFrame, law: Sampler, outputs: Outputs
) -> Measurement:
    (name,) = donors.columns
    density = _densities(case.conditional(law, (name,)), case.sample.variables[name], donors[name])
    curves = outputs.curves(case.whatif, donors)
    return {"curve": Estimate.stack([_weighted_mean(one, density) for one in curves])}


def _densities(
    learned: ConditionalDistribution, column: pd.Series[Any], values: pd.Series[Any]
) -> FloatArray:
    """Return the density of every value given the other variables of every row, shape (n, g)."""
    prediction = np.asarray(learned.prediction)
    if learned.levels:
        place = [list(learned.levels).index(value) for value in values]
        return prediction[:, place]
    away = values.to_numpy(np.float64) - prediction[:, None]
    return _kernel_density(column.to_numpy(np.float64) - prediction, away)


def _kernel_density(sample: FloatArray, at: FloatArray) -> FloatArray:
    """Return a normal kernel density estimate (Silverman's bandwidth), interpolated on a grid."""
    spread = np.subtract(*np.quantile(sample, [0.75, 0.25])) / 1.349
    width = 0.9 * min(sample.std(), spread or np.inf) * len(sample) ** -0.2
    if width == 0:
        return np.zeros(at.shape)
    grid = np.linspace(sample.min() - 4 * width, sample.max() + 4 * width, POINTS)
    density = np.zeros(POINTS)
    for point in sample:
        density += np.exp(-(((grid - point) / width) ** 2) / 2)
    return np.interp(at, grid, density, left=0.0, right=0.0)


def _weighted_mean(values: FloatArray, weights: FloatArray) -> Estimate:
    """Return the weighted mean of every column, contributions by the delta method."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights / weights.mean(axis=0)
    mean = (share * values).mean(axis=0)
    rows = mean + share * (values - mean)
    return Estimate(value=mean, rows=rows, mc_variance=np.zeros(len(mean)))
