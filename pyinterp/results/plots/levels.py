"""A curve per level: a surface over a number and a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
from plotnine import (
    aes,
    geom_hline,
    geom_line,
    geom_point,
    geom_ribbon,
    geom_rug,
    ggplot,
    guide_legend,
    guides,
    labs,
)

from pyinterp.data.columns import is_category
from pyinterp.results.plots.room import (
    LINE,
    LONGEST,
    MARGINS,
    Room,
    few_breaks,
    in_lines,
    in_room,
    legend_width,
)
from pyinterp.results.plots.style import (
    COLORS,
    GRAY,
    colors_of,
    facet_of,
    label,
    panels_of,
    rows_with_interval,
)

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["curve_per_level", "has_few_levels", "is_number_by_level"]

MOST_CURVES = 8  # that are told apart; tiles are drawn of more levels, unless curves are asked for
KEYS = 0.25  # inches of a line of a legend
TITLE = 24  # characters of a line of the title of a legend


def is_number_by_level(frame: pd.DataFrame, axes: Sequence[str]) -> bool:
    """Whether one of two axes is of numbers and the other of levels."""
    first, second = (is_category(frame[str(axis)]) for axis in axes)
    return first != second


def has_few_levels(frame: pd.DataFrame, axes: Sequence[str]) -> bool:
    """Whether curves of a category's levels can be told apart."""
    (level,) = (axis for axis in axes if is_category(frame[str(axis)]))
    return bool(frame[level].nunique() <= MOST_CURVES)


def curve_per_level(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw a curve over the number for every level of the category, bands for a few levels."""
    terms = results.estimand.terms
    names = dict(zip(terms.axes, terms.axis_names, strict=True))
    x, level = sorted(terms.axes, key=lambda axis: is_category(frame[str(axis)]))
    levels = [str(value) for value in pd.factorize(frame[level])[1]]
    texts = pd.Categorical([str(value) for value in frame[level]], categories=levels)
    frame = frame.assign(level=texts)
    figure = ggplot(frame, aes(x=x, y="estimate", color="level"))
    if results.estimand.null is not None:
        figure += geom_hline(yintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits = rows_with_interval(frame)
    if len(limits) and len(levels) <= len(COLORS):
        figure += geom_ribbon(
            aes(x=x, ymin="conf_low", ymax="conf_high", fill="level"),
            limits,
            alpha=0.15,
            inherit_aes=False,
            show_legend=False,
        )
        figure += colors_of(levels, fill=True)
    observed = results.data[names[x]].to_numpy()
    rug = pd.DataFrame({x: observed})
    rug = rug[rug[x].between(frame[x].min(), frame[x].max())]
    title, facet = in_lines(names[level], TITLE), facet_of(results)
    room = Room(
        legend=legend_width(levels, title),
        panels=1 if facet is None else int(frame[facet].nunique()),
    )
    if len(levels) > len(COLORS):  # a legend of one column, and a figure as high
        figure += guides(color=guide_legend(ncol=1))
        rows = MARGINS + KEYS * len(levels) + 2 * LINE * (title.count("\n") + 2)
        room = replace(room, high=max(room.high, rows))
    drawn: ggplot = (
        figure
        + geom_line()
        + geom_point(size=1.2)
        + geom_rug(aes(x=x), rug, sides="b", color="black", alpha=0.1, inherit_aes=False)
        + colors_of(levels)
        + room.size
        + few_breaks("x", frame[x], room.panel)
        + labs(x=in_room(names[x], room.width), y=in_room(label(results), LONGEST), color=title)
    )
    return drawn if facet is None else drawn + panels_of(facet, room)
