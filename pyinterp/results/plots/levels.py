"""A curve per level: a surface over a number and a category."""

from __future__ import annotations

from collections.abc import Sequence
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
    labs,
)

from pyinterp.data.sample import is_category
from pyinterp.results.plots.style import COLORS, GRAY, colors_of, label, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["curve_per_level", "is_number_by_level"]


def is_number_by_level(frame: pd.DataFrame, axes: Sequence[str]) -> bool:
    """Whether one of two axes is of numbers and the other of levels."""
    first, second = (is_category(frame[str(axis)]) for axis in axes)
    return first != second


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
    drawn: ggplot = (
        figure
        + geom_line()
        + geom_point(size=1.2)
        + geom_rug(aes(x=x), rug, sides="b", color="black", alpha=0.1, inherit_aes=False)
        + colors_of(levels)
        + labs(x=names[x], y=label(results), color=names[level])
    )
    return drawn
