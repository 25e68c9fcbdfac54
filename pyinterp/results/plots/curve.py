"""A curve over a grid, with a band, or points for levels of a category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_errorbar,
    geom_hline,
    geom_line,
    geom_point,
    geom_ribbon,
    geom_rug,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_cmap,
    scale_color_manual,
)

from pyinterp.data.columns import is_category
from pyinterp.results.plots.category import flip, from_below, room_of_curve, room_of_levels
from pyinterp.results.plots.room import LONGEST, WIDTH, few_breaks, in_room
from pyinterp.results.plots.style import (
    BLUE,
    COLORS,
    GRAY,
    facet_of,
    label,
    panels_of,
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
    width: float = WIDTH,
) -> ggplot:
    """Draw estimates along the grid, and rows' own curves if the estimand has them.

    Levels that have no room side by side are drawn one below the other, sorted unless the category
    has an order of its own. The figure is as wide as is given in inches, or more if texts need it.
    """
    axis, (name,) = results.estimand.terms.axes[0], results.estimand.terms.axis_names
    numeric = not is_category(frame[axis])
    room = room_of_curve(results, frame, width)
    lines = room_of_levels(frame[axis], room)
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        if lines is not None:
            levels = from_below(results, frame, axis, name, sort=sort)
        frame = frame.assign(**{axis: pd.Categorical(frame[axis], categories=levels)})
    figure = ggplot(frame, aes(x=axis, y="estimate"))
    if results.estimand.curves:
        rows = _row_curves(results, frame, axis, color, curves)
        figure = _with_rows(figure, rows, axis, color)
        if observed:
            figure += _marks(_observed_points(rows, axis, results.data[name]), axis, color)
    if results.estimand.null is not None:
        figure += geom_hline(yintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits, mean = rows_with_interval(frame), BLUE if color is None else "black"
    if numeric:
        if len(limits):
            figure += geom_ribbon(
                aes(ymin="conf_low", ymax="conf_high"), data=limits, fill=BLUE, alpha=0.2
            )
        figure += geom_line(color=mean)
        figure += _rug(results.data, name, frame[axis], color)
    elif len(limits):
        figure += geom_errorbar(
            aes(ymin="conf_low", ymax="conf_high"), data=limits, width=0.2, color=BLUE
        )
    figure += geom_point(color=mean, size=1.2)
    facet = facet_of(results)
    if facet is not None:
        figure += panels_of(facet, lines or room)
    if lines is not None:
        figure += labs(x=in_room(name, lines.height), y=label(results))
        return figure + flip(levels, lines, frame, results.estimand.null)
    figure += labs(x=in_room(name, room.width), y=in_room(label(results), LONGEST))
    figure += room.size
    return figure + few_breaks("x", frame[axis], room.panel) if numeric else figure


def _with_rows(figure: ggplot, rows: pd.DataFrame, axis: str, color: str | None) -> ggplot:
    """Add rows' own curves, gray or in the colors of a variable."""
    if color is None:
        return figure + geom_line(
            aes(x=axis, y="estimate", group="line"),
            data=rows,
            color=GRAY,
            alpha=float(np.clip(50 / rows["row"].nunique(), 0.25, 0.8)),  # of few each is seen
            size=0.3,
            inherit_aes=False,
        )
    colored = geom_line(
        aes(x=axis, y="estimate", group="line", color="color"),
        data=rows,
        alpha=0.5,
        size=0.3,
        inherit_aes=False,
    )
    figure = figure + colored + labs(color=color)
    if not is_category(rows["color"]):
        return figure + scale_color_cmap("viridis")
    levels = pd.factorize(rows["color"], sort=True)[1].tolist()
    if len(levels) > len(COLORS):
        return figure
    # Single curves are thin and pale; in the legend they are neither.
    figure += guides(color=guide_legend(override_aes={"size": 1, "alpha": 1}))
    return figure + scale_color_manual(dict(zip(levels, COLORS, strict=False)), breaks=levels)


def _marks(rows: pd.DataFrame, axis: str, color: str | None) -> geom_point:
    """Return a point per row, black or in the color of its curve."""
    if color is None:
        return geom_point(
            aes(x=axis, y="estimate"), rows, color="black", size=0.8, inherit_aes=False
        )
    return geom_point(
        aes(x=axis, y="estimate", color="color"),
        rows,
        size=1.2,
        inherit_aes=False,
        show_legend=False,
    )


def _rug(data: pd.DataFrame, name: str, grid: pd.Series[Any], color: str | None) -> geom_rug:
    """Return a mark per row within the grid, in the color of the row's level if curves have it."""
    axis = str(grid.name)
    rug = pd.DataFrame({axis: data[name].to_numpy()})
    if color is None or not is_category(data[color]):
        inside = rug[rug[axis].between(grid.min(), grid.max())]
        return geom_rug(aes(x=axis), inside, sides="b", color="black", alpha=0.1, inherit_aes=False)
    rug["color"] = data[color].to_numpy()
    inside = rug[rug[axis].between(grid.min(), grid.max())]
    return geom_rug(
        aes(x=axis, color="color"),
        inside,
        sides="b",
        alpha=0.5,
        inherit_aes=False,
        show_legend=False,
    )


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
    facet = "panel" if terms.groups else terms.facet
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
