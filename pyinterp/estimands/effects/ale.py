"""Accumulated local effects (ALE) of one variable."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import Column, FloatArray, IntArray
from pyinterp.checks import check_count
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.accumulation import accumulate, interval_of
from pyinterp.estimands.effects.grids import (
    POINTS,
    Grid,
    Points,
    check_complete,
    check_levels,
    grid_values,
    grids_of,
    has_levels,
    values_of,
    variables_of,
)
from pyinterp.estimands.effects.scales import Outputs, Scale
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method
from pyinterp.samplers.encoding import codes_of


@method("ale")
def accumulated_local_effects(
    problem: Problem,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Accumulated local effect (ALE) of one variable.

    .. math:: ALE_j(x) = \sum_{b \le b(x)} \frac1{n_b} \sum_{i: x_i \in (q_{b-1}, q_b]}
        [f(q_b, x_{-j,i}) - f(q_{b-1}, x_{-j,i})] - const

    (Apley and Zhu 2020, eq. 15). Every row is moved within its interval only, so nothing is
    extrapolated. The mean over rows is 0. R's ALEPlot and iml give the same numbers on the
    same edges.

    Parameters
    ----------
    features : str
        The variable.
    grid : {"quantile", "equidistant", "unique", "r"}, RGrid or array
        The edges of the intervals; "quantile" takes observed values (type 1), as in R. Of a
        category the levels in the order in which they are accumulated: by default their own
        if they are ordered, else by how alike their rows are in the other variables, as in
        ALEPlot; a list of levels is another order.
    {points}
    {scale}
    {which_class}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the prediction; one term per edge or level (and class).

    Raises
    ------
    OptionError
        If the variable, a level or a class is unknown.

    Examples
    --------
    >>> res.ale("bmi", points=4).summary_frame().iloc[:, :3].round(1)
               value  estimate  std_error
    term
    bmi[18]     18.0     -78.2        8.1
    bmi[24.1]   24.1     -26.4        3.7
    bmi[27.8]   27.8       5.0        2.6
    bmi[42.2]   42.2     127.2       12.7
    """
    names = (name,) = variables_of(problem, features, most=1, what="An accumulated local effect")
    data = problem.sample.variables
    check_complete(data, names, "An accumulated local effect")
    levels = has_levels(problem, name)
    values = _values(problem, name, grid, points)
    at = Points(names, tuple((value,) for value in values))
    left_out = int((_places(data[name], values, levels=levels) < 0).sum())
    beyond = f"{left_out} of {len(data)} rows are beyond the grid and left out."
    outputs = Outputs.of(problem, scale, which_class)
    terms = at.terms(outputs.labels)
    moves = "moves across the interval of each row"
    if levels:
        moves = "moves to a neighboring level, of the rows of either level"
    order = (
        f"Levels are accumulated in the order {', '.join(map(str, values))}; another order gives "
        "other values."
    )
    return Estimand(
        key=("ale", at, outputs),
        terms=terms,
        measure=partial(
            _measure, values=values, levels=levels, frame=at.frame(data), outputs=outputs
        ),
        words=Words(
            label="ALE",
            title="accumulated local effects",
            of=name,
            details=outputs.details,
            unit=outputs.unit,
            meaning=(
                f"Changes of the {outputs.phrase} as `{name}` {moves}, averaged and added up; "
                "their mean over rows is 0."
            ),
            notes=(order,) if levels and len(values) > 2 else (),
            always=(*problem.notes_on_codes(names).values(), *([beyond] if left_out else [])),
            exact="No Monte Carlo error.",
            zero_variance="a feature that no refit uses, or all refits agree exactly",
            missing=dict.fromkeys(
                terms.names,
                "a refit without evaluation rows on the grid, or of two neighboring levels",
            ),
        ),
        parameter=Parameter(null=0.0, effect=True),
        coverage=("ALE",),
        why_no_weights=None,
    )


def _values(problem: Problem, name: str, grid: Grid, points: int | None) -> list[Any]:
    """Return the values between which an ALE adds up steps: edges of intervals, or levels."""
    number = POINTS[1] if points is None else points
    check_count("points", number, 2)
    (grid,) = grids_of((name,), grid).values()
    if has_levels(problem, name):
        what, values = "levels", _levels(problem, name, grid)
    else:
        column = problem.sample.variables[name]
        what, values = "different grid points", _edges(column, grid, number)
    if len(values) < 2:
        raise OptionError(f"An ALE needs at least two {what}, but `{name}` has {len(values)}.")
    return values


def _edges(column: Column, grid: Any, number: int) -> list[float]:
    """Return different edges of intervals in order: by default quantiles that are observed."""
    if isinstance(grid, str) and grid == "quantile":
        x = np.sort(column.to_numpy(np.float64))
        place = np.ceil(len(x) * np.linspace(0, 1, number) - 1e-8).astype(int) - 1
        return list(np.unique(x[np.maximum(place, 0)]).tolist())
    return list(np.unique(grid_values(column, grid, number)).tolist())


def _levels(problem: Problem, name: str, grid: Any) -> list[Any]:
    """Return levels: as a user's grid has them, in the data's order, or by similarity."""
    column = problem.sample.variables[name]
    category = is_category(column)
    observed = list(grid_values(column)) if category else sorted(column.unique().tolist())
    if not isinstance(grid, str):
        levels = list(dict.fromkeys(values_of(grid, name).tolist()))
        check_levels(levels, observed, name)
        return levels
    if not category or getattr(column.dtype, "ordered", False) or len(observed) < 3:
        return observed
    return similarity_order(problem.sample.variables, name, observed)


def _measure(
    case: ModelOnRows, *, values: list[Any], levels: bool, frame: pd.DataFrame, outputs: Outputs
) -> Measurement:
    """Return the ALE of a variable: mean steps between its values, accumulated and centered."""
    (name,) = frame.columns
    place = _places(case.evaluation.variables[name], values, levels=levels)
    inside = np.flatnonzero(place >= 0)
    at, last = place[inside], len(values) - 1
    # A row informs about the step over its interval, or the steps to its level and from it.
    offsets = [-1, 0] if levels else [0]
    ends = np.clip(at[:, None] + np.array([*offsets, 1]), 0, last)
    steps = np.full((len(outputs.labels), len(place), last), np.nan)
    if len(inside):
        predicted = outputs.values(case.whatif.of((name,)).pairs(inside, ends, frame))
        changes = np.diff(predicted, axis=-1)
        for k, step in enumerate(at + np.array(offsets)[:, None]):
            there = (step >= 0) & (step < last)
            steps[:, inside[there], step[there]] = changes[:, there, k]
    reference = np.zeros((len(place), len(values)))
    if levels:
        reference[inside, at] = 1.0
    else:
        reference[inside, at] = reference[inside, at + 1] = 0.5
    widths = None if levels else np.diff(np.array(values, np.float64))
    curves = [accumulate(one, reference, widths, case.weights) for one in steps]
    return {
        "curve": Estimate.stack(
            [
                Estimate(value=value, rows=rows, mc_variance=np.zeros(len(value)))
                for value, rows in curves
            ]
        )
    }


def _places(column: Column, values: list[Any], *, levels: bool) -> IntArray:
    """Return the level, or interval, of every row; -1 outside."""
    if not levels:
        return interval_of(column.to_numpy(np.float64), np.array(values, np.float64))
    place, there = np.full(len(column), -1), column.isin(values).to_numpy()
    place[there] = codes_of(column[there], values)
    return place


def similarity_order(data: pd.DataFrame, name: str, levels: Sequence[Any]) -> list[Any]:
    """Return levels in the order of classical scaling to one dimension.

    The distance of two levels is a sum of distances over all other variables (Apley and Zhu 2020;
    R's ALEPlot). For numbers it is the Kolmogorov-Smirnov distance, at 100 quantiles of all
    rows, and for categories the total variation distance. The direction puts the first level in
    the lower half.
    """
    codes = codes_of(data[name], list(levels))
    distance = np.zeros((len(levels), len(levels)))
    for other in data.columns.drop(name):
        shares = _shares(data[other], codes, len(levels))
        apart = np.abs(shares[:, None, :] - shares[None, :, :])
        distance += apart.sum(axis=2) / 2 if is_category(data[other]) else apart.max(axis=2)
    place = _scaling(distance)
    return [levels[k] for k in np.argsort(place if place[0] <= 0 else -place, kind="stable")]


def _shares(column: Column, codes: IntArray, k: int) -> FloatArray:
    """Return every level's shares of another category, or its distribution function."""
    if is_category(column):
        # A missing value is one more level here.
        values = pd.factorize(column, use_na_sentinel=False)[0]
        at = np.eye(values.max() + 1)[values]
    else:
        x = column.to_numpy(np.float64)
        edges = np.nanquantile(x, np.linspace(0, 1, 100))
        at = np.column_stack([x[:, None] <= edges, np.isnan(x)]).astype(np.float64)
    return np.array([at[codes == level].mean(axis=0) for level in range(k)])


def _scaling(distance: FloatArray) -> FloatArray:
    """Return the first coordinate of classical multidimensional scaling; 0 if all are alike."""
    center = np.eye(len(distance)) - 1 / len(distance)
    values, vectors = np.linalg.eigh(-center @ np.square(distance) @ center / 2)
    coordinate = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
    return np.asarray(np.round(coordinate, 12))  # levels that are alike keep their order
