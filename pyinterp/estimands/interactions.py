r"""Whether features interact with others in the population: least squares of residuals, once more.

With :math:`u = y - E(y \mid Z)` and :math:`h = f - E(f \mid Z)` as for `population`, both lose
what any additive function :math:`g(x) + m(Z)` has: the columns :math:`b(x) - E(b \mid Z)` of a
basis of functions of x are taken out of them (Frisch and Waugh). What is left of f is its
interactions, and :math:`N = E[u h]` is 0 if nature has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import orth

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.data.features import Names, check_names, names_of
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import check_complete, variables_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import mean_over_draws
from pyinterp.estimands.population import (
    BIAS,
    LEAST,
    LEAST_ROWS,
    NEEDS,
    ROUNDING,
    SAME,
    SHARE,
    Feature,
    Residuals,
    bias_of,
    feature_of,
    least_loss,
    maker_of,
    measure_rows,
    outputs_of,
    residuals_of,
    slopes,
)
from pyinterp.estimands.questions import BY_PRODUCTS, method
from pyinterp.samplers import Draws, Sampler, SamplerLike
from pyinterp.samplers.encoding import codes_of
from pyinterp.whatif import PREDICTIONS

KNOTS = np.arange(8) / 7  # quantiles where functions of a number bend
FEW = 10  # values of a number: each has a knot
MOST_POINTS, BEYOND = 100, 10  # of the learner's own main effect, and outside of the rows
ALONE = 1 - 1e-9  # leverage of a row with a column of its own
SMALLEST = 0.01  # of the sd of f: less is what lines between points leave of it


class Basis(NamedTuple):
    """Functions of one feature: cubic splines by knots, or an indicator of every level.

    The last one of a number is itself. The knots have its least and largest value.
    """

    feature: Feature
    knots: FloatArray

    @classmethod
    def of(cls, feature: Feature, sample: pd.DataFrame) -> Basis:
        """Return the basis by the values of all rows."""
        if feature.levels:
            return cls(feature, np.empty(0))
        x = sample[feature.variables[0]].dropna().to_numpy(np.float64)
        values = np.unique(x)
        return cls(feature, values if len(values) <= FEW else np.unique(np.quantile(x, KNOTS)))

    @property
    def size(self) -> int:
        """The number of functions."""
        return len(self.feature.levels) or 1 + len(self.knots)

    def __call__(self, frame: pd.DataFrame) -> FloatArray:
        """Return values of the functions, shape (n, size)."""
        column = frame[self.feature.variables[0]]
        if self.feature.levels:
            return np.eye(self.size)[codes_of(column, self.feature.levels)]
        x = column.to_numpy(np.float64)[:, None]
        width = np.ptp(self.knots) or 1.0
        above = np.maximum(x - self.knots[:-1], 0.0)
        return np.column_stack([(x - self.knots[0]) ** 2 / width, above**3 / width**2, x])


def rest(A: FloatArray, column: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a column, shape (n,), less its weighted fit by the columns of A, shape (n, p)."""
    root = np.sqrt(weights)
    unit = _of_norm_1(root[:, None] * A)
    return column - unit @ np.linalg.lstsq(unit, root * column)[0] / root


def _of_norm_1(A: FloatArray) -> FloatArray:
    """Return columns divided by their norms, so that units do not matter; 0 stays 0."""
    norms = np.linalg.norm(A, axis=0)
    return A / np.where(norms > 0, norms, 1.0)


@method("interactions", refused={"by": BY_PRODUCTS})
def interactions(
    problem: Problem, features: Names | None = None, *, sampler: SamplerLike = "conditional"
) -> Estimand:
    r"""Test whether a feature interacts with others in the population, by any learner.

    .. math:: N_+^2 / (D\, V(Y)), \quad N = E[u h], \quad D = E[h^2]

    The share of V(y) that no function :math:`g(x) + m(Z)` has, and the learner has found, with Z
    the other features: :math:`u = Y - E(Y \mid Z)` and :math:`h = f - E(f \mid Z)`, both less
    their regression on :math:`b(x) - E(b(x) \mid Z)` of functions of x. Refits that have not
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
        the effect of the feature is the same whatever the others are. Of features without
        interactions in the learner both are missing.

    Raises
    ------
    InferenceError
        If the plan leaves rows out.
    OptionError
        If the learner aims at no mean, or a feature is a group.

    Examples
    --------
    >>> products = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
    >>> folds = products.fit(pi.CrossValidation(5), seed=1)
    >>> folds.interactions("bmi").pvalues.round(2).to_dict()
    {'bmi': 0.1}
    """
    _, make = _maker_of(problem, features, sampler)
    bias = partial(bias_of, sample=problem.sample, codes=problem.codes)
    return make(
        least_loss, WORDS, parameter=LEAST, diagnostic=make(bias, BIAS, parameter=Parameter())
    )


@method("products", refused={"by": BY_PRODUCTS})
def products(
    problem: Problem,
    feature: str,
    others: Names | None = None,
    *,
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Coefficients of a feature's products with others in the population, by any learner.

    .. math:: E(Y \mid X) = g(x) + m(Z) + \sum_k \beta_k\, x z_k

    with any functions g and m, as of `lm` with products if both are lines: how much the slope of x
    changes per unit of another variable, or from its first level, the other products as they are.
    It is least squares of the residuals of `interactions` on :math:`(x - E(x \mid Z))\, z_k`.

    Parameters
    ----------
    feature : str
        One variable.
    others : str or sequence of str, optional
        Variables that it is multiplied with; by default all.
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the response per units of both; one term per product, as in a formula.

    Raises
    ------
    InferenceError
        If the plan leaves rows out.
    OptionError
        If the learner aims at no mean, a feature is a group, or a variable is missing in some rows.

    Examples
    --------
    >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
    >>> folds.products("bmi", "bp").params.round(2).to_dict()
    {'bmi:bp': 0.08}
    """
    variables_of(problem, feature, most=1, what="An estimate of products")
    (one,), make = _maker_of(problem, feature, sampler)
    data = problem.sample.variables
    every = [str(name) for name in data.columns if name not in (feature, problem.offset)]
    names = every if others is None else list(dict.fromkeys(names_of(others, "others")))
    check_names(names, every, kind="variable", argument="others")
    check_complete(data, names, "A product")
    features = [feature_of(problem, name, (name,)) for name in names]
    terms = [f"{a}:{b}" for other in features for b in other.terms for a in one.terms]
    read = partial(_products, sample=problem.sample, others=features)
    bias = partial(bias_of, sample=problem.sample, codes=problem.codes, of=read)
    return make(
        read,
        replace(
            PRODUCTS,
            meaning=PRODUCTS.meaning.format(
                "other products held" if len(names) > 1 else "if no third variable interacts with x"
            ),
            always=(NEEDS, TOGETHER)[: len(terms)],
        ),
        terms,
        (NO_PRODUCT,) * len(terms),
        parameter=Parameter(null=0.0, effect=True),
        diagnostic=make(bias, BIAS, terms, parameter=Parameter()),
    )


def _maker_of(
    problem: Problem, features: Names | None, sampler: SamplerLike
) -> tuple[tuple[Feature, ...], Callable[..., Estimand]]:
    """Return features, and a function that makes estimands of what is not additive in each."""
    for name, variables in problem.choose(features).items():
        if len(variables) > 1:
            raise OptionError(
                f"Interactions are of one variable with others, but `{name}` is a group; name "
                "other features, or make the learner without `groups`."
            )
    bases = dict[str, Basis]()  # filled when the features are known, and read by both functions
    every, make = maker_of(
        problem,
        features,
        sampler,
        key="interactions",
        measure=partial(_measure, bases=bases),
        residuals=partial(_residuals, bases=bases),
    )
    for one in every:
        bases[one.name] = Basis.of(one, problem.sample.variables)
    return every, make


def _products(one: Residuals, *, sample: Sample, others: Sequence[Feature]) -> Estimate:
    """Return coefficients of products of a feature with others, contributions as of HC3.

    Functions of it alone are out of them, and lines and squares of the others: these have what
    E(b | Z) has missed where the spread of the feature changes with them. Others are in units of
    their standard deviations until the end. Products that do not vary, or of levels with few rows,
    are missing, and no part of the others.
    """
    data = sample.variables.take(np.searchsorted(sample.rows, one.rows))
    parts = [Basis(each, np.zeros(1))(data) for each in others]
    own = Basis(one.feature, np.zeros(1))(data) if one.feature.levels else np.empty((len(data), 0))
    both = zip(parts, others, strict=True)
    enough = [_rows_of(part if each.levels else part[:, :0], own) for part, each in both]
    z, weights = np.column_stack([part[:, 1:] for part in parts]), one.weights
    center = np.average(z, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(z - center), axis=0, weights=weights))
    spread[spread <= ROUNDING * np.abs(center)] = np.inf
    z = (z - center) / spread
    v = one.x[:, 1 if one.feature.levels else -1 :]
    every = (z[:, :, None] * v[:, None, :]).reshape(len(z), -1)
    out = np.column_stack([one.x, np.ones(len(z)), z, z * z])
    left = np.column_stack([rest(out, each, weights) for each in every.T])
    there = (weights @ np.square(left) > SAME * (weights @ np.square(every))) & (
        np.concatenate(enough) >= LEAST_ROWS
    )
    found = slopes(left[:, there], rest(out, one.u, weights), weights)
    columns = np.sqrt(weights)[:, None] * np.column_stack([out, every[:, there]])
    leverage = np.square(orth(_of_norm_1(columns), SAME)).sum(axis=1)
    away = (found.rows - found.value) / (1 - np.minimum(leverage, ALONE))[:, None]
    rows, below = np.full(every.shape, np.nan), np.square(every)
    unit = np.repeat(spread, v.shape[1])[there]
    rows[:, there] = (found.value + away - away.mean(axis=0)) / unit
    below[:, there] = found.below
    return replace(Estimate.of_rows(rows), below=below)


def _rows_of(z: FloatArray, x: FloatArray) -> FloatArray:
    """Return the least number of rows of the levels in each product, by level of z, then of x.

    Columns are indicators of all levels, none for a number. An effect of a level is a difference
    from the first level, whose rows count too. Rows of two levels at once count twice.
    """
    rows = np.column_stack([np.ones(len(z)), z]).T @ np.column_stack([np.ones(len(x)), x])
    for _ in range(2):  # of z, then of x
        if len(rows) > 1:
            rows = np.minimum(rows[2:], rows[1])
        rows = rows.T
    return np.asarray(rows.ravel()) * (2 if x.size and z.size else 1)


WORDS = replace(
    SHARE,
    label="interactions",
    title="interactions with other features",
    meaning=(
        "Share of V(y) that is lost without interactions of the feature with others, in the "
        "population: at least the lower limit; what the learner has not found is not in it."
    ),
    notes=(
        *SHARE.notes,
        "P: the effect of the feature on the mean response is the same whatever the others are. "
        'Of several features: `p_adjust="holm"`.',
    ),
    zero_variance="the learner has no interactions of it, which says nothing of nature, or they do "
    "not lower squared error",
    as_columns=(
        ("conf_low", "interactions ≥", "Share of V(y) lost without interactions of it, at least."),
        ("p_value", "P interacts", "Of the effect being the same whatever the others are."),
    ),
)
NO_PRODUCT = (
    f"given the others it does not vary, fewer than {LEAST_ROWS} rows have a level, or fewer than "
    f"{LEAST_ROWS // 2} a pair of levels, or products are linear functions of each other"
)
TOGETHER = "Joint test of these results `p`: `p.wald_test([*p.params.index])`."
PRODUCTS = Words(
    label="coef.",
    title="coefficients of products",
    meaning=(
        "Change of the first variable's slope or level's effect, on the mean or a probability, per "
        "unit of the other one or from its first level, {}: of the population."
    ),
    notes=SHARE.notes[:1],
)


def _measure(
    case: ModelOnRows,
    *,
    features: tuple[Feature, ...],
    samplers: Mapping[str, Sampler],
    bases: Mapping[str, Basis],
    **options: Any,
) -> Measurement:
    """Return the rows of `measure_rows`, with V and h of every feature.

    The main effect of f is a column where h is made: if f has no interactions h is 0. h is made
    of these rows alone, as other refits have other main effects.
    """
    measured = measure_rows(case, features=features, samplers=samplers, **options)["rows"].rows
    weights = np.ones(len(measured)) if case.weights is None else case.weights
    pick = partial(outputs_of, classes=case.whatif.predictor.classes)
    f, columns = pick(case.whatif.factual), [measured]
    for one in features:
        basis, whatif = bases[one.name], case.whatif.of(one.variables)
        law = case.conditional(samplers[one.name], one.variables)
        curves = _main_effects(case, one, samplers[one.name], pick, weights)
        ends = [basis.size, basis.size + (0 if one.levels else f.shape[1])]
        means = np.empty((len(f), ends[1] + f.shape[1]))

        def keep(
            block: Draws,
            predictions: FloatArray,
            functions: Any = (basis, curves),
            kept: FloatArray = means,
        ) -> TwoArrays:
            values = np.column_stack([function(block.frame) for function in functions])
            outputs = pick(predictions)
            both = np.concatenate([values[block.positions], outputs], axis=2)
            kept[block.rows] = np.column_stack(
                [block.mean(each) for each in np.moveaxis(both, -1, 0)]
            )
            return outputs[..., 0], kept[block.rows, -1]

        mean_over_draws(whatif, law, "auto", case.draw(f"{one.name} of the population"), keep)
        x = case.evaluation.variables[[*one.variables]]
        V, d, h = np.split(np.column_stack([basis(x), curves(x), f]) - means, ends, axis=1)
        columns.append(V)
        for k, column in enumerate(h.T):
            columns.append(rest(np.column_stack([V, d[:, k : k + 1]]), column, weights)[:, None])
    return {"rows": Estimate.of_rows(np.column_stack(columns))}


def _main_effects(
    case: ModelOnRows,
    one: Feature,
    sampler: Sampler,
    pick: Callable[[FloatArray], FloatArray],
    weights: FloatArray,
) -> Callable[[pd.DataFrame], FloatArray]:
    """Return a function from a frame to the partial dependence of f at its rows, (n, outputs).

    Values between points of the grid are interpolated by lines; `pick` takes the outputs from
    predictions. For a category the function returns no columns, as the indicators of its levels
    already span every function of it.
    """
    if one.levels:
        return lambda frame: np.empty((len(frame), 0))
    (name,) = one.variables
    x = case.evaluation.variables[name].to_numpy(np.float64)
    points = np.unique(x)
    if len(points) > MOST_POINTS:
        points = np.unique(np.quantile(points, np.linspace(0, 1, MOST_POINTS)))
    conditional = case.conditional(sampler, one.variables)
    if not conditional.levels:  # draws are predictions and residuals, and may be outside
        center = np.asarray(conditional.prediction)
        away = x - center
        low = np.linspace(points[0], center.min() + away.min(), BEYOND)
        high = np.linspace(points[-1], center.max() + away.max(), BEYOND)
        points = np.unique(np.concatenate([points, low, high]))
    if getattr(sampler, "within_range", False):
        every = case.all_rows.variables[name]
        points = points[(points >= every.min()) & (points <= every.max())]
    curves: Any = 0.0
    whatif, most = case.whatif, PREDICTIONS // len(points)
    if len(x) > most:
        some = np.linspace(0, len(x) - 1, most).astype(np.intp)
        whatif, weights = whatif.take(some), weights[some]
    # i is the row, g the point of the grid, k the output.
    for rows, predictions in whatif.of((name,)).cross(pd.DataFrame({name: points})):
        curves += np.einsum("i,igk->kg", weights[rows] / weights.sum(), pick(predictions))
    return lambda frame: np.column_stack([np.interp(frame[name], points, c) for c in curves])


def _residuals(
    rows: FloatArray,
    features: tuple[Feature, ...],
    count: int,
    weights: FloatArray,
    at: IntArray,
    *,
    bases: Mapping[str, Basis],
) -> Iterator[Residuals]:
    """Yield the residuals of every class and feature, less functions of the feature alone.

    These are in the place of x, 0 if the others say what it is.
    """
    sizes = [bases[one.name].size + count for one in features]
    ends = rows.shape[1] + np.cumsum([-sum(sizes), *sizes])
    before, *blocks = np.split(rows, ends[:-1], axis=1)
    for number, one in enumerate(residuals_of(before, features, count, weights, at)):
        k, j = divmod(number, len(features))
        V, h = np.split(blocks[j], [-count], axis=1)
        V = V * (one.v.var() > SAME * one.x.var())
        large = h[:, k].std() > SMALLEST * one.f.std()
        yield one._replace(u=rest(V, one.u, one.weights), h=h[:, k] * large, x=V)
