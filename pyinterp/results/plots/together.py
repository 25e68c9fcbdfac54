"""Several importances of the same features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    geom_hline,
    geom_linerange,
    geom_point,
    ggplot,
    labs,
    position_dodge,
    scale_color_manual,
    scale_x_discrete,
)

from pyinterp.results.plots.style import COLORS, GRAY, caption, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["together"]


def together(several: Sequence[EstimandResults], *, alpha: float) -> ggplot:
    """Draw several importances of the same features, in the order of the first importance."""
    frames = [
        results.summary_frame(alpha).reset_index().assign(measure=results.estimand.label)
        for results in several
    ]
    labels = [results.estimand.label for results in several]
    ordered = frames[0].sort_values("estimate", na_position="first")["term"].tolist()
    frame = pd.concat(frames, ignore_index=True).dropna(subset=["estimate"])
    frame["term"] = pd.Categorical(frame["term"], categories=ordered, ordered=True)
    # The first measure on top, as in the legend.
    frame["measure"] = pd.Categorical(frame["measure"], categories=labels[::-1], ordered=True)
    apart = position_dodge(width=0.6)
    return (
        ggplot(frame, aes(x="term", y="estimate", color="measure"))
        + geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        + geom_linerange(
            aes(ymin="conf_low", ymax="conf_high"), rows_with_interval(frame), position=apart
        )
        + geom_point(position=apart)
        + coord_flip()
        + scale_x_discrete(limits=ordered)
        + scale_color_manual(dict(zip(labels, COLORS, strict=False)), breaks=labels)
        + labs(
            x="",
            y=f"Importance [{several[0].estimand.unit}]" if several[0].estimand.unit else "",
            color="",
            caption=caption(several[0], alpha, surface=False),
        )
    )
