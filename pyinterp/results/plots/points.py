"""One value per feature: dots or bars with their intervals, or a forest plot with the numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotnine as p9

from pyinterp.results.plots import room as rooms
from pyinterp.results.plots.style import BLUE, GRAY, label, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["points"]

MOST_DECIMALS = 6
POINTS = 8  # size of the numbers of a forest plot
MARKS = 1.6  # inches of the marks of a forest plot, at least
HIGHEST = 25.0  # inches of a figure that plotnine saves


def points(results: EstimandResults, frame: pd.DataFrame, *, kind: str = "dots") -> p9.ggplot:
    """Draw terms in the order of the frame; those without an estimate keep an empty line.

    Bars begin at the null value.
    """
    ordered = frame["term"].drop_duplicates().tolist()[::-1]
    names = {term: rooms.in_lines(term) for term in ordered}
    null, room = results.estimand.null, _room(results, frame, list(names.values()), kind)
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    drawn = frame.dropna(subset=["estimate"])
    figure = p9.ggplot(drawn, p9.aes(y="term", x="estimate"))
    figure += [p9.scale_y_discrete(limits=ordered, labels=names), room.size]
    if null is not None:
        figure += p9.geom_vline(xintercept=null, color=GRAY, linetype="dashed")
    if kind == "bars":
        start = 0.0 if null is None else null
        wide = (drawn["estimate"] - start).abs()
        bars = drawn.assign(middle=(drawn["estimate"] + start) / 2, wide=wide)
        tile = p9.aes(x="middle", y="term", width="wide")
        figure += p9.geom_tile(tile, bars, fill=BLUE, alpha=0.5, height=0.7, inherit_aes=False)
    limits = rows_with_interval(drawn)
    if len(limits):
        ends = p9.aes(y="term", xmin="conf_low", xmax="conf_high")
        figure += p9.geom_errorbarh(ends, limits, height=0.25, color=BLUE, inherit_aes=False)
    figure += _numbers(frame, null, room) if kind == "forest" else rooms.few_breaks("x", room.panel)
    if kind != "bars":
        figure += p9.geom_point(color=BLUE)
    figure += p9.labs(x=label(results), y="")
    return figure + rooms.panels_of(rooms.facet_of(results), room)


def _room(results: EstimandResults, frame: pd.DataFrame, names: list[str], kind: str) -> rooms.Room:
    """Return the room of a plot; panels of a forest plot are below each other, if they can."""
    room = replace(
        rooms.room_of_curve(results, frame), lines=rooms.lines_of(names), labels=rooms.widest(names)
    )
    if kind != "forest":
        return room
    room = replace(room, across=1, least=MARKS + _width_of_numbers(frame))
    while room.height > HIGHEST and room.columns < room.panels:
        room = replace(room, across=room.columns + 1)
    return room


def _width_of_numbers(frame: pd.DataFrame) -> float:
    return max(rooms.width_of(text, POINTS) for text in _texts(frame))


def _numbers(frame: pd.DataFrame, null: float | None, room: rooms.Room) -> list[Any]:
    """Return estimates and intervals as text to the right of the marks."""
    values = frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64).ravel()
    values = np.append(values[np.isfinite(values)], [] if null is None else null)
    low, high = float(values.min()), float(values.max())
    reach = high - low or max(abs(high), 1.0)
    beside = 0.06 * reach
    numbers = _width_of_numbers(frame)
    marks = room.panel / 1.1 - numbers  # the axis goes on by 5% at both ends
    texts, place = (
        frame.assign(text=_texts(frame), at=high + beside),
        p9.aes("at", "term", label="text"),
    )
    breaks = [b for b in rooms.breaks_within(marks)((low, high)) if low <= b <= high]
    limits = (low, high + beside + (reach + beside) * numbers / marks)
    return [
        p9.geom_text(place, texts, size=POINTS, ha="left", inherit_aes=False),
        p9.scale_x_continuous(limits=limits, breaks=breaks),
    ]


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

    columns = frame[["estimate", "conf_low", "conf_high"]]
    return [text(*row) for row in columns.to_numpy(dtype=np.float64)]
