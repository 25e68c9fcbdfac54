"""Probabilities of ranks: a tile per term and rank."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pandas as pd
import plotnine as p9

from pyinterp.results.plots.style import BLUE

if TYPE_CHECKING:
    from pyinterp.results.ranks import Ranks

__all__ = ["rank_tiles"]

MOST_TEXTS = 15  # ranks with room for a number in every tile


def rank_tiles(ranks: Ranks) -> p9.ggplot:
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
        p9.ggplot(frame, p9.aes(x="rank", y="term", fill="p"))
        + p9.geom_tile()
        + p9.scale_fill_gradient(low="white", high=BLUE, limits=(0, 1))
        + p9.scale_x_discrete(limits=levels)
        + p9.scale_y_discrete(limits=terms[::-1])
        + p9.labs(
            x=f"rank (1: {ranks.order})",
            y="",
            fill="probability",
            caption=textwrap.fill(ranks.note, 70),
        )
    )
    if len(levels) > MOST_TEXTS:
        return figure
    numbers = p9.geom_text(p9.aes(label="text", color="color"), size=8)
    return figure + numbers + p9.scale_color_identity()
