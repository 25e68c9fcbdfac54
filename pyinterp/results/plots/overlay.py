"""Curves of several results in one picture, a color per result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
from plotnine import (
    aes,
    geom_errorbar,
    geom_hline,
    geom_line,
    geom_point,
    geom_ribbon,
    geom_rug,
    ggplot,
    labs,
    position_dodge,
)

from pyinterp.data.columns import is_category
from pyinterp.results.plots.category import flip, from_below, room_of_curve, room_of_levels
from pyinterp.results.plots.room import LONGEST, few_breaks, in_room, legend_width
from pyinterp.results.plots.style import (
    COLORS,
    GRAY,
    captions,
    colors_of,
    facet_of,
    in_panels,
    label,
    panels_of,
    rows_with_interval,
)

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["overlay"]


def overlay(
    several: Sequence[EstimandResults], names: Sequence[str], *, alpha: float, sort: bool
) -> ggplot:
    """Draw curves of the same variable, each with its band; levels have points side by side."""
    first = several[0]
    (axis,), (name,) = first.estimand.terms.axes, first.estimand.terms.axis_names
    frames = [
        in_panels(results, results.summary_frame(alpha).reset_index())
        .rename(columns={results.estimand.terms.axes[0]: axis})
        .assign(result=one)
        for one, results in zip(names, several, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True).dropna(subset=["estimate"])
    frame["result"] = pd.Categorical(frame["result"], categories=list(dict.fromkeys(names)))
    numeric = not is_category(frame[axis])
    room = replace(room_of_curve(first, frame), legend=legend_width(frame["result"].unique()))
    lines, across = room_of_levels(frame[axis], room), True
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        if lines is not None:
            room, across = lines, False
            levels = from_below(first, frame, axis, name, sort=sort)
        frame[axis] = pd.Categorical(frame[axis], categories=levels)
    figure = ggplot(frame, aes(x=axis, y="estimate", color="result"))
    if first.estimand.null is not None:
        figure += geom_hline(yintercept=first.estimand.null, color=GRAY, linetype="dashed")
    draw = _bands if numeric else _side_by_side
    figure = draw(figure, rows_with_interval(frame), axis, len(set(names)))
    if numeric:
        rug = pd.DataFrame({axis: first.data[name].to_numpy()})
        inside = rug[rug[axis].between(frame[axis].min(), frame[axis].max())]
        figure += geom_rug(
            aes(x=axis), inside, sides="b", color="black", alpha=0.1, inherit_aes=False
        )
    facet = facet_of(first)
    what = " / ".join(dict.fromkeys(label(results) for results in several))
    if not across:
        figure += flip(levels, room, frame, first.estimand.null)
    elif numeric:
        figure += few_breaks("x", frame[axis], room.panel)
    if facet is not None:
        figure += panels_of(facet, room)
    if across:
        figure += room.size
    drawn: ggplot = (
        figure
        + colors_of(list(dict.fromkeys(names)))
        + labs(
            x=in_room(name, room.width if across else room.height),
            y=in_room(what, LONGEST),
            color="",
            caption=captions(several, names, alpha),
        )
    )
    return drawn


def _bands(figure: ggplot, limits: pd.DataFrame, axis: str, results: int) -> ggplot:
    if len(limits) and results <= len(COLORS):
        figure += geom_ribbon(
            aes(x=axis, ymin="conf_low", ymax="conf_high", fill="result"),
            limits,
            alpha=0.15,
            inherit_aes=False,
            show_legend=False,
        )
        figure += colors_of(limits["result"].cat.categories.tolist(), fill=True)
    return figure + geom_line() + geom_point(size=1.2)


def _side_by_side(figure: ggplot, limits: pd.DataFrame, _: str, results: int) -> ggplot:
    apart = position_dodge(width=0.15 * results)
    if len(limits):
        figure += geom_errorbar(
            aes(ymin="conf_low", ymax="conf_high"), limits, width=0.1, position=apart
        )
    return figure + geom_point(position=apart)
