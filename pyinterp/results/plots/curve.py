"""A curve over a grid, with a band, or points for levels of a category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_errorbar,
    geom_hline,
    geom_line,
    geom_point,
    geom_ribbon,
    geom_rug,
    ggplot,
    labs,
)

from pyinterp.data.sample import is_category
from pyinterp.results.plots.style import BLUE, GRAY, bounded, label

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["curve"]

CURVES = 200  # of single rows, at most


def curve(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw estimates along the grid, and rows' own curves if the estimand has them."""
    axis, (name,) = results.estimand.terms.axes[0], results.estimand.terms.axis_names
    numeric = not is_category(frame[axis])
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        frame = frame.assign(**{axis: pd.Categorical(frame[axis], categories=levels)})
    figure = ggplot(frame, aes(x=axis, y="estimate"))
    if results.estimand.curves:
        figure += geom_line(
            aes(x=axis, y="estimate", group="line"),
            data=_row_curves(results, frame, axis),
            color=GRAY,
            alpha=0.25,
            size=0.3,
            inherit_aes=False,
        )
    if results.estimand.null is not None:
        figure += geom_hline(yintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits = bounded(frame)
    if numeric:
        if len(limits):
            figure += geom_ribbon(
                aes(ymin="conf_low", ymax="conf_high"), data=limits, fill=BLUE, alpha=0.2
            )
        figure += geom_line(color=BLUE)
        rug = pd.DataFrame({axis: results.support[name]})
        inside = rug[axis].between(frame[axis].min(), frame[axis].max())
        figure += geom_rug(aes(x=axis), data=rug[inside], sides="b", alpha=0.1, inherit_aes=False)
    elif len(limits):
        figure += geom_errorbar(
            aes(ymin="conf_low", ymax="conf_high"), data=limits, width=0.2, color=BLUE
        )
    return figure + geom_point(color=BLUE, size=1.2) + labs(x=name, y=label(results))


def _row_curves(results: EstimandResults, frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    rows = results.row_frame().reset_index(drop=True).rename_axis("row")
    if len(rows) > CURVES:  # evenly spread over the rows, so that the same plot comes out twice
        rows = rows.iloc[np.linspace(0, len(rows) - 1, CURVES).astype(int)]
    long = rows.reset_index().melt(id_vars="row", var_name="term", value_name="estimate")
    facet = results.estimand.terms.facet
    keep = ["term", axis] + ([facet] if facet else [])
    long = long.merge(frame[keep], on="term")
    return long.assign(line=long["row"].astype(str) + (long[facet].astype(str) if facet else ""))
