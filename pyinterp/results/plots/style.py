"""What all plots share: colors, sizes, panels, limits of intervals, labels and captions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import plotnine as p9

from pyinterp.data.columns import is_category
from pyinterp.results.results import EstimandResults

Style: TypeAlias = Literal["light", "dark"]
PlotKind: TypeAlias = Literal["auto", "dots", "bars", "forest", "curves", "tiles"]

BLUE, GRAY = "#0072B2", "#999999"  # Okabe and Ito: color-blind readers can distinguish them
COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# On a dark ground: colors that are dark on a light one.
ON_DARK = {BLUE: "#56B4E9", "black": "#EEEEEE", "white": "#222222"}
LINE = 60  # characters of a line of a caption


def rows_with_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with an interval; its open side, if it has one, is not drawn."""
    limited = np.isfinite(frame[["conf_low", "conf_high"]].to_numpy(dtype=np.float64))
    rows: pd.DataFrame = frame[limited.any(axis=1)]
    return rows.assign(
        conf_low=rows["conf_low"].where(np.isfinite(rows["conf_low"]), rows["estimate"]),
        conf_high=rows["conf_high"].where(np.isfinite(rows["conf_high"]), rows["estimate"]),
    )


def in_style(figure: p9.ggplot, style: Style) -> p9.ggplot:
    """Return a figure on a light or a dark ground; colors of marks are turned where they must."""
    if style == "light":
        return figure
    for layer in figure.layers:
        look = layer.geom.aes_params
        look |= {k: ON_DARK.get(look[k], look[k]) for k in ("color", "fill") if k in look}
    ground, panel, ink = "#1B1B1B", "#262626", "#E4E4E4"
    return figure + p9.theme(
        text=p9.element_text(color=ink),
        axis_text=p9.element_text(color=ink),
        axis_ticks=p9.element_line(color=ink),
        strip_text=p9.element_text(color=ink),
        strip_background=p9.element_rect(fill="#3A3A3A", color="none"),
        plot_background=p9.element_rect(fill=ground, color=ground),
        panel_background=p9.element_rect(fill=panel),
        panel_grid_major=p9.element_line(color="#3D3D3D"),
        panel_grid_minor=p9.element_blank(),
        legend_background=p9.element_rect(fill=ground, color="none"),
        legend_key=p9.element_rect(fill=panel, color="none"),
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
    data: pd.DataFrame, name: str, grid: pd.Series[Any], color: str | None = None
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


def colored_curves(limits: pd.DataFrame, axis: str, by: str, names: Sequence[str]) -> list[Any]:
    """Return a curve of each name's color, with a band if there are not too many."""
    bands: list[Any] = []
    if len(limits) and len(names) <= len(COLORS):
        sides = p9.aes(x=axis, ymin="conf_low", ymax="conf_high", fill=by)
        pale = {"alpha": 0.15, "inherit_aes": False, "show_legend": False}
        bands = [p9.geom_ribbon(sides, limits, **pale), colors_of(names, fill=True)]
    return [*bands, p9.geom_line(), p9.geom_point(size=1.2), colors_of(names)]


def colors_of(names: Sequence[str], *, fill: bool = False) -> Any:
    """Return a color per name: ours, or hues if there are more names."""
    if len(names) > len(COLORS):
        return (p9.scale_fill_hue if fill else p9.scale_color_hue)(breaks=names, limits=names)
    values = dict(zip(names, COLORS, strict=False))
    scale = p9.scale_fill_manual if fill else p9.scale_color_manual
    return scale(values, breaks=names, limits=names)


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
    """Return the basis of estimates and intervals: once if it is the same, else with names."""
    alike: dict[str, list[int]] = {}
    for k, results in enumerate(several):
        alike.setdefault(_basis(results, alpha, intervals=intervals), []).append(k)
    texts = []
    for basis, which in alike.items():
        text = basis + _lacking([several[k] for k in which], intervals=intervals)
        who = ", ".join(dict.fromkeys(names[k] for k in which))
        named = len(alike) == 1 or text.startswith(f"{who},")
        texts.append(textwrap.fill(text if named else f"{who}: {text}", LINE))
    return "\n".join(texts)


def count_of(drawn: Sequence[str], every: Sequence[str]) -> str:
    """Return the line of a caption that says how many of the terms are drawn; empty if all are."""
    return f"\n{len(drawn)} of {len(every)} terms." if len(drawn) < len(every) else ""


def _basis(results: EstimandResults, alpha: float, *, intervals: bool) -> str:
    context = results.context
    if context.level == "learner":
        over = f"{context.refits} refits ({context.plan})"
    else:
        rows = "row" if context.n_evaluation == 1 else "rows"
        over = f"one fitted model, {context.n_evaluation:.0f} evaluation {rows}"
    text = f"{context.learner}, {over}."
    if not intervals or not (results.bse > 0).any():
        return text
    side = "" if results.alternative == "two-sided" else "one-sided "
    band = "pointwise " if results.estimand.terms.axes else ""
    if results.simultaneous:
        band = "simultaneous "
    return f"{text} {100 * (1 - alpha):g}% {side}{band}intervals ({results.variance.label})."


def _lacking(several: Sequence[EstimandResults], *, intervals: bool) -> str:
    """Return how many points have no estimate, or no interval."""
    estimates = np.concatenate([results.params.to_numpy() for results in several])
    errors = np.concatenate([results.bse.to_numpy() for results in several])
    count, what = len(estimates), "points" if several[0].estimand.terms.axes else "terms"
    absent = int(np.isnan(estimates).sum())
    alone = int((~np.isnan(estimates) & ~(errors > 0)).sum()) if intervals else 0
    has = "has" if absent == 1 else "have"
    texts = [f" {absent} of {count} {what} {has} no estimate."] if absent else []
    if alone:
        have = "has" if alone == 1 else "have"
        which = f"{alone} of {count} {what} {have}" if alone < count else "There is"
        texts.append(f" {which} no interval: see the table.")
    return "".join(texts)
