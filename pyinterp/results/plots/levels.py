"""A curve per level: a surface over a number and a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import plotnine as p9

from pyinterp.data.columns import is_category
from pyinterp.results.plots import room as rooms
from pyinterp.results.plots.style import (
    COLORS,
    colored_curves,
    label,
    line_at_null,
    marks_of_rows,
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


def curve_per_level(results: EstimandResults, frame: pd.DataFrame) -> p9.ggplot:
    """Draw a curve over the number for every level of the category, bands for a few levels."""
    terms = results.estimand.terms
    names = dict(zip(terms.axes, terms.axis_names, strict=True))
    x, level = sorted(terms.axes, key=lambda axis: is_category(frame[str(axis)]))
    levels = [str(value) for value in pd.factorize(frame[level])[1]]
    frame = frame.assign(level=pd.Categorical(frame[level].map(str), categories=levels))
    title = rooms.in_lines(names[level], TITLE)
    room = replace(rooms.room_of_curve(results, frame), legend=rooms.legend_width(levels, title))
    figure = p9.ggplot(frame, p9.aes(x=x, y="estimate", color="level")) + line_at_null(results)
    if len(levels) > len(COLORS):  # a legend of one column, and a figure as high
        figure += p9.guides(color=p9.guide_legend(ncol=1))
        keys = KEYS * len(levels) + 2 * rooms.LINE * (title.count("\n") + 2)
        room = replace(room, high=max(room.high, rooms.MARGINS + keys))
    return (
        figure
        + colored_curves(rows_with_interval(frame), x, "level", levels)
        + marks_of_rows(results.data[names[x]], frame[x])
        + room.size
        + rooms.few_breaks("x", room.panel)
        + rooms.panels_of(rooms.facet_of(results), room)
        + p9.labs(
            x=rooms.in_room(names[x], room.width),
            y=rooms.in_room(label(results), rooms.LONGEST),
            color=title,
        )
    )
