r"""The population: least squares of residuals on residuals, of all rows, with fits of others.

With Z the other variables and u = y - E(y | Z), everything is a regression of u on columns V,

.. math:: \theta = (V^T V)^{-1} V^T u, \qquad
    \phi_i = \theta + (V^T V / n)^{-1} V_i (u_i - V_i \theta)

with contributions :math:`\phi_i` of rows. Which columns say which quantity: x - E(x | Z) gives
slopes (Robinson 1988), an indicator of a level minus its probability given Z gives a contrast, and
h = f - E(f | Z) what is lost without the feature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product, starmap
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import GroupKFold, cross_val_predict

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.data.columns import is_category
from pyinterp.data.features import Names
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import number_text
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Remark, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import mean_over_draws
from pyinterp.estimands.positivity import WIDE, samplers_of
from pyinterp.estimands.questions import BY_PRODUCTS, method
from pyinterp.estimands.risk import best_constant
from pyinterp.losses.rowwise import Loss
from pyinterp.ranges import POSITIVE
from pyinterp.samplers import Categorical, Draws, Residual, Sampler, SamplerLike
from pyinterp.samplers.encoding import codes_of, encode, levels_of
from pyinterp.samplers.learners import LinearThenTrees, LogisticThenTrees
from pyinterp.samplers.regressions import (
    Additive,
    LogisticThenStepwise,
    OfIndex,
    Stepwise,
    Surfaces,
    alike,
)
from pyinterp.samplers.sampler import ConditionalDistribution, LearningRows, simplest

LEAST_ROWS = 20  # of a level and of the first one: with fewer, standard errors are too small
LARGEST_SHARE = 0.95  # R²_j: above, the error of learning may exceed the standard error
LEAST_SHARE = -0.02  # R²_j: below, the feature is predicted worse than by its mean
LARGEST_BIAS = 0.2  # standard errors, of what is seen: it is less than all there is
AWAY = 4  # standard errors of mean(y - f) from 0, of a learner that aims at another mean
FOLDS = 5  # of the trees that look for bias
MOST_ROWS = 2000  # whose pairs look for bias
AT_LEAST = 1.96  # standard errors from what pairs see to their limit
SAME = 1e-8  # 1 - R²_j, or an eigenvalue of correlations: no variation given the others
NO_OVERLAP = 1e-3  # 1 - R²_j of two levels: below, they do not occur together
ROUNDING = 1e-10  # of the largest prediction: f and its mean over equal draws differ by rounding

NEEDS = (
    "E(y | others) and E(feature | others) must be right to first order: the product of their "
    "errors is not in the standard error."
)
MEANS = "Fits of a row are means over the refits that have not seen it: f is a bagged learner."
NO_GAIN = "what the learner uses of it, if anything, does not lower squared error"
NO_SLOPE = "given the others it does not vary (R²_j = 1)"
NO_LEVEL = (
    f"fewer than {LEAST_ROWS} rows of the level or of the first one, or the others tell which of "
    f"the two a row has (R²_j above {1 - NO_OVERLAP:g})"
)


# Boosted trees are not among them: they stop by an absolute tolerance, and in no world of the study
# did slopes gain by them.
MEANS_GIVEN_OTHERS = (LinearThenTrees(trees=False), OfIndex(), Stepwise(), Additive(), Surfaces())


class SmoothResidual(Residual):
    """Residuals from the regression that predicts the response and the feature best, both as one.

    Both sides have the same regression: what the simpler of two leaves out of x, alone, would
    shrink the slope.
    """

    def _choose(self, data: LearningRows) -> Any:
        """Return the regression with the least squared errors of both, in units of variances."""
        of_feature = replace(data, of_response=False)
        return of_feature.choose(MEANS_GIVEN_OTHERS, _of_both, within=0.0)


def _of_both(rows: LearningRows, regression: Any) -> ConditionalDistribution:
    """Return the response's distribution with errors of the feature added, if it is a number."""
    learn = Residual(regression).learn
    law: Any = learn(replace(rows, of_response=True))
    if not any(is_category(column) for _, column in rows.target.items()):
        law.errors = law.errors + cast("Any", learn(rows)).errors
    return cast("ConditionalDistribution", law)


class SmoothCategorical(Categorical):
    """Probabilities that are logistic, or more by selected terms."""

    learners = LogisticThenTrees(trees=False), LogisticThenStepwise(trees=True)


NUMBERS = {within: SmoothResidual(within_range=within) for within in (False, True)}
LEVELS = SmoothCategorical()
# These find products of three, which boosted trees do not.
CHECK = ExtraTreesRegressor(50, min_samples_leaf=5, max_features=1.0, random_state=0)


Reading = Literal["coefficients", "relevance", "targets"]


class Feature(NamedTuple):
    """A feature: a number, a group of numbers, or a category with its levels in order."""

    name: str
    variables: tuple[str, ...]
    levels: tuple[Any, ...] = ()

    @property
    def terms(self) -> list[str]:
        """Names of its coefficients: of numbers, or of levels against the first one."""
        if not self.levels:
            return [self.name] if len(self.variables) == 1 else list(self.variables)
        first, *others = map(number_text, self.levels)
        return [f"{self.name}[{level} - {first}]" for level in others]


class Residuals(NamedTuple):
    """What n rows tell of one feature and one response.

    Attributes
    ----------
    feature : Feature
    y, u, f, h : ndarray of shape (n,)
        The response, y - E(y | others), the prediction, and f - E(f | others).
    weights : ndarray of shape (n,)
        Sampling weights, with mean 1.
    x, v : ndarray of shape (n, width)
        The feature's numbers, or indicators of its levels, and x - E(x | others).
    levels : ndarray of shape (n, width)
        f at every level of a category, the others as they are.
    rows : ndarray of int, shape (n,)
        Positions in the data.
    by : {0, 1, 2}
        Who learned E(y | others): the learner; the default one, as it predicts better; or the
        default one, as the learner's predictions have another mean than y.
    """

    feature: Feature
    y: FloatArray
    u: FloatArray
    f: FloatArray
    h: FloatArray
    x: FloatArray
    v: FloatArray
    levels: FloatArray
    rows: IntArray
    weights: FloatArray
    by: int = 0


def slopes(V: FloatArray, u: FloatArray, weights: FloatArray) -> Estimate:
    """Return least squares of u on the columns of V, shape (n, k); missing if V is singular.

    Leverages grow with `below`: the square of a column less its fit by the others, which is V² of
    one column. Where few rows have most of it the standard error is too small, and a mark says so.
    """
    gram = (V * weights[:, None]).T @ V / len(V)
    scale = np.sqrt(np.diag(gram))
    varies = V.size > 0 and (scale > 0).all()
    if not varies or np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] < SAME:
        return replace(Estimate.of_rows(np.full(V.shape, np.nan)), below=V * V)
    inverse = np.asarray(np.linalg.inv(gram), np.float64)
    theta = np.asarray(np.linalg.solve(gram, V.T @ (weights * u) / len(V)), np.float64)
    alone = V @ inverse
    rows = theta + alone * (weights * (u - V @ theta))[:, None]
    below = weights[:, None] * np.square(alone) / np.diag(inverse)
    return replace(Estimate.of_rows(rows), below=below)


def coefficients_of(one: Residuals) -> Estimate:
    """Return slopes; of a category, the contrast of every level, on rows of it and the first."""
    if not one.feature.levels:
        fixed = _share_of(one.x, one.v, one.weights) > 1 - SAME
        return slopes(np.where(fixed, 0.0, one.v), one.u, one.weights)
    return Estimate.stack([_contrast(one, k) for k in range(1, len(one.feature.levels))])


def _contrast(one: Residuals, k: int) -> Estimate:
    """Return the contrast of level k and the first, of rows of these two, weighted by overlap.

    E(y | others) is theirs: that of all rows moved by the predictions at the two levels. Else an
    error of their probabilities would meet the effects of all other levels.
    """
    V, p, share = _pair(one, k)
    at = one.levels[:, [0, k]]
    if one.x[:, [0, k]].sum(axis=0).min() < LEAST_ROWS or share > 1 - NO_OVERLAP:
        V = 0 * V
    return slopes(V, one.u - ((p * at).sum(axis=1) - (one.f - one.h)), one.weights)


def _pair(one: Residuals, k: int) -> tuple[FloatArray, FloatArray, float]:
    """Return V of level k and the first, 0 for other rows; their probabilities; and R²_j."""
    x, p = (part[:, [0, k]] for part in (one.x, one.x - one.v))
    whole = p.sum(axis=1, keepdims=True)
    p = np.divide(p, whole, out=np.full(p.shape, 0.5), where=whole > 0)
    among = x.sum(axis=1) > 0
    V = np.where(among, x[:, 1] - p[:, 1], 0.0)[:, None]
    return V, p, float(_share_of(x[among, 1:], V[among], one.weights[among])[0])


def joint_coefficients(one: Residuals) -> Estimate:
    """Return the slope of a number, or the contrasts of all levels with the first, for one test."""
    if not one.feature.levels:
        return coefficients_of(one)
    enough = one.x[:, 1:].sum(axis=0) >= LEAST_ROWS
    return slopes(one.v[:, 1:][:, enough], one.u, one.weights)


def square_of(uh: FloatArray, hh: FloatArray, scale: float = 1.0) -> Estimate:
    r"""Return :math:`N_+^2 / D`, N = mean(u h) and D = mean(h²), in units of a scale.

    It is the square of :math:`T = N / \sqrt D`, of which ``tests`` has the contributions as they
    are if the truth is 0, :math:`u h / \sqrt D`. Both are the same for any shrunk h.
    """
    D = float(hh.mean()) * scale
    if D == 0:
        nothing = Estimate.of_rows(np.zeros((len(hh), 1)))
        return replace(nothing, tests=(replace(nothing, below=hh[:, None]),))
    null, root = uh / np.sqrt(D), float(uh.mean()) / np.sqrt(D)
    away = null - root * hh * scale / (2 * D)
    square = max(root, 0.0) ** 2
    rows = Estimate.of_rows(square + 2 * abs(root) * (away - away.mean())[:, None])
    test = replace(Estimate.of_rows(null[:, None]), below=hh[:, None])
    return replace(rows, value=np.array([square]), tests=(test,))


def least_loss(one: Residuals, *, share: bool = True) -> Estimate:
    """Return what is lost without the feature, at least, as a share of V(y) or in its units.

    V(y) is taken as it is; `below` has its contributions.
    """
    uh, hh = _by_weight(one)
    if not share:
        return square_of(uh, hh)
    below = one.weights * np.square(one.y - np.average(one.y, weights=one.weights))
    return replace(square_of(uh, hh, float(below.mean())), below=below[:, None])


def targets_of(one: Residuals) -> Estimate:
    r"""Return D = mean(h²), use; :math:`N_+^2 / D`, relevance; and use less relevance."""
    if one.by == 2:
        raise OptionError(
            f"Targets of `{one.feature.name}` are of a learner that learns means, but the mean of "
            f"y - prediction is more than {AWAY} standard errors from 0: use one that learns means "
            "by squared error, log loss or the like, and not another scale of the response, or "
            "weights of classes."
        )
    uh, hh = _by_weight(one)
    D = float(np.mean(hh))
    c = max(float(np.mean(uh)), 0.0) / D if D > 0 else 0.0
    relevance = 2 * c * uh - c * c * hh
    return Estimate.of_rows(np.column_stack([hh, relevance, hh - relevance]))


def _by_weight(one: Residuals) -> TwoArrays:
    """Return u h and h² of every row by its weight, h without what is 0 but for rounding of f."""
    h = np.where(np.abs(one.h) <= ROUNDING * np.abs(one.f).max(), 0.0, one.h)
    return one.weights * one.u * h, one.weights * h * h


def _share_of(x: FloatArray, v: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the share of every column's variance that the others explain; 1 of a constant."""
    away = x - np.average(x, axis=0, weights=weights)
    variance, left = (weights @ np.square(part) for part in (away, v))
    shares = np.divide(left, variance, out=np.zeros_like(left), where=variance > 0)
    return 1 - shares


def bias_of(
    one: Residuals,
    *,
    sample: Sample,
    codes: frozenset[str],
    of: Callable[[Residuals], Estimate] | None = None,
) -> Estimate:
    r"""Return the bias of its coefficients that is still seen, in standard errors.

    Random trees, cross-fitted, predict V and u by the others as :math:`h_x, h_y`. Each is shrunk
    by :math:`a = \max(E[r h] / E[h^2], 0)`, and the bias is
    :math:`a_x a_y E[h_x h_y] / E[V^2]`, as of any two errors. Surfaces of every two others,
    :math:`\varphi`, see :math:`\sum E[V \varphi] E[(u - \theta V) \varphi] / E[V^2]`, of pairs
    of different rows, at least (`_by_pairs`). The largest of all columns and of both counts. It is
    that of every estimate in `of`, missing if all are.
    """
    values = np.zeros(1) if of is None else of(one).value
    times, largest = len(values), 0.0 if np.isfinite(values).any() else np.nan
    data = sample.variables
    at = np.searchsorted(sample.rows, one.rows)
    units = at if sample.clusters is None else sample.clusters[at]
    count, names = min(FOLDS, len(np.unique(units))), data.columns.drop(list(one.feature.variables))
    columns = one.v[:, 1:] if one.feature.levels else one.v
    if largest != 0.0 or not len(names) or count < 2:
        return _number(largest, one, times)
    others = encode(data[names], data, codes)[at]

    def found(r: FloatArray) -> FloatArray:
        scale = r.std()
        if scale == 0:
            return r
        h = cross_val_predict(CHECK, others, r / scale, cv=GroupKFold(count), groups=units)
        uh, hh = one.weights @ (r * h), one.weights @ (h * h)
        return np.asarray(max(uh / hh, 0.0) * h if hh > 0 else 0.0 * h)

    h = found(one.u)
    some = slice(None, None, 1 + (len(at) - 1) // MOST_ROWS)
    close = alike(others[some])
    for v in columns.T:
        (row,) = slopes(v[:, None], one.u, one.weights).rows.T
        error = row.std() / np.sqrt(len(row)) * (one.weights @ (v * v))
        if error > 0:
            r = (one.weights * (one.u - row.mean() * v))[some]
            pairs = _by_pairs((one.weights * v)[some], r, close, units[some])
            seen = [pairs * len(at) / len(r) ** 2, one.weights @ (found(v) * h) if h.any() else 0]
            largest = max(largest, *(abs(one_way) / error for one_way in seen))
    return _number(largest, one, times)


def _by_pairs(v: FloatArray, r: FloatArray, close: FloatArray, units: IntArray) -> float:
    r"""Return :math:`\sum v_i K_{ij} r_j` of rows of different units, at least.

    With :math:`C_{gh}` the part of two units, :math:`s^2 = \sum C_{gh} (C_{gh} + C_{hg})`.
    """
    of = np.unique(units, return_inverse=True)[1]
    G = of.max() + 1
    parts = np.bincount((of[:, None] * G + of).ravel(), (v[:, None] * close * r).ravel(), G * G)
    C = parts.reshape(G, G)
    np.fill_diagonal(C, 0.0)
    error = np.sqrt((C * (C + C.T)).sum().clip(0.0))
    return max(float(abs(C.sum()) - AT_LEAST * error), 0.0)


@method("population", refused={"by": BY_PRODUCTS})
def population(
    problem: Problem, features: Names | None = None, *, sampler: SamplerLike = "conditional"
) -> Estimand:
    r"""Coefficients of nature given the other variables, by any learner.

    .. math:: \theta = (V^T V)^{-1} V^T u, \quad u = Y - E(Y \mid Z), \quad
        V = X - E(X \mid Z)

    (Robinson 1988; Chernozhukov et al. 2018), as of `lm` if both means are linear. E(X | Z), by
    `sampler`, is linear, additive, of surfaces of two columns, or of selected products and
    steps, whatever predicts X and Y best. E(Y | Z) is by the same regression, or by the
    learner trained without the feature, as for `loco`, if it predicts as well. Of every row
    they are means over the refits that were not trained on it. So k-fold cross-validation
    serves, and the first 5 pairs of half-sampling.

    Below the coefficients the table has, for every feature, R²_j, the share of its variance
    that the others explain; the bias in standard errors that is still seen; the share of V(y)
    that is lost without it in the population, at least; and "P relevant", of the hypothesis
    that the mean response does not depend on it given the others.

    Parameters
    ----------
    {features}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    PopulationResults
        In units of the response per unit of the feature; of classes, of probabilities. One term
        per number, and per level but the first of a category (and class), with `importance`
        and `relevance`.

    Raises
    ------
    InferenceError
        If the plan leaves rows out.
    OptionError
        If the learner aims at no mean, as for the median, or a feature's sampler learns none.

    Examples
    --------
    >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
    >>> folds.population("bmi").conf_int().round(1)
            0    1
    term
    bmi   7.2  9.9
    """
    return reading_of(problem, features, sampler)


@method("compare_targets", refused={"by": BY_PRODUCTS})
def compare_targets(
    problem: Problem, features: Names, *, sampler: SamplerLike = "conditional"
) -> Estimand:
    r"""Use of a feature by the learner, its relevance in the population, and the excess of use.

    .. math:: D = E[h^2], \quad N_+^2 / D, \quad D - N_+^2 / D, \qquad
        h = f - E(f \mid Z), \quad N = E[u h]

    Use is D, half of CVIM by plug-in, of the mean of the refits' predictions. Relevance is what
    ``population().importance`` has as a share: squared error lost without the feature. Excess
    is their difference: a feature that stands in for another one is used in excess.

    Parameters
    ----------
    {features}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    EstimandResults
        In squared units of the response; three terms per feature.

    Examples
    --------
    >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
    >>> folds.compare_targets("bmi").params.round().to_dict()
    {'bmi, use': 1223.0, 'bmi, relevance': 1192.0, 'bmi, excess': 31.0}
    """
    return reading_of(problem, features, sampler, "targets")


def reading_of(
    problem: Problem,
    features: Names | None = None,
    sampler: SamplerLike = "conditional",
    read: Reading = "coefficients",
) -> Estimand:
    r"""Return one of three readings of one measurement; by default with the shares as columns.

    *Coefficients* are slopes of numbers, and contrasts of levels with the first.

    .. math:: \theta = E[V u] / E[V^2], \quad u = Y - E(Y \mid Z), \quad V = X - E(X \mid Z)

    (Robinson 1988). It is the mean effect of a unit, weighted by :math:`V(X \mid Z)`. Of level k,
    :math:`V = 1\{k\} - p_k / (p_k + p_0)` on rows of it and the first: levels that are residualized
    together are mixed with each other's effects (Goldsmith-Pinkham, Hull and Kolesár 2024).

    *Relevance* is the share of V(y) that is lost without a feature, at least, with P.

    .. math:: N_+^2 / (D\, V(Y)), \quad N = E[u h], \quad D = E[h^2], \quad h = f - E(f \mid Z)

    It is the explained sum of squares of u on h: LOCO and half of CVIM of nature if f is right, and
    less if it is not, as no h explains more than the right one. P is of
    :math:`E(Y \mid X) = E(Y \mid Z)`: the smaller of two, doubled, of this share and of the
    coefficients, all levels at once.

    *Targets* are :math:`D`, :math:`N_+^2 / D` and :math:`D - N_+^2 / D`: use, which is half of CVIM
    by plug-in, of the mean over refits; relevance, which is lost without the feature; and the
    excess of use, 0 if h is right.
    """
    every, make = maker_of(problem, features, sampler)
    if read == "targets":
        names = [f"{one.name}, {what}" for one in every for what in TARGET]
        return make(targets_of, TARGETS, names)
    diagnostic = make(_relevance, RELEVANT, parameter=LEAST)
    if read == "relevance":
        return diagnostic
    variables = [name for one in every for name in one.variables]
    if len(set(variables)) < len(variables):
        raise OptionError(
            "A group has the coefficients of its variables: ask for them in another call than the "
            'group, or for P relevant of all by `importance("population", [...])`.'
        )
    bias = partial(bias_of, sample=problem.sample, codes=problem.codes)
    for each, words, parameter in (
        (partial(least_loss, share=False), LOSS_OF, LEAST),
        (least_loss, SHARE, LEAST),
        (_learned_by, LEARNER, Parameter()),
        (bias, BIAS, Parameter()),
        (_overlap, OVERLAP, Parameter()),
    ):
        diagnostic = make(each, words, parameter=parameter, diagnostic=diagnostic)
    words = Words(
        label="coef.",
        quantity="coefficients",
        title="coefficients given the other variables",
        meaning=(
            f"Mean change of {_response(problem)} per unit, or from the first level, of rows that "
            "are alike in the other features: of the population, not of the learner; where effects "
            "differ, weighted by how much the feature varies given the others. Levels are compared "
            "on rows of the two, each pair a population of its own."
        ),
        always=(NEEDS,),
        notes=(MEANS,),
    )
    return make(
        coefficients_of,
        words,
        [term for one in every for term in one.terms],
        tuple(NO_LEVEL if one.levels else NO_SLOPE for one in every for _ in one.terms),
        parameter=Parameter(null=0.0, effect=True),
        diagnostic=diagnostic,
    )


TARGET = "use", "relevance", "excess"
LEAST = Parameter(null=0.0, range=POSITIVE, only="greater")
SHARE = Words(
    label="share",
    title="squared error lost without the feature",
    details=("squared error",),
    meaning=(
        "Share of V(y) lost without the feature, in the population: at least the lower limit; what "
        "the learner has not found is not in it."
    ),
    always=(NEEDS,),
    notes=(MEANS, "P is conservative: the standard error at 0 is taken 1.41 times."),
    zero_variance=NO_GAIN,
    as_columns=(
        ("conf_low", "share ≥", "Share of V(y) lost without it in the population, at least."),
    ),
)
LOSS_OF = replace(
    SHARE,
    label="loss",
    meaning=SHARE.meaning.replace("Share of V(y)", "Squared error"),
    as_columns=(),
)
OF_RELEVANCE = (
    "P of the hypothesis that the mean of y does not depend on the feature given the others: twice "
    "the smaller P of coefficients and share."
)
RELEVANT = replace(
    SHARE,
    title="relevance given the other variables",
    meaning=f"{SHARE.meaning.removesuffix('.')}; P relevant: {OF_RELEVANCE}",
    as_columns=(*SHARE.as_columns, ("p_value", "P relevant", OF_RELEVANCE)),
)
TARGETS = Words(
    label="variance",
    title="use and relevance",
    meaning=(
        "Use: variance of predictions given the others, half of CVIM by plug-in. Relevance: "
        "squared error lost without the feature in the population, at least. Excess: use less "
        "relevance, below 0 where the learner shrinks what it has found."
    ),
    always=(NEEDS,),
    notes=(MEANS,),
    zero_variance=NO_GAIN,
)
OVERLAP = Words(
    label="R²_j",
    title="overlap",
    meaning=(
        "Share of the feature's variance that the others explain; of levels, the largest of two; "
        "of a group, the largest of its variables, given those outside."
    ),
    remarks=Remark(
        f"R²_j above {LARGEST_SHARE:g} ({{}}): the feature hardly varies given the others, "
        "and what E(y | others) has not learned may exceed the standard error.",
        low=LARGEST_SHARE,
        others=(
            Remark(
                f"R²_j below {LEAST_SHARE:g} ({{}}): its mean predicts the feature better than the "
                "others do, as in a balanced experiment; else coefficients may be too near 0.",
                high=LEAST_SHARE,
            ),
        ),
    ),
)
LEARNER = Words(
    label="learner of E(y | others)",
    title="learner of E(y | others)",
    meaning="0: the learner; 1, 2: regression, as it predicts better, or has the mean of y.",
    remarks=Remark(
        "E(y | others) of {} is by linear or additive regression, or one of surfaces or terms, "
        "which predicts better than the learner.",
        low=0.5,
        high=1.5,
        others=(
            Remark(
                "Warning: the learner's predictions of {} have another mean than y, by more than "
                f"{AWAY} standard errors: coefficients are of the response column as it is, not of "
                "what it predicts (as of signed times). E(y | others) is by regression.",
                low=1.5,
                high=2.5,
            ),
        ),
    ),
    as_columns=(),
)
BIAS = Words(
    label="bias/s.e.",
    title="bias that is seen",
    meaning=(
        "Bias of its coefficients that random trees, or surfaces of two others, still find, in "
        "standard errors, at least."
    ),
    remarks=Remark(
        f"Bias above {LARGEST_BIAS:g} standard errors ({{}}): report no interval and P "
        "of it, or add to the formula what both means may depend on: a curve such as `bs(z)`, or a "
        "product `z:w`, of other features. False alarms are possible.",
        low=LARGEST_BIAS,
    ),
)


def _response(problem: Problem) -> str:
    """Return the response in words."""
    classes = problem.predictor.classes
    if classes is None:
        return problem.response.name + (
            f" at each row's own offset `{problem.offset}`" * bool(problem.offset)
        )
    return f"the probability of {classes[1] if len(classes) == 2 else 'a class'}"


def feature_of(problem: Problem, name: str, variables: tuple[str, ...]) -> Feature:
    """Return a feature with its levels, if it is one category."""
    column = problem.sample.variables[variables[0]]
    coded = is_category(column) or column.name in problem.discrete
    return Feature(
        name, variables, tuple(levels_of(column)) if coded and len(variables) == 1 else ()
    )


def maker_of(
    problem: Problem,
    features: Names | None,
    sampler: SamplerLike,
    *,
    key: str = "population",
    measure: Callable[..., Measurement] | None = None,
    residuals: Callable[..., Iterator[Residuals]] | None = None,
) -> tuple[tuple[Feature, ...], Callable[..., Estimand]]:
    """Return features, and a function that makes estimands of them, all of one measurement.

    That is `measure_rows`, which `residuals_of` reads, unless others are given.
    """
    if (aim := problem.predictor.aim).no_mean:
        raise OptionError(
            "Coefficients and interactions of the population are of means, but the learner "
            f"predicts none ({aim.words}): use one that learns means or probabilities by squared "
            'error, log loss or the like. If it does, say so by `prediction="mean"`. Of quantiles '
            'see the page "Quantiles of the response".'
        )
    chosen = problem.choose(features)
    samplers = dict(samplers_of(problem, chosen, sampler))
    for name, each in samplers.items():
        if isinstance(each, Residual | Categorical) and each.estimator is None:
            samplers[name] = NUMBERS[each.within_range] if isinstance(each, Residual) else LEVELS
        elif not isinstance(each, Residual | Categorical):
            raise OptionError(
                f"Coefficients need the mean of `{name}` given the others, which its sampler "
                f"({each.label}) does not learn; use `residual` for numbers and groups of numbers, "
                "`categorical` for a category; for a mixed group name its variables, as in "
                '`population(["a", "b"]).wald_test("a = 0, b = 0")`.'
            )
    every = tuple(starmap(partial(feature_of, problem), chosen.items()))
    labels, loss = problem.predictor.classes, problem.squared_loss
    classes = labels if labels is not None and len(labels) > 2 else (None,)

    def make(
        each: Callable[[Residuals], Estimate],
        words: Words,
        names: Sequence[str] = tuple(chosen),
        why: tuple[str, ...] = (),
        **fields: Any,
    ) -> Estimand:
        terms = Terms.plain(list(names), classes)
        return Estimand(
            key=(key, tuple(chosen.items()), tuple(samplers.items())),
            terms=terms,
            measure=partial(
                measure or measure_rows,
                features=every,
                samplers=samplers,
                loss=loss,
                default=not problem.offset,
            ),
            pool=partial(
                _pool,
                each=each,
                residuals=residuals or residuals_of,
                features=every,
                count=len(classes),
                weights=problem.sample.weights,
                at=problem.sample.rows,
                wide=2 * len(problem.design.columns) > problem.sample.nobs,
            ),
            words=replace(
                words,
                missing=dict(zip(terms.names, why * len(classes), strict=False)),
                unknown_error=WIDE,
            ),
            leave_out=chosen,
            score=loss,
            why_no_weights=None,
            **fields,
        )

    return every, make


def measure_rows(
    case: ModelOnRows,
    *,
    features: tuple[Feature, ...],
    samplers: Mapping[str, Sampler],
    loss: Loss,
    default: bool,
) -> Measurement:
    """Return the columns of every row that `residuals_of` reads, later as means over refits.

    E(y | others) is by the learner, its best constant by a loss if no column is left; and by the
    default learner, which takes no offset.
    """
    predictor = case.whatif.predictor
    pick = partial(outputs_of, classes=predictor.classes)
    columns = [case.evaluation.rows[:, None], responses_of(case), pick(case.whatif.factual)]
    for one in features:
        law = case.conditional(samplers[one.name], one.variables)
        expected, x = np.asarray(law.prediction), case.evaluation.variables[[*one.variables]]
        observed = x.to_numpy(object if one.levels else np.float64)
        if one.levels:
            observed = np.eye(len(one.levels))[codes_of(x[one.name], one.levels)]
        elif law.levels:  # a number of few values
            expected = expected @ np.array(law.levels, np.float64)
        found = case.without(one.variables, predictor.kind)  # None if no column is left
        without = pick(np.asarray(best_constant(case, loss)) if found is None else found)
        # By the default learner, which learns it as the mean of a feature.
        anew = replace(case.learning_rows(one.variables), of_response=True)
        given = pick(np.asarray(NUMBERS[False].learn(anew).prediction)) if default else without
        at_draws = np.empty((case.evaluation.nobs, without.shape[1] * max(len(one.levels), 1)))
        columns += [observed, expected.reshape(observed.shape), without, given, at_draws]

        def keep(
            block: Draws, predictions: FloatArray, one: Feature = one, kept: Any = at_draws
        ) -> TwoArrays:
            outputs = np.moveaxis(pick(predictions), -1, 0)  # by output, row and draw
            means = outputs if one.levels else [block.mean(each)[:, None] for each in outputs]
            kept[block.rows] = np.concatenate([*means], axis=1)
            return outputs[0], block.mean(outputs[0])

        rng = case.draw(f"{one.name} of the population")
        mean_over_draws(case.whatif.of(one.variables), law, "auto", rng, keep)
    return {"rows": Estimate.of_rows(np.column_stack(columns))}


def responses_of(case: ModelOnRows) -> FloatArray:
    """Return the response of rows, or the indicators of classes that predictions are of."""
    y, classes = np.asarray(case.evaluation.y), case.whatif.predictor.classes
    if classes is not None:
        y = (y[:, None] == np.arange(len(classes))).astype(np.float64)
    return outputs_of(y, classes)


def outputs_of(values: FloatArray, classes: tuple[Any, ...] | None) -> FloatArray:
    """Return values with an axis of outputs: the number, the second of two classes, or all."""
    if classes is None:
        return values[..., None]
    return values[..., 1:] if len(classes) == 2 else values


def residuals_of(
    rows: FloatArray, features: tuple[Feature, ...], count: int, weights: FloatArray, at: IntArray
) -> Iterator[Residuals]:
    """Yield the residuals of every class and feature, from rows pooled over refits."""
    sizes = [1, count, count]
    for one in features:
        width = len(one.levels or one.variables)
        sizes += [width, width, count, count, count * max(len(one.levels), 1)]
    places, ys, fs, *blocks = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
    where = np.rint(places[:, 0]).astype(np.intp)
    shares = weights[np.searchsorted(at, where)]
    shares = shares / shares.mean()
    for k, (j, one) in product(range(count), enumerate(features)):
        x, expected, without, default, draws = blocks[5 * j : 5 * j + 5]
        levels = np.split(draws, count, axis=1)[k]
        mean = (expected * levels).sum(axis=1) if one.levels else levels[:, 0]
        y, f, v = ys[:, k], fs[:, k], x - expected
        both, away = y[:, None] - np.column_stack([without[:, k], default[:, k]]), shares * (y - f)
        by = simplest(np.square(both), shares)
        if abs(away.mean()) > AWAY * away.std() / np.sqrt(len(y)):
            by = 2
        yield Residuals(
            one,
            y=y,
            u=both[:, min(by, 1)],
            f=f,
            h=f - mean,
            x=x,
            v=v,
            levels=levels,
            rows=where,
            weights=shares,
            by=by,
        )


def _pool(
    rows: Estimate,
    *,
    each: Callable[[Residuals], Estimate],
    residuals: Callable[..., Iterator[Residuals]],
    features: tuple[Feature, ...],
    count: int,
    weights: FloatArray | None,
    at: IntArray,
    wide: bool,
) -> Estimate:
    """Return one estimate per feature of residuals pooled over refits, by `each`.

    If data are `wide` it has no variance: null features had P < .05 too often.
    """
    weights = np.ones(len(at)) if weights is None else weights
    every = residuals(rows.rows, features, count, weights, at)
    pooled = Estimate.stack([each(one) for one in every])
    return replace(pooled, rows=np.nan * pooled.rows, tests=()) if wide else pooled


def _relevance(one: Residuals) -> Estimate:
    """Return the least loss of a feature, with the second test that it is not 0."""
    least = least_loss(one)
    return replace(least, tests=(Estimate.stack([least.tests[0], joint_coefficients(one)]),))


def _overlap(one: Residuals) -> Estimate:
    """Return R²_j: how much the other variables tell of a feature; of levels the largest."""
    if one.feature.levels:
        return _number(
            max((_pair(one, k)[2] for k in range(1, len(one.feature.levels))), default=1.0), one
        )
    return _number(_share_of(one.x, one.v, one.weights).max(), one)


def _learned_by(one: Residuals) -> Estimate:
    """Return who learned E(y | others), as a number: `by` of `Residuals`."""
    return _number(one.by, one)


def _number(value: float, one: Residuals, times: int = 1) -> Estimate:
    """Return a number without a standard error, for one term or several."""
    rows = np.full((len(one.y), times), np.nan)
    return Estimate(value=np.full(times, value), rows=rows, mc_variance=np.zeros(times))
