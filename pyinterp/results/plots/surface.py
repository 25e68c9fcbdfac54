"""A surface over two grids: tiles of their true size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    element_text,
    geom_rect,
    ggplot,
    labs,
    scale_fill_cmap,
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from pyinterp.data.columns import is_category
from pyinterp.results.plots.category import from_below
from pyinterp.results.plots.room import (
    TITLE,
    Room,
    breaks_within,
    in_lines,
    in_room,
    lines_of,
    need_lines,
    side_by_side,
    widest,
    width_of,
)
from pyinterp.results.plots.style import facet_of, label_of_legend, panels_of

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["surface"]

BAR = 0.5  # inches of the bar of colors and of what is around it


def surface(
    results: EstimandResults,
    frame: pd.DataFrame,
    *,
    sort: bool = True,
    room: Room | None = None,
) -> ggplot:
    """Draw a tile per grid point, its color the estimate.

    A tile ends halfway to the next grid point, the outer ones at the last: grids by quantile show
    where data are. A category whose levels have no room side by side is on the vertical axis, a
    line per level, sorted by their mean estimates unless the category has an order of its own.

    Parameters
    ----------
    results : EstimandResults
    frame : pandas.DataFrame
    sort : bool
    room : Room, optional
        Of panels that are added to the plot; without it, classes and groups have a panel each.
    """
    terms = results.estimand.terms
    names = dict(zip(terms.axes, terms.axis_names, strict=True))
    title, facet = label_of_legend(results), facet_of(results) if room is None else None
    room = room or Room(panels=1 if facet is None else int(frame[facet].nunique()))
    room = replace(room, legend=BAR + width_of(title, TITLE))
    x, y = _upright(frame, terms.axes[:2], room.panel)
    levels = {axis: _levels(frame[axis]) for axis in (x, y) if is_category(frame[axis])}
    if y in levels and need_lines(levels[y], room.panel):
        levels[y] = from_below(results, frame, y, names[y], sort=sort)
    texts = {axis: [in_lines(level) for level in some] for axis, some in levels.items()}
    if y in texts:
        room = replace(room, lines=lines_of(texts[y]), labels=widest(texts[y]))
    edges = {**_edges(frame[x], "x", levels.get(x)), **_edges(frame[y], "y", levels.get(y))}
    figure = ggplot(frame.assign(**edges))
    figure += geom_rect(aes(xmin="xmin", xmax="xmax", ymin="ymin", ymax="ymax", fill="estimate"))
    if x in texts and need_lines(texts[x], room.panel):
        room = replace(room, below=widest(texts[x]), least=lines_of(texts[x]))
        figure += theme(axis_text_x=element_text(rotation=90))
    for axis, scale in ((x, scale_x_continuous), (y, scale_y_continuous)):
        options: dict[str, Any] = {}
        if axis in texts:
            options = {"breaks": list(range(len(texts[axis]))), "labels": texts[axis]}
        elif axis == x:
            options = {"breaks": breaks_within(room.panel)}
        figure += scale(**options, expand=(0, 0))
    if facet is not None:
        figure += panels_of(facet, room)
    return (
        figure
        + room.size
        + scale_fill_cmap("viridis")
        + labs(x=in_room(names[x], room.width), y=in_room(names[y], room.height - 1), fill=title)
    )


def _upright(frame: pd.DataFrame, axes: Sequence[str], width: float) -> tuple[str, str]:
    """Return the axes, horizontal first: the levels that need more room are on the vertical one."""
    x, y = axes
    wide = {axis: _levels(frame[axis]) if is_category(frame[axis]) else [] for axis in axes}
    return (y, x) if need_lines(wide[x], max(width, side_by_side(wide[y]))) else (x, y)


def _levels(values: pd.Series[Any]) -> list[Any]:
    return values.drop_duplicates().tolist()


def _edges(values: pd.Series[Any], axis: str, levels: list[Any] | None) -> dict[str, np.ndarray]:
    """Return where the tile of every grid value begins and ends; levels are at 0, 1, ..."""
    if levels is not None:
        codes = values.map({level: k for k, level in enumerate(levels)}).to_numpy(np.float64)
        return {f"{axis}min": codes - 0.5, f"{axis}max": codes + 0.5}
    grid = np.unique(values.to_numpy(dtype=np.float64))
    middle = (grid[1:] + grid[:-1]) / 2
    alone = 0.5 * (len(grid) == 1)
    ends = np.concatenate([[grid[0] - alone], middle, [grid[-1] + alone]])
    place = np.searchsorted(grid, values.to_numpy(dtype=np.float64))
    return {f"{axis}min": ends[place], f"{axis}max": ends[place + 1]}
