"""Pictures of results: bars, curves and box plots in panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from plotnine import ggplot

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def bars(result: pd.DataFrame, term: str, panel: str = "", title: str = "") -> ggplot:
    """Draw numbers as points with 95% limits, largest on top, a panel each."""
    import plotnine as p9  # noqa: PLC0415 - takes a second to import

    order = result.groupby(term, sort=False)["ours"].mean().sort_values().index
    frame = _limits(result).assign(**{term: pd.Categorical(result[term], order)})
    plot = (
        p9.ggplot(frame, p9.aes("ours", term))
        + p9.geom_vline(xintercept=0, color="gray")
        + p9.geom_errorbarh(p9.aes(xmin="low", xmax="high"), color=COLORS[0], height=0, na_rm=True)
        + p9.geom_point(color=COLORS[0])
    )
    return _finish(plot, title, "", panel)


def curves(
    result: pd.DataFrame,
    x: str,
    color: str = "",
    panel: str = "",
    y: str = "",
    *,
    log: bool = False,
) -> ggplot:
    """Draw numbers against x, with 95% limits, a line per color and a panel each."""
    import plotnine as p9  # noqa: PLC0415

    frame = _limits(result)
    aes = p9.aes(x, "ours", color=color, group=color) if color else p9.aes(x, "ours")
    plot = p9.ggplot(frame.astype({color: str}) if color else frame, aes) + p9.geom_line()
    if frame["error"].notna().any():
        plot += p9.geom_linerange(p9.aes(ymin="low", ymax="high"), alpha=0.5, na_rm=True)
    plot += p9.geom_point(size=1) if frame[x].nunique() < 20 else p9.theme()
    if color and frame[color].nunique() <= len(COLORS):
        plot += p9.scale_color_manual(COLORS)
    return _finish(plot + p9.scale_x_log10() if log else plot, x, y, panel)


def bundle(result: pd.DataFrame, x: str, group: str, color: str, panel: str, y: str) -> ggplot:
    """Draw thin curves of rows or refits, and thick ones with names, a panel each."""
    import plotnine as p9  # noqa: PLC0415

    thick = result[group].astype(str).isin(["mean", "true"])
    kind = result[color].astype(str)
    frame = result.assign(color=kind if color != group else kind.where(thick, "single"))
    values = sorted(frame["color"].unique(), key=["neg", "pos", "single", "mean", "true"].index)
    colors = {"neg": COLORS[0], "pos": COLORS[1], "single": "#AAAAAA", "true": COLORS[2]}
    aes = p9.aes(x, "ours", group=group, color="color")
    plot = (
        p9.ggplot(frame, aes)
        + p9.geom_line(data=frame[~thick], alpha=0.4, size=0.4)
        + p9.geom_line(data=frame[thick], size=1.2)
        + p9.scale_color_manual({v: colors.get(v, "#000000") for v in values}, limits=values)
    )
    return _finish(plot, x, y, panel)


def boxes(result: pd.DataFrame, x: str, panel: str, truth: pd.DataFrame, y: str) -> ggplot:
    """Draw box plots of draws against x, a panel each, the truth dashed."""
    import plotnine as p9  # noqa: PLC0415

    frame = result.assign(**{x: pd.Categorical(result[x], sorted(result[x].unique()))})
    plot = (
        p9.ggplot(frame, p9.aes(x, "ours"))
        + p9.geom_boxplot(color=COLORS[0], outlier_size=0.5)
        + p9.geom_hline(p9.aes(yintercept="ours"), truth, linetype="dashed")
    )
    return _finish(plot, x, y, panel)


def points(result: pd.DataFrame, x: str, y: str, panel: str, color: str) -> ggplot:
    """Draw rows as points in the color of the number."""
    import plotnine as p9  # noqa: PLC0415

    frame = result.rename(columns={"ours": color})
    return _finish(p9.ggplot(frame, p9.aes(x, y, color=color)) + p9.geom_point(), x, y, panel)


def segments(result: pd.DataFrame) -> ggplot:
    """Draw relative width against coverage of intervals, those of one scenario connected."""
    import plotnine as p9  # noqa: PLC0415

    keys = ["estimand", "process", "learner", "n", "quantity"]
    frame = result.pivot_table("ours", keys, "measure").reset_index()
    plan = frame["quantity"].str.strip("*")
    stars = frame["quantity"].str.endswith("*")
    scenario = frame["process"] + frame["learner"] + frame["n"].astype(str)
    frame["group"] = scenario + (plan if not stars.all() else "")
    frame["panel"] = frame["estimand"] + (", " + plan if not stars.all() else "")
    plot = (
        p9.ggplot(frame, p9.aes("width", "coverage"))
        + p9.geom_hline(yintercept=0.95, linetype="dashed")
        + p9.geom_line(p9.aes(group="group"), color="lightgray")
        + p9.geom_point(p9.aes(color="quantity"))
        + p9.scale_color_manual(COLORS)
    )
    return _finish(plot, "width / (2 x 1.96 x true sd)", "coverage", "panel")


def _limits(result: pd.DataFrame) -> pd.DataFrame:
    half = 1.96 * result["error"]
    return result.assign(low=result["ours"] - half, high=result["ours"] + half)


def _finish(plot: ggplot, x: str, y: str, panel: str) -> ggplot:
    import plotnine as p9  # noqa: PLC0415

    if panel:
        plot += p9.facet_wrap(panel.split(" + "), scales="free")
    return plot + p9.labs(x=x, y=y, color="") + p9.theme_bw() + p9.theme(figure_size=(9, 4.5))
