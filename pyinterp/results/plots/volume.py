"""A surface over two grids for every value on a third."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from plotnine import element_text, ggplot, theme

from pyinterp.data.sample import is_category
from pyinterp.results.plots.style import panels_by, panels_of
from pyinterp.results.plots.surface import surface

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["volume"]


def volume(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    """Draw a panel of tiles per value of the third variable, and a row of panels per class."""
    terms = results.estimand.terms
    axis, name = terms.axes[2], terms.axis_names[2]
    values = frame[axis].drop_duplicates()
    if not is_category(values):
        values = values.sort_values()
    texts = [f"{name} = {v:.4g}" if isinstance(v, float) else f"{name} = {v}" for v in values]
    panel = frame[axis].map(dict(zip(values, texts, strict=True)))
    frame = frame.assign(panel=pd.Categorical(panel, categories=list(dict.fromkeys(texts))))
    figure = surface(results, frame) + theme(axis_text_x=element_text(rotation=90))
    if terms.facet is None:
        return figure + panels_of("panel", len(texts))
    return figure + panels_by(terms.facet, "panel", len(texts))
