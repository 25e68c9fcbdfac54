"""A surface over two grids for every value on a third."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
from plotnine import ggplot

from pyinterp.data.columns import is_category
from pyinterp.results.plots.room import LINE, TEXT, Room, in_room, widest
from pyinterp.results.plots.style import facet_of, panels_by, panels_of
from pyinterp.results.plots.surface import surface

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["volume"]

LEAST, STRIP = 1.0, 1.6  # inches of a panel: at least, and for a long text above it


def volume(results: EstimandResults, frame: pd.DataFrame, *, sort: bool = True) -> ggplot:
    """Draw a panel of tiles per value of the third variable, and a row of panels per class."""
    terms = results.estimand.terms
    axis, name = terms.axes[2], terms.axis_names[2]
    values = frame[axis].drop_duplicates()
    if not is_category(values):
        values = values.sort_values()
    texts = [f"{name} = {v:.4g}" if isinstance(v, float) else f"{name} = {v}" for v in values]
    panel = frame[axis].map(dict(zip(values, texts, strict=True)))
    frame = frame.assign(third=pd.Categorical(panel, categories=list(dict.fromkeys(texts))))
    facet = facet_of(results)
    wide = min(max(LEAST, widest(texts)), STRIP)
    lines = max(in_room(text, wide, TEXT).count("\n") for text in texts)
    room = Room(panels=len(texts), least=wide, strip=0.4 + LINE * lines)
    if facet is None:
        return surface(results, frame, sort=sort, room=room) + panels_of("third", room)
    panels = len(texts) * int(frame[facet].nunique())
    room = replace(room, panels=panels, across=len(texts))
    return surface(results, frame, sort=sort, room=room) + panels_by(facet, "third", room)
