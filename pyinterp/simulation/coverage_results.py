"""Results of coverage studies: how often intervals hold the truth, with tables and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp.errors import DataError
from pyinterp.representation import about
from pyinterp.simulation.records import Record, pool_records
from pyinterp.storage import Savable

if TYPE_CHECKING:
    from plotnine import ggplot


# Process, learner, n and estimand of a truth.
Target = tuple[str, str, int, str]

# Numbers that records of intervals add up over repetitions, per term.
COLUMNS = ("covered", "rejected", "width", "width2", "error", "error2", "variance")

ROW = ["process", "learner", "n", "plan", "refits", "cov_type", "estimand"]

TRUTH = ["process", "learner", "n", "estimand"]

BARS = "Dashed: 95% coverage. Bars: 95% Monte Carlo intervals."
WIDTH, FULL_WIDTH = "Mean width", "(2 x 1.96 x true sd)"


@dataclass(frozen=True, eq=False, repr=False)
class CoverageResults(Savable):
    """Coverage, width and size of intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n, plan, variance estimator, estimand and term: `refits` (of
        the plan, those for the variance included), `repetitions`,
        `truth` and its Monte Carlo error `truth_mcse`; `coverage`, `width` (mean), `rejected`
        (share of p-values below alpha, if there is a test), `bias`, `sd` (of the estimates over
        data sets), `se` (root of the mean variance), each but the last with a Monte Carlo error,
        such as `coverage_mcse`.
    rows : pandas.DataFrame
        Means over the terms of an estimand; `coverage_mcse` allows for their dependence.
    truths : pandas.DataFrame
        Mean estimates of the learner: one row per process, learner, n, estimand and term.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp import LearnerResults, Subsampling
    >>> from pyinterp.simulation import CoverageStudy
    >>> from pyinterp_papers.processes import molnar_linear
    >>> study = CoverageStudy(
    ...     dgps=[molnar_linear()],
    ...     learners={"lm": LinearRegression()},
    ...     estimands={"pfi": LearnerResults.pfi},
    ...     n=[100],
    ...     resamplings={"3 refits": Subsampling(3), "6 refits": Subsampling(6)},
    ...     cov_types={"3 refits": ["corrected"], "6 refits": ["corrected"]},
    ...     repetitions=10,
    ...     truth_refits=100,
    ... )
    >>> results = study.run("coverage.sqlite", progress=False)
    >>> results.rows[["refits", "coverage"]]
       refits  coverage
    0       3      0.70
    1       6      0.65
    """

    frame: pd.DataFrame
    rows: pd.DataFrame
    truths: pd.DataFrame

    def plot(self) -> ggplot:
        """Plot width against coverage (Molnar et al., Figures 3 and 4).

        Every row of the study is a point. Lines connect the points of one process, learner and n.
        ``dataclasses.replace(results, rows=results.rows.query("n == 100")).plot()`` plots a part.

        Examples
        --------
        >>> plot = results.plot()
        >>> plot.save("coverage.png", width=5, height=3, verbose=False)
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        from pyinterp.results.plots.style import finish  # noqa: PLC0415

        rows = self.rows
        if rows.empty:
            raise DataError("A plot needs results of at least one row of the study, but has none.")
        sizes, half = "n = " + rows["n"].astype(str), 1.96 * rows["coverage_mcse"]
        points = rows.assign(
            interval=rows["plan"] + ", " + rows["cov_type"],
            low=rows["coverage"] - half,
            high=rows["coverage"] + half,
            scenario=rows["process"] + rows["learner"],
            size=pd.Categorical(sizes, sizes.unique()),
        )
        figure = (
            p9.ggplot(points, p9.aes("relative_width", "coverage"))
            + p9.geom_hline(yintercept=0.95, linetype="dashed", color="gray")
            + p9.geom_line(p9.aes(group="scenario"), color="lightgray")
            + p9.geom_linerange(p9.aes(ymin="low", ymax="high", color="interval"))
            + p9.geom_point(p9.aes(color="interval", shape="learner"), size=2.5)
            + p9.guides(shape=p9.guide_legend(override_aes={"color": "gray"}))
            + p9.facet_grid("estimand ~ size")
            + p9.labs(x=f"{WIDTH} / {FULL_WIDTH}", y="Coverage", color="", shape="", caption=BARS)
        )
        return finish(figure)

    def __repr__(self) -> str:
        return about(self, f"{len(self.rows)} rows", f"{len(self.truths)} true values")

    def __str__(self) -> str:
        return self.rows.to_string()


def results_of(records: Sequence[Record], refits: Mapping[str, int]) -> CoverageResults:
    """Return the results of records, of the plans whose numbers of refits are given."""
    truths = pooled_truths(records)
    parts = {}
    rows = []
    for row, terms in pool_records(r for r in records if r.row.kind == "coverage").items():
        if row.plan in refits:
            for (estimand, cov_type), pool in terms.items():
                names = *row[1:], refits[row.plan], cov_type, estimand
                part = _describe(pool, truths[*row[1:4], estimand])
                parts[names] = part
                rows.append(dict(zip(ROW, names, strict=True)) | _term_means(pool, part))
    return CoverageResults(_long(parts, ROW), pd.DataFrame(rows), _long(truths, TRUTH))


def _long(parts: Mapping[tuple[Any, ...], pd.DataFrame], names: list[str]) -> pd.DataFrame:
    """Return the parts below each other, their keys in the first columns."""
    if not parts:
        return pd.DataFrame(columns=[*names, "term", "truth", "truth_mcse"], dtype=object)
    return pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)


def pooled_truths(records: Iterable[Record]) -> dict[Target, pd.DataFrame]:
    """Return mean and Monte Carlo error of every term, by process, learner, n and estimand."""
    truths = {}
    for row, terms in pool_records(r for r in records if r.row.kind == "truth").items():
        for (estimand,), pool in terms.items():
            mean, error = pool.means()
            truths[*row[1:4], estimand] = pd.DataFrame(
                {"term": list(pool.sums["labels"]), "truth": mean, "truth_mcse": error}
            )
    return truths


def _describe(pool: Record, truth: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, width, size, bias and standard errors of every term, with their errors."""
    r = pool.size
    mean = pd.DataFrame(pool.sums["sums"], columns=list(COLUMNS)) / r
    bessel = r / max(r - 1, 1)
    sd = np.sqrt(np.clip(mean["error2"] - mean["error"] ** 2, 0, None) * bessel)
    spread = np.sqrt(np.clip(mean["width2"] - mean["width"] ** 2, 0, None) * bessel)
    return truth.assign(
        repetitions=r,
        coverage=mean["covered"],
        coverage_mcse=np.sqrt(mean["covered"] * (1 - mean["covered"]) / r),
        width=mean["width"],
        width_mcse=spread / np.sqrt(r),
        rejected=mean["rejected"],
        rejected_mcse=np.sqrt(mean["rejected"] * (1 - mean["rejected"]) / r),
        bias=mean["error"],
        bias_mcse=sd / np.sqrt(r),
        sd=sd,
        sd_mcse=sd / np.sqrt(2 * max(r - 1, 1)),
        se=np.sqrt(mean["variance"]),
    )


def _term_means(pool: Record, part: pd.DataFrame) -> dict[str, float]:
    """Return means over the terms of an estimand."""
    r = pool.size
    coverage = float(part["coverage"].mean())
    between = max(float(pool.sums["shares"]) / r - coverage**2, 0.0) * r / max(r - 1, 1)
    vary = part["sd"] > 0
    full = 2 * stats.norm.isf(0.025) * part["sd"]
    return {
        "repetitions": r,
        "terms": len(part),
        "coverage": coverage,
        "coverage_mcse": float(np.sqrt(between / r)),
        "width": float(part["width"].mean()),
        "relative_width": float((part["width"][vary] / full[vary]).mean()),
        "rejected": float(part["rejected"].mean()),
    }
