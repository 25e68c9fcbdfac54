"""Room for texts: how wide they are, names in lines, breaks of an axis, the size of a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from mizani.breaks import breaks_extended
from mizani.transforms import identity_trans
from plotnine import element_text, scale_x_continuous, scale_y_continuous, theme

__all__ = [
    "LINE",
    "LONGEST",
    "MARGINS",
    "NAME",
    "SPACE",
    "TEXT",
    "TITLE",
    "WIDTH",
    "Room",
    "across_of",
    "breaks_within",
    "few_breaks",
    "in_lines",
    "in_room",
    "legend_width",
    "lines_of",
    "need_lines",
    "side_by_side",
    "widest",
    "width_of",
]

WIDTH, HEIGHT = 6.4, 4.8  # of a figure, in inches
NAME = 40  # characters of a line of a name beside the vertical axis
TEXT, TITLE = 8.8, 11.0  # points of the labels of an axis, and of its title
LONGEST = 4.2  # inches of a line of the title of a vertical axis
LETTER = 0.62  # width of a letter, in heights of the text
LINE, GAP = 0.15, 0.06  # inches of a line of text, and between two names
MARGINS = 1.2  # inches above and below all panels
EDGES = 0.4  # inches for the title of the vertical axis, and at both ends
KEY = 0.6  # inches of the keys of a legend and of what is around it
NUMBERS = 0.5  # inches of the numbers along a vertical axis
SPACE = 0.2  # inches between two panels
APART = 0.09  # inches between two labels of a horizontal axis
BETWEEN_LEVELS = 0.15  # inches between two levels side by side
EXPANSION = 0.05  # of the range of an axis, at both ends


@lru_cache(maxsize=4096)
def width_of(text: str, points: float = TEXT) -> float:
    """Return the width of a text in inches; of several lines, that of the widest."""
    font, measure = FontProperties(size=points), TextToPath().get_text_width_height_descent
    widths = [measure(line, font, ismath=False)[0] for line in text.split("\n")]
    return float(max(widths)) / 72


def widest(texts: Iterable[str]) -> float:
    """Return the width of the widest of some texts in inches."""
    return max((width_of(text) for text in texts), default=0.0)


def in_lines(text: object, characters: int = NAME) -> str:
    """Return a text in lines of so many characters at most."""
    return textwrap.fill(str(text), max(characters, 8))


def in_room(text: object, inches: float, points: float = TITLE) -> str:
    """Return a text in lines that are no longer than some inches, as letters are on average."""
    return in_lines(text, int(inches * 72 / (LETTER * points)))


def legend_width(names: Iterable[object], title: str = "") -> float:
    """Return the inches of a legend beside a figure."""
    return KEY + max(widest(str(name) for name in names), width_of(title, TITLE))


def lines_of(names: Sequence[str]) -> float:
    """Return how many inches names take below each other, at equal distances."""
    most = max((name.count("\n") + 1 for name in names), default=1)
    return len(names) * (GAP + LINE * most)


def side_by_side(texts: Iterable[object]) -> float:
    """Return how many inches texts take side by side, at equal distances."""
    widths = [width_of(str(text)) for text in texts]
    apart = [(one + other) / 2 for one, other in pairwise(widths)]
    return len(widths) * (max(apart, default=0.0) + BETWEEN_LEVELS)


def need_lines(texts: Iterable[object], width: float) -> bool:
    """Whether texts side by side need more than a width in inches."""
    return side_by_side(texts) > width


def across_of(panels: int) -> int:
    """Return how many panels stand side by side."""
    return panels if panels < 4 else int(np.ceil(np.sqrt(panels)))


@dataclass(frozen=True, kw_only=True)
class Room:
    """The size of a figure and of its panels, by the texts that they have.

    Parameters
    ----------
    lines : float
        Inches of the names below each other along the vertical axis of a panel; 0 of an axis of
        numbers.
    labels : float
        Inches to the left of the panels.
    legend : float
        Inches to the right of them.
    below : float
        Inches of the labels below a panel beyond those of one line.
    strip : float
        Inches of the strip above a panel, if there are several.
    panels : int
    across : int, optional
        How many panels stand side by side, if not as many as by default.
    least : float
        Inches that a panel is wide at least.
    usual_width : float
        Inches that the figure is wide, or more if texts need them.
    high : float
        Inches that it is high, or more.
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
        """Inches of the figure."""
        least = (
            max(self.least, 2.4) if self.columns == 1 and self.usual_width >= WIDTH else self.least
        )
        return max(self.usual_width, self._beside + self.columns * (least + SPACE))

    @property
    def height(self) -> float:
        """Inches of the figure."""
        down = -(-self.panels // self.columns)
        strip = self.strip if self.panels > 1 else 0.0
        panel = max(self.lines, 1.0 if down > 1 else 0.0)
        return max(self.high + self.below, MARGINS + self.below + down * (panel + strip))

    @property
    def panel(self) -> float:
        """Inches that a panel is wide."""
        return (self.width - self._beside) / self.columns - SPACE

    @property
    def size(self) -> theme:
        """The size of the figure, if it is not the usual one; lines of names end at the axis."""
        ends = theme(axis_text_y=element_text(ma="right"))
        if (self.width, self.height) == (WIDTH, HEIGHT):
            return ends
        return ends + theme(figure_size=(self.width, self.height))

    @property
    def _beside(self) -> float:
        return EDGES + self.labels + self.legend


def few_breaks(axis: str, values: Any, width: float) -> list[Any]:
    """Return a scale with fewer breaks if those by default would meet; else nothing.

    Parameters
    ----------
    axis : {"x", "y"}
        The axis that is drawn horizontally is "y" if a plot is turned.
    values : array_like
        What is drawn along it.
    width : float
        Of the panel, in inches.
    """
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return []
    limits = float(numbers.min()), float(numbers.max())
    if _have_room(_breaks(limits, 5), limits, width):
        return []
    scale = {"x": scale_x_continuous, "y": scale_y_continuous}[axis]
    return [scale(breaks=breaks_within(width))]


def breaks_within(width: float) -> Callable[[tuple[float, float]], list[float]]:
    """Return a function of limits that picks as many breaks as have room in some inches."""

    def breaks(limits: tuple[float, float]) -> list[float]:
        choices = [_breaks(limits, count) for count in (5, 4, 3, 2)]
        for some in choices:
            if some and _have_room(some, limits, width):
                return some
        ends = choices[-1] or [float(limits[0])]
        return ends[-1:]

    return breaks


def _breaks(limits: tuple[float, float], count: int) -> list[float]:
    low, high = sorted(limits)
    return [float(b) for b in breaks_extended(count)((low, high)) if low <= b <= high]


def _have_room(breaks: Sequence[float], limits: tuple[float, float], width: float) -> bool:
    """Whether labels are apart from each other, and from those of a panel beside them."""
    low, high = sorted(limits)
    if high <= low or not breaks:
        return True
    inch = width / ((high - low) * (1 + 2 * EXPANSION))
    texts = identity_trans().format(np.asarray(breaks))
    ends = [
        ((b - low) * inch - width_of(text) / 2, (b - low) * inch + width_of(text) / 2)
        for b, text in zip(breaks, texts, strict=True)
    ]
    beside = (ends[0][0] + width + SPACE, 0.0)  # the first label of the next panel
    return all(right[0] - left[1] > APART for left, right in pairwise([*ends, beside]))
