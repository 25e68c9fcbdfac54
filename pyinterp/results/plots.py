"""Plots with plotnine: one per shape of terms, none per estimand."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    facet_wrap,
    geom_abline,
    geom_boxplot,
    geom_errorbar,
    geom_errorbarh,
    geom_hline,
    geom_line,
    geom_linerange,
    geom_point,
    geom_ribbon,
    geom_rug,
    geom_tile,
    geom_vline,
    ggplot,
    labs,
    position_dodge,
    scale_color_manual,
    scale_fill_cmap,
    scale_x_discrete,
    scale_y_discrete,
)

from pyinterp.data.sample import is_category

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["agreement", "plot", "together"]

BLUE, GRAY = "#0072B2", "#999999"  # Okabe and Ito: told apart by color-blind readers
COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
CURVES = 200
LABELS = 8  # of the tiles along an axis


def plot(results: EstimandResults, *, alpha: float) -> ggplot:
    """Draw one value per feature, a curve or a surface, by the number of axes of the terms."""
    terms = results.estimand.terms
    frame = results.summary_frame(alpha).reset_index()
    figure = {0: _points, 1: _curve, 2: _surface}[len(terms.axes)](results, frame)
    if terms.facet is not None:
        figure += facet_wrap(terms.facet)
    return figure + labs(caption=_caption(results, alpha, surface=len(terms.axes) == 2))


def together(several: Sequence[EstimandResults], *, alpha: float) -> ggplot:
    """Draw several importances of the same features, in the order of the first importance."""
    frames = [
        results.summary_frame(alpha).reset_index().assign(measure=results.estimand.label)
        for results in several
    ]
    labels = [results.estimand.label for results in several]
    ordered = frames[0].sort_values("estimate", na_position="first")["term"].tolist()
    frame = pd.concat(frames, ignore_index=True).dropna(subset=["estimate"])
    frame["term"] = pd.Categorical(frame["term"], categories=ordered, ordered=True)
    # The first measure on top, as in the legend.
    frame["measure"] = pd.Categorical(frame["measure"], categories=labels[::-1], ordered=True)
    apart = position_dodge(width=0.6)
    return (
        ggplot(frame, aes(x="term", y="estimate", color="measure"))
        + geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        + geom_linerange(aes(ymin="conf_low", ymax="conf_high"), _bounded(frame), position=apart)
        + geom_point(position=apart)
        + coord_flip()
        + scale_color_manual(dict(zip(labels, COLORS, strict=False)), breaks=labels)
        + labs(
            x="",
            y=f"Importance [{several[0].estimand.unit}]" if several[0].estimand.unit else "",
            color="",
            caption=_caption(several[0], alpha, surface=False),
        )
    )


def agreement(observed: pd.Series[Any], predicted: pd.DataFrame, caption: str) -> ggplot:
    """Draw a variable against its prediction, or the probabilities of its levels.

    Parameters
    ----------
    observed : pandas.Series
    predicted : pandas.DataFrame
        One column, or one per level.
    caption : str
    """
    name = str(observed.name)
    labels = labs(x=f"Predicted {name}", y=f"Observed {name}", caption=caption)
    if predicted.shape[1] == 1:
        frame = pd.DataFrame({"observed": observed, "predicted": predicted.iloc[:, 0]})
        line = geom_abline(slope=1, intercept=0, color=GRAY, linetype="dashed")
        points = geom_point(color=BLUE, alpha=0.4, size=1)
        return ggplot(frame, aes(x="predicted", y="observed")) + line + points + labels
    long = predicted.assign(observed=observed.astype(str)).melt(
        id_vars="observed", var_name="level", value_name="probability"
    )
    long["level"] = "P(" + long["level"].astype(str) + ")"
    return (
        ggplot(long, aes(x="observed", y="probability"))
        + geom_boxplot(color=BLUE)
        + facet_wrap("level")
        + labs(x=f"Observed {name}", y="Predicted probability", caption=caption)
    )


def _points(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    ordered = frame.sort_values("estimate")["term"].tolist()
    frame = frame.assign(term=pd.Categorical(frame["term"], categories=ordered, ordered=True))
    figure = ggplot(frame, aes(y="term", x="estimate"))
    if results.estimand.null is not None:
        figure += geom_vline(xintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits = _bounded(frame)
    if len(limits):
        figure += geom_errorbarh(
            aes(y="term", xmin="conf_low", xmax="conf_high"),
            data=limits,
            height=0.25,
            color=BLUE,
            inherit_aes=False,
        )
    return figure + geom_point(color=BLUE) + labs(x=_label(results), y="")


def _curve(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    axis, (name,) = results.estimand.terms.axes[0], results.estimand.terms.axis_names
    numeric = not is_category(frame[axis])
    if not numeric:
        levels = frame[axis].drop_duplicates().tolist()
        frame = frame.assign(**{axis: pd.Categorical(frame[axis], categories=levels)})
    figure = ggplot(frame, aes(x=axis, y="estimate"))
    if results.estimand.curves:
        figure += geom_line(
            aes(x=axis, y="estimate", group="line"),
            data=_row_curves(results, frame, axis),
            color=GRAY,
            alpha=0.25,
            size=0.3,
            inherit_aes=False,
        )
    if results.estimand.null is not None:
        figure += geom_hline(yintercept=results.estimand.null, color=GRAY, linetype="dashed")
    limits = _bounded(frame)
    if numeric:
        if len(limits):
            figure += geom_ribbon(
                aes(ymin="conf_low", ymax="conf_high"), data=limits, fill=BLUE, alpha=0.2
            )
        figure += geom_line(color=BLUE)
        rug = pd.DataFrame({axis: results.support[name]})
        inside = rug[axis].between(frame[axis].min(), frame[axis].max())
        figure += geom_rug(aes(x=axis), data=rug[inside], sides="b", alpha=0.1, inherit_aes=False)
    elif len(limits):
        figure += geom_errorbar(
            aes(ymin="conf_low", ymax="conf_high"), data=limits, width=0.2, color=BLUE
        )
    return figure + geom_point(color=BLUE, size=1.2) + labs(x=name, y=_label(results))


def _surface(results: EstimandResults, frame: pd.DataFrame) -> ggplot:
    terms = results.estimand.terms
    x, y = terms.axes
    # Tiles of equal size: grids by quantile are uneven, so cells are drawn in order.
    labeled = {}
    for axis in terms.axes:
        values = frame[axis].drop_duplicates()
        if not is_category(values):  # within a hull the first row of points is not the whole axis
            values = values.sort_values()
        levels = [_short(v) for v in values]
        labeled[axis] = levels[:: -(-len(levels) // LABELS)]
        texts = [_short(v) for v in frame[axis]]
        frame = frame.assign(**{axis: pd.Categorical(texts, categories=levels)})
    return (
        ggplot(frame, aes(x=x, y=y, fill="estimate"))
        + geom_tile()
        + scale_fill_cmap("viridis")
        + scale_x_discrete(breaks=labeled[x])
        + scale_y_discrete(breaks=labeled[y])
        + labs(x=terms.axis_names[0], y=terms.axis_names[1], fill=_label(results))
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row_curves(results: EstimandResults, frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    rows = results.row_frame().reset_index(drop=True).rename_axis("row")
    if len(rows) > CURVES:  # evenly spread over the rows, so that the same plot comes out twice
        rows = rows.iloc[np.linspace(0, len(rows) - 1, CURVES).astype(int)]
    long = rows.reset_index().melt(id_vars="row", var_name="term", value_name="estimate")
    facet = results.estimand.terms.facet
    keep = ["term", axis] + ([facet] if facet else [])
    long = long.merge(frame[keep], on="term")
    return long.assign(line=long["row"].astype(str) + (long[facet].astype(str) if facet else ""))


def _bounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with an interval; an infinite limit is set to the estimate."""
    limited = np.isfinite(frame[["conf_low", "conf_high"]].to_numpy(dtype=np.float64))
    rows: pd.DataFrame = frame[limited.any(axis=1)]
    return rows.assign(
        conf_low=rows["conf_low"].where(np.isfinite(rows["conf_low"]), rows["estimate"]),
        conf_high=rows["conf_high"].where(np.isfinite(rows["conf_high"]), rows["estimate"]),
    )


def _label(results: EstimandResults) -> str:
    unit = results.estimand.unit
    return f"{results.estimand.description}{f' [{unit}]' if unit else ''}"


def _caption(results: EstimandResults, alpha: float, *, surface: bool) -> str:
    context = results.context
    level = f"{100 * (1 - alpha):g}%"
    side = "" if results.alternative == "two-sided" else "one-sided "
    if context.level == "learner":
        over = f"{context.refits} refits ({context.plan})"
    else:
        over = f"one fitted model, {context.n_evaluation:.0f} evaluation rows"
    together = "pointwise " if results.estimand.terms.axes else ""
    if results.simultaneous:
        together = "simultaneous "
    intervals = f"{level} {side}{together}intervals ({results.variance.label})"
    what = "" if surface else f" {intervals}."
    return "\n".join(textwrap.wrap(f"{context.learner}, {over}.{what}", 60))
