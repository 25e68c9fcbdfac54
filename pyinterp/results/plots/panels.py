"""Curves of several variables in a grid of panels with one vertical scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import reduce
from operator import or_, truediv
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from plotnine import coord_cartesian, coord_flip, element_text, ggplot, labs, theme
from plotnine.composition import Compose, plot_spacer

from pyinterp.results.plots.curve import curve
from pyinterp.results.plots.style import caption, label, panels_of

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["panels"]

LINE = 42  # characters of the caption, below the last panel
MARGIN = 0.04  # of the range, above and below
WIDTH, HEIGHT = 2.6, 2.1  # of a panel, in inches


def panels(several: Sequence[EstimandResults], *, alpha: float) -> Compose | ggplot:
    """Draw a panel per variable, about as many in a row as there are rows."""
    frames = [results.summary_frame(alpha).reset_index() for results in several]
    limits = _limits(np.concatenate([f[["estimate", "conf_low", "conf_high"]] for f in frames]))
    across = int(np.ceil(np.sqrt(len(several))))
    drawings: list[ggplot] = []
    for k, (results, frame) in enumerate(zip(several, frames, strict=True)):
        figure = curve(results, frame)
        flipped = isinstance(figure.coordinates, coord_flip)
        figure += coord_flip(ylim=limits) if flipped else coord_cartesian(ylim=limits)
        facet = results.estimand.terms.facet
        if facet is not None:
            figure += panels_of(facet, 2 * frame[facet].nunique())
        drawings.append(figure + labs(y=_quantity(results) if k % across == 0 else ""))
    words = textwrap.fill(caption(several[0], alpha, surface=False), LINE)
    drawings[-1] += labs(caption=words)
    drawings[-1] += theme(plot_caption=element_text(size=7))
    if len(drawings) == 1:
        return drawings[0]
    drawings += [plot_spacer() for _ in range(-len(drawings) % across)]
    rows = [drawings[k : k + across] for k in range(0, len(drawings), across)]
    down = len(rows)
    size = theme(figure_size=(WIDTH * across, HEIGHT * down + 0.4), axis_title=element_text(size=9))
    grid: Any = reduce(truediv, [reduce(or_, row) for row in rows])
    return cast("Compose", grid & size)


def _quantity(results: EstimandResults) -> str:
    """Return the label of the vertical axis without the variable, which is that of the other."""
    return label(results).replace(f" of {results.estimand.of}", "", 1)


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the range of all estimates and limits, with a margin."""
    finite = values[np.isfinite(values.astype(np.float64))]
    low, high = float(finite.min()), float(finite.max())
    margin = MARGIN * (high - low or 1.0)
    return low - margin, high + margin
