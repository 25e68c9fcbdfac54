"""Importance from a feature's accumulated local effect, which does not extrapolate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.columns import is_category
from pyinterp.errors import LossError
from pyinterp.estimands.effects.grids import grid_values
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.rowwise import LOSSES
from pyinterp.models.predictor import learner_name
from pyinterp.ranges import POSITIVE
from pyinterp.samplers.sampler import codes_of
from pyinterp.whatif import WhatIf

BINS = 20
# Deviations of predictions below this share of the largest one are rounding.
ROUNDING = 1e-13
NO_TEST = (
    "No test of 0: noise makes what a learner finds vary, so mean squared effects are above 0 "
    "whatever the truth."
)
SQUARED_LOSS = LOSSES["squared"]

# From deviations of the effect at the rows to the rows' contributions by way of estimating it.
Through: TypeAlias = Callable[[FloatArray], FloatArray]


class _Axis(NamedTuple):
    """Where one variable's effect is evaluated: edges of intervals, or levels."""

    variable: str
    points: pd.DataFrame
    numeric: bool


def additive_importance(problem: Problem, features: str | Sequence[str] | None = None) -> Estimand:
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
    data = problem.population.variables
    axes = {
        name: _axis(problem, variables[0])
        for name, variables in chosen.items()
        if len(variables) == 1 and not data[variables[0]].isna().any()
    }
    absent = {
        name: "missing in some rows, along which nothing accumulates"
        if len(variables) == 1
        else "the effect of a group is not accumulated"
        for name, variables in chosen.items()
    }
    response = problem.population.response
    classes = problem.predictor.classes is not None
    unit = "" if classes or response is None else SQUARED_LOSS.unit.format(y=response.name)
    levels = [name for name, axis in axes.items() if not axis.numeric]
    return Estimand(
        key=("accumulated", tuple(chosen.items())),
        terms=Terms.plain(list(chosen)),
        measure=partial(_measure, axes=[axes.get(name) for name in chosen]),
        read=itemgetter("effect"),
        words=Words(
            label="AMVIM",
            title="adjusted marginal variable importance",
            details=(problem.squared_loss.name, "additive"),
            unit=unit,
            meaning=(
                "2 V(f_j(X_j)), f_j the accumulated local effect of the feature: its MVIM if it "
                "enters additively, in whatever form. Interactions are averaged over."
            ),
            notes=(NO_TEST, *_of_levels(levels)),
            missing=absent,
            zero_variance="never used by the learner in any refit, which does not mean certainly 0",
        ),
        # Noise makes effects vary, whatever the truth: there is no value to test.
        parameter=Parameter(range=POSITIVE, no_effect=0.0),
        coverage=("additive AMVIM",),
        score=problem.squared_loss,
    )


def _of_levels(levels: Sequence[str]) -> Sequence[str]:
    return (f"Of {', '.join(levels)} it is the partial dependence.",) if levels else ()


def without_rounding(deviations: FloatArray, predictions: FloatArray) -> FloatArray:
    """Return deviations of predictions from their means, 0 where they are rounding."""
    return np.where(np.abs(deviations) <= ROUNDING * np.abs(predictions).max(), 0.0, deviations)


def _axis(problem: Problem, variable: str) -> _Axis:
    column = problem.population.variables[variable]
    numeric = not is_category(column) and variable not in problem.discrete
    if numeric:
        at = pd.Series(grid_values(column, "quantile", BINS + 1), dtype=np.float64)
    else:  # the data's own type
        at = column.drop_duplicates().reset_index(drop=True)
    return _Axis(variable, at.to_frame(variable), numeric)


def _measure(case: ModelOnRows, *, axes: Sequence[_Axis | None]) -> Measurement:
    absent = np.full(case.sample.nobs, np.nan)
    parts = [absent if axis is None else _importance(case.whatif, axis) for axis in axes]
    return {"effect": Estimate.of_rows(np.column_stack(parts))}


def _importance(whatif: WhatIf, axis: _Axis) -> FloatArray:
    """Return the rows' contributions to 2 V(f_j)."""
    n = whatif.sample.nobs
    if len(axis.points) == 1:
        return np.zeros(n)
    column = whatif.sample.variables[axis.variable]
    if axis.numeric:
        effect, through = _accumulate(whatif, axis, column.to_numpy(dtype=np.float64))
    else:
        effect, through = _average(whatif, axis, column)
    around = without_rounding(effect - effect.mean(), whatif.factual)
    return np.asarray(2 * n / (n - 1) * around**2 + 4 * through(around))


def _accumulate(whatif: WhatIf, axis: _Axis, x: FloatArray) -> tuple[FloatArray, Through]:
    edges = axis.points[axis.variable].to_numpy(dtype=np.float64)
    n, bins = len(x), len(edges) - 1
    bin_of = np.clip(np.searchsorted(edges, x, side="left") - 1, 0, bins - 1)
    ends = np.column_stack([bin_of, bin_of + 1])
    at = _numbers(whatif.of([axis.variable]).pairs(np.arange(n), ends, axis.points))
    steps = at[:, 1] - at[:, 0]
    count = np.bincount(bin_of, minlength=bins)
    filled = count > 0
    slope = np.zeros(bins)
    slope[filled] = np.bincount(bin_of, weights=steps, minlength=bins)[filled] / count[filled]
    slope /= np.diff(edges)
    middle = (edges[1:] + edges[:-1]) / 2
    slope = np.interp(middle, middle[filled], slope[filled])  # an interval without rows
    mean = slope * np.diff(edges)
    ramps = np.clip((x[:, None] - edges[:-1]) / np.diff(edges), 0.0, 1.0)

    def through(around: FloatArray) -> FloatArray:
        sensitivity = around @ ramps / n
        return np.asarray((steps - mean[bin_of]) * sensitivity[bin_of] * n / count[bin_of])

    return ramps @ mean, through


def _average(whatif: WhatIf, axis: _Axis, column: pd.Series[Any]) -> tuple[FloatArray, Through]:
    n, k = len(column), len(axis.points)
    every = np.broadcast_to(np.arange(k), (n, k))
    curves = _numbers(whatif.of([axis.variable]).pairs(np.arange(n), every, axis.points))
    labels = axis.points[axis.variable].to_numpy(dtype=object)
    level = codes_of(column, labels.tolist())
    effect = curves.mean(axis=0)[level]

    def through(around: FloatArray) -> FloatArray:
        weight = np.bincount(level, weights=around, minlength=k) / n
        return np.asarray((curves - curves.mean(axis=0)) @ weight)

    return effect, through


def _numbers(predictions: FloatArray) -> FloatArray:
    """Return predictions, of two classes those of the second."""
    return predictions if predictions.ndim == 2 else predictions[..., 1]
