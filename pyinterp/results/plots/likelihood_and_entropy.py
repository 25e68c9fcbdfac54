"""Entropy-PFI against likelihood-PFI: four kinds of features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotnine as p9

from pyinterp.results.plots.style import COLORS, GRAY, caption, rows_with_interval
from pyinterp.results.uncertainty_results import SENTENCES, UncertaintyResults

__all__ = ["likelihood_and_entropy", "overlap"]

# Of a name, as shares of the axes.
WIDE, HIGH = 0.2, 0.06


def likelihood_and_entropy(results: UncertaintyResults, *, alpha: float) -> p9.ggplot:
    """Draw a point per feature with both intervals and its name."""
    likelihood = results.likelihood.summary_frame(alpha)
    entropy = results.entropy.summary_frame(alpha)
    decisions = results.decisions.astype(pd.CategoricalDtype(list(SENTENCES)))
    estimates = pd.DataFrame(
        {
            "likelihood": likelihood["estimate"],
            "entropy": entropy["estimate"],
            "decision": decisions,
        }
    )
    frame = estimates.reset_index(names="term").astype({"term": str})
    across = rows_with_interval(likelihood).join(estimates)
    along = rows_with_interval(entropy).join(estimates)
    below = overlap(frame)
    upright = {"x": "likelihood", "xend": "likelihood", "y": "conf_low", "yend": "conf_high"}
    sideways = {"x": "conf_low", "xend": "conf_high", "y": "entropy", "yend": "entropy"}
    return (
        p9.ggplot(frame, p9.aes(x="likelihood", y="entropy", color="decision"))
        + p9.geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        + p9.geom_vline(xintercept=0, color=GRAY, linetype="dashed")
        + p9.geom_segment(p9.aes(**sideways), data=across)
        + p9.geom_segment(p9.aes(**upright), data=along)
        + p9.geom_point(size=2)
        + _names(frame[~below], "bottom")
        + _names(frame[below], "top")
        + p9.scale_color_manual(dict(zip(SENTENCES, (*COLORS[:3], GRAY, COLORS[3]), strict=True)))
        + p9.labs(
            x="Likelihood-PFI [nats]",
            y="Entropy-PFI [nats]",
            color="",
            caption=caption(results.likelihood, alpha, surface=False),
        )
    )


def _names(frame: pd.DataFrame, va: str) -> p9.geom_text:
    """Return the names of features, beside their points."""
    return p9.geom_text(p9.aes(label="term"), frame, ha="left", va=va, size=8, show_legend=False)


def overlap(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which points have another one so close above them that names would overlap."""
    place = frame[["likelihood", "entropy"]].to_numpy(dtype=np.float64)
    width, height = np.ptp(place, axis=0)
    across = np.abs(place[:, None, 0] - place[None, :, 0]) < WIDE * width
    up = place[None, :, 1] - place[:, None, 1]
    return np.asarray((across & (up > 0) & (up < HIGH * height)).any(axis=1))
