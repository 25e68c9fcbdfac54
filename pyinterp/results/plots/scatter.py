"""Points of two numbers: likelihood- and entropy-PFI of features."""

from __future__ import annotations

import pandas as pd
import plotnine as p9

from pyinterp.results.plots.style import COLORS, GRAY, caption, finish, rows_with_interval
from pyinterp.results.together import SENTENCES, UncertaintyResults


def likelihood_and_entropy(results: UncertaintyResults, *, alpha: float) -> p9.ggplot:
    """Draw a point per feature with both intervals and its name."""
    likelihood = results.likelihood.summary_frame(alpha)
    entropy = results.entropy.summary_frame(alpha)
    estimates = pd.DataFrame({"likelihood": likelihood["estimate"], "entropy": entropy["estimate"]})
    estimates["decision"] = results.decisions.astype(pd.CategoricalDtype(list(SENTENCES)))
    frame = estimates.reset_index(names="term").astype({"term": str})
    across = rows_with_interval(likelihood).join(estimates)
    along = rows_with_interval(entropy).join(estimates)
    below = frame["likelihood"].rank(method="first") % 2 == 0  # so that names of neighbors part
    upright = {"x": "likelihood", "xend": "likelihood", "y": "conf_low", "yend": "conf_high"}
    sideways = {"x": "conf_low", "xend": "conf_high", "y": "entropy", "yend": "entropy"}
    return finish(
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
            caption=caption([results.likelihood], alpha),
        )
    )


def _names(frame: pd.DataFrame, va: str) -> p9.geom_text:
    """Return the names of features, to the right of their points."""
    return p9.geom_text(p9.aes(label="term"), frame, ha="left", va=va, size=8, show_legend=False)
