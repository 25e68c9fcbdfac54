"""Curves of several variables in a grid of panels with one vertical scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import reduce
from operator import or_, truediv
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import plotnine as p9
from plotnine.composition import Compose, plot_spacer

from pyinterp.results.plots import room as rooms
from pyinterp.results.plots.curve import curve
from pyinterp.results.plots.style import caption, in_panels, label

if TYPE_CHECKING:
    import pandas as pd

    from pyinterp.results.results import EstimandResults

__all__ = ["panels"]

LINE = 42  # characters of the caption, below the last panel
MARGIN = 0.04  # of the range, above and below
WIDTH, HEIGHT = 2.6, 2.1  # of a panel, in inches
CLASS = 1.1  # inches of a panel of one of several classes or groups
BELOW = 0.7  # inches below a panel
POINTS = 9  # size of titles


def panels(several: Sequence[EstimandResults], *, alpha: float) -> Compose | p9.ggplot:
    """Draw a panel per variable, about as many in a row as there are rows.

    A category with more levels than a panel has lines has a column of its own, to the right.
    """
    frames = [in_panels(one, one.summary_frame(alpha).reset_index()) for one in several]
    limits = _limits(np.concatenate([f[["estimate", "conf_low", "conf_high"]] for f in frames]))
    sizes = [_room(one, frame) for one, frame in zip(several, frames, strict=True)]
    needs = [rooms.MARGINS + room.lines if room.lines > HEIGHT - BELOW else 0.0 for room in sizes]
    few = [k for k, need in enumerate(needs) if not need]
    many = [k for k, need in enumerate(needs) if need]
    across = int(np.ceil(np.sqrt(len(several) / rooms.across_of(sizes[0].panels))))
    if many:
        down = max(int(np.ceil(max(needs) / HEIGHT)), -(-len(few) // max(across - 1, 1)))
        across = -(-len(few) // down)
    width = max(room.width for room in sizes)
    drawings: dict[int, p9.ggplot] = {}
    for k, (results, frame, need) in enumerate(zip(several, frames, needs, strict=True)):
        figure = curve(results, frame, width=width)
        turned = isinstance(figure.coordinates, p9.coord_flip)
        figure += p9.coord_flip(ylim=limits) if turned else p9.coord_cartesian(ylim=limits)
        first = need > 0 or few.index(k) % across == 0
        name, what = results.estimand.terms.axis_names[0], _quantity(results)
        high = max(need, HEIGHT) - BELOW
        x = rooms.in_room(name, high if turned else width - BELOW, POINTS)
        y = rooms.in_room(what, width - BELOW if turned else high, POINTS) if first else ""
        drawings[k] = figure + p9.labs(x=x, y=y)
    last = [*few, *many][-1]
    words = textwrap.fill(caption(several[0], alpha, surface=False), LINE)
    drawings[last] += p9.labs(caption=words)
    drawings[last] += p9.theme(plot_caption=p9.element_text(size=7))
    if len(drawings) == 1:
        return drawings[last]
    return _grid([drawings[k] for k in few], [drawings[k] for k in many], across, width, max(needs))


def _room(results: EstimandResults, frame: pd.DataFrame) -> rooms.Room:
    """Return the room of a variable's panel, with lines if its levels are below each other."""
    panels = rooms.room_of_curve(results, frame).columns
    given = WIDTH if panels == 1 else BELOW + panels * CLASS
    room = rooms.room_of_curve(results, frame, given)
    return rooms.room_of_levels(frame[results.estimand.terms.axes[0]], room) or room


def _grid(
    few: list[p9.ggplot], many: list[p9.ggplot], across: int, width: float, need: float
) -> Compose:
    """Return drawings in rows; if some need more height than a row has, columns beside them."""
    down = -(-len(few) // max(across, 1))
    space: list[Any] = [plot_spacer() for _ in range(across * down - len(few))]
    cells = [*few, *space]
    if many:
        columns: list[Any] = [reduce(truediv, cells[k::across]) for k in range(across)]
        grid: Any = reduce(or_, [*columns, *many])
    else:
        rows = [reduce(or_, cells[k : k + across]) for k in range(0, len(cells), across)]
        grid = reduce(truediv, rows)
    high = max(HEIGHT * down + 0.4, need)
    wide = width * (across + len(many))
    size = p9.theme(
        figure_size=(wide, high),
        axis_title=p9.element_text(size=POINTS),
        panel_spacing_x=rooms.SPACE / wide,
    )
    return cast("Compose", grid & size)


def _quantity(results: EstimandResults) -> str:
    """Return the label of the vertical axis without the variable, which is that of the other."""
    return label(results).replace(f" of {results.estimand.words.of}", "", 1)


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the range of all estimates and limits, with a margin."""
    finite = values[np.isfinite(values.astype(np.float64))]
    low, high = float(finite.min()), float(finite.max())
    margin = MARGIN * (high - low or 1.0)
    return low - margin, high + margin
