"""M-plot: the mean prediction of rows near a value, whatever else goes with the value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import Interval, check_number
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import Grid, Points, has_levels, points_of, variables_of
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows

FEW_VALUES = 10  # of a number: its rows are grouped by it
SINGULAR = 1e-10  # share of the spread within a window below which there is no slope


def m_plot(
    problem: Problem,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    span: float = 0.2,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Marginal plot of one variable, :math:`E[f(X) | X_j = x]` (Apley and Zhu 2020, eq. 4).

    A local linear fit of the predictions on the variable, with tricube weights over the nearest
    rows as in R's ``loess(degree = 1)``; of a category the mean over the rows of each level.
    """
    check_number("span", span, Interval(0, 1, "high"))
    names = variables_of(problem, features, most=1, what="An M-plot")
    (name,) = names
    data = problem.population.variables
    at = points_of(data, names, grid, points, problem.discrete)
    column, values = data[name], [value for (value,) in at.cells]
    few = column.nunique() <= FEW_VALUES and bool(pd.Series(values).isin(column).all())
    widths, near = None, f"of the rows with the value of `{name}` shown"
    if not (has_levels(problem, name) or few):
        widths = _widths(column.dropna().to_numpy(np.float64), values, span, name)
        near = (
            f"near the value of `{name}` shown: a local line through the nearest {100 * span:g}% "
            "of the rows"
        )
    missing = int(column.isna().sum())
    lacking = f"{missing} of {len(column)} rows lack `{name}`, and are near no value."
    outputs = Outputs.of(problem, scale, which_class)
    terms = at.terms(outputs.labels)
    return Estimand(
        key=("m-plot", at, outputs, None if widths is None else span),
        terms=terms,
        measure=partial(_measure, at=at, widths=widths, outputs=outputs),
        words=Words(
            label="M-plot",
            title="mean prediction by value",
            quantity="M-plot",
            of=name,
            details=outputs.details,
            unit=outputs.unit,
            meaning=(
                f"Mean {outputs.phrase} {near}. What goes with the variable counts as its effect."
            ),
            always=(lacking,) if missing else (),
            missing=dict.fromkeys(terms.names, "no evaluation row near the value in a refit"),
        ),
        parameter=Parameter(effect=True),
        no_weights=None,
    )


def _widths(x: FloatArray, values: list[float], span: float, name: str) -> FloatArray:
    """Return the distance from every value to its nearest rows' last, of all rows."""
    low, high = x.min(), x.max()
    if min(values) < low or max(values) > high:
        raise OptionError(
            f"An M-plot is a mean of rows near a value: the grid of `{name}` must be within the "
            f"observed range [{low:.6g}, {high:.6g}]; got {min(values):.6g} to {max(values):.6g}."
        )
    k = min(max(int(np.ceil(span * len(x))), 2), len(x)) - 1
    return np.array([np.partition(np.abs(x - value), k)[k] for value in values])


def _measure(
    case: ModelOnRows, *, at: Points, widths: FloatArray | None, outputs: Outputs
) -> Measurement:
    predictions = outputs.values(case.whatif.factual)
    column, values = case.sample.variables[at.names[0]], [cell[0] for cell in at.cells]
    if widths is None:
        same = np.column_stack([(column == value).to_numpy() for value in values])
        weights, away = same.astype(np.float64), np.zeros(same.shape)
    else:
        x = column.to_numpy(np.float64)[:, None]
        away = np.where(np.isnan(x), np.inf, x) - np.array(values, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(away == 0, 0.0, np.abs(away) / widths)
        weights = np.clip(1 - share**3, 0.0, None) ** 3  # tricube
        away[np.isinf(away)] = 0.0  # no row near, with weight 0
    if case.weights is not None:
        weights = weights * case.weights[:, None]
    return {"curve": Estimate.stack([_local_line(one, away, weights) for one in predictions])}


def _local_line(values: FloatArray, away: FloatArray, weights: FloatArray) -> Estimate:
    """Return the level at 0 of a weighted line through values, for every column of weights."""
    s0, s1, s2 = ((weights * away**power).mean(axis=0) for power in (0, 1, 2))
    spread = s0 * s2 - s1**2
    flat = spread <= SINGULAR * np.maximum(s0 * s2, np.finfo(np.float64).tiny)
    with np.errstate(invalid="ignore", divide="ignore"):
        line = weights * (s2 - s1 * away) / np.where(flat, 1.0, spread)
        kernel = np.where(flat, weights / s0, line)
        level = kernel.T @ values / len(values)
        slope = np.where(flat, 0.0, (weights * away).T @ values / len(values) - s1 * level)
        slope = np.where(flat, 0.0, slope / np.where(flat, 1.0, s2))
    rows = level + kernel * (values[:, None] - level - slope * away)
    return Estimate(value=level, rows=rows, mc_variance=np.zeros(len(level)))
