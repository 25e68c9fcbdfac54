"""Tiles: over two grids, and for every value on a third one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from mizani.breaks import breaks_extended

from pyinterp.data.columns import is_category
from pyinterp.results.plots import style
from pyinterp.results.results import EstimandResults

LEGEND = 16  # letters of a line of the title of the legend


def surface(
    results: EstimandResults, frame: pd.DataFrame, *, sort: bool = True, facet: str | None = None
) -> p9.ggplot:
    """Draw a tile per grid point, its color the estimate.

    A tile ends halfway to the next grid point, the outer ones at the last: grids by quantile show
    where data are. A category whose levels have no room side by side is on the vertical axis, a
    line per level, sorted by their mean estimates unless the category is ordered.

    Parameters
    ----------
    results : EstimandResults
    frame : pandas.DataFrame
    sort : bool
    facet : str, optional
        Column that has a panel per value; by default that of classes and groups.
    """
    terms = results.estimand.terms
    facet = facet or style.facet_of(results)
    columns = style.columns_of(frame, facet)
    space = style.LETTERS // columns
    x, y = terms.axes[:2]
    levels = {a: frame[a].drop_duplicates().tolist() for a in (x, y) if is_category(frame[a])}
    across, along = (style.letters_of(levels.get(axis, [])) for axis in (x, y))
    if across > max(space, along):  # levels that need more room are on the vertical axis
        x, y, across, along = y, x, along, across
    if along > space:
        levels[y] = style.levels_from_below(results, frame, y, sort=sort)
    edges = {**_edges(frame[x], "x", levels.get(x)), **_edges(frame[y], "y", levels.get(y))}
    place = p9.aes(xmin="xmin", xmax="xmax", ymin="ymin", ymax="ymax", fill="estimate")
    frame = frame.assign(**edges)
    figure = p9.ggplot(frame) + p9.geom_rect(place)
    if len(empty := _empty(frame, results, {"x": x, "y": y}, levels)) and len(terms.axes) == 2:
        for color, stroke in (("white", 1.5), ("black", 0.4)):  # seen on dark and on light tiles
            figure += p9.geom_point(p9.aes("x", "y"), empty, shape="x", color=color, stroke=stroke)
    if across > space:
        figure += p9.theme(axis_text_x=p9.element_text(rotation=90))
    texts = {axis: [style.in_lines(level) for level in some] for axis, some in levels.items()}
    for axis, scale in ((x, p9.scale_x_continuous), (y, p9.scale_y_continuous)):
        options: dict[str, Any] = (
            {"breaks": breaks_extended(3)} if axis == x and columns > 1 else {}
        )
        if axis in texts:
            options = {"breaks": list(range(len(texts[axis]))), "labels": texts[axis]}
        figure += scale(**options, expand=(0, 0))
    labels = {"x": style.name_of(results, x), "y": style.name_of(results, y)}
    return (
        figure
        + style.layout(frame, facet, texts.get(y, []))
        + p9.scale_fill_cmap("viridis")
        + p9.labs(
            **{axis: style.in_lines(text, style.TITLE) for axis, text in labels.items()},
            fill=style.in_lines(style.label(results), LEGEND),
        )
    )


def _edges(values: pd.Series[Any], axis: str, levels: list[Any] | None) -> dict[str, np.ndarray]:
    """Return where the tile of every grid value begins and ends; levels are at 0, 1, ..."""
    if levels is not None:
        codes = values.map({level: k for k, level in enumerate(levels)}).to_numpy(np.float64)
        return {f"{axis}min": codes - 0.5, f"{axis}max": codes + 0.5}
    grid = np.unique(values.to_numpy(np.float64))
    middle = (grid[1:] + grid[:-1]) / 2
    alone = 0.5 * (len(grid) == 1)
    ends = np.concatenate([[grid[0] - alone], middle, [grid[-1] + alone]])
    place = np.searchsorted(grid, values.to_numpy(np.float64))
    return {f"{axis}min": ends[place], f"{axis}max": ends[place + 1]}


def _empty(
    frame: pd.DataFrame,
    results: EstimandResults,
    axes: Mapping[str, str],
    levels: Mapping[str, list[Any]],
) -> pd.DataFrame:
    """Return the middles of tiles in which no row is."""
    tiles, there, rows = pd.DataFrame(), pd.DataFrame(), pd.DataFrame()
    for side, axis in axes.items():
        values = results.data[style.name_of(results, axis)]
        if axis in levels:
            values = values.map({level: k for k, level in enumerate(levels[axis])})
        low, high = frame[f"{side}min"], frame[f"{side}max"]
        tiles[side] = (low + high) / 2
        ends = [*np.unique(low), np.nextafter(high.max(), np.inf)]
        for table, points in ((there, tiles[side]), (rows, values.astype(np.float64))):
            table[side] = pd.cut(points, ends, right=False, labels=False)
    held = pd.MultiIndex.from_frame(rows.dropna().drop_duplicates())
    return tiles[~pd.MultiIndex.from_frame(there).isin(held)].drop_duplicates()


def volume(results: EstimandResults, frame: pd.DataFrame, *, sort: bool) -> p9.ggplot:
    """Draw a panel of tiles per value of the third variable, of every class."""
    terms = results.estimand.terms
    axis, name = terms.axes[2], terms.axis_names[2]
    values = frame[axis].drop_duplicates()
    texts = [f"{name} = {v:.4g}" if isinstance(v, float) else f"{name} = {v}" for v in values]
    frame = frame.assign(third=frame[axis].map(dict(zip(values, texts, strict=True))))
    frame, facet = style.panels_of(frame, "third", style.facet_of(results))
    return surface(results, frame, sort=sort, facet=facet)
