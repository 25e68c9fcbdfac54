"""A surface over two grids: tiles of their true size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_rect,
    ggplot,
    labs,
    scale_fill_cmap,
    scale_x_continuous,
    scale_y_continuous,
)

from pyinterp.data.sample import is_category
from pyinterp.results.plots.style import label_of_legend

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["surface"]

LABELS = 12  # of the levels along an axis


def surface(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw a tile per grid point, its color the estimate.

    A tile ends halfway to the next grid point, the outer ones at the last: grids by quantile show
    where data are.
    """
    terms = results.estimand.terms
    x, y = terms.axes[:2]
    figure = ggplot(frame.assign(**_edges(frame[x], "x"), **_edges(frame[y], "y")))
    figure += geom_rect(aes(xmin="xmin", xmax="xmax", ymin="ymin", ymax="ymax", fill="estimate"))
    for axis, scale in ((x, scale_x_continuous), (y, scale_y_continuous)):
        if is_category(frame[axis]):
            figure += scale(**_levels(frame[axis]), expand=(0, 0))
        else:
            figure += scale(expand=(0, 0))
    return (
        figure
        + scale_fill_cmap("viridis")
        + labs(x=terms.axis_names[0], y=terms.axis_names[1], fill=label_of_legend(results))
    )


def _edges(values: pd.Series[Any], axis: str) -> dict[str, np.ndarray]:
    """Return where the tile of every grid value begins and ends; levels are at 0, 1, ..."""
    if is_category(values):
        codes = np.asarray(pd.factorize(values)[0], dtype=np.float64)
        return {f"{axis}min": codes - 0.5, f"{axis}max": codes + 0.5}
    grid = np.unique(values.to_numpy(dtype=np.float64))
    middle = (grid[1:] + grid[:-1]) / 2
    alone = 0.5 * (len(grid) == 1)
    ends = np.concatenate([[grid[0] - alone], middle, [grid[-1] + alone]])
    place = np.searchsorted(grid, values.to_numpy(dtype=np.float64))
    return {f"{axis}min": ends[place], f"{axis}max": ends[place + 1]}


def _levels(values: pd.Series[Any]) -> dict[str, Any]:
    """Return breaks and labels of levels, some of them if there are many."""
    levels = [str(level) for level in pd.factorize(values)[1]]
    step = -(-len(levels) // LABELS)
    return {"breaks": list(range(0, len(levels), step)), "labels": levels[::step]}
