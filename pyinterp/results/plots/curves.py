"""Curves: of one result, of several, of the levels of a category, and of several variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_, truediv
from typing import Any, cast

import numpy as np
import pandas as pd
import plotnine as p9
from plotnine.composition import Compose, plot_spacer

from pyinterp._typing import Column
from pyinterp.data.columns import is_category
from pyinterp.results.plots import style
from pyinterp.results.results import EstimandResults

MOST_ROWS = 200  # whose curves are drawn
FEW = 10  # values of a number that are drawn as points, as those of a category are
MOST_CURVES = 8  # that differ in color; tiles are drawn of more levels, unless curves are asked for
LEGEND = 24  # letters of a line of the title of a legend
MARGIN = 0.04  # of the range, above and below
WIDTH, HEIGHT = 2.6, 2.1  # of a panel of one of several variables, in inches
CLASS = 1.1  # inches of a panel of one of several classes or groups
SHORT, LOW = 20, 6  # letters along such a panel, and lines in it


def curve(
    results: EstimandResults,
    frame: pd.DataFrame,
    *,
    color: str | None = None,
    sort: bool = True,
    letters: int = style.LETTERS,
) -> p9.ggplot:
    """Draw estimates along the grid, and the curves of single rows if the estimand has them.

    Levels that have more `letters` side by side than the figure are drawn one below the other,
    sorted unless the category is ordered.
    """
    (axis,), (name,) = results.estimand.terms.axes, results.estimand.terms.axis_names
    frame, axes = _axes(results, frame, axis, style.label(results), sort=sort, letters=letters)
    figure = p9.ggplot(frame, p9.aes(x=axis, y="estimate"))
    if results.estimand.curves:
        figure += _lines(_row_curves(results, frame, axis, color), axis, color)
    figure += style.line_at_null(results)
    limits, mean = style.rows_with_interval(frame), style.BLUE if color is None else "black"
    sides = p9.aes(ymin="conf_low", ymax="conf_high")
    if not step_of(frame[axis], results.data[name]):
        if len(limits):
            figure += p9.geom_ribbon(sides, limits, fill=style.BLUE, alpha=0.2)
        figure += style.lines(frame, axis, results.data[name], color=mean)
        figure += style.marks_of_rows(results.data, name, frame[axis], color)
    elif len(limits):
        figure += p9.geom_linerange(sides, limits, color=mean)
    return figure + p9.geom_point(color=mean, size=1.2) + axes


def step_of(grid: Column, values: Column) -> float:
    """Return how far apart neighbors are that are drawn as points with bars; 0 of a curve.

    They are the levels of a category, or grid points that are all values of a number with no more
    than `FEW` values in the data.
    """
    if is_category(grid):
        return 1.0
    different = np.unique(values.dropna())
    if len(different) > FEW or not grid.isin(different).all():
        return 0.0
    return float(np.diff(different).min()) if len(different) > 1 else 1.0


def _axes(
    results: EstimandResults,
    frame: pd.DataFrame,
    axis: str,
    y: str,
    *,
    sort: bool = True,
    letters: int = style.LETTERS,
    facet: str | None = None,
) -> tuple[pd.DataFrame, list[Any]]:
    """Return the frame with levels in the order in which they are drawn, and axes with panels.

    `y` is the label of the axis of estimates.
    """
    name, facet = style.name_of(results, axis), facet or style.facet_of(results)
    columns, texts = style.columns_of(frame, facet), {}
    title = style.in_lines(y, style.TITLE)
    layers: list[Any] = [p9.labs(x=style.in_lines(name, style.TITLE), y=title)]
    if not is_category(frame[axis]):
        layers += _breaks(frame[axis], results.data[name], columns)
    else:
        levels = frame[axis].drop_duplicates().tolist()
        if style.letters_of(levels) > letters // columns:
            levels = style.levels_from_below(results, frame, axis, sort=sort)
            texts = {level: style.in_lines(level) for level in levels}
            layers += [p9.coord_flip(), p9.scale_x_discrete(labels=texts)]
            layers += style.few_breaks("y", columns)
        frame = frame.assign(**{axis: pd.Categorical(frame[axis], categories=levels)})
    return frame, [*layers, *style.layout(frame, facet, texts.values())]


def _breaks(grid: Column, values: Column, columns: int) -> list[Any]:
    """Return the axis of a number: a break at every grid point if these are points that fit.

    Else there are a few breaks, fewer in narrow panels.
    """
    breaks = np.unique(grid).tolist()
    if (
        step_of(grid, values)
        and style.letters_of(f"{b:g}" for b in breaks) <= style.LETTERS // columns
    ):
        return [p9.scale_x_continuous(breaks=breaks)]
    return style.few_breaks("x", columns)


def _in_colors(
    results: EstimandResults, frame: pd.DataFrame, axis: str, by: str, y: str, *, sort: bool = True
) -> p9.ggplot:
    """Draw curves with bands, a mark per row, or points with bars, by a color or panel of `by`."""
    names, facet = frame[by].cat.categories.tolist(), style.facet_of(results)
    if len(names) > len(style.COLORS):  # a panel each
        frame, facet = style.panels_of(frame, by, facet)
    frame, axes = _axes(results, frame, axis, y, sort=sort, facet=facet)
    figure = p9.ggplot(frame, p9.aes(x=axis, y="estimate", color=by, shape=by))
    figure += style.line_at_null(results)
    limits, name = style.rows_with_interval(frame), style.name_of(results, axis)
    if step := step_of(frame[axis], results.data[name]):
        return figure + style.colored_points(limits, step, names) + axes
    lines = style.lines(frame, axis, results.data[name])
    figure += style.colored_curves(limits, axis, by, names, lines)
    return figure + style.marks_of_rows(results.data, name, frame[axis]) + axes


def _lines(rows: pd.DataFrame, axis: str, color: str | None) -> list[Any]:
    """Return the curves of single rows, gray or in the colors of a variable."""
    look: dict[str, Any] = {"size": 0.3, "inherit_aes": False}
    if color is None:
        pale = float(np.clip(50 / rows["row"].nunique(), 0.25, 0.8))  # of few each is seen
        lines = p9.aes(x=axis, y="estimate", group="line")
        return [p9.geom_line(lines, rows, color=style.GRAY, alpha=pale, **look)]
    lines = p9.aes(x=axis, y="estimate", group="line", color="color")
    layers = [p9.geom_line(lines, rows, alpha=0.5, **look), p9.labs(color=color)]
    if not is_category(rows["color"]):
        return [*layers, p9.scale_color_cmap("viridis")]
    levels = pd.factorize(rows["color"], sort=True)[1].tolist()
    if len(levels) > len(style.COLORS):
        return layers
    # Single curves are thin and pale; in the legend they are neither.
    legend = p9.guides(color=p9.guide_legend(override_aes={"size": 1, "alpha": 1}))
    colors = dict(zip(levels, style.COLORS, strict=False))
    return [*layers, legend, p9.scale_color_manual(colors, breaks=levels)]


def _row_curves(
    results: EstimandResults, frame: pd.DataFrame, axis: str, color: str | None
) -> pd.DataFrame:
    """Return curves of single rows, `MOST_ROWS` at most, one line per row and point.

    Columns are row, term, estimate, the axis, the facet, `line` and, if asked, color.
    """
    rows = results.row_frame()
    # Evenly spread over the rows, so that the same plot comes out twice.
    some = np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).astype(int)
    rows = rows.iloc[some].set_axis(pd.RangeIndex(len(some), name="row"), axis=0)
    long = rows.reset_index().melt(id_vars="row", var_name="term", value_name="estimate")
    terms = results.estimand.terms
    facet = style.facet_of(results)
    if terms.groups:
        long = long.dropna(subset=["estimate"])  # rows of other groups
    keep = ["term", axis] + ([facet] if facet else [])
    long = long.merge(frame[keep], on="term")
    # `row_frame` is in the order of the data, `results.rows` group by group. A category keeps the
    # order of its levels.
    if color is not None:
        long["color"] = results.data[color].iloc[np.sort(results.rows)[some][long["row"]]].array
    return long.assign(line=long["row"].astype(str) + (long[facet].astype(str) if facet else ""))


def overlay(
    several: Sequence[EstimandResults], names: Sequence[str], *, alpha: float, sort: bool
) -> p9.ggplot:
    """Draw curves of the same variable, each with its band; levels have points side by side."""
    first = several[0]
    (axis,) = first.estimand.terms.axes
    frames = [
        style.frame_of(one, alpha)
        .rename(columns={one.estimand.terms.axes[0]: axis})
        .assign(result=who)
        for who, one in zip(names, several, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True).dropna(subset=["estimate"])
    frame["result"] = pd.Categorical(frame["result"], categories=list(names))
    what = " / ".join(dict.fromkeys(style.label(results) for results in several))
    figure = _in_colors(first, frame, axis, "result", what, sort=sort)
    words = style.caption(several, alpha, names) + style.signs([figure])
    return style.finish(figure + p9.labs(color="", shape="", caption=words))


def curve_per_level(results: EstimandResults, frame: pd.DataFrame) -> p9.ggplot:
    """Draw a curve over the number for every level of the category."""
    x, level = sorted(results.estimand.terms.axes, key=lambda axis: is_category(frame[str(axis)]))
    levels = [str(value) for value in pd.factorize(frame[level])[1]]
    frame = frame.assign(level=pd.Categorical(frame[level].map(str), categories=levels))
    title = style.in_lines(style.name_of(results, level), LEGEND)
    figure = _in_colors(results, frame, x, "level", style.label(results))
    return figure + p9.labs(color=title, shape=title)


def panels(several: Sequence[EstimandResults], *, alpha: float) -> Compose | p9.ggplot:
    """Draw a panel per variable, about as many in a row as there are rows.

    A category of many levels has a separate column, to the right.
    """
    frames = [style.frame_of(one, alpha) for one in several]
    figures = [curve(*each, letters=SHORT) for each in zip(several, frames, strict=True)]
    figures = on_one_axis(figures, several, alpha=alpha)
    few: list[p9.ggplot] = []
    many: list[p9.ggplot] = []
    for results, frame, drawn in zip(several, frames, figures, strict=True):
        turned = isinstance(drawn.coordinates, p9.coord_flip)
        # Without the variable, which the other axis has.
        what = style.label(results).replace(f" of {results.estimand.words.of}", "", 1)
        (name,) = results.estimand.terms.axis_names
        figure = drawn + p9.labs(x=style.in_lines(name, SHORT), y=style.in_lines(what, SHORT))
        levels = frame[results.estimand.terms.axes[0]].nunique()
        (many if turned and levels > LOW else few).append(figure)
    classes = style.columns_of(frames[0], style.facet_of(several[0]))
    tallest = max((figure.theme.getp("figure_size")[1] for figure in many), default=0.0)
    across = int(np.ceil(np.sqrt(len(few) / classes)))
    across = min(across, -(-len(few) // max(int(tallest / HEIGHT), 1))) if many else across
    down = -(-len(few) // across) if few else 0
    few = [figure + p9.labs(y="") if k % across else figure for k, figure in enumerate(few)]
    figures, corner = [*few, *many], max(0, (down - 1) * across)  # below, to the left
    figures[corner] += p9.labs(caption=style.caption([several[0]], alpha) + style.signs(figures))
    wide = max(WIDTH, CLASS * classes + 0.7) * (across + len(many))
    size = p9.theme(
        figure_size=(wide, max(HEIGHT * down + 0.4, tallest)), axis_title=p9.element_text(size=9)
    )
    figures = [style.finish(figure, wide) for figure in figures]
    if len(figures) == 1:
        return figures[0] + size
    cells = [*figures[: len(few)], *[plot_spacer("white")] * (across * down - len(few))]
    columns = [reduce(truediv, cells[k::across]) for k in range(across)]
    grid: Any = reduce(or_, [*columns, *figures[len(few) :]])
    return cast("Compose", grid & size)


def on_one_axis(
    figures: Sequence[p9.ggplot], several: Sequence[EstimandResults], *, alpha: float
) -> list[p9.ggplot]:
    """Return figures of curves with one range of estimates and limits, with a margin."""
    columns = ["estimate", "conf_low", "conf_high"]
    values = np.concatenate([one.summary_frame(alpha)[columns].to_numpy(float) for one in several])
    low, high = (end(values[np.isfinite(values)]) for end in (np.min, np.max))
    margin = MARGIN * (high - low or 1.0)
    limits = (low - margin, high + margin)
    turned = [isinstance(figure.coordinates, p9.coord_flip) for figure in figures]
    return [
        figure + (p9.coord_flip if flip else p9.coord_cartesian)(ylim=limits)
        for figure, flip in zip(figures, turned, strict=True)
    ]
