"""Points of two numbers: a variable and its prediction, likelihood- and entropy-PFI."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotnine as p9

from pyinterp.results.plots.style import (
    BLUE,
    COLORS,
    GRAY,
    caption,
    finish,
    layout,
    rows_with_interval,
)
from pyinterp.results.together import SENTENCES, UncertaintyResults


def agreement(observed: pd.Series[Any], predicted: pd.DataFrame, words: str) -> p9.ggplot:
    """Draw a variable against its prediction, or the probabilities of its levels.

    Parameters
    ----------
    observed : pandas.Series
    predicted : pandas.DataFrame
        One column, or one per level.
    words : str
        The caption.
    """
    name = str(observed.name)
    labels = p9.labs(x=f"Predicted {name}", y=f"Observed {name}", caption=words)
    if predicted.shape[1] == 1:
        frame = pd.DataFrame({"observed": observed, "predicted": predicted.iloc[:, 0]})
        line = p9.geom_abline(slope=1, intercept=0, color=GRAY, linetype="dashed")
        points = p9.geom_point(color=BLUE, alpha=0.4, size=1)
        figure = p9.ggplot(frame, p9.aes(x="predicted", y="observed"))
        return finish(figure + line + points + labels)
    long = predicted.assign(observed=observed.astype(str)).melt(
        id_vars="observed", var_name="level", value_name="probability"
    )
    long["level"] = "P(" + long["level"].astype(str) + ")"
    return finish(
        p9.ggplot(long, p9.aes(x="observed", y="probability"))
        + p9.geom_boxplot(color=BLUE, fill="white")
        + layout(long, "level")
        + p9.labs(x=f"Observed {name}", y="Predicted probability", caption=words)
    )


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
