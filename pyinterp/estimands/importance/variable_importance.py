"""MVIM, CVIM and adjusted MVIM: importance under squared loss (Khan, Saarela and Kustra 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice
from pyinterp.data.features import Names
from pyinterp.errors import LossError, OptionError
from pyinterp.estimands.effects.accumulation import filling, step_means
from pyinterp.estimands.effects.grids import grid_values, has_levels
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import Permutations, difference
from pyinterp.estimands.importance.permutation import (
    NO_USE,
    Replacement,
    check_permutations,
    permutation_importance,
)
from pyinterp.estimands.positivity import samplers_of
from pyinterp.estimands.questions import method
from pyinterp.losses.rowwise import LOSSES
from pyinterp.models.predictor import learner_name
from pyinterp.ranges import POSITIVE
from pyinterp.samplers import SamplerLike, check_sampler, is_conditional
from pyinterp.samplers.encoding import codes_of
from pyinterp.whatif import WhatIf

Adjustment = Literal["linear", "additive"]

# From here on 1 / (1 - R²) multiplies errors by a thousand or more: AMVIM is missing.
LARGEST_R2 = 0.999
NOTHING_LEFT = (
    f"R²_j is {LARGEST_R2:g} or more, or not defined, in some refit, so nothing is left to "
    "adjust from"
)
BINS = 20  # of an accumulated local effect
# Deviations of predictions below this share of the largest one are rounding.
ROUNDING = 1e-13
NO_TEST = (
    "No test of 0: noise makes what a learner finds vary, so mean squared effects are above 0 "
    "whatever the truth."
)
SQUARED_LOSS = LOSSES["squared"]

WITH_SAMPLER = 'given the others with `sampler="conditional"`.'
BY_SQUARES = {
    "loss": f"it is squared error by definition. `pfi(loss=...)` takes a loss, {WITH_SAMPLER}"
}

# Edges of intervals, or levels, and whether they are edges.
Axis = tuple[pd.DataFrame, bool]


@method("mvim", refused=BY_SQUARES, importance=True)
def mvim(
    problem: Problem, features: Names | None = None, *, permutations: Permutations = "auto"
) -> Estimand:
    r"""Marginal variable importance metric (MVIM): marginal PFI under squared loss.

    .. math:: MVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2]

    (Khan, Saarela and Kustra 2025, eq. 3). Under positivity and conditional ignorability, and
    as far as the learner is right, the mean squared effect of exchanging the feature between
    rows (their Theorems 1 and 2).

    Parameters
    ----------
    {features}
    {permutations}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In squared units of the response; for two classes, of the indicator of the second.

    Examples
    --------
    >>> res.mvim().params.round().to_dict()
    {'sex': 49.0, 'bmi': 2725.0, 'bp': 780.0}
    """
    return _squared_pfi(problem, features, permutations, "marginal", label="MVIM")


@method("cvim", refused=BY_SQUARES, importance=True)
def cvim(
    problem: Problem,
    features: Names | None = None,
    *,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Conditional variable importance metric (CVIM): conditional PFI under squared loss.

    .. math:: CVIM = E[(Y - f(\tilde X_j, X_{-j}))^2] - E[(Y - f(X))^2],
        \quad \tilde X_j \sim X_j \mid X_{-j}

    (Khan, Saarela and Kustra 2025, eqs 19 and 24-26, Algorithm 2). It does not extrapolate, and
    it is twice the estimand of LOCO.

    Parameters
    ----------
    {features}
    {permutations}
    {sampler}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In squared units of the response; for two classes, of the indicator of the second.
        Tables show R²_j of `positivity` beside it.

    Examples
    --------
    >>> res.cvim(["bmi", "bp"]).params.round().to_dict()
    {'bmi': 2342.0, 'bp': 626.0}
    """
    chosen, why_no_weights = problem.choose(features), check_permutations(permutations)
    samplers = samplers_of(
        problem, chosen, sampler, why_no_weights=why_no_weights, independent=True
    )
    return _squared_pfi(problem, features, permutations, samplers, label="CVIM")


@method("amvim", refused=BY_SQUARES, importance=True)
def amvim(
    problem: Problem,
    features: Names | None = None,
    *,
    method: Adjustment = "linear",
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""Adjusted MVIM: marginal importance without extrapolation, under an assumption.

    .. math:: AMVIM = CVIM / (1 - R^2_j) \quad \text{or} \quad 2 V(f_j(X_j))

    Parameters
    ----------
    {features}
    method : {"linear", "additive"}
        "linear" (Khan, Saarela and Kustra 2025, eq. 33) holds if the feature enters linearly,
        without interactions, and its variance given the others is constant. "additive" (eq. 6,
        with the accumulated local effect as :math:`f_j`) holds if the feature enters
        additively, in whatever form, and whatever its variance.
    {permutations}
    {sampler}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In squared units of the response. Missing where R²_j is 0.999 or more; computed at
        R²_j = 0 in refits where it is negative.

    Examples
    --------
    >>> res.amvim(["bmi", "bp"]).params.round().to_dict()
    {'bmi': 2727.0, 'bp': 776.0}
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
        form=("adjusted", tuple(reasons.values())),
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
    features: Names | None,
    permutations: Permutations,
    sampler: Replacement,
    *,
    label: str,
) -> Estimand:
    """Return PFI under squared error; of two classes, of the indicator of the second."""
    classes = problem.response.classes
    if classes is not None and len(classes) > 2:
        loss = "rps" if problem.response.ordinal else "brier"
        raise OptionError(
            "MVIM, CVIM and AMVIM are defined by squared error, for a numeric response or two "
            f'classes; `{problem.response.name}` has {len(classes)}: `pfi(loss="{loss}")` serves '
            f"more classes, {WITH_SAMPLER}"
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
    column = problem.sample.variables[variables[0]]
    if has_levels(problem, variables[0]) and column.nunique() > 2:
        return 'more than two levels can\'t enter linearly; `method="additive"` serves them'
    return None


def _adjust(measurement: Measurement, *, linear: np.ndarray) -> Estimate:
    """Return conditional importances of linear features over 1 - R², the share the others leave."""
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


def additive_importance(problem: Problem, features: Names | None) -> Estimand:
    r"""MVIM that a feature has if it enters additively, :math:`2 V(f_j(X_j))` (Khan et al., eq. 6).

    :math:`f_j` is the accumulated local effect (Apley and Zhu 2020) over 20 intervals between
    quantiles of all rows,

    .. math:: f_j(x) = \sum_{b \le b(x)} \frac1{n_b} \sum_{i: x_i \in (q_{b-1}, q_b]}
        [f(q_b, x_{-j,i}) - f(q_{b-1}, x_{-j,i})]

    linear within intervals; of a category it is the partial dependence.
    """
    chosen = problem.choose(features)
    if problem.predictor.kind == "label" or len(problem.predictor.classes or ()) > 2:
        raise LossError(
            "AMVIM is defined for predictions of a mean or of the probabilities of two classes; "
            f"{learner_name(problem.predictor.estimator)} predicts "
            f"{'labels' if problem.predictor.kind == 'label' else 'more classes'}."
        )
    axes = dict.fromkeys(chosen)
    missing, levels = {}, []
    for name, (variable, *others) in chosen.items():
        column = problem.sample.variables[variable]
        missing[name] = "missing in some rows, along which nothing accumulates"
        if others:
            missing[name] = "the effect of a group is not accumulated"
        elif has_levels(problem, variable) and column.notna().all():
            levels.append(name)
            axes[name] = column.drop_duplicates().to_frame(), False
        elif column.notna().all():
            edges = np.array(grid_values(column, "quantile", BINS + 1), np.float64)
            axes[name] = pd.DataFrame({variable: edges}), True
    response = problem.sample.response
    classes = problem.predictor.classes is not None
    unit = "" if classes or response is None else SQUARED_LOSS.unit.format(y=response.name)
    of_levels = f"Of {', '.join(levels)} it is the partial dependence."
    return Estimand(
        key=("accumulated", tuple(chosen.items())),
        terms=Terms.plain(list(chosen)),
        measure=partial(_measure_effects, axes=list(axes.values())),
        words=Words(
            label="AMVIM",
            title="adjusted marginal variable importance",
            details=(problem.squared_loss.name, "additive"),
            unit=unit,
            meaning=(
                "2 V(f_j(X_j)), f_j the accumulated local effect of the feature: its MVIM if it "
                "enters additively, in whatever form. Interactions are averaged over."
            ),
            notes=(NO_TEST, of_levels) if levels else (NO_TEST,),
            missing=missing,
            zero_variance=NO_USE,
        ),
        # Noise makes effects vary, whatever the truth: there is no value to test.
        parameter=Parameter(range=POSITIVE, no_effect=0.0),
        coverage=("additive AMVIM",),
        score=problem.squared_loss,
    )


def without_rounding(deviations: FloatArray, predictions: FloatArray) -> FloatArray:
    """Return deviations of predictions from their means, 0 where they are rounding."""
    return np.where(np.abs(deviations) <= ROUNDING * np.abs(predictions).max(), 0.0, deviations)


def _measure_effects(case: ModelOnRows, *, axes: Sequence[Axis | None]) -> Measurement:
    """Return the contribution of every row to the importance of each feature along its axis.

    Features without an axis are missing.
    """
    absent = np.full(case.evaluation.nobs, np.nan)
    parts = [absent if axis is None else _importance(case.whatif, *axis) for axis in axes]
    return {"effect": Estimate.of_rows(np.column_stack(parts))}


def _importance(whatif: WhatIf, points: pd.DataFrame, numeric: bool) -> FloatArray:
    """Return the rows' contributions to 2 V(f_j).

    The effect is a sum of means, each times the share that a row has of it; `influence` has the
    influence of every row on the means.
    """
    n, k, (name,) = whatif.sample.nobs, len(points), points.columns
    if k == 1:
        return np.zeros(n)
    column = whatif.sample.variables[name]
    if numeric:
        x, edges = column.to_numpy(np.float64), points[name].to_numpy()
        bin_of = np.clip(np.searchsorted(edges, x, side="left") - 1, 0, k - 2)
        at = _predictions_at(whatif, points, np.column_stack([bin_of, bin_of + 1]))
        widths, steps = np.diff(edges), np.full((n, k - 1), np.nan)
        steps[np.arange(n), bin_of] = at[:, 1] - at[:, 0]
        mean, influence = step_means(steps, np.ones(n))
        # An interval without rows has the slope of its neighbors.
        fill = filling(np.isfinite(mean), widths)
        mean, influence = fill @ np.nan_to_num(mean), np.nan_to_num(influence) @ fill.T
        shares = np.clip((x[:, None] - edges[:-1]) / widths, 0.0, 1.0)
    else:
        curves = _predictions_at(whatif, points, np.broadcast_to(np.arange(k), (n, k)))
        mean = curves.mean(axis=0)
        shares = np.eye(k)[codes_of(column, points[name].tolist())]
        influence = curves - mean
    effect = shares @ mean
    around = without_rounding(effect - effect.mean(), whatif.factual)
    return np.asarray(2 * n / (n - 1) * around**2 + 4 * influence @ (around @ shares / n))


def _predictions_at(whatif: WhatIf, points: pd.DataFrame, index: IntArray) -> FloatArray:
    """Return predictions of every row at some points; of two classes, of the second."""
    predictions = whatif.of(list(points.columns)).pairs(np.arange(len(index)), index, points)
    return predictions if predictions.ndim == 2 else predictions[..., 1]
