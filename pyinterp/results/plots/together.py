"""Several importances of the same features, of one learner or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotnine as p9

from pyinterp.results.order import largest_first
from pyinterp.results.plots import room as rooms
from pyinterp.results.plots.style import (
    GRAY,
    captions,
    colors_of,
    count_of,
    label,
    rows_with_interval,
)

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["together"]


def together(
    several: Sequence[EstimandResults],
    names: Sequence[str],
    *,
    alpha: float,
    sort: bool,
    top: int | None = None,
    panels: bool = False,
) -> p9.ggplot:
    """Draw several importances of the same features, in the order of the first importance.

    A line stands at the null value of what is estimated.

    Parameters
    ----------
    several : sequence of EstimandResults
    names : sequence of str
        What the colors stand for, by result.
    alpha : float
    sort : bool
        Draw features in decreasing order of the first importance, or else as in the data.
    top : int, optional
        How many features are drawn, the first in that order; by default all.
    panels : bool
        Draw every measure on an axis of its own.
    """
    frames = [
        results.summary_frame(alpha).reset_index().assign(measure=name, panel=_measure(results))
        for name, results in zip(names, several, strict=True)
    ]
    if sort:
        frames[0] = largest_first(frames[0])
    frame = pd.concat(frames, ignore_index=True)
    every = list(dict.fromkeys(frame["term"]))
    ordered = every[:top][::-1]
    colors = list(dict.fromkeys(names))
    frame = frame[frame["term"].isin(ordered)].dropna(subset=["estimate"])
    frame["term"] = pd.Categorical(frame["term"], categories=ordered, ordered=True)
    # The first name on top, as in the legend.
    frame["measure"] = pd.Categorical(frame["measure"], categories=colors[::-1], ordered=True)
    frame["panel"] = pd.Categorical(frame["panel"], categories=list(dict.fromkeys(frame["panel"])))
    apart, several_names = p9.position_dodge(width=0.6), len(colors) > 1
    texts = {term: rooms.in_lines(term) for term in ordered}
    room = rooms.Room(
        lines=max(rooms.lines_of(list(texts.values())), rooms.LINE * len(ordered) * len(colors)),
        labels=rooms.widest(texts.values()),
        legend=rooms.legend_width(colors) if several_names else 0.0,
        panels=frame["panel"].nunique() if panels else 1,
    )
    figure: p9.ggplot = (
        p9.ggplot(frame, p9.aes(x="term", y="estimate", color="measure"))
        + p9.geom_hline(
            p9.aes(yintercept="null"),
            _nulls(several, frame["panel"]),
            color=GRAY,
            linetype="dashed",
        )
        + p9.geom_linerange(
            p9.aes(ymin="conf_low", ymax="conf_high"),
            rows_with_interval(frame),
            position=apart,
            show_legend=several_names,
        )
        + p9.geom_point(position=apart, show_legend=several_names)
        + p9.coord_flip()
        + p9.scale_x_discrete(limits=ordered, labels=texts)
        + colors_of(colors)
        + room.size
        + rooms.few_breaks("y", room.panel)
        + rooms.panels_of("panel" if panels else None, room, scales="free_x")
        + p9.labs(
            x="",
            y="" if panels else _axis(several),
            color="",
            caption=captions(several, names, alpha) + count_of(ordered, every),
        )
    )
    return figure


def _nulls(several: Sequence[EstimandResults], panels: pd.Series[Any]) -> pd.DataFrame:
    """Return the null values of every panel."""
    nulls = pd.DataFrame(
        {
            "panel": [_measure(results) for results in several],
            "null": [results.estimand.null for results in several],
        }
    )
    nulls["panel"] = pd.Categorical(nulls["panel"], categories=panels.cat.categories)
    return nulls.dropna().drop_duplicates().astype({"null": float})


def _measure(results: EstimandResults) -> str:
    """Return what is estimated, with its unit."""
    unit = results.estimand.unit
    name = results.estimand.quantity or results.estimand.description
    return f"{name}{f' [{unit}]' if unit else ''}"


def _axis(several: Sequence[EstimandResults]) -> str:
    """Return the measure, if there is one, or the unit of several."""
    if len({results.estimand.description for results in several}) == 1:
        return label(several[0])
    return f"Importance [{several[0].estimand.unit}]" if several[0].estimand.unit else ""
