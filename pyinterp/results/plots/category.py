"""Levels of a category along an axis: side by side, or one below the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from plotnine import coord_flip, scale_x_discrete

from pyinterp.data.columns import is_category
from pyinterp.results.plots.room import (
    NAME,
    WIDTH,
    Room,
    few_breaks,
    in_lines,
    lines_of,
    need_lines,
    widest,
)
from pyinterp.results.plots.style import facet_of

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["flip", "from_below", "level_texts", "room_of_curve", "room_of_levels"]


def room_of_curve(results: EstimandResults, frame: pd.DataFrame, width: float = WIDTH) -> Room:
    """Return the room of curves, a panel per class or group."""
    facet = facet_of(results)
    panels = 1 if facet is None else int(frame[facet].nunique())
    return Room(panels=panels, usual_width=width)


def room_of_levels(levels: pd.Series[Any], room: Room) -> Room | None:
    """Return the room of levels below each other, or None if they have room side by side."""
    levels = levels.drop_duplicates()
    if not is_category(levels) or not need_lines(levels, room.panel):
        return None
    texts = list(level_texts(levels, room).values())
    return replace(room, lines=lines_of(texts), labels=widest(texts))


def level_texts(levels: Iterable[Any], room: Room) -> dict[Any, str]:
    """Return levels in lines that have room beside the panels of a figure."""
    characters = min(NAME, int(NAME * room.usual_width / WIDTH))
    return {level: in_lines(level, characters) for level in levels}


def flip(levels: Iterable[Any], room: Room, frame: pd.DataFrame, null: float | None) -> list[Any]:
    """Return what turns a plot of levels: they are on the vertical axis, estimates below."""
    values = frame[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64).ravel()
    values = np.append(values, [] if null is None else null)
    texts = scale_x_discrete(labels=level_texts(levels, room))
    return [coord_flip(), texts, room.size, *few_breaks("y", values, room.panel)]


def from_below(
    results: EstimandResults, frame: pd.DataFrame, axis: str, name: str, *, sort: bool
) -> list[Any]:
    """Return levels as they are drawn from below: the largest mean estimate on top."""
    levels = frame[axis].drop_duplicates().tolist()
    ordered = getattr(results.data[name].dtype, "ordered", False)
    if not sort or ordered:
        return levels[::-1]
    means = frame.groupby(axis, observed=True, sort=False)["estimate"].mean()
    return means.sort_values(kind="stable", na_position="first").index.tolist()
