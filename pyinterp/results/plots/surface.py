"""A surface over two grids: tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from plotnine import (
    aes,
    geom_tile,
    ggplot,
    labs,
    scale_fill_cmap,
    scale_x_discrete,
    scale_y_discrete,
)

from pyinterp.data.sample import is_category
from pyinterp.results.plots.style import label

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["surface"]

LABELS = 8  # of the tiles along an axis


def surface(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw a tile per grid point, its color the estimate."""
    terms = results.estimand.terms
    x, y = terms.axes[:2]
    # Tiles of equal size: grids by quantile are uneven, so cells are drawn in order.
    labeled = {}
    for axis in (x, y):
        values = frame[axis].drop_duplicates()
        if not is_category(values):  # within a hull the first row of points is not the whole axis
            values = values.sort_values()
        levels = [_short(v) for v in values]
        labeled[axis] = levels[:: -(-len(levels) // LABELS)]
        texts = [_short(v) for v in frame[axis]]
        frame = frame.assign(**{axis: pd.Categorical(texts, categories=levels)})
    return (
        ggplot(frame, aes(x=x, y=y, fill="estimate"))
        + geom_tile()
        + scale_fill_cmap("viridis")
        + scale_x_discrete(breaks=labeled[x])
        + scale_y_discrete(breaks=labeled[y])
        + labs(x=terms.axis_names[0], y=terms.axis_names[1], fill=label(results))
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
