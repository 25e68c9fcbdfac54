"""One value per feature: dots, bars or a forest plot of one result, or dots of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from mizani.breaks import breaks_extended

from pyinterp.results.plots import style
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import largest_first

MOST_DECIMALS = 6
POINTS = 8  # size of the numbers of a forest plot
WIDEST = 0.6  # of a panel, its numbers at most


def points(results: EstimandResults, frame: pd.DataFrame, *, kind: str = "dots") -> p9.ggplot:
    """Draw terms in the order of the frame; those without an estimate keep an empty line.

    Bars begin at the null value. Panels of a forest plot are below each other.
    """
    ordered = frame["term"].drop_duplicates().tolist()[::-1]
    names = {term: style.in_lines(term) for term in ordered}
    null, facet, forest = results.estimand.parameter.null, style.facet_of(results), kind == "forest"
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    drawn = frame.dropna(subset=["estimate"])
    figure = p9.ggplot(drawn, p9.aes(y="term", x="estimate"))
    figure += p9.scale_y_discrete(limits=ordered, labels=names)
    if null is not None:
        figure += p9.geom_vline(xintercept=null, color=style.GRAY, linetype="dashed")
    if kind == "bars":
        start = 0.0 if null is None else null
        wide = (drawn["estimate"] - start).abs()
        bars = drawn.assign(middle=(drawn["estimate"] + start) / 2, wide=wide)
        tile, look = p9.aes(x="middle", y="term", width="wide"), {"fill": style.BLUE, "alpha": 0.5}
        figure += p9.geom_tile(tile, bars, height=0.7, inherit_aes=False, **look)
    limits = style.rows_with_interval(drawn)
    if len(limits):
        ends = p9.aes(y="term", yend="term", x="conf_low", xend="conf_high")
        color = "black" if kind == "bars" else style.BLUE
        figure += p9.geom_segment(ends, limits, color=color, inherit_aes=False)
    columns = 1 if forest else style.columns_of(frame, facet)
    figure += _numbers(frame, null) if forest else style.few_breaks("x", columns)
    if kind != "bars":
        figure += p9.geom_point(color=style.BLUE)
    figure += p9.labs(x=style.label(results), y="")
    return figure + style.layout(frame, facet, names.values(), columns=columns)


def _numbers(frame: pd.DataFrame, null: float | None) -> list[Any]:
    """Return estimates and intervals as text to the right of the marks."""
    texts = _texts(frame)
    values = frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64).ravel()
    values = np.append(values[np.isfinite(values)], [] if null is None else null)
    low, high = float(values.min()), float(values.max())
    reach = high - low or max(abs(high), 1.0)
    beside = 0.06 * reach
    name = min(max(len(str(term)) for term in frame["term"]), style.NAME)
    share = min(max(map(len, texts)) / (style.LETTERS - name), WIDEST)
    limits = (low, high + beside + (reach + beside) * share / (1 - share))
    breaks = [b for b in breaks_extended(4)((low, high)) if low <= b <= high]
    labels, place = frame.assign(text=texts, at=high + beside), p9.aes("at", "term", label="text")
    return [
        p9.geom_text(place, labels, size=POINTS, ha="left", color="black", inherit_aes=False),
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

    A line stands at the null value.

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
        Draw every measure in a separate panel.
    """
    frames = []
    for name, results in zip(names, several, strict=True):
        frame = results.summary_frame(alpha).reset_index()
        null, what = results.estimand.parameter.null, results.estimand.words.quantity
        frame = frame.assign(measure=name, panel=style.label(results, what), null=null)
        frames.append(frame.astype({"null": float}))
    if sort:
        frames[0] = largest_first(frames[0], several[0])
    frame = pd.concat(frames, ignore_index=True)
    every = list(dict.fromkeys(frame["term"]))
    ordered = every[:top][::-1]
    colors = list(dict.fromkeys(names))
    frame = frame[frame["term"].isin(ordered)].dropna(subset=["estimate"])
    frame["term"] = pd.Categorical(frame["term"], categories=ordered, ordered=True)
    # The first name on top, as in the legend.
    frame["measure"] = pd.Categorical(frame["measure"], categories=colors[::-1], ordered=True)
    frame["panel"] = pd.Categorical(frame["panel"], categories=list(dict.fromkeys(frame["panel"])))
    apart, legend = p9.position_dodge(width=0.6), len(colors) > 1
    marks: dict[str, Any] = {"position": apart, "show_legend": legend}
    texts = {term: style.in_lines(term) for term in ordered}
    facet = "panel" if panels else None
    high = style.MARGINS + style.LINE * len(ordered) * len(colors)
    nulls = frame[["panel", "null"]].dropna().drop_duplicates()
    sides = p9.aes(ymin="conf_low", ymax="conf_high")
    figure: p9.ggplot = (
        p9.ggplot(frame, p9.aes(x="term", y="estimate", color="measure"))
        + p9.geom_hline(p9.aes(yintercept="null"), nulls, color=style.GRAY, linetype="dashed")
        + p9.geom_linerange(sides, style.rows_with_interval(frame), **marks)
        + p9.geom_point(**marks)
        + p9.coord_flip()
        + p9.scale_x_discrete(limits=ordered, labels=texts)
        + style.colors_of(colors)
        + style.few_breaks("y", style.columns_of(frame, facet))
        + style.layout(frame, facet, texts.values(), high=high, scales="free_x")
        + p9.labs(
            x="",
            y="" if panels else _axis(several),
            color="",
            caption=style.caption(several, alpha, names) + style.count_of(ordered, every),
        )
    )
    return style.finish(figure)


def _axis(several: Sequence[EstimandResults]) -> str:
    """Return the measure, if there is one, or the unit of several."""
    if len({results.estimand.description for results in several}) == 1:
        return style.label(several[0])
    return style.label(several[0], "Importance") if several[0].estimand.words.unit else ""
