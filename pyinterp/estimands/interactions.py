r"""Whether features interact with others in the population: least squares of residuals, once more.

With :math:`u = y - E(y \mid Z)` and :math:`h = f - E(f \mid Z)` as for `population`, both lose
what any additive function :math:`g(x) + m(Z)` has: the columns :math:`B(x) - E(B \mid Z)` of a
basis B of functions of x are taken out of them (Frisch and Waugh). What is left of f is its
interactions, and :math:`N = E[u h]` is 0 if nature has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import OptionError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import mean_over_draws
from pyinterp.estimands.population import (
    BIAS,
    LEAST,
    MEANS,
    Feature,
    Residuals,
    bias_of,
    least_loss,
    maker_of,
    measure_rows,
    outputs_of,
    residuals_of,
)
from pyinterp.estimands.questions import ONE_GROUP, method
from pyinterp.samplers import Draws, Sampler, SamplerLike
from pyinterp.samplers.encoding import codes_of

KNOTS = np.arange(1, 7) / 7  # quantiles where functions of a number bend
FEW = 10  # values of a number: each has a knot
MOST_POINTS = 100  # of the learner's own main effect


class Basis(NamedTuple):
    """Functions of one feature: itself and hinges at knots, or an indicator of every level."""

    feature: Feature
    knots: FloatArray

    @property
    def size(self) -> int:
        """The number of functions."""
        return len(self.feature.levels) or 1 + len(self.knots)

    def __call__(self, frame: pd.DataFrame) -> FloatArray:
        """Return values of the functions, shape (n, size)."""
        column = frame[self.feature.variables[0]]
        if self.feature.levels:
            return np.eye(self.size)[codes_of(column, self.feature.levels)]
        x = column.to_numpy(dtype=np.float64)[:, None]
        return np.column_stack([x, np.maximum(x - self.knots, 0.0)])


def rest(A: FloatArray, columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return columns, shape (n, k), less their fits by those of A, shape (n, p), by weights."""
    root = np.sqrt(weights)[:, None]
    return np.asarray(columns - A @ np.linalg.lstsq(root * A, root * columns)[0])


@method("interactions", refused={"by": ONE_GROUP})
def interactions(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Test whether a feature interacts with others in the population, by any learner.

    .. math:: N_+^2 / (D\, V(Y)), \quad N = E[u h], \quad D = E[h^2]

    The share of V(y) that no function :math:`g(x) + m(Z)` has, and the learner has found, with Z
    the other features: :math:`u = Y - E(Y \mid Z)` and :math:`h = f - E(f \mid Z)`, both less
    their regression on :math:`B(x) - E(B(x) \mid Z)` of functions B of x. Refits that have not
    seen a row predict it, so that interactions that a learner has made of noise are not in N.
    Means given the others are as for `population`, and so are the plans that serve.

    Parameters
    ----------
    {features}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    EstimandResults
        One term per feature (and class): the share with its lower limit, and P, one-sided, that
        the effect of the feature is the same whatever the others are.

    Raises
    ------
    InferenceError
        If the plan leaves rows out.
    OptionError
        If the learner aims at no mean, or a feature is a group.

    Examples
    --------
    >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
    >>> folds.interactions("bmi").pvalues.round(2).to_dict()
    {'bmi': 1.0}
    """
    groups = [name for name, variables in problem.choose(features).items() if len(variables) > 1]
    if groups:
        raise OptionError(
            f"Interactions are of one variable with others, but `{groups[0]}` is a group; name "
            "other features, or make the learner without `groups`."
        )
    bases: dict[str, Basis] = {}
    measures = partial(measure_with_main_effects, bases=bases)
    every, make = maker_of(
        problem,
        features,
        sampler,
        name="interactions",
        measure=measures,
        residuals=partial(residuals_without_main_effects, bases=bases),
    )
    for one in every:
        bases[one.name] = Basis(one, _knots(problem, one))
    bias = partial(_bias, sample=problem.sample, codes=problem.codes)
    return make(least_loss, WORDS, parameter=LEAST, diagnostic=make(bias, BIAS, parameter=Parameter()))


WORDS = Words(
    label="share",
    title="interactions in the population",
    quantity="interactions",
    details=("squared error",),
    meaning=(
        "Share of V(y) that interactions of the feature with others explain, in the population: at "
        "least the lower limit; what the learner has not found is not in it."
    ),
)


def _knots(problem: Problem, one: Feature) -> FloatArray:
    x = problem.sample.variables[one.variables[0]].dropna()
    if one.levels:
        return np.empty(0)
    values = np.unique(x.to_numpy(dtype=np.float64))
    return values[1:-1] if len(values) <= FEW else np.unique(np.quantile(x, KNOTS))


def measure_with_main_effects(
    case: ModelOnRows,
    *,
    features: tuple[Feature, ...],
    samplers: Mapping[str, Sampler],
    bases: Mapping[str, Basis],
    **options: Any,
) -> Measurement:
    """Return what `measure_rows` does, and of every feature V and h.

    The main effect of f is a column where h is made: if f has no interactions h is 0. h is made
    of these rows alone, as the refits of others have other main effects.
    """
    measured = measure_rows(case, features=features, samplers=samplers, **options)["rows"].rows
    pick = partial(outputs_of, classes=case.whatif.predictor.classes)
    weights = np.ones(len(measured)) if case.weights is None else case.weights
    columns, f = [measured], pick(case.whatif.factual)
    for one in features:
        basis, law = bases[one.name], case.conditional(samplers[one.name], one.variables)
        whatif, x = case.whatif.of(one.variables), case.evaluation.variables[[*one.variables]]
        main = _main_effect(case, one, weights)
        functions = lambda frame, b=basis, m=main: np.column_stack([b(frame), m(frame)])
        expected = np.empty((len(f), basis.size + 2 * f.shape[1]))

        def keep(
            block: Draws, predictions: FloatArray, functions=functions, expected=expected
        ) -> tuple[FloatArray, FloatArray]:
            outputs = pick(predictions)
            both = np.concatenate([functions(block.frame)[block.positions], outputs], axis=2)
            means = np.column_stack([block.mean(each) for each in np.moveaxis(both, -1, 0)])
            expected[block.rows] = means
            return outputs[..., 0], means[:, -1]

        rng = case.draw(f"{one.name} of the population")
        mean_over_draws(whatif, law, "auto", rng, keep)
        away = np.column_stack([functions(x), f]) - expected
        V, d, h = np.split(away, [basis.size, basis.size + f.shape[1]], axis=1)
        h = np.column_stack(
            [
                rest(np.column_stack([V, d[:, [k]]]), h[:, [k]], weights)
                for k in range(h.shape[1])
            ]
        )
        columns += [V, h]
    return {"rows": Estimate.of_rows(np.column_stack(columns))}


def _main_effect(case: ModelOnRows, one: Feature, weights: FloatArray):
    """Return a function of frames: the partial dependence of f on a feature, by class."""
    whatif = case.whatif.of(one.variables)
    name = one.variables[0]
    values = np.unique(case.evaluation.variables[name].to_numpy(dtype=object if one.levels else float))
    if one.levels:
        k = case.whatif.factual.ndim
        count = outputs_of(case.whatif.factual, case.whatif.predictor.classes).shape[1]
        return lambda frame: np.zeros((len(frame), count))
    if len(values) > MOST_POINTS:
        values = np.unique(np.quantile(values, np.linspace(0, 1, MOST_POINTS)))
    total = 0.0
    for rows, predictions in whatif.cross(pd.DataFrame({name: values})):
        outputs = outputs_of(predictions, case.whatif.predictor.classes)
        total = total + np.einsum("i,igk->gk", weights[rows], outputs)
    curve = total / weights.sum()
    return lambda frame: np.column_stack(
        [np.interp(frame[name].to_numpy(float), values, c) for c in curve.T]
    )


def residuals_without_main_effects(
    rows: FloatArray,
    features: tuple[Feature, ...],
    count: int,
    weights: FloatArray,
    at: IntArray,
    *,
    bases: Mapping[str, Basis],
) -> Iterator[Residuals]:
    """Yield what pooled rows tell of every class and feature, without additive functions."""
    more = [bases[one.name].size + count for one in features]
    ends = rows.shape[1] - sum(more) + np.cumsum([0, *more])
    before, *blocks = np.split(rows, ends[:-1], axis=1)
    parts = {one.name: block for one, block in zip(features, blocks, strict=True)}
    for number, one in enumerate(residuals_of(before, features, count, weights, at)):
        V, h = np.split(parts[one.feature.name], [bases[one.feature.name].size], axis=1)
        u = rest(V, one.u[:, None], one.weights)[:, 0]
        yield one._replace(u=u, h=h[:, number // len(features)])


def _bias(one, **options):
    return bias_of(one, **options)
