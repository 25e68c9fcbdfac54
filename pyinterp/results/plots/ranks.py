"""Probabilities of ranks: a tile per term and rank."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pandas as pd
from plotnine import (
    aes,
    geom_text,
    geom_tile,
    ggplot,
    labs,
    scale_color_identity,
    scale_fill_gradient,
    scale_x_discrete,
    scale_y_discrete,
)

from pyinterp.results.plots.style import BLUE

if TYPE_CHECKING:
    from pyinterp.results.ranks import Ranks

__all__ = ["rank_tiles"]

MOST_TEXTS = 15  # ranks with room for a number in every tile


def rank_tiles(ranks: Ranks) -> ggplot:
    """Draw tiles in the order of expected ranks, with their numbers if there is room."""
    frame = ranks.probabilities.reset_index().melt("term", var_name="rank", value_name="p")
    levels = [str(rank) for rank in ranks.probabilities.columns]
    terms = [str(term) for term in ranks.probabilities.index]
    frame = frame.assign(
        rank=pd.Categorical(frame["rank"].astype(str), categories=levels),
        term=pd.Categorical(frame["term"].astype(str), categories=terms[::-1]),
        text=[f"{p:.2f}" if p >= 0.005 else "" for p in frame["p"]],
        color=["white" if p > 0.5 else "black" for p in frame["p"]],
    )
    figure = (
        ggplot(frame, aes(x="rank", y="term", fill="p"))
        + geom_tile()
        + scale_fill_gradient(low="white", high=BLUE, limits=(0, 1))
        + scale_x_discrete(limits=levels)
        + scale_y_discrete(limits=terms[::-1])
        + labs(
            x=f"rank (1: {ranks.order})",
            y="",
            fill="probability",
            caption="\n".join(textwrap.wrap(ranks.note, 70)),
        )
    )
    if len(levels) > MOST_TEXTS:
        return figure
    return figure + geom_text(aes(label="text", color="color"), size=8) + scale_color_identity()
