"""Options of all plots: their kind, their style and their caption."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

Style: TypeAlias = Literal["light", "dark", "gray"]
PlotKind: TypeAlias = Literal["auto", "dots", "bars", "forest", "curves", "tiles"]


class Look(TypedDict, total=False):
    """Options that every plot takes."""

    style: Style
    caption: bool
