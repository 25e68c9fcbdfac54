"""One value per feature, of one or several results: dots, bars or a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from mizani.breaks import breaks_extended

from pyinterp.inference.contrasts import SCALES
from pyinterp.results.hypotheses import Contrasts
from pyinterp.results.plots import style
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import largest_first

MOST_DECIMALS = 6
POINTS = 8  # size of the numbers of a forest plot
WIDEST = 0.6  # of a panel, its numbers at most


def points(
    several: Sequence[EstimandResults],
    names: Sequence[str],
    *,
    alpha: float,
    sort: bool,
    top: int | None = None,
    panels: bool = False,
    geom: str = "dots",
) -> p9.ggplot:
    """Draw values of the same features in the order of the first results, a color per name.

    Terms without an estimate keep an empty line, and a line stands at the null value, where bars
    begin. Panels of a forest plot are below each other.

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
    geom : {"dots", "bars", "forest"}
        Of one result.
    """
    first, frames = several[0], []
    for name, results in zip(names, several, strict=True):
        alone = len(several) == 1
        frame = style.frame_of(results, alpha) if alone else results.summary_frame(alpha)
        null, what = results.estimand.parameter.null, results.estimand.words.quantity
        frame = frame.reset_index(drop=alone).assign(measure=name, null=null)
        if panels:
            frame["panel"] = style.label(results, what)
        frames.append(frame.astype({"null": float}))
    if sort:
        frames[0] = largest_first(frames[0], first.estimand.parameter)
    frame = pd.concat(frames, ignore_index=True)
    every = list(dict.fromkeys(frame["term"]))
    ordered, colors = every[:top][::-1], list(dict.fromkeys(names))
    frame = frame[frame["term"].isin(ordered)]
    frame["term"] = pd.Categorical(frame["term"], categories=ordered, ordered=True)
    # The first name on top, as in the legend.
    frame["measure"] = pd.Categorical(frame["measure"], categories=colors[::-1], ordered=True)
    facet = "panel" if panels else style.facet_of(first)
    if panels:
        frame["panel"] = pd.Categorical(frame["panel"], list(dict.fromkeys(frame["panel"])))
    if many := len(colors) > len(style.COLORS):  # a panel each
        frame, facet = style.panels_of(frame, "measure", facet)
    drawn = frame.dropna(subset=["estimate"])
    legend, columns = (
        len(colors) > 1 and not many,
        1 if geom == "forest" else style.columns_of(drawn, facet),
    )
    marks: dict[str, Any] = {"position": p9.position_dodge(width=0.6 * legend)}
    marks["show_legend"] = legend
    nulls = drawn[["null", *filter(None, [facet])]].dropna().drop_duplicates()
    figure = p9.ggplot(drawn, p9.aes("term", "estimate", color="measure", shape="measure"))
    figure += p9.geom_hline(p9.aes(yintercept="null"), nulls, color=style.GRAY, linetype="dashed")
    if geom == "bars":
        start = drawn["null"].fillna(0.0)
        middle, high = (drawn["estimate"] + start) / 2, (drawn["estimate"] - start).abs()
        tile, look = p9.aes(y="middle", height="high"), {"fill": style.BLUE, "alpha": 0.5}
        bars = drawn.assign(middle=middle, high=high)
        figure += p9.geom_tile(tile, bars, width=0.7, color="none", **look)
        marks["color"] = "black"
    sides = p9.aes(ymin="conf_low", ymax="conf_high")
    figure += p9.geom_linerange(sides, style.rows_with_interval(drawn), **marks)
    if geom != "bars":
        figure += p9.geom_point(**marks)
    figure += _numbers(frame) if geom == "forest" else style.few_breaks("y", columns)
    texts = {term: style.in_lines(term) for term in ordered}
    words = style.caption(several, alpha, names)
    words += f" {len(ordered)} of {len(every)} terms." * (len(ordered) < len(every))
    options: dict[str, Any] = {"columns": columns, "scales": "free_x" if panels else "fixed"}
    options["high"] = style.MARGINS + style.LINE * len(ordered) * len(colors) * (not many)
    return style.finish(
        figure
        + p9.coord_flip()
        + p9.scale_x_discrete(limits=ordered, labels=texts)
        + style.colors_of(colors)
        + style.layout(drawn, facet, texts.values(), **options)
        + p9.labs(x="", y="" if panels else _axis(several), color="", shape="", caption=words)
    )


def hypotheses(contrasts: Contrasts, alpha: float, words: str, *, of_zero: bool) -> p9.ggplot:
    """Draw an estimate per hypothesis in the order of its table; ratios on a logarithmic scale.

    A line stands at 0, or at the ratio 1, if all hypotheses are of it.
    """
    frame, ratio = contrasts.summary_frame(alpha=alpha).reset_index(), contrasts.relation in SCALES
    names, drawn = [*map(str, frame["hypothesis"])][::-1], frame.dropna(subset=["estimate"])
    sides, limited = p9.aes(ymin="conf_low", ymax="conf_high"), style.rows_with_interval(drawn)
    return style.finish(
        p9.ggplot(drawn, p9.aes("hypothesis", "estimate"))
        + [p9.geom_hline(yintercept=float(ratio), color=style.GRAY, linetype="dashed")] * of_zero
        + p9.geom_linerange(sides, limited, color=style.BLUE)
        + p9.geom_point(color=style.BLUE)
        + p9.coord_flip()
        + p9.scale_x_discrete(limits=names, labels={n: style.in_lines(n) for n in names})
        + ([p9.scale_y_log10()] if ratio else [])
        + style.layout(drawn, names=names, high=style.MARGINS + style.LINE * len(names))
        + p9.labs(x="", y=contrasts.relation.capitalize() if ratio else "Estimate", caption=words)
    )


def _numbers(frame: pd.DataFrame) -> list[Any]:
    """Return estimates and intervals as text to the right of the marks."""
    texts = _texts(frame)
    values = frame[["estimate", "conf_low", "conf_high", "null"]].to_numpy(np.float64)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    reach = high - low or max(abs(high), 1.0)
    beside = 0.06 * reach
    name = min(max(len(str(term)) for term in frame["term"]), style.NAME)
    share = min(max(map(len, texts)) / (style.LETTERS - name), WIDEST)
    limits = (low, high + beside + (reach + beside) * share / (1 - share))
    breaks = [b for b in breaks_extended(4)((low, high)) if low <= b <= high]
    labels, place = frame.assign(text=texts, at=high + beside), p9.aes(y="at", label="text")
    return [
        p9.geom_text(place, labels, size=POINTS, ha="left", color="black"),
        p9.scale_y_continuous(limits=limits, breaks=breaks),
    ]


def _texts(frame: pd.DataFrame) -> list[str]:
    """Return "estimate [low, high]" with as many decimals as the intervals need."""
    widths = (frame["conf_high"] - frame["conf_low"]).to_numpy(np.float64)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    scale = float(np.median(widths)) if len(widths) else float(frame["estimate"].abs().max())
    decimals = int(np.clip(1 - np.floor(np.log10(scale or 1.0)), 0, MOST_DECIMALS))

    def text(estimate: float, low: float, high: float) -> str:
        if not np.isfinite(estimate):
            return "no estimate"
        if not (np.isfinite(low) or np.isfinite(high)):
            return f"{estimate:z.{decimals}f}, no interval"
        return f"{estimate:z.{decimals}f} [{low:z.{decimals}f}, {high:z.{decimals}f}]"

    columns = frame[["estimate", "conf_low", "conf_high"]]
    return [text(*row) for row in columns.to_numpy(np.float64)]


def _axis(several: Sequence[EstimandResults]) -> str:
    """Return the label of the axis of values: the one measure, or "Importance" with the unit."""
    if len({results.estimand.description for results in several}) == 1:
        return style.label(several[0])
    return style.label(several[0], "Importance") if several[0].estimand.words.unit else ""
