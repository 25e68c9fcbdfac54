"""A variable against its prediction."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotnine as p9

from pyinterp.results.plots.room import Room, panels_of
from pyinterp.results.plots.style import BLUE, GRAY

__all__ = ["agreement"]

MOST_LEVELS = 12  # a panel each, with a box per level


def agreement(observed: pd.Series[Any], predicted: pd.DataFrame, caption: str) -> p9.ggplot:
    """Draw a variable against its prediction, or the probabilities of its levels.

    Parameters
    ----------
    observed : pandas.Series
    predicted : pandas.DataFrame
        One column, or one per level.
    caption : str
    """
    name = str(observed.name)
    labels = p9.labs(x=f"Predicted {name}", y=f"Observed {name}", caption=caption)
    if predicted.shape[1] == 1:
        frame = pd.DataFrame({"observed": observed, "predicted": predicted.iloc[:, 0]})
        line = p9.geom_abline(slope=1, intercept=0, color=GRAY, linetype="dashed")
        points = p9.geom_point(color=BLUE, alpha=0.4, size=1)
        return p9.ggplot(frame, p9.aes(x="predicted", y="observed")) + line + points + labels
    levels = observed.astype(str).value_counts()
    if len(levels) > MOST_LEVELS:
        frequent = levels.index[:MOST_LEVELS]
        rows = observed.astype(str).isin(frequent)
        caption += f"\nThe {MOST_LEVELS} most frequent of {len(levels)} levels."
        columns = [column for column in predicted if str(column) in set(frequent)]
        observed, predicted = observed[rows], predicted.loc[rows.to_numpy(), columns]
    long = predicted.assign(observed=observed.astype(str)).melt(
        id_vars="observed", var_name="level", value_name="probability"
    )
    long["level"] = "P(" + long["level"].astype(str) + ")"
    return (
        p9.ggplot(long, p9.aes(x="observed", y="probability"))
        + p9.geom_boxplot(color=BLUE)
        + panels_of("level", Room(panels=long["level"].nunique()))
        + p9.labs(x=f"Observed {name}", y="Predicted probability", caption=caption)
    )
