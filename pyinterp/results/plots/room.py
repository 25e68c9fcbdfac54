"""Room for texts: lines of names, breaks of an axis, panels, and the size of a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from mizani.breaks import breaks_extended

from pyinterp.data.columns import is_category
from pyinterp.results.results import EstimandResults

WIDTH, HEIGHT = 6.4, 4.8  # of a figure, in inches
NAME = 40  # characters of a line of a name at the vertical axis
TEXT, TITLE = 8.8, 11.0  # points of the labels of an axis, and of its title
LONGEST = 4.2  # inches of a line of the title of a vertical axis
LETTER = 0.62  # width of a letter, in heights of the text
LINE, GAP = 0.15, 0.06  # inches of a line of text, and between two names
MARGINS = 1.2  # inches above and below all panels
EDGES = 0.4  # inches for the title of the vertical axis, and at both ends
KEY = 0.6  # inches of the keys of a legend and the space around them
NUMBERS = 0.5  # inches of the numbers along a vertical axis
NUMBER, MOST_BREAKS = 0.5, 5  # inches of a number along a horizontal axis; numbers by default
SPACE = 0.2  # inches between two panels
BETWEEN_LEVELS = 0.15  # inches between two levels side by side


def width_of(text: str, points: float = TEXT) -> float:
    """Return the inches of a text as letters are on average; of several lines, of the longest."""
    return max(map(len, text.split("\n"))) * LETTER * points / 72


def widest(texts: Iterable[object], points: float = TEXT) -> float:
    """Return the width of the widest of some texts in inches."""
    return max((width_of(str(text), points) for text in texts), default=0.0)


def in_lines(text: object, characters: int = NAME) -> str:
    """Return a text in lines of so many characters at most."""
    return textwrap.fill(str(text), max(characters, 8))


def in_room(text: object, inches: float, points: float = TITLE) -> str:
    """Return a text in lines that are no longer than some inches."""
    return in_lines(text, int(inches * 72 / (LETTER * points)))


def legend_width(names: Iterable[object], title: str = "") -> float:
    """Return the inches of a legend to the right of a figure."""
    return KEY + max(widest(names), width_of(title, TITLE))


def lines_of(names: Sequence[str]) -> float:
    """Return how many inches names take below each other, at equal distances."""
    most = max((name.count("\n") + 1 for name in names), default=1)
    return len(names) * (GAP + LINE * most)


def side_by_side(texts: Sequence[object]) -> float:
    """Return how many inches texts take side by side, at equal distances."""
    return len(texts) * (widest(texts) + BETWEEN_LEVELS)


def breaks_within(width: float) -> Callable[[tuple[float, float]], list[float]]:
    """Return a function of limits that has as many breaks as have room in some inches, or two."""
    most = int(np.clip(width / NUMBER, 2, MOST_BREAKS))

    def breaks(limits: tuple[float, float]) -> list[float]:
        several = (breaks_extended(count)(limits) for count in range(most, 2 * MOST_BREAKS))
        inside = ([b for b in some if limits[0] <= b <= limits[1]] for some in several)
        return next((some for some in inside if len(some) > 1), [])

    return breaks


def few_breaks(axis: str, width: float) -> list[Any]:
    """Return a scale with fewer breaks if those by default have no room; else nothing.

    Of a plot that is turned the axis that is drawn horizontally is "y".
    """
    scale = {"x": p9.scale_x_continuous, "y": p9.scale_y_continuous}[axis]
    return [] if width >= NUMBER * MOST_BREAKS else [scale(breaks=breaks_within(width))]


def across_of(panels: int) -> int:
    """Return how many panels stand side by side."""
    return panels if panels < 4 else int(np.ceil(np.sqrt(panels)))


@dataclass(frozen=True, kw_only=True)
class Room:
    """The size of a figure and of its panels in inches, by the texts that they have.

    Parameters
    ----------
    lines : float
        Names below each other along the vertical axis of a panel; 0 of an axis of numbers.
    labels, legend : float
        To the left of the panels, and to the right of them.
    below : float
        Labels below a panel, beyond one line.
    strip : float
        The strip above a panel, if there are several.
    panels : int
    across : int, optional
        How many panels stand side by side, if not as many as by default.
    least : float
        Width of a panel, at least.
    usual_width, high : float
        Size of the figure, or more if texts need it.
    """

    lines: float = 0.0
    labels: float = NUMBERS
    legend: float = 0.0
    below: float = 0.0
    strip: float = 0.4
    panels: int = 1
    across: int | None = None
    least: float = 1.0
    usual_width: float = WIDTH
    high: float = HEIGHT

    @property
    def columns(self) -> int:
        """How many panels stand side by side."""
        return self.across or across_of(self.panels)

    @property
    def width(self) -> float:
        """Width of the figure."""
        alone = self.columns == 1 and self.usual_width >= WIDTH
        least = max(self.least, 2.4) if alone else self.least
        return max(self.usual_width, self._beside + self.columns * (least + SPACE))

    @property
    def height(self) -> float:
        """Height of the figure."""
        down = -(-self.panels // self.columns)
        strip = self.strip if self.panels > 1 else 0.0
        panel = max(self.lines, 1.0 if down > 1 else 0.0)
        return max(self.high + self.below, MARGINS + self.below + down * (panel + strip))

    @property
    def panel(self) -> float:
        """Width of a panel."""
        return (self.width - self._beside) / self.columns - SPACE

    @property
    def size(self) -> p9.theme:
        """The size of the figure, if it is not the usual one; lines of names end at the axis."""
        ends = p9.theme(axis_text_y=p9.element_text(ma="right"))
        if (self.width, self.height) == (WIDTH, HEIGHT):
            return ends
        return ends + p9.theme(figure_size=(self.width, self.height))

    @property
    def _beside(self) -> float:
        return EDGES + self.labels + self.legend


def facet_of(results: EstimandResults) -> str | None:
    """Return the column of a plot's frame that has a panel per class or group, if there is one."""
    terms = results.estimand.terms
    return "panel" if terms.groups else terms.facet


def panels_of(column: str | None, room: Room, **options: Any) -> list[Any]:
    """Return panels by a column, with strips that break long texts, and space between them."""
    if column is None:
        return []
    wrap = p9.facet_wrap(column, labeller=strips_within(room), ncol=room.across, **options)
    # Labels at the ends of neighboring axes would meet.
    return [wrap, p9.theme(panel_spacing_x=SPACE / room.width)]


def strips_within(room: Room) -> Any:
    """Return a labeller that breaks texts above panels."""
    return p9.as_labeller(lambda text: in_room(text, room.panel, TEXT))


def room_of_curve(results: EstimandResults, frame: pd.DataFrame, width: float = WIDTH) -> Room:
    """Return the room of curves, a panel per class or group."""
    facet = facet_of(results)
    panels = 1 if facet is None else int(frame[facet].nunique())
    return Room(panels=panels, usual_width=width)


def levels_of(values: pd.Series[Any]) -> list[Any]:
    """Return different values in the order of the frame."""
    return values.drop_duplicates().tolist()


def room_of_levels(values: pd.Series[Any], room: Room) -> Room | None:
    """Return the room of levels below each other, or None if they have room side by side."""
    levels = levels_of(values)
    if not is_category(values) or side_by_side(levels) <= room.panel:
        return None
    texts = [_level_text(level, room) for level in levels]
    return replace(room, lines=lines_of(texts), labels=widest(texts))


def _level_text(level: object, room: Room) -> str:
    return in_lines(level, min(NAME, int(NAME * room.usual_width / WIDTH)))


def flip(levels: Iterable[Any], room: Room) -> list[Any]:
    """Return layers that turn a plot of levels: they are on the vertical axis, estimates below."""
    texts = p9.scale_x_discrete(labels={level: _level_text(level, room) for level in levels})
    return [p9.coord_flip(), texts, room.size, *few_breaks("y", room.panel)]


def from_below(
    results: EstimandResults, frame: pd.DataFrame, axis: str, name: str, *, sort: bool
) -> list[Any]:
    """Return levels as they are drawn from below: the largest mean estimate on top."""
    levels = levels_of(frame[axis])
    if not sort or getattr(results.data[name].dtype, "ordered", False):
        return levels[::-1]
    means = frame.groupby(axis, observed=True, sort=False)["estimate"].mean()
    return means.sort_values(kind="stable", na_position="first").index.tolist()
