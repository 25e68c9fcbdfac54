"""Options of all plots: their kind, their style and their caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from plotnine import ggplot

Style: TypeAlias = Literal["light", "dark", "gray"]
PlotKind: TypeAlias = Literal["auto", "dots", "bars", "forest", "curves", "tiles"]


class Look(TypedDict, total=False):
    """Options that every plot takes."""

    style: Style
    caption: bool


def in_look(figure: ggplot, look: Look) -> ggplot:
    """Return a figure in the style that was asked for; what draws is loaded only then."""
    from pyinterp.results.plots.style import in_style  # noqa: PLC0415 - takes a second to import

    return in_style(figure, **look)
