"""Plots with plotnine: a module per shape of terms, none per estimand.

In come results, out go plots to which layers, scales and a theme can be added.

=========  ======================================================================
Module     What is in it
=========  ======================================================================
`points`   One value per feature: dots, bars, a forest plot, several results
`curves`   A curve over a grid with a band, or points for levels; several of them
`tiles`    Tiles over two grids, for every value on a third
`scatter`  Features by likelihood and entropy
`style`    Shared by all: colors, sizes, panels, layers, labels and captions
=========  ======================================================================

A plot for another shape of terms is a module with a function of results and their frame, and a line
in `GEOMS`. This folder is imported when the first plot is asked for: plotnine takes a second.
"""

from __future__ import annotations

import plotnine as p9

from pyinterp.data.columns import is_category
from pyinterp.results.plots.curves import MOST_CURVES, curve, curve_per_level
from pyinterp.results.plots.points import points
from pyinterp.results.plots.style import caption, finish, frame_of, signs
from pyinterp.results.plots.tiles import surface, volume
from pyinterp.results.results import EstimandResults

# What can be drawn, by the number of axes of the terms; the first is drawn by default.
GEOMS = {0: ("dots", "bars", "forest"), 1: ("curve",), 2: ("tiles",), 3: ("tiles",)}


def geoms_of(results: EstimandResults) -> tuple[str, ...]:
    """Return the kinds of plots that can draw results, the default first."""
    terms = results.estimand.terms
    levels = [axis for axis in terms.axes if is_category(terms.layout[axis])]
    if len(terms.axes) != 2 or len(levels) != 1:
        return GEOMS[len(terms.axes)]
    few = terms.layout[levels[0]].nunique() <= MOST_CURVES
    return ("curves", "tiles") if few else ("tiles", "curves")


def plot(
    results: EstimandResults,
    *,
    alpha: float,
    geom: str,
    sort: bool,
    top: int | None,
    color: str | None,
) -> p9.ggplot:
    """Draw values, a curve with its rows in colors, or tiles, by the number of axes."""
    axes = len(results.estimand.terms.axes)
    geom = geoms_of(results)[0] if geom == "auto" else geom
    if axes == 0:
        return points([results], [""], alpha=alpha, geom=geom, sort=sort, top=top)
    frame = frame_of(results, alpha)
    frame = frame[frame["estimate"].notna()]  # other points are not drawn; the caption counts them
    if axes == 1:
        figure = curve(results, frame, sort=sort, color=color)
    elif geom == "curves":
        figure = curve_per_level(results, frame)
    else:
        figure = (surface if axes == 2 else volume)(results, frame, sort=sort)
    words = caption([results], alpha, intervals=geom != "tiles") + signs([figure])
    return finish(figure + p9.labs(caption=words))
