"""Importance from a feature's accumulated local effect, which does not extrapolate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import LossError
from pyinterp.estimands.effects.grids import grid_values, has_levels
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.rowwise import LOSSES
from pyinterp.models.predictor import learner_name
from pyinterp.ranges import POSITIVE
from pyinterp.samplers.encoding import codes_of
from pyinterp.whatif import WhatIf

BINS = 20
# Deviations of predictions below this share of the largest one are rounding.
ROUNDING = 1e-13
NO_TEST = (
    "No test of 0: noise makes what a learner finds vary, so mean squared effects are above 0 "
    "whatever the truth."
)
SQUARED_LOSS = LOSSES["squared"]

# Edges of intervals, or levels, and whether they are edges.
Axis: TypeAlias = tuple[pd.DataFrame, bool]


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
    axes: dict[str, Axis | None] = {}
    missing, levels = {}, []
    for name, (variable, *others) in chosen.items():
        axes[name], column = None, data[variable]
        missing[name] = "the effect of a group is not accumulated"
        if not others:
            missing[name] = "missing in some rows, along which nothing accumulates"
        if others or column.isna().any():
            continue
        if has_levels(problem, variable):
            levels.append(name)
            axes[name] = column.drop_duplicates().to_frame(), False
        else:
            edges = np.array(grid_values(column, "quantile", BINS + 1), dtype=np.float64)
            axes[name] = pd.DataFrame({variable: edges}), True
    response = problem.population.response
    classes = problem.predictor.classes is not None
    unit = "" if classes or response is None else SQUARED_LOSS.unit.format(y=response.name)
    of_levels = f"Of {', '.join(levels)} it is the partial dependence."
    return Estimand(
        key=("accumulated", tuple(chosen.items())),
        terms=Terms.plain(list(chosen)),
        measure=partial(_measure, axes=list(axes.values())),
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
            notes=(NO_TEST, of_levels) if levels else (NO_TEST,),
            missing=missing,
            zero_variance="never used by the learner in any refit, which does not mean certainly 0",
        ),
        # Noise makes effects vary, whatever the truth: there is no value to test.
        parameter=Parameter(range=POSITIVE, no_effect=0.0),
        coverage=("additive AMVIM",),
        score=problem.squared_loss,
    )


def without_rounding(deviations: FloatArray, predictions: FloatArray) -> FloatArray:
    """Return deviations of predictions from their means, 0 where they are rounding."""
    return np.where(np.abs(deviations) <= ROUNDING * np.abs(predictions).max(), 0.0, deviations)


def _measure(case: ModelOnRows, *, axes: Sequence[Axis | None]) -> Measurement:
    absent = np.full(case.sample.nobs, np.nan)
    parts = [absent if axis is None else _importance(case.whatif, *axis) for axis in axes]
    return {"effect": Estimate.of_rows(np.column_stack(parts))}


def _importance(whatif: WhatIf, points: pd.DataFrame, numeric: bool) -> FloatArray:
    """Return the rows' contributions to 2 V(f_j).

    The effect is a sum of means, each times what a row has of it; `influence` is that of every row
    on the means.
    """
    n, k, (name,) = whatif.sample.nobs, len(points), points.columns
    if k == 1:
        return np.zeros(n)
    column, every = whatif.sample.variables[name], np.arange(n)
    if numeric:
        x, edges = column.to_numpy(dtype=np.float64), points[name].to_numpy()
        bin_of = np.clip(np.searchsorted(edges, x, side="left") - 1, 0, k - 2)
        at = _predict(whatif, points, np.column_stack([bin_of, bin_of + 1]))
        steps, widths = at[:, 1] - at[:, 0], np.diff(edges)
        count = np.bincount(bin_of, minlength=k - 1)
        filled, middle = count > 0, (edges[1:] + edges[:-1]) / 2
        slope = np.bincount(bin_of, weights=steps, minlength=k - 1)[filled] / count[filled]
        # An interval without rows has the slope of its neighbors.
        mean = np.interp(middle, middle[filled], slope / widths[filled]) * widths
        shares = np.clip((x[:, None] - edges[:-1]) / widths, 0.0, 1.0)
        influence = np.zeros((n, k - 1))
        influence[every, bin_of] = (steps - mean[bin_of]) * n / count[bin_of]
    else:
        curves = _predict(whatif, points, np.broadcast_to(np.arange(k), (n, k)))
        mean = curves.mean(axis=0)
        shares = np.eye(k)[codes_of(column, points[name].tolist())]
        influence = curves - mean
    effect = shares @ mean
    around = without_rounding(effect - effect.mean(), whatif.factual)
    return np.asarray(2 * n / (n - 1) * around**2 + 4 * influence @ (around @ shares / n))


def _predict(whatif: WhatIf, points: pd.DataFrame, index: IntArray) -> FloatArray:
    """Return predictions of every row at some points; of two classes, of the second."""
    predictions = whatif.of(list(points.columns)).pairs(np.arange(len(index)), index, points)
    return predictions if predictions.ndim == 2 else predictions[..., 1]
