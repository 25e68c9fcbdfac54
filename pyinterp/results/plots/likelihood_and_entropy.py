"""Entropy-PFI against likelihood-PFI: four kinds of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from plotnine import (
    aes,
    geom_errorbar,
    geom_errorbarh,
    geom_hline,
    geom_point,
    geom_text,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
)

from pyinterp.results.plots.style import COLORS, GRAY, caption, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.uncertainty_results import UncertaintyResults

__all__ = ["likelihood_and_entropy"]

# Of the decisions, in the order of their table.
ORDER = ("informative and independent", "informative and shared", "redundant", "unused")


def likelihood_and_entropy(results: UncertaintyResults, *, alpha: float) -> ggplot:
    """Draw a point per feature with both intervals and its name."""
    likelihood = results.likelihood.summary_frame(alpha)
    entropy = results.entropy.summary_frame(alpha)
    frame = pd.DataFrame(
        {
            "term": likelihood.index.astype(str),
            "decision": pd.Categorical(results.decisions, categories=ORDER),
            "likelihood": likelihood["estimate"].to_numpy(),
            "entropy": entropy["estimate"].to_numpy(),
        }
    )
    across = rows_with_interval(likelihood).join(
        frame.set_index(likelihood.index)[["entropy", "decision"]]
    )
    along = rows_with_interval(entropy).join(
        frame.set_index(entropy.index)[["likelihood", "decision"]]
    )
    limits = aes(ymin="conf_low", ymax="conf_high", x="likelihood", color="decision")
    sideways = aes(xmin="conf_low", xmax="conf_high", y="entropy", color="decision")
    return (
        ggplot(frame, aes(x="likelihood", y="entropy", color="decision"))
        + geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        + geom_vline(xintercept=0, color=GRAY, linetype="dashed")
        + geom_errorbarh(sideways, data=across, inherit_aes=False, height=0)
        + geom_errorbar(limits, data=along, inherit_aes=False, width=0)
        + geom_point(size=2)
        + geom_text(aes(label="term"), ha="left", va="bottom", size=8, show_legend=False)
        + scale_color_manual(dict(zip(ORDER, (*COLORS[:3], GRAY), strict=True)))
        + labs(
            x="Likelihood-PFI [nats]",
            y="Entropy-PFI [nats]",
            color="",
            caption=caption(results.likelihood, alpha, surface=False),
        )
    )
