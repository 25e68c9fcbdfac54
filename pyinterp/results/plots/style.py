"""What all plots share: colors, sizes, panels, axes, limits of intervals, labels and captions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from mizani.breaks import breaks_extended

from pyinterp._typing import Column
from pyinterp.data.columns import is_category
from pyinterp.results.results import EstimandResults

BLUE, GRAY = "#0072B2", "#999999"  # Okabe and Ito: color-blind readers can distinguish them
COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A")
SHAPES = ("o", "^", "s", "D", "v", "P", "X", "*")  # beside colors, for print in gray
FIRM = (0.01, 0.99)  # quantiles of the rows, beyond which curves are dashed
BEYOND = "Dashed: beyond the 1% and 99% points of the rows."
EMPTY = "Crosses: no row is in the tile."
LEVELS = "Levels share errors: see `differences().plot()`."
THIN, EDGE = 0.5, "#B0B0B0"  # points of the grid and the frame
SMALL, NARROWEST = 16.0, 4.0  # letters of an inch of a caption, and inches that it may have
WIDTH, HEIGHT, HIGHEST = 6.4, 4.8, 25.0  # of a figure, in inches; plotnine saves no higher one
MARGINS, STRIP = 1.2, 0.4  # inches above and below all panels, and of the strip of each
LINE, GAP = 0.15, 0.06  # inches of a line of a name at the vertical axis, and between two names
LETTERS = 70  # along the horizontal axis of a figure
NAME, TITLE = (
    35,
    45,
)  # letters of a line of a name at the vertical axis, and of the title of an axis


def in_lines(text: object, letters: int = NAME) -> str:
    """Return a text in lines of so many letters at most."""
    return textwrap.fill(str(text), letters)


def columns_of(frame: pd.DataFrame, facet: str | None) -> int:
    """Return how many panels stand side by side."""
    panels = 1 if facet is None else int(frame[facet].nunique())
    return panels if panels < 4 else int(np.ceil(np.sqrt(panels)))


def layout(
    frame: pd.DataFrame,
    facet: str | None = None,
    names: Iterable[str] = (),
    *,
    high: float = HEIGHT,
    columns: int | None = None,
    **options: Any,
) -> list[Any]:
    """Return a panel per value of a column, and the height of the figure that names need.

    Parameters
    ----------
    frame : pandas.DataFrame
    facet : str, optional
        The column.
    names : iterable of str
        At the vertical axis of each panel, below each other.
    high : float
        Inches of the figure, at least.
    columns : int, optional
        How many panels stand side by side; by default about as many as below each other.
    **options
        Of `facet_wrap`.
    """
    names = list(names)
    panels = 1 if facet is None else int(frame[facet].nunique())
    columns = columns or columns_of(frame, facet)
    down = -(-panels // columns)
    lines = max((name.count("\n") + 1 for name in names), default=0)
    panel = max(len(names) * (GAP + LINE * lines), 1.0) + STRIP
    layers: list[Any] = [p9.theme(axis_text_y=p9.element_text(ma="right"))]
    if (most := max(high, MARGINS + down * panel)) > HEIGHT:
        layers.append(p9.theme(figure_size=(WIDTH, min(most, HIGHEST))))
    if facet is not None:
        strips: Any = p9.as_labeller(lambda text: in_lines(text, max(LETTERS // columns, 8)))
        layers.append(p9.facet_wrap(facet, labeller=strips, ncol=columns, **options))
        layers.append(p9.theme(panel_spacing_x=0.04))  # labels of neighboring axes would meet
    return layers


def few_breaks(axis: str, columns: int) -> list[Any]:
    """Return a scale with few breaks if panels stand side by side; else nothing.

    Of a plot that is turned the axis that is drawn horizontally is "y".
    """
    scale = {"x": p9.scale_x_continuous, "y": p9.scale_y_continuous}[axis]
    return [] if columns == 1 else [scale(breaks=breaks_extended(3))]


def letters_of(levels: Iterable[object]) -> int:
    """Return how many letters levels take side by side, at equal distances."""
    lengths = [len(str(level)) + 2 for level in levels]
    return len(lengths) * max(lengths, default=0)


def levels_from_below(
    results: EstimandResults, frame: pd.DataFrame, axis: str, *, sort: bool
) -> list[Any]:
    """Return levels as they are drawn from below: the largest mean estimate on top.

    Ordered categories keep their order.
    """
    if not sort or getattr(results.data[name_of(results, axis)].dtype, "ordered", False):
        return frame[axis].drop_duplicates().tolist()[::-1]
    means = frame.groupby(axis, observed=True, sort=False)["estimate"].mean()
    return means.sort_values(kind="stable", na_position="first").index.tolist()


def name_of(results: EstimandResults, axis: str) -> str:
    """Return the variable of an axis."""
    terms = results.estimand.terms
    return terms.axis_names[terms.axes.index(axis)]


def panels_of(frame: pd.DataFrame, by: str, facet: str | None) -> tuple[pd.DataFrame, str]:
    """Return a frame with a panel per name in `by`, and per value of a facet; and its column."""
    panel = frame[by].astype(str)
    if facet is not None:
        panel = frame[facet].astype(str) + ", " + panel
    return frame.assign(_panel=pd.Categorical(panel, list(dict.fromkeys(panel)))), "_panel"


def facet_of(results: EstimandResults) -> str | None:
    """Return the column of a plot's frame that has a panel per class or group, if there is one."""
    terms = results.estimand.terms
    return "panel" if terms.groups else terms.facet


def rows_with_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with an interval; its open side, if it has one, is not drawn."""
    limited = np.isfinite(frame[["conf_low", "conf_high"]].to_numpy(np.float64))
    rows: pd.DataFrame = frame[limited.any(axis=1)]
    return rows.assign(
        conf_low=rows["conf_low"].where(np.isfinite(rows["conf_low"]), rows["estimate"]),
        conf_high=rows["conf_high"].where(np.isfinite(rows["conf_high"]), rows["estimate"]),
    )


def finish(figure: p9.ggplot, width: float = NARROWEST) -> p9.ggplot:
    """Return a figure on a white ground, its caption in lines of so many inches."""
    if words := getattr(figure.labels, "caption", None):
        figure += p9.labs(caption=in_lines(words, int(width * SMALL)))
    plain = p9.element_rect(fill="white", color="none")
    return figure + p9.theme(
        plot_caption=p9.element_text(size=8, ha="left"),
        plot_caption_position="plot",
        axis_ticks_major=p9.element_line(color=EDGE, size=THIN),
        strip_background=plain,
        plot_background=plain,
        panel_background=plain,
        panel_border=p9.element_rect(fill="none", color=EDGE, size=THIN),
        panel_grid_major=p9.element_line(color="#E8E8E8", size=THIN),
        panel_grid_minor=p9.element_blank(),
        legend_background=plain,
        legend_key=plain,
    )


def frame_of(results: EstimandResults, alpha: float) -> pd.DataFrame:
    """Return the numbers of a plot, its panels, classes or groups, in the order of the table."""
    frame, terms = results.summary_frame(alpha).reset_index(), results.estimand.terms
    if terms.facet is None:
        return frame
    texts = frame[terms.facet].astype(str)
    panels = pd.Categorical(texts, categories=list(dict.fromkeys(texts)))
    if not terms.groups:
        return frame.assign(**{terms.facet: panels})
    if not terms.axes:  # a panel per group has the same names
        frame["term"] = frame["term"].map(dict(zip(terms.names, terms.stubs, strict=True)))
    # A column's name may be any text, which plotnine would evaluate.
    return frame.assign(panel=panels)


def line_at_null(results: EstimandResults) -> list[Any]:
    """Return a line at the null value, if there is one."""
    null = results.estimand.parameter.null
    return [] if null is None else [p9.geom_hline(yintercept=null, color=GRAY, linetype="dashed")]


def marks_of_rows(
    data: pd.DataFrame, name: str, grid: Column, color: str | None = None
) -> p9.geom_rug:
    """Return a mark per row whose value is within the grid, in the color of a variable's level."""
    axis = str(grid.name)
    inside = data[data[name].between(grid.min(), grid.max())]
    marks, place = pd.DataFrame({axis: inside[name]}), p9.aes(x=axis)
    look: dict[str, Any] = {"color": "black", "alpha": 0.1}
    if color is not None and is_category(data[color]):
        marks["color"], place = inside[color], p9.aes(x=axis, color="color")
        look = {"alpha": 0.5, "show_legend": False}
    return p9.geom_rug(place, marks, sides="b", inherit_aes=False, **look)


def lines(frame: pd.DataFrame, axis: str, values: Column, **look: Any) -> list[Any]:
    """Return curves, dashed beyond the 1% and the 99% point of the rows' values."""
    low, high = values.quantile(FIRM[0]), values.quantile(FIRM[1])
    firm = frame[frame[axis].between(low, high)]
    if len(firm) == len(frame):
        return [p9.geom_line(**look)]
    solid = [p9.geom_line(data=firm, **look)] if firm[axis].min() < firm[axis].max() else []
    return [*solid, p9.geom_line(linetype="dashed", **look)]


def signs(figures: Iterable[p9.ggplot]) -> str:
    """Return the sentences on dashed curves, crosses and bars, where they are drawn."""
    geoms = [layer.geom for figure in figures for layer in figure.layers]
    lines = [geom for geom in geoms if isinstance(geom, p9.geom_line)]
    dashed = any(geom.aes_params.get("linetype") == "dashed" for geom in lines)
    crosses = any(geom.aes_params.get("shape") == "x" for geom in geoms)
    bars = any(isinstance(geom, p9.geom_linerange) for geom in geoms)
    return f" {LEVELS}" * bars + f" {BEYOND}" * dashed + f" {EMPTY}" * crosses


def colored_curves(
    limits: pd.DataFrame, axis: str, by: str, names: Sequence[str], lines: Sequence[Any]
) -> list[Any]:
    """Return curves of each name's color, with bands."""
    bands: list[Any] = []
    if len(limits):
        sides = p9.aes(x=axis, ymin="conf_low", ymax="conf_high", fill=by)
        pale = {"alpha": 0.15, "inherit_aes": False, "show_legend": False}
        bands = [p9.geom_ribbon(sides, limits, **pale), *colors_of(names, fill=True)]
    return [*bands, *lines, p9.geom_point(size=1.2), *colors_of(names)]


def colored_points(limits: pd.DataFrame, step: float, names: Sequence[str]) -> list[Any]:
    """Return points of each name's color side by side, with bars, within a share of a step."""
    apart = p9.position_dodge(width=step * min(0.15 * len(names), 0.8))
    sides = p9.aes(ymin="conf_low", ymax="conf_high")
    bars = [p9.geom_linerange(sides, limits, position=apart)] if len(limits) else []
    return [*bars, p9.geom_point(position=apart), *colors_of(names)]


def colors_of(names: Sequence[str], *, fill: bool = False) -> list[Any]:
    """Return a color and a shape per name; the same for all if each has a panel."""
    several = len(names) <= len(COLORS)
    colors = dict(zip(names, COLORS if several else [BLUE] * len(names), strict=False))
    of: dict[str, Any] = {"breaks": names, "limits": names} | ({} if several else {"guide": None})
    if fill:
        return [p9.scale_fill_manual(colors, **of)]
    shapes = dict(zip(names, SHAPES if several else "o" * len(names), strict=False))
    return [p9.scale_color_manual(colors, **of), p9.scale_shape_manual(shapes, **of)]


def label(results: EstimandResults, name: str | None = None) -> str:
    """Return the name of estimates, as tables have it if there is no other, with their unit."""
    unit = results.estimand.words.unit
    return f"{name or results.estimand.description}{f' [{unit}]' if unit else ''}"


def caption(
    several: Sequence[EstimandResults],
    alpha: float,
    names: Sequence[str] = ("",),
    *,
    intervals: bool = True,
) -> str:
    """Return sentences on the basis of estimates and intervals: once if it is the same.

    Each of several bases has the names of its results.
    """
    bases: dict[str, dict[str, None]] = {}
    for results, name in zip(several, names, strict=True):
        bases.setdefault(f"{results.context.learner}, {_refits(results)}.", {})[name] = None
    texts = list(bases)
    if len(bases) > 1:
        who = {text: ", ".join(some) for text, some in bases.items()}
        texts = [t if t.startswith(f"{w},") else f"{w}: {t}" for t, w in who.items()]
    if intervals:
        texts += _bands(several, alpha)
    return " ".join([*texts, *_lacking(several, intervals=intervals)])


def _refits(results: EstimandResults) -> str:
    """Return the source of estimates, for a caption: the refits, or one model and its rows."""
    context = results.context
    if context.level != "model":
        return f"{context.refits} refits ({context.plan})"
    rows = "row" if context.n_evaluation == 1 else "rows"
    return f"one fitted model, {context.n_evaluation:.0f} {rows}"


def _bands(several: Sequence[EstimandResults], alpha: float) -> list[str]:
    """Return the words on intervals, with all their variances."""
    kinds: dict[str, dict[str, None]] = {}
    for results in several:
        side = "" if results.alternative == "two-sided" else "one-sided "
        band = "pointwise " if results.estimand.terms.axes else ""
        if results.simultaneous:
            band = "simultaneous "
        if (results.bse > 0).any():
            kinds.setdefault(side + band, {})[results.variance.label] = None
    level = f"{100 * (1 - alpha):g}%"
    return [f"{level} {kind}intervals ({' or '.join(some)})." for kind, some in kinds.items()]


def _lacking(several: Sequence[EstimandResults], *, intervals: bool) -> list[str]:
    """Return how many points have no estimate, or no interval."""
    estimates = np.concatenate([results.params.to_numpy() for results in several])
    errors = np.concatenate([results.bse.to_numpy() for results in several])
    count, what = len(estimates), "points" if several[0].estimand.terms.axes else "terms"
    absent = int(np.isnan(estimates).sum())
    alone = int((~np.isnan(estimates) & ~(errors > 0)).sum()) if intervals else 0
    has = "has" if absent == 1 else "have"
    texts = [f"{absent} of {count} {what} {has} no estimate."] if absent else []
    if alone:
        have = "has" if alone == 1 else "have"
        which = f"{alone} of {count} {what} {have}" if alone < count else "There is"
        texts.append(f"{which} no interval: see the table.")
    return texts
