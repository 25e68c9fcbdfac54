"""One value per feature: dots or bars with their intervals, or a forest plot with the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from mizani.breaks import breaks_extended
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

from pyinterp.results.plots.style import BLUE, GRAY, label, rows_with_interval, tall

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["points"]

NUMBERS = 0.62  # width of the numbers of a forest plot, in ranges of the estimates
MOST_DECIMALS = 6


def points(results: EstimandResults, frame: pd.DataFrame, *, kind: str = "dots") -> ggplot:
    """Draw terms in the order of the frame; those without an estimate keep an empty line."""
    ordered = frame["term"].drop_duplicates().tolist()[::-1]
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    drawn = frame.dropna(subset=["estimate"])
    figure = ggplot(drawn, aes(y="term", x="estimate")) + scale_y_discrete(limits=ordered)
    figure += tall(len(ordered))
    if results.estimand.null is not None:
        figure += geom_vline(xintercept=results.estimand.null, color=GRAY, linetype="dashed")
    if kind == "bars":
        bars = drawn.assign(middle=drawn["estimate"] / 2, wide=drawn["estimate"].abs())
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
        figure = _with_numbers(figure, frame)
    if kind != "bars":
        figure += geom_point(color=BLUE)
    return figure + labs(x=label(results), y="")


def _with_numbers(figure: ggplot, frame: pd.DataFrame) -> ggplot:
    """Add estimates and intervals as text to the right of the marks."""
    values = frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64)
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    reach = high - low or max(abs(high), 1.0)
    texts = frame.assign(text=_texts(frame), at=high + 0.06 * reach)
    breaks = [b for b in breaks_extended(5)((low, high)) if low - 0.02 * reach <= b <= high]
    return (
        figure
        + geom_text(
            aes(x="at", y="term", label="text"), texts, size=8, ha="left", inherit_aes=False
        )
        + scale_x_continuous(limits=(low, high + NUMBERS * reach), breaks=breaks)
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
