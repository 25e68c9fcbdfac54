"""Accumulated local effects (ALE) of one variable, and of two beyond those of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_count
from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.effects.accumulation import accumulate, accumulate_pairs, interval_of
from pyinterp.estimands.effects.accumulation_by_level import accumulate_by_level
from pyinterp.estimands.effects.grids import Grid, Points, check_levels, grid_values, values_of
from pyinterp.estimands.effects.level_order import similarity_order
from pyinterp.estimands.effects.outputs import Outputs
from pyinterp.estimands.effects.partial_dependence import (
    details_of,
    terms_of,
    unit_of,
    variables_of,
    words_of,
)
from pyinterp.estimands.effects.scales import Scale
from pyinterp.estimands.effects.support import check_complete
from pyinterp.estimands.estimand import (
    Estimand,
    Estimate,
    Measurement,
    ModelOnRows,
    Problem,
    remarks_of,
)
from pyinterp.samplers.sampler import codes_of

__all__ = ["accumulated_local_effects"]


def accumulated_local_effects(
    problem: Problem,
    features: str | Sequence[str],
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    scale: Scale | None = None,
    which_class: Any = None,
) -> Estimand:
    r"""Accumulated local effect of a variable, or of a pair with a number beyond those of each.

    .. math:: ALE_j(x) = \int^x E\Big[\frac{\partial f}{\partial x_j}(z, X_C) \Big| X_j = z\Big] dz
        - const

    (Apley and Zhu 2020, eqs 5 and 8; their estimators, eqs 15 and 16). Of a number and a category
    second differences are added up over levels in their order, as in R's ``ALEPlot``.
    """
    names = variables_of(problem, features, most=2, what="An accumulated local effect")
    check_complete(problem.population.variables, names, "An accumulated local effect")
    at = _points(problem, names, grid, points)
    numeric = not isinstance(at.cells[0][0], str | bool) and not _has_levels(problem, names[0])
    outputs = Outputs.of(problem.predictor, scale, which_class)
    measure = _measure_numeric if numeric else _measure_levels
    if len(names) == 2:
        category = next((j for j, n in enumerate(names) if _has_levels(problem, n)), None)
        measure = (
            _measure_pair if category is None else partial(_measure_by_level, category=category)
        )
    return Estimand(
        key=("ale", names, at.cells, outputs),
        terms=terms_of(at, outputs.labels),
        measure=partial(
            measure, at=at, frame=at.frame(problem.population.variables), outputs=outputs
        ),
        read=itemgetter("curve"),
        label="ALE",
        title="accumulated local effects",
        of=", ".join(names),
        details=details_of(outputs.scale, outputs.labels, "mean"),
        null=0.0,
        effect=True,
        no_weights="",
        unit=unit_of(problem, "pd", outputs.scale),
        meaning=_meaning(names, words_of(problem, outputs.scale, outputs.labels), numeric=numeric),
        notes=_notes(problem, at),
        remarks=remarks_of(_beyond(problem, at)),
        exact="No Monte Carlo error.",
        zero_variance="a feature that no refit uses, or all refits agree exactly",
        missing=dict.fromkeys(
            terms_of(at, outputs.labels).names,
            "a refit without evaluation rows on the grid, or of two neighboring levels",
        ),
    )


def _has_levels(problem: Problem, name: str) -> bool:
    """Whether a variable's values are predicted as levels, not along a line."""
    return is_category(problem.population.variables[name]) or name in problem.discrete


def _points(problem: Problem, names: tuple[str, ...], grid: Grid, points: int | None) -> Points:
    """Return the edges of intervals, or levels in the order in which they are accumulated."""
    levels = [name for name in names if _has_levels(problem, name)]
    if len(levels) == 2:
        raise OptionError(
            f"The ALE of two variables is of a number and another variable, but `{levels[0]}` and "
            f"`{levels[1]}` are categories, for which neither Apley and Zhu (2020) nor R's ALEPlot "
            f"and iml define it; use `ale` of one of them, or `pd({list(names)})`."
        )
    number = (20 if len(names) == 1 else 10) if points is None else points
    check_count("points", number, 2)
    if isinstance(grid, Mapping) and not set(grid) <= set(names):
        extra = next(n for n in grid if n not in names)
        raise OptionError(f"`grid` names {quote(extra)}, which is not among {list_of(names)}.")
    if len(names) == 2 and not isinstance(grid, str | Mapping):
        raise OptionError(
            "A grid for the ALE of two variables must be a mapping such as "
            "{'a': [0, 1], 'b': [2, 3]}."
        )
    axes = []
    for name in names:
        one = grid.get(name, "quantile") if isinstance(grid, Mapping) else grid
        axes.append(
            _levels(problem, name, one) if name in levels else _edges(problem, name, one, number)
        )
    return Points(names, tuple(cell[::-1] for cell in product(*reversed(axes))))


def _edges(problem: Problem, name: str, grid: Any, number: int) -> list[float]:
    """Return different edges of intervals in order: by default quantiles that are observed."""
    column = problem.population.variables[name]
    if isinstance(grid, str) and grid == "quantile":
        x = np.sort(column.to_numpy(dtype=np.float64))
        place = np.ceil(len(x) * np.linspace(0, 1, number) - 1e-8).astype(int) - 1
        edges = np.unique(x[np.maximum(place, 0)])
    else:
        edges = np.unique(grid_values(column, grid, number))
    if len(edges) < 2:
        raise OptionError(
            f"An ALE needs at least two different grid points, but `{name}` has {len(edges)}."
        )
    return list(edges.tolist())


def _levels(problem: Problem, name: str, grid: Any) -> list[Any]:
    """Return levels: as a user's grid has them, in the data's order, or by similarity."""
    column = problem.population.variables[name]
    if not is_category(column):
        observed = sorted(column.unique().tolist())
    else:
        observed = list(grid_values(column))
    if isinstance(grid, str):
        in_order = not is_category(column) or getattr(column.dtype, "ordered", False)
        levels = (
            observed
            if in_order or len(observed) < 3
            else similarity_order(problem.population.variables, name, observed)
        )
    else:
        levels = list(dict.fromkeys(values_of(grid, name).tolist()))
        check_levels(levels, observed, name)
    if len(levels) < 2:
        raise OptionError(f"An ALE needs at least two levels, but `{name}` has {len(levels)}.")
    return levels


def _measure_numeric(
    case: ModelOnRows, *, at: Points, frame: pd.DataFrame, outputs: Outputs
) -> Measurement:
    (name,) = at.names
    edges = frame[name].to_numpy(dtype=np.float64)
    bins = interval_of(case.sample.variables[name].to_numpy(dtype=np.float64), edges)
    n, inside = len(bins), np.flatnonzero(bins >= 0)
    steps = np.full((len(outputs.labels), n, len(edges) - 1), np.nan)
    reference = np.zeros((n, len(edges)))
    if len(inside):
        ends = np.column_stack([bins, bins + 1])[inside]
        low, high = np.moveaxis(_predict(case, at, inside, ends, frame, outputs), 2, 0)
        steps[:, inside, bins[inside]] = high - low
        reference[inside, bins[inside]] = reference[inside, bins[inside] + 1] = 0.5
    return _curve([accumulate(one, reference, np.diff(edges), case.weights) for one in steps])


def _measure_levels(
    case: ModelOnRows, *, at: Points, frame: pd.DataFrame, outputs: Outputs
) -> Measurement:
    (name,) = at.names
    column, levels = case.sample.variables[name], [level for (level,) in at.cells]
    there = column.isin(levels).to_numpy()
    place = np.full(len(column), -1)
    place[there] = codes_of(column[there], levels)
    n, k = len(column), len(levels)
    steps, reference = np.full((len(outputs.labels), n, k - 1), np.nan), np.zeros((n, k))
    inside = np.flatnonzero(there)
    if len(inside):
        at_row = place[inside]
        ends = np.column_stack([np.maximum(at_row - 1, 0), at_row, np.minimum(at_row + 1, k - 1)])
        below, here, above = np.moveaxis(_predict(case, at, inside, ends, frame, outputs), 2, 0)
        up, down = at_row < k - 1, at_row > 0
        steps[:, inside[up], at_row[up]] = (above - here)[:, up]
        steps[:, inside[down], at_row[down] - 1] = (here - below)[:, down]
        reference[inside, at_row] = 1.0
    return _curve([accumulate(one, reference, None, case.weights) for one in steps])


def _measure_pair(
    case: ModelOnRows, *, at: Points, frame: pd.DataFrame, outputs: Outputs
) -> Measurement:
    edges = tuple(np.unique(frame[name].to_numpy(dtype=np.float64)) for name in at.names)
    first, second = (
        interval_of(case.sample.variables[name].to_numpy(dtype=np.float64), e)
        for name, e in zip(at.names, edges, strict=True)
    )
    inside = np.flatnonzero((first >= 0) & (second >= 0))
    steps = np.zeros((len(outputs.labels), case.sample.nobs))
    if len(inside):
        corner = (first + len(edges[0]) * second)[inside, None]
        corners = corner + np.array([0, 1, len(edges[0]), len(edges[0]) + 1])
        parts = np.moveaxis(_predict(case, at, inside, corners, frame, outputs), 2, 0)
        steps[:, inside] = (parts[3] - parts[2]) - (parts[1] - parts[0])
    x, z = edges
    return _curve([accumulate_pairs(one, first, second, (x, z), case.weights) for one in steps])


def _measure_by_level(
    case: ModelOnRows, *, at: Points, frame: pd.DataFrame, outputs: Outputs, category: int
) -> Measurement:
    data, number = case.sample.variables, 1 - category
    levels, edges = (list(dict.fromkeys(cell[j] for cell in at.cells)) for j in (category, number))
    column = data[at.names[category]]
    there = column.isin(levels).to_numpy()
    level = np.full(len(column), -1)
    level[there] = codes_of(column[there], levels)
    interval = interval_of(data[at.names[number]].to_numpy(dtype=np.float64), np.array(edges))
    inside = np.flatnonzero((level >= 0) & (interval >= 0))
    k = len(levels)
    cells = np.arange(k * len(edges)).reshape((k, -1) if category else (-1, k))
    cells = cells if category else cells.T  # by level, then edge
    steps = np.full((len(outputs.labels), len(column), k - 1), np.nan)
    if len(inside):
        row, low = level[inside], interval[inside][:, None]
        near = np.clip(row[:, None] + np.array([-1, 0, 1]), 0, k - 1)
        ends = np.column_stack([cells[near, low], cells[near, low + 1]])
        predicted = _predict(case, at, inside, ends, frame, outputs)
        below, here, above = np.moveaxis(predicted[..., 3:] - predicted[..., :3], 2, 0)
        up, down = row < k - 1, row > 0
        steps[:, inside[up], row[up]] = (above - here)[:, up]
        steps[:, inside[down], row[down] - 1] = (here - below)[:, down]
    by_level = [
        accumulate_by_level(one, level, interval, np.array(edges), case.weights) for one in steps
    ]
    order = np.argsort(cells.ravel())
    return _curve([(value[order], rows[:, order]) for value, rows in by_level])


def _predict(
    case: ModelOnRows,
    at: Points,
    rows: np.ndarray,
    index: np.ndarray,
    frame: pd.DataFrame,
    outputs: Outputs,
) -> FloatArray:
    """Predict rows at some points each, shape (outputs, rows, points)."""
    return outputs.values(case.whatif.of(list(at.names)).pairs(rows, index, frame))


def _curve(parts: Sequence[tuple[FloatArray, FloatArray]]) -> Measurement:
    return {
        "curve": Estimate.stack(
            [
                Estimate(value=value, rows=rows, mc_variance=np.zeros(len(value)))
                for value, rows in parts
            ]
        )
    }


def _meaning(names: tuple[str, ...], predicted: str, *, numeric: bool) -> str:
    """Return the first footnote: what the values are."""
    if len(names) == 2:
        return (
            f"What `{names[0]}` and `{names[1]}` do together to the {predicted}, beyond the effect "
            "of each: second differences of rows over their own grid cells, averaged and added "
            "up. The mean over rows is 0."
        )
    moves = (
        f"`{names[0]}` moves across the interval of each row"
        if numeric
        else f"`{names[0]}` moves to a neighboring level, of the rows of either level"
    )
    return (
        f"Changes of the {predicted} as {moves}, averaged and added up; their mean over rows is 0."
    )


def _notes(problem: Problem, at: Points) -> tuple[str, ...]:
    """Return the order in which levels are accumulated."""
    orders = [
        list(dict.fromkeys(cell[j] for cell in at.cells))
        for j, name in enumerate(at.names)
        if _has_levels(problem, name)
    ]
    return tuple(
        f"Levels are accumulated in the order {', '.join(map(str, levels))}; another order gives "
        "other values."
        for levels in orders
        if len(levels) > 2
    )


def _beyond(problem: Problem, at: Points) -> tuple[str, ...]:
    """Say how many rows are beyond the grid."""
    data = problem.population.variables
    beyond = np.zeros(len(data), dtype=bool)
    for j, name in enumerate(at.names):
        values = list(dict.fromkeys(cell[j] for cell in at.cells))
        if _has_levels(problem, name):
            beyond |= ~data[name].isin(values).to_numpy()
        else:
            beyond |= ~data[name].between(min(values), max(values)).to_numpy()
    if not beyond.any():
        return ()
    return (f"{beyond.sum()} of {len(data)} rows are beyond the grid and left out.",)
