"""One value per feature: points with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from plotnine import aes, geom_errorbarh, geom_point, geom_vline, ggplot, labs, scale_y_discrete

from pyinterp.results.plots.style import BLUE, GRAY, label, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["points"]


def points(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw terms in the order of the frame; those without an estimate keep an empty line."""
    ordered = frame["term"].drop_duplicates().tolist()[::-1]
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    frame = frame.dropna(subset=["estimate"])
    figure = ggplot(frame, aes(y="term", x="estimate")) + scale_y_discrete(limits=ordered)
    if results.estimand.null is not None:
        figure += geom_vline(xintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits = rows_with_interval(frame)
    if len(limits):
        figure += geom_errorbarh(
            aes(y="term", xmin="conf_low", xmax="conf_high"),
            data=limits,
            height=0.25,
            color=BLUE,
            inherit_aes=False,
        )
    return figure + geom_point(color=BLUE) + labs(x=label(results), y="")
