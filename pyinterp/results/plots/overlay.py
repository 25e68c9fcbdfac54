"""Curves in colors: of several results, or of the levels of a category beside a number."""

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
    captions,
    colored_curves,
    colors_of,
    in_panels,
    label,
    line_at_null,
    marks_of_rows,
    rows_with_interval,
)

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["curve_per_level", "has_few_levels", "is_number_by_level", "overlay"]

MOST_CURVES = 8  # that are told apart; tiles are drawn of more levels, unless curves are asked for
KEYS = 0.25  # inches of a line of a legend
TITLE = 24  # characters of a line of the title of a legend


def overlay(
    several: Sequence[EstimandResults], names: Sequence[str], *, alpha: float, sort: bool
) -> p9.ggplot:
    """Draw curves of the same variable, each with its band; levels have points side by side."""
    first = several[0]
    (axis,), (name,) = first.estimand.terms.axes, first.estimand.terms.axis_names
    frames = [
        in_panels(results, results.summary_frame(alpha).reset_index())
        .rename(columns={results.estimand.terms.axes[0]: axis})
        .assign(result=one)
        for one, results in zip(names, several, strict=True)
    ]
    frame, different = pd.concat(frames, ignore_index=True), list(dict.fromkeys(names))
    frame = frame.dropna(subset=["estimate"])
    frame["result"] = pd.Categorical(frame["result"], categories=different)
    numeric = not is_category(frame[axis])
    room = replace(rooms.room_of_curve(first, frame), legend=rooms.legend_width(different))
    lines = rooms.room_of_levels(frame[axis], room)
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        if lines is not None:
            levels = rooms.from_below(first, frame, axis, name, sort=sort)
        frame[axis] = pd.Categorical(frame[axis], categories=levels)
    figure = p9.ggplot(frame, p9.aes(x=axis, y="estimate", color="result")) + line_at_null(first)
    limits = rows_with_interval(frame)
    if numeric:
        figure += colored_curves(limits, axis, "result", different)
        figure += marks_of_rows(first.data[name], frame[axis])
        figure += rooms.few_breaks("x", room.panel)
    else:
        apart = p9.position_dodge(width=0.15 * len(different))
        sides = p9.aes(ymin="conf_low", ymax="conf_high")
        if len(limits):
            figure += p9.geom_errorbar(sides, limits, width=0.1, position=apart)
        figure += [p9.geom_point(position=apart), colors_of(different)]
    figure += room.size if lines is None else rooms.flip(levels, lines)
    what = " / ".join(dict.fromkeys(label(results) for results in several))
    return (
        figure
        + rooms.panels_of(rooms.facet_of(first), lines or room)
        + p9.labs(
            x=rooms.in_room(name, room.width if lines is None else lines.height),
            y=rooms.in_room(what, rooms.LONGEST),
            color="",
            caption=captions(several, names, alpha),
        )
    )


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
