"""One value per feature: dots or bars with their intervals, or a forest plot with the numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_errorbarh,
    geom_point,
    geom_text,
    geom_tile,
    geom_vline,
    ggplot,
    labs,
    scale_x_continuous,
    scale_y_discrete,
)

from pyinterp.results.plots.room import (
    Room,
    breaks_within,
    few_breaks,
    in_lines,
    lines_of,
    widest,
    width_of,
)
from pyinterp.results.plots.style import BLUE, GRAY, facet_of, label, panels_of, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["points", "room_of_points"]

MOST_DECIMALS = 6
POINTS = 8  # size of the numbers of a forest plot
MARKS = 1.6  # inches of the marks of a forest plot, at least
HIGHEST = 25.0  # inches of a figure that plotnine saves


def points(results: EstimandResults, frame: pd.DataFrame, *, kind: str = "dots") -> ggplot:
    """Draw terms in the order of the frame; those without an estimate keep an empty line.

    Bars begin at the null value.
    """
    ordered = frame["term"].drop_duplicates().tolist()[::-1]
    null, room = results.estimand.null, room_of_points(results, frame, kind)
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    drawn = frame.dropna(subset=["estimate"])
    names = {term: in_lines(term) for term in ordered}
    figure = ggplot(drawn, aes(y="term", x="estimate"))
    figure += scale_y_discrete(limits=ordered, labels=names)
    figure += room.size
    if null is not None:
        figure += geom_vline(xintercept=null, color=GRAY, linetype="dashed")
    if kind == "bars":
        start = 0.0 if null is None else null
        wide = (drawn["estimate"] - start).abs()
        bars = drawn.assign(middle=(drawn["estimate"] + start) / 2, wide=wide)
        tile = aes(x="middle", y="term", width="wide")
        figure += geom_tile(tile, bars, fill=BLUE, alpha=0.5, height=0.7, inherit_aes=False)
    limits = rows_with_interval(drawn)
    if len(limits):
        figure += geom_errorbarh(
            aes(y="term", xmin="conf_low", xmax="conf_high"),
            data=limits,
            height=0.25,
            color=BLUE,
            inherit_aes=False,
        )
    if kind == "forest":
        figure = _with_numbers(figure, frame, null, room)
    else:
        figure += few_breaks("x", _values(frame, null), room.panel)
    if kind != "bars":
        figure += geom_point(color=BLUE)
    figure += labs(x=label(results), y="")
    facet = facet_of(results)
    return figure if facet is None else figure + panels_of(facet, room)


def room_of_points(results: EstimandResults, frame: pd.DataFrame, kind: str) -> Room:
    """Return the room of a plot; panels of a forest plot are below each other, if they can."""
    names = [in_lines(term) for term in frame["term"].drop_duplicates()]
    facet = facet_of(results)
    room = Room(
        lines=lines_of(names),
        labels=widest(names),
        panels=1 if facet is None else int(frame[facet].nunique()),
    )
    if kind != "forest":
        return room
    room = replace(room, across=1, least=MARKS + _width_of_numbers(frame))
    while room.height > HIGHEST and room.columns < room.panels:
        room = replace(room, across=room.columns + 1)
    return room


def _values(frame: pd.DataFrame, null: float | None) -> np.ndarray:
    """Return all values along the axis of estimates."""
    values = frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64).ravel()
    return np.append(values[np.isfinite(values)], [] if null is None else null)


def _width_of_numbers(frame: pd.DataFrame) -> float:
    return max(width_of(text, POINTS) for text in _texts(frame))


def _with_numbers(figure: ggplot, frame: pd.DataFrame, null: float | None, room: Room) -> ggplot:
    """Add estimates and intervals as text to the right of the marks."""
    values = _values(frame, null)
    low, high = float(values.min()), float(values.max())
    reach = high - low or max(abs(high), 1.0)
    beside = 0.06 * reach
    numbers = _width_of_numbers(frame)
    marks = room.panel / 1.1 - numbers  # the axis goes on by 5% at both ends
    texts = frame.assign(text=_texts(frame), at=high + beside)
    return (
        figure
        + geom_text(
            aes(x="at", y="term", label="text"), texts, size=POINTS, ha="left", inherit_aes=False
        )
        + scale_x_continuous(
            limits=(low, high + beside + (reach + beside) * numbers / marks),
            breaks=breaks_within(marks)((low, high)),
        )
    )


def _texts(frame: pd.DataFrame) -> list[str]:
    """Return "estimate [low, high]" with as many decimals as the intervals need."""
    widths = (frame["conf_high"] - frame["conf_low"]).to_numpy(dtype=np.float64)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    scale = float(np.median(widths)) if len(widths) else float(frame["estimate"].abs().max())
    decimals = int(np.clip(1 - np.floor(np.log10(scale or 1.0)), 0, MOST_DECIMALS))

    def text(estimate: float, low: float, high: float) -> str:
        if not np.isfinite(estimate):
            return "no estimate"
        if not (np.isfinite(low) or np.isfinite(high)):
            return f"{estimate:.{decimals}f}, no interval"
        return f"{estimate:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"

    columns = (
        frame[name].to_numpy(dtype=np.float64) for name in ("estimate", "conf_low", "conf_high")
    )
    return [text(*row) for row in zip(*columns, strict=True)]
