"""A curve over a grid, with a band, or points for levels of a category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotnine as p9

from pyinterp.data.columns import is_category
from pyinterp.results.plots import room as rooms
from pyinterp.results.plots.style import (
    BLUE,
    COLORS,
    GRAY,
    label,
    line_at_null,
    marks_of_rows,
    rows_with_interval,
)

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["curve"]


def curve(
    results: EstimandResults,
    frame: pd.DataFrame,
    *,
    color: str | None = None,
    observed: bool = False,
    curves: int = 200,
    sort: bool = True,
    width: float = rooms.WIDTH,
) -> p9.ggplot:
    """Draw estimates along the grid, and rows' own curves if the estimand has them.

    Levels that have no room side by side are drawn one below the other, sorted unless the category
    has an order of its own. The figure is as wide as is given in inches, or more if texts need it.
    """
    axis, (name,) = results.estimand.terms.axes[0], results.estimand.terms.axis_names
    numeric = not is_category(frame[axis])
    room = rooms.room_of_curve(results, frame, width)
    lines = rooms.room_of_levels(frame[axis], room)
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        if lines is not None:
            levels = rooms.from_below(results, frame, axis, name, sort=sort)
        frame = frame.assign(**{axis: pd.Categorical(frame[axis], categories=levels)})
    figure = p9.ggplot(frame, p9.aes(x=axis, y="estimate"))
    if results.estimand.curves:
        rows = _row_curves(results, frame, axis, color, curves)
        figure += _lines(rows, axis, color)
        if observed:
            figure += _points(_observed_points(rows, axis, results.data[name]), axis, color)
    figure += line_at_null(results)
    limits, mean = rows_with_interval(frame), BLUE if color is None else "black"
    sides = p9.aes(ymin="conf_low", ymax="conf_high")
    if numeric:
        if len(limits):
            figure += p9.geom_ribbon(sides, limits, fill=BLUE, alpha=0.2)
        figure += p9.geom_line(color=mean)
        figure += _rug(results.data, name, frame[axis], color)
    elif len(limits):
        figure += p9.geom_errorbar(sides, limits, width=0.2, color=BLUE)
    figure += p9.geom_point(color=mean, size=1.2)
    figure += rooms.panels_of(rooms.facet_of(results), lines or room)
    if lines is not None:
        figure += p9.labs(x=rooms.in_room(name, lines.height), y=label(results))
        return figure + rooms.flip(levels, lines)
    y = rooms.in_room(label(results), rooms.LONGEST)
    figure += p9.labs(x=rooms.in_room(name, room.width), y=y)
    return figure + room.size + (rooms.few_breaks("x", room.panel) if numeric else [])


def _lines(rows: pd.DataFrame, axis: str, color: str | None) -> list[Any]:
    """Return rows' own curves, gray or in the colors of a variable."""
    look: dict[str, Any] = {"size": 0.3, "inherit_aes": False}
    if color is None:
        pale = float(np.clip(50 / rows["row"].nunique(), 0.25, 0.8))  # of few each is seen
        lines = p9.aes(x=axis, y="estimate", group="line")
        return [p9.geom_line(lines, rows, color=GRAY, alpha=pale, **look)]
    lines = p9.aes(x=axis, y="estimate", group="line", color="color")
    layers = [p9.geom_line(lines, rows, alpha=0.5, **look), p9.labs(color=color)]
    if not is_category(rows["color"]):
        return [*layers, p9.scale_color_cmap("viridis")]
    levels = pd.factorize(rows["color"], sort=True)[1].tolist()
    if len(levels) > len(COLORS):
        return layers
    # Single curves are thin and pale; in the legend they are neither.
    legend = p9.guides(color=p9.guide_legend(override_aes={"size": 1, "alpha": 1}))
    colors = dict(zip(levels, COLORS, strict=False))
    return [*layers, legend, p9.scale_color_manual(colors, breaks=levels)]


def _points(rows: pd.DataFrame, axis: str, color: str | None) -> p9.geom_point:
    """Return a point per row, black or in the color of its curve."""
    if color is None:
        place = p9.aes(x=axis, y="estimate")
        return p9.geom_point(place, rows, color="black", size=0.8, inherit_aes=False)
    place = p9.aes(x=axis, y="estimate", color="color")
    return p9.geom_point(place, rows, size=1.2, inherit_aes=False, show_legend=False)


def _rug(data: pd.DataFrame, name: str, grid: pd.Series[Any], color: str | None) -> p9.geom_rug:
    """Return a mark per row within the grid, in the color of the row's level if curves have it."""
    if color is None or not is_category(data[color]):
        return marks_of_rows(data[name], grid)
    axis = str(grid.name)
    rug = pd.DataFrame({axis: data[name].to_numpy(), "color": data[color].to_numpy()})
    inside, place = rug[rug[axis].between(grid.min(), grid.max())], p9.aes(x=axis, color="color")
    look: dict[str, Any] = {"alpha": 0.5, "inherit_aes": False, "show_legend": False}
    return p9.geom_rug(place, inside, sides="b", **look)


def _row_curves(
    results: EstimandResults, frame: pd.DataFrame, axis: str, color: str | None, curves: int
) -> pd.DataFrame:
    """Return rows' own curves in long form, so many of them at most, with their positions."""
    rows = results.row_frame()
    positions = np.unique(np.concatenate(results.rows))
    # Evenly spread over the rows, so that the same plot comes out twice.
    some = np.linspace(0, len(rows) - 1, min(curves, len(rows))).astype(int)
    rows = rows.iloc[some].set_axis(pd.RangeIndex(len(some), name="row"), axis=0)
    long = rows.reset_index().melt(id_vars="row", var_name="term", value_name="estimate")
    terms = results.estimand.terms
    facet = rooms.facet_of(results)
    if terms.groups:
        long = long.dropna(subset=["estimate"])  # rows of other groups
    keep = ["term", axis] + ([facet] if facet else [])
    long = long.merge(frame[keep], on="term")
    long["position"] = positions[some][long["row"]]
    if color is not None:  # a category keeps the order of its levels
        long["color"] = results.data[color].iloc[long["position"]].array
    return long.assign(line=long["row"].astype(str) + (long[facet].astype(str) if facet else ""))


def _observed_points(rows: pd.DataFrame, axis: str, values: pd.Series[Any]) -> pd.DataFrame:
    """Return a point on every row's curve at the row's own value; none beyond the grid."""
    marks = []
    for position in rows["position"].unique():
        row = rows[rows["position"] == position]
        value = values.iloc[position]
        if is_category(rows[axis]):
            marks.append(row[row[axis] == value].iloc[:1])
            continue
        grid = row.sort_values(axis)
        if grid[axis].iloc[0] <= value <= grid[axis].iloc[-1]:
            at = float(np.interp(value, grid[axis], grid["estimate"]))
            marks.append(grid.iloc[:1].assign(**{axis: float(value), "estimate": at}))
    return pd.concat(marks) if marks else rows.iloc[:0]
