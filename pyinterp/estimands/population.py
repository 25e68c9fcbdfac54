r"""The population: least squares of residuals on residuals, of all rows, with fits of others.

With Z the other variables and u = y - E(y | Z), everything is a regression of u on columns V,

.. math:: \theta = (V^T V)^{-1} V^T u, \qquad
    \phi_i = \theta + (V^T V / n)^{-1} V_i (u_i - V_i \theta)

with contributions :math:`\phi_i` of rows. Which columns say which quantity: x - E(x | Z) gives
slopes (Robinson 1988), an indicator of a level minus its probability given Z gives a contrast, and
h = f - E(f | Z) what is lost without the feature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, cross_val_predict

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice
from pyinterp.data.columns import is_category
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.effects.grids import number_text
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Remark, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import mean_over_draws
from pyinterp.estimands.positivity import samplers_of
from pyinterp.estimands.questions import ONE_GROUP, Choice, method
from pyinterp.estimands.risk import best_constant
from pyinterp.losses.rowwise import Loss
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import POSITIVE
from pyinterp.samplers import Categorical, Draws, Residual, Sampler, SamplerLike
from pyinterp.samplers.encoding import codes_of, encode, levels_of
from pyinterp.samplers.learners import LinearThenTrees, LogisticThenTrees, train_estimator

LEAST_ROWS = 20  # of a level and of the first one: with fewer, standard errors are too small
LARGEST_SHARE = 0.8  # R²_j: above, the error of learning may exceed the standard error
LEAST_P = 0.01  # of error that is left: warned below, as there are two for every feature
FOLDS = 5  # that look for it
SAME = 1e-8  # 1 - R²_j, or an eigenvalue of correlations: no variation given the others
ROUNDING = 1e-10  # of the largest prediction: f and its mean over equal draws differ by rounding

NEEDS = (
    "E(y | others) and E(feature | others) must be right to first order: the product of their "
    "errors is not in the standard error."
)
BY_DEFAULT = (
    "E(y | others) is by regression on numbers and products, then trees, which predicts better "
    "than the learner."
)
MEANS = "Fits of a row are means over the refits that have not seen it: f is a bagged learner."
NO_GAIN = "what the learner uses of it, if anything, does not lower squared error"
NO_SLOPE = "given the others it does not vary (R²_j = 1)"
NO_LEVEL = f"fewer than {LEAST_ROWS} rows of the level or of the first one, or R²_j = 1"
# Learners that aim at no mean: their names, or settings.
NO_MEAN = re.compile(r"\w*SV[CR]|Quant\w+|(Huber|TheilSen|RANSAC)\w+|Perceptron|RidgeClassifier\w*")
LOSSES = re.compile(
    r"(?i)(reg:|regression_|mean_)?(absolute|quantile|pseudo|huber|modified|epsilon|hinge|"
    r"squared_(epsilon|hinge)|perceptron|lad$|l1$|mae|mape|fair)"
)
LOSS = ("loss", "criterion", "objective", "loss_function")
BALANCE = {"class_weight": None, "scale_pos_weight": 1, "is_unbalance": False}


# The default learners: trees alone flatten tails, where errors of y and of the feature then meet.
SMOOTH = LinearThenTrees(squares=True)
NUMBERS = {within: Residual(SMOOTH, within_range=within) for within in (False, True)}
LEVELS = Categorical(LogisticThenTrees(squares=True))
CHECK = HistGradientBoostingRegressor(
    max_iter=40, max_depth=2, min_samples_leaf=5, early_stopping=False, random_state=0
)


Others: TypeAlias = Literal["auto", "learner", "default"]
Reading: TypeAlias = Literal["coefficients", "relevance", "targets"]


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
    x, v : ndarray of shape (n, width)
        The feature's numbers, or indicators of its levels, and x - E(x | others).
    levels : ndarray of shape (n, width)
        f at every level of a category, the others as they are.
    rows : ndarray of int, shape (n,)
        Positions in the data.
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


def slopes(V: FloatArray, u: FloatArray) -> Estimate:
    """Return least squares of u on the columns of V, shape (n, k); missing if V is singular.

    V² divides: where few rows have most of it the standard error is too small, and a mark says so.
    """
    gram = V.T @ V / len(V)
    scale = np.sqrt(np.diag(gram))
    varies = V.size > 0 and (scale > 0).all()
    if not varies or np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] < SAME:
        return replace(Estimate.of_rows(np.full(V.shape, np.nan)), below=V * V)
    theta: FloatArray = np.asarray(np.linalg.solve(gram, V.T @ u / len(V)), dtype=np.float64)
    rows = theta + (V * (u - V @ theta)[:, None]) @ np.asarray(np.linalg.inv(gram), np.float64)
    return replace(Estimate.of_rows(rows), below=V * V)


def coefficients_of(one: Residuals) -> Estimate:
    """Return slopes; of a category, the contrast of every level, on rows of it and the first."""
    if not one.feature.levels:
        return slopes(np.where(_share_of(one.x, one.v) > 1 - SAME, 0.0, one.v), one.u)
    return Estimate.stack([_contrast(one, k) for k in range(1, len(one.feature.levels))])


def _contrast(one: Residuals, k: int) -> Estimate:
    """Return the contrast of level k and the first, of rows of these two, weighted by overlap.

    E(y | others) is theirs: that of all rows moved by the predictions at the two levels. Else an
    error of their probabilities would meet the effects of all other levels.
    """
    x, p, at = (part[:, [0, k]] for part in (one.x, one.x - one.v, one.levels))
    whole = p.sum(axis=1, keepdims=True)
    p = np.divide(p, whole, out=np.full(p.shape, 0.5), where=whole > 0)
    among = x.sum(axis=1) > 0
    V = np.where(among, x[:, 1] - p[:, 1], 0.0)[:, None]
    fixed = x.sum(axis=0).min() < LEAST_ROWS or _share_of(x[among, 1:], V[among])[0] > 1 - SAME
    return slopes(0 * V if fixed else V, one.u - ((p * at).sum(axis=1) - (one.f - one.h)))


def joint_coefficients(one: Residuals) -> Estimate:
    """Return slopes, of a category for all levels but the first at once: to test that all are 0."""
    if not one.feature.levels:
        return coefficients_of(one)
    return slopes(one.v[:, 1:][:, one.x[:, 1:].sum(axis=0) >= LEAST_ROWS], one.u)


def square_of(uh: FloatArray, hh: FloatArray, scale: float = 1.0) -> Estimate:
    r"""Return :math:`N_+^2 / D`, N = mean(u h) and D = mean(h²), in units of a scale.

    It is the square of :math:`T = N / \sqrt D`, of which ``tests`` has the contributions as they
    are if the truth is 0, :math:`u h / \sqrt D`. Both are the same for any shrunk h.
    """
    D = float(hh.mean()) * scale
    if D == 0:
        nothing = Estimate.of_rows(np.zeros((len(hh), 1)))
        return replace(nothing, tests=(nothing,))
    null, root = uh / np.sqrt(D), float(uh.mean()) / np.sqrt(D)
    away = null - root * hh * scale / (2 * D)
    square = max(root, 0.0) ** 2
    rows = Estimate.of_rows(square + 2 * abs(root) * (away - away.mean())[:, None])
    return replace(rows, value=np.array([square]), tests=(Estimate.of_rows(null[:, None]),))


def least_loss(one: Residuals, *, share: bool = True) -> Estimate:
    """Return what is lost without the feature, at least, as a share of V(y) or in its units.

    V(y) is taken as it is; `below` has its contributions.
    """
    h, below = _without_rounding(one), np.square(one.y - one.y.mean())[:, None]
    if not share:
        return square_of(one.u * h, h * h)
    return replace(square_of(one.u * h, h * h, float(below.mean())), below=below)


def targets_of(one: Residuals) -> Estimate:
    r"""Return D = mean(h²), of the learner; :math:`N_+^2 / D`, of the population; the excess."""
    h = _without_rounding(one)
    D = float(np.mean(h * h))
    c = max(float(np.mean(one.u * h)), 0.0) / D if D > 0 else 0.0
    least = 2 * c * one.u * h - np.square(c * h)
    return Estimate.of_rows(np.column_stack([h * h, least, h * h - least]))


def _without_rounding(one: Residuals) -> FloatArray:
    return np.where(np.abs(one.h) <= ROUNDING * np.abs(one.f).max(), 0.0, one.h)


def _share_of(x: FloatArray, v: FloatArray) -> FloatArray:
    """Return the share of every column's variance that the others explain; 1 of a constant."""
    variance, left = x.var(axis=0), np.square(v).mean(axis=0)
    shares = np.divide(left, variance, out=np.zeros_like(left), where=variance > 0)
    return np.asarray(1 - shares)


def misfit_of(
    one: Residuals, *, of_feature: bool, sample: Sample, codes: frozenset[str]
) -> Estimate:
    """Return the share of the residuals' variance that another learner predicts from the others.

    It is boosting of small trees with small leaves, cross-fitted.
    """
    left, data = one.v if of_feature else one.u[:, None], sample.variables
    at = np.searchsorted(sample.rows, one.rows)
    units = at if sample.clusters is None else sample.clusters[at]
    count, names = min(FOLDS, len(np.unique(units))), data.columns.drop(list(one.feature.variables))
    found = np.zeros_like(left)
    if len(names) and count > 1:
        others, folds = (encode(data[names], data, codes)[at], GroupKFold(count))
        every = [cross_val_predict(CHECK, others, r, cv=folds, groups=units) for r in left.T]
        found = np.column_stack(every)
    uh, hh = (left * found).sum(axis=1), np.square(found).sum(axis=1)
    return square_of(uh, hh, float(np.square(left).sum(axis=1).mean()) or 1.0)


@method("population", refused={"by": ONE_GROUP})
def population(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    sampler: SamplerLike = "conditional",
    others: Others = "auto",
) -> Estimand | Choice:
    r"""Coefficients of nature given the other variables, by any learner.

    .. math:: \theta = (V^T V)^{-1} V^T u, \quad u = Y - E(Y \mid Z), \quad
        V = X - E(X \mid Z)

    (Robinson 1988; Chernozhukov et al. 2018), as of `lm` if both means are linear. E(Y | Z) is
    by the learner trained without the feature, as for `loco`, and E(X | Z) what `cvim` draws
    by; of every row both are means over the refits that were not trained on it. So k-fold
    cross-validation serves, and the first 5 pairs of half-sampling: 2 fits per feature and
    refit.

    Below the coefficients the table has, for every feature, R²_j and R²_y, the shares of its
    variance and of V(y) that the others explain; how much squared error is lost without it in
    the population, at least; and "P relevant", of the hypothesis that the mean response does
    not depend on it given the others.

    Parameters
    ----------
    {features}
    {sampler}
    others : {"auto", "learner", "default"}
        What learns E(Y | Z): the learner without the feature, or linear regression, then trees.
        "auto" is the learner, unless it has no offset and predicts worse than the default one.
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
        If the learner aims at no mean, as for the median, or a feature's sampler learns none,
        or for the default learner of E(Y | Z) where there is an offset.

    Examples
    --------
    >>> folds = learner.fit(pi.CrossValidation(5), seed=1)
    >>> folds.population("bmi").conf_int().round(1)
            0    1
    term
    bmi   6.8  9.6
    """
    return of_population(problem, features, sampler, others)


@method("compare_targets", refused={"by": ONE_GROUP})
def compare_targets(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    sampler: SamplerLike = "conditional",
    others: Others = "auto",
) -> Estimand | Choice:
    r"""Importance of a feature in the learner, in the population, and the excess of the first.

    .. math:: D = E[h^2], \quad N_+^2 / D, \quad D - N_+^2 / D, \qquad
        h = f - E(f \mid Z), \quad N = E[u h]

    D is half of CVIM by plug-in, of the mean of the refits' predictions; the second is what
    ``population().importance`` has. The excess is of features that
    stand in for others.

    Parameters
    ----------
    {features}
    {sampler}
    others : {"auto", "learner", "default"}
        As for `population`.
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
    {'bmi, learner': 1269.0, 'bmi, population': 1136.0, 'bmi, excess': 133.0}
    """
    return of_population(problem, features, sampler, others, read="targets")


def of_population(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    sampler: SamplerLike = "conditional",
    others: Others = "auto",
    *,
    read: Reading = "coefficients",
) -> Estimand | Choice:
    """Return one of three readings, with the learner of E(Y | Z) that is chosen."""
    check_choice("others", others, get_args(Others))
    if others == "default" and problem.offset:
        raise OptionError(
            "The default learner of E(Y | Z) takes no offset or exposure, and the learner has "
            'one: leave `others` out, or use `others="learner"`.'
        )
    of = partial(reading_of, problem, features, sampler, read)
    if others != "auto" or problem.offset:
        return of(default=others == "default")
    both = of(default=False), of(default=True)
    return Choice(_trial(problem), lambda rows: both[_learns_less(rows.row_means)], both)


def reading_of(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    sampler: SamplerLike = "conditional",
    read: Reading = "coefficients",
    *,
    default: bool = False,
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

    *Targets* are :math:`D`, :math:`N_+^2 / D` and :math:`D - N_+^2 / D`: half of CVIM by plug-in,
    of the mean over refits; what is lost without the feature; and the
    excess of the first, 0 if h is right.
    """
    every, make = _maker(problem, features, sampler, default)
    if read == "targets":
        names = [
            f"{one.name}, {what}" for one in every for what in ("learner", "population", "excess")
        ]
        return make(targets_of, TARGETS, names)
    diagnostic = make(_relevance, RELEVANT, parameter=LEAST)
    if read == "relevance":
        return diagnostic
    misfit = partial(misfit_of, sample=problem.sample, codes=problem.codes)
    for each, words, parameter in (
        (partial(least_loss, share=False), LOSS_OF, LEAST),
        (least_loss, SHARE, LEAST),
        (partial(misfit, of_feature=False), MISFIT_Y, LEAST),
        (partial(misfit, of_feature=True), MISFIT_X, LEAST),
        (_fit_of_others, FIT, Parameter()),
        (_overlap, OVERLAP, Parameter()),
    ):
        diagnostic = make(each, words, parameter=parameter, diagnostic=diagnostic)
    words = Words(
        label="coef.",
        quantity="coefficients",
        title="coefficients given the other variables",
        meaning=(
            f"Mean change of {_response(problem)} per unit, or from the first level, the others as "
            "they are: of the population, not of the learner; where effects differ, weighted by "
            "how much the feature varies given the others. Levels are compared on rows of the two, "
            "each pair a population of its own."
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
    as_columns=(("conf_low", "loss ≥", "The same in units of the squared error."),),
)
RELEVANT = replace(
    SHARE,
    title="relevance given the other variables",
    meaning=(
        f"{SHARE.meaning} P relevant is of E(y | all) = E(y | others), of means and one feature at "
        "a time: the smaller P of its coefficients and of this share, doubled."
    ),
    as_columns=(
        *SHARE.as_columns,
        (
            "p_value",
            "P relevant",
            "Of E(y | all) = E(y | others): the smaller P of coefficients and share, doubled.",
        ),
    ),
)
TARGETS = Words(
    label="variance",
    title="importance in the learner and in the population",
    meaning=(
        "learner: variance of predictions given the others, half of CVIM by plug-in; population: "
        "squared error lost without the feature, at least; excess: the first less the second, "
        "below 0 where the learner shrinks what it has found."
    ),
    always=(NEEDS,),
    notes=(MEANS,),
    zero_variance=NO_GAIN,
)
OVERLAP = Words(
    label="R²_j",
    title="overlap",
    meaning="Share of the feature's variance that the others explain.",
    remarks=Remark(
        f"R²_j above {LARGEST_SHARE:g} ({{}}): the feature hardly varies given the others, "
        "and what E(y | others) has not learned may exceed the standard error.",
        low=LARGEST_SHARE,
    ),
)
FIT = Words(
    label="R²_y",
    title="fit of the others",
    meaning="Share of V(y) that E(y | others) explains.",
    remarks=Remark(
        "R²_y not above 0 ({}): E(y | others) predicts no better than a constant, and is "
        "wrong if the others matter.",
        high=1e-12,
    ),
)
MISFIT_X = Words(
    label="misfit of x",
    title="misfit of E(feature | others)",
    meaning="P that small trees on the others predict no more of the feature.",
    remarks=Remark(
        "Small trees on the others predict more of the feature ({}): its mean given "
        "them is not right, and its rows hold only if E(y | others) is.",
        high=LEAST_P,
    ),
    as_columns=(("p_value", "P misfit x", ""),),
)
MISFIT_Y = replace(
    MISFIT_X,
    label="misfit of y",
    title="misfit of E(y | others)",
    meaning="The same of the response.",
    remarks=Remark(
        "Small trees on the others predict more of the response ({}): E(y | others) "
        "is not right, and its rows hold only if E(feature | others) is.",
        high=LEAST_P,
    ),
    as_columns=(("p_value", "P misfit y", ""),),
)


def _response(problem: Problem) -> str:
    """Return the response in words."""
    classes = problem.predictor.classes
    if classes is None:
        return problem.response.name
    return f"the probability of {classes[1] if len(classes) == 2 else 'a class'}"


def _maker(
    problem: Problem, features: str | Sequence[str] | None, sampler: SamplerLike, default: bool
) -> tuple[tuple[Feature, ...], Callable[..., Estimand]]:
    """Return features, and a function that makes estimands of them, all of one measurement."""
    _check_mean(problem.predictor)
    chosen, data = problem.choose(features), problem.sample.variables
    samplers = dict(samplers_of(problem, chosen, sampler))
    for name, each in samplers.items():
        if isinstance(each, Residual | Categorical) and each.estimator is None:
            samplers[name] = NUMBERS[each.within_range] if isinstance(each, Residual) else LEVELS
        elif not isinstance(each, Residual | Categorical):
            raise OptionError(
                f"Coefficients need the mean of `{name}` given the others, which its sampler "
                f"({each.label}) does not learn; use `residual` for numbers and groups of numbers, "
                "`categorical` for a category, or name other features."
            )
    levels = {
        name: tuple(levels_of(data[first]))
        for name, (first, *others) in chosen.items()
        if not others and (is_category(data[first]) or first in problem.discrete)
    }
    every = tuple(Feature(name, chosen[name], levels.get(name, ())) for name in chosen)
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
            key=("population", tuple(chosen.items()), tuple(samplers.items()), default),
            terms=terms,
            measure=partial(
                _measure, features=every, samplers=samplers, loss=None if default else loss
            ),
            pool=partial(_pool, each=each, features=every, count=len(classes)),
            words=replace(
                words,
                missing=dict(zip(terms.names, why * len(classes), strict=False)),
                always=(*words.always, *[BY_DEFAULT] * default),
            ),
            leave_out={} if default else chosen,
            score=loss,
            **fields,
        )

    return every, make


def _trial(problem: Problem) -> Estimand:
    """Predictions of all rows by the learner and by the default learner, for `_learns_less`."""
    return Estimand(
        key=("population, trial",),
        terms=Terms.plain(()),
        measure=_measure_trial,
        pool=lambda rows: rows,  # of all rows, each once
        words=Words(label="trial", title="trial", meaning="Predictions by two learners."),
        score=problem.squared_loss,
    )


def _measure_trial(case: ModelOnRows) -> Measurement:
    y, f = responses_of(case.evaluation, case), case.whatif.factual
    parts = y, _outputs(f, case.whatif.predictor.classes), _by_default(case, ())
    return {"rows": Estimate.of_rows(np.column_stack(parts))}


def _learns_less(rows: FloatArray) -> bool:
    """Whether the learner predicts worse than the default one, by more than a standard error."""
    y, f, other = np.split(rows, 3, axis=1)
    gain = (np.square(y - f) - np.square(y - other)).sum(axis=1)
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def _check_mean(predictor: Predictor) -> None:
    """Raise `OptionError` for a learner that aims at no mean."""
    model, aim = predictor.estimator, ""
    settings = {"": model} | (model.get_params() if hasattr(model, "get_params") else {})
    for path, value in settings.items():
        name = path.rpartition("__")[2]
        if NO_MEAN.fullmatch(type(value).__name__):
            aim = type(value).__name__
        elif (name in LOSS and LOSSES.match(str(value))) or (
            name in BALANCE and value not in (BALANCE[name], None)
        ):
            aim = f"{name}={quote(value)}"
    if predictor.kind == "label" and not aim:
        aim = f"{predictor.name} without probabilities"
    if aim:
        raise OptionError(
            f"Coefficients of the population are of means, but the learner predicts none ({aim}): "
            "use one that learns means or probabilities by squared error, log loss or the like."
        )


def _measure(
    case: ModelOnRows,
    *,
    features: tuple[Feature, ...],
    samplers: Mapping[str, Sampler],
    loss: Loss | None,
) -> Measurement:
    """Return, of every row, what `_residuals` reads: each a mean over refits later.

    E(y | others) is by the learner, and its best constant by a loss if no column is left; or,
    without a loss, by the default learner of samplers.
    """
    predictor = case.whatif.predictor
    pick = partial(_outputs, classes=predictor.classes)
    columns = [case.evaluation.rows[:, None], responses_of(case.evaluation, case)]
    columns.append(pick(case.whatif.factual))
    for one in features:
        law = case.conditional(samplers[one.name], one.variables)
        expected, x = np.asarray(law.prediction), case.evaluation.variables[[*one.variables]]
        observed = x.to_numpy(dtype=object if one.levels else np.float64)
        if one.levels:
            observed = np.eye(len(one.levels))[codes_of(x[one.name], one.levels)]
        elif law.levels:  # a number of few values
            expected = expected @ np.array(law.levels, dtype=np.float64)
        if loss is None:
            without = _by_default(case, one.variables)
        elif (found := case.without(one.variables, predictor.kind)) is not None:
            without = pick(found)
        else:  # no column is left
            without = pick(np.asarray(best_constant(case, loss)))
        columns += [observed, expected.reshape(observed.shape), without]
        at_draws = np.empty((case.evaluation.nobs, without.shape[1] * max(len(one.levels), 1)))

        def keep(
            block: Draws, predictions: FloatArray, one: Feature = one, kept: Any = at_draws
        ) -> tuple[FloatArray, FloatArray]:
            outputs = np.moveaxis(pick(predictions), -1, 0)  # by output, row and draw
            means = outputs if one.levels else [block.mean(each)[:, None] for each in outputs]
            kept[block.rows] = np.concatenate([*means], axis=1)
            return outputs[0], block.mean(outputs[0])

        rng = case.draw(f"{one.name} of the population")
        mean_over_draws(case.whatif.of(one.variables), law, "auto", rng, keep)
        columns.append(at_draws)
    return {"rows": Estimate.of_rows(np.column_stack(columns))}


def responses_of(sample: Sample, case: ModelOnRows) -> FloatArray:
    """Return the response of rows, or the indicators of classes that predictions are of."""
    y, classes = np.asarray(sample.y), case.whatif.predictor.classes
    if classes is not None:
        y = (y[:, None] == np.arange(len(classes))).astype(np.float64)
    return _outputs(y, classes)


def _by_default(case: ModelOnRows, without: tuple[str, ...]) -> FloatArray:
    """Return the response's mean given all but some variables, by linear regression, then trees."""
    rows = case.learning_rows(without)
    train = cast("Sample", rows.covariates.train)
    others, y = rows.covariates.others(train, without, False), responses_of(train, case)
    if not others.shape[1]:
        return np.broadcast_to(y.mean(axis=0), (case.evaluation.nobs, y.shape[1]))
    learn = partial(train_estimator, SMOOTH, others, seed=rows.seed)
    return np.column_stack([learn(column)(rows.others) for column in y.T])


def _outputs(values: FloatArray, classes: tuple[Any, ...] | None) -> FloatArray:
    """Return values with an axis of outputs: the number, the second of two classes, or all."""
    if classes is None:
        return values[..., None]
    return values[..., 1:] if len(classes) == 2 else values


def _residuals(rows: FloatArray, features: tuple[Feature, ...], count: int) -> Iterator[Residuals]:
    """Yield what pooled rows tell of every class and feature."""
    sizes = [1, count, count]
    for one in features:
        width = len(one.levels or one.variables)
        sizes += [width, width, count, count * max(len(one.levels), 1)]
    at, ys, fs, *blocks = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
    places = np.rint(at[:, 0]).astype(np.intp)
    for k, (j, one) in product(range(count), enumerate(features)):
        x, expected, without, draws = blocks[4 * j : 4 * j + 4]
        levels = np.split(draws, count, axis=1)[k]
        mean = (expected * levels).sum(axis=1) if one.levels else levels[:, 0]
        y, f = ys[:, k], fs[:, k]
        v, u, h = x - expected, y - without[:, k], f - mean
        yield Residuals(one, y=y, u=u, f=f, h=h, x=x, v=v, levels=levels, rows=places)


def _pool(
    rows: Estimate,
    *,
    each: Callable[[Residuals], Estimate],
    features: tuple[Feature, ...],
    count: int,
) -> Estimate:
    return Estimate.stack([each(one) for one in _residuals(rows.rows, features, count)])


def _relevance(one: Residuals) -> Estimate:
    least = least_loss(one)
    return replace(least, tests=(Estimate.stack([least.tests[0], joint_coefficients(one)]),))


def _overlap(one: Residuals) -> Estimate:
    if one.feature.levels:  # of all indicators together
        away = one.x - one.x.mean(axis=0)
        return _number(1 - np.square(one.v).sum() / np.square(away).sum(), one)
    return _number(_share_of(one.x, one.v).max(), one)


def _fit_of_others(one: Residuals) -> Estimate:
    return _number(_share_of(one.y[:, None], one.u[:, None])[0], one)


def _number(value: float, one: Residuals) -> Estimate:
    """Return a number without a standard error."""
    rows = np.full((len(one.y), 1), np.nan)
    return Estimate(value=np.array([value]), rows=rows, mc_variance=np.zeros(1))
