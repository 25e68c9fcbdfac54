"""Entropy-PFI against likelihood-PFI: four kinds of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
from plotnine import (
    aes,
    geom_hline,
    geom_point,
    geom_segment,
    geom_text,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
)

from pyinterp.results.plots.style import COLORS, GRAY, caption, rows_with_interval

if TYPE_CHECKING:
    from pyinterp.results.uncertainty_results import UncertaintyResults

__all__ = ["likelihood_and_entropy", "overlap"]

# Of a name, as shares of the axes.
WIDE, HIGH = 0.2, 0.06
# The decisions, in the order of their table.
ORDER = (
    "informative and independent",
    "informative and shared",
    "redundant",
    "unused",
    "undecided",
)


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
    below = overlap(frame)
    upright = {"x": "likelihood", "xend": "likelihood", "y": "conf_low", "yend": "conf_high"}
    sideways = {"x": "conf_low", "xend": "conf_high", "y": "entropy", "yend": "entropy"}
    return (
        ggplot(frame, aes(x="likelihood", y="entropy", color="decision"))
        + geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        + geom_vline(xintercept=0, color=GRAY, linetype="dashed")
        + geom_segment(aes(**sideways), data=across)
        + geom_segment(aes(**upright), data=along)
        + geom_point(size=2)
        + _names(frame[~below], "bottom")
        + _names(frame[below], "top")
        + scale_color_manual(dict(zip(ORDER, (*COLORS[:3], GRAY, COLORS[3]), strict=True)))
        + labs(
            x="Likelihood-PFI [nats]",
            y="Entropy-PFI [nats]",
            color="",
            caption=caption(results.likelihood, alpha, surface=False),
        )
    )


def _names(frame: pd.DataFrame, va: str) -> geom_text:
    """Return the names of features, beside their points."""
    return geom_text(aes(label="term"), frame, ha="left", va=va, size=8, show_legend=False)


def overlap(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which points have another one so close above them that names would overlap."""
    place = frame[["likelihood", "entropy"]].to_numpy(dtype=np.float64)
    width, height = np.ptp(place, axis=0)
    across = np.abs(place[:, None, 0] - place[None, :, 0]) < WIDE * width
    up = place[None, :, 1] - place[:, None, 1]
    return np.asarray((across & (up > 0) & (up < HIGH * height)).any(axis=1))
