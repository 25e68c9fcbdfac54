"""Pictures of results: bars, curves and box plots in panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.simulation import CoverageResults

if TYPE_CHECKING:
    from plotnine import ggplot

BLUE = "#0072B2"


def bars(result: pd.DataFrame, term: str, panel: str = "", title: str = "") -> ggplot:
    """Draw numbers as points with 95% limits, largest on top, a panel each."""
    import plotnine as p9  # noqa: PLC0415 - takes a second to import

    order = result.groupby(term, sort=False)["ours"].mean().sort_values().index
    frame = _limits(result).assign(**{term: pd.Categorical(result[term], order)})
    plot = (
        p9.ggplot(frame, p9.aes("ours", term))
        + p9.geom_vline(xintercept=0, color="gray")
        + p9.geom_errorbarh(p9.aes(xmin="low", xmax="high"), color=BLUE, height=0, na_rm=True)
        + p9.geom_point(color=BLUE)
    )
    return _finish(plot, title, "", panel)


def curves(result: pd.DataFrame, x: str, color: str = "", panel: str = "", y: str = "") -> ggplot:
    """Draw numbers against x, with 95% limits, a line per color and a panel each."""
    import plotnine as p9  # noqa: PLC0415

    frame = _limits(result)
    aes = p9.aes(x, "ours", color=color, group=color) if color else p9.aes(x, "ours")
    plot = p9.ggplot(frame.astype({color: str}) if color else frame, aes) + p9.geom_line()
    if frame["error"].notna().any():
        plot += p9.geom_linerange(p9.aes(ymin="low", ymax="high"), alpha=0.5, na_rm=True)
    return _finish(plot + p9.scale_x_log10() if x == "n" else plot, x, y, panel)


def bundle(result: pd.DataFrame, x: str, group: str, color: str, panel: str, y: str) -> ggplot:
    """Draw thin curves of rows or refits, and thick ones with names, a panel each."""
    import plotnine as p9  # noqa: PLC0415

    thick = result[group].astype(str).isin(["mean", "true"])
    thin = p9.aes(color=color) if color else p9.aes()
    plot = (
        p9.ggplot(result, p9.aes(x, "ours", group=group))
        + p9.geom_line(thin, result[~thick], alpha=0.4, size=0.4)
        + p9.geom_line(p9.aes(linetype=group), result[thick], size=1.2)
        + p9.labs(linetype="")
    )
    return _finish(plot, x, y, panel)


def boxes(result: pd.DataFrame, panel: str, truth: pd.DataFrame, y: str) -> ggplot:
    """Draw box plots of draws by training rows, a panel each, the truth dashed."""
    import plotnine as p9  # noqa: PLC0415

    plot = (
        p9.ggplot(result, p9.aes("factor(n)", "ours"))
        + p9.geom_boxplot(color=BLUE, outlier_size=0.5)
        + p9.geom_hline(p9.aes(yintercept="ours"), truth, linetype="dashed")
    )
    return _finish(plot, "n", y, panel)


def segments(result: pd.DataFrame) -> ggplot:
    """Draw relative width against coverage of intervals, those of one scenario connected."""
    covers, widths = (result[result["measure"] == name] for name in ("coverage", "width"))
    rows = covers.assign(relative_width=widths["ours"].to_numpy())
    rows = rows.rename(columns={"ours": "coverage", "error": "coverage_mcse"})
    stars = rows["quantity"].str.endswith("*").map({True: "corrected", False: "naive"})
    rows = rows.assign(plan=rows["quantity"].str.strip("*"), cov_type=stars)
    return CoverageResults(rows, rows, rows).plot()


def _limits(result: pd.DataFrame) -> pd.DataFrame:
    half = 1.96 * result["error"]
    return result.assign(low=result["ours"] - half, high=result["ours"] + half)


def _finish(plot: ggplot, x: str, y: str, panel: str) -> ggplot:
    import plotnine as p9  # noqa: PLC0415

    if panel:
        plot += p9.facet_wrap(panel.split(" + "), scales="free")
    return plot + p9.labs(x=x, y=y, color="") + p9.theme_bw() + p9.theme(figure_size=(9, 4.5))
