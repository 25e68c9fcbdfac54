"""Results of coverage studies: tidy frames with Monte Carlo errors, and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp.errors import DataError
from pyinterp.parameters import takes
from pyinterp.representation import about
from pyinterp.simulation.studies.records import Record, pool_records

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["COLUMNS", "CoverageResults", "Target", "matching_rows", "pooled_truths"]

# Process, learner, n and estimand of a truth.
Target: TypeAlias = tuple[str, str, int, str]

# What records of intervals add up over repetitions, per term.
COLUMNS = ("covered", "rejected", "width", "width2", "error", "error2", "variance")

ROW = ["process", "learner", "n", "plan", "refits", "cov_type", "estimand"]

TRUTH = ["process", "learner", "n", "estimand"]

WIDTH, FULL_WIDTH = "Mean width", "(2 x 1.96 x true sd)"


@dataclass(frozen=True, eq=False, repr=False)
class CoverageResults:
    """Coverage, width and size of intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n, plan, variance estimator, estimand and term: `refits` (of
        the plan, those for the variance included), `repetitions`,
        `truth` and its Monte Carlo error `truth_mcse`; `coverage`, `width` (mean), `rejected`
        (share of p-values below alpha), `bias`, `sd` (of the estimates over data sets), `se` (root
        of the mean variance), each but the last with a Monte Carlo error, such as `coverage_mcse`.
    rows : pandas.DataFrame
        Means over the terms of an estimand; `coverage_mcse` allows for their dependence.
    truths : pandas.DataFrame
        Mean estimates of the learner: one row per process, learner, n, estimand and term.
    """

    frame: pd.DataFrame
    rows: pd.DataFrame
    truths: pd.DataFrame

    @classmethod
    def of(cls, records: Iterable[Record], refits: Mapping[str, int]) -> CoverageResults:
        """Return the results of records; `refits` has the number of refits of every plan."""
        every = list(records)
        truths = pooled_truths(every)
        intervals = [r for r in every if r.row.kind == "coverage" and r.row.plan in refits]
        parts, rows = [], []
        for row, terms in pool_records(intervals).items():
            for (estimand, cov_type), pool in terms.items():
                values = (*row[1:], refits[row.plan], cov_type, estimand)
                names: dict[str, Any] = dict(zip(ROW, values, strict=True))
                part = _describe(pool, truths[*row[1:4], estimand])
                parts.append(part.assign(**names))
                rows.append({**names, **_term_means(pool, part)})
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=ROW)
        ordered = frame[ROW + [c for c in frame.columns if c not in ROW]]
        empty = pd.DataFrame(columns=[*TRUTH, "term", "truth", "truth_mcse"], dtype=object)
        long = pd.concat(truths, names=TRUTH).reset_index(TRUTH) if truths else empty
        return cls(ordered, pd.DataFrame(rows), long.reset_index(drop=True))

    @takes()
    def only(
        self,
        *,
        process: str | Sequence[str] | None = None,
        learner: str | Sequence[str] | None = None,
        n: int | Sequence[int] | None = None,
        plan: str | Sequence[str] | None = None,
        refits: int | Sequence[int] | None = None,
        cov_type: str | Sequence[str] | None = None,
        estimand: str | Sequence[str] | None = None,
    ) -> CoverageResults:
        """Return the rows with these values, such as ``only(learner="lm", n=[100, 1000])``.

        Parameters
        ----------
        process, learner : str or sequence of str, optional
            Names, by default all.
        n : int or sequence of int, optional
            Sizes of data sets.
        plan : str or sequence of str, optional
        refits : int or sequence of int, optional
            Of the plan.
        cov_type, estimand : str or sequence of str, optional
        """
        truth = {"process": process, "learner": learner, "n": n, "estimand": estimand}
        every = truth | {"plan": plan, "refits": refits, "cov_type": cov_type}
        return CoverageResults(
            matching_rows(self.frame, every),
            matching_rows(self.rows, every),
            matching_rows(self.truths, truth),
        )

    def plot(self) -> ggplot:
        """Plot width against coverage (Molnar et al., Figures 3 and 4).

        One point per row of the study; lines connect the intervals of the same process, learner
        and n.
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        points = self._with_limits().assign(
            scenario=self.rows["process"] + self.rows["learner"],
            size="n = " + self.rows["n"].astype(str),
        )
        return (
            p9.ggplot(points, p9.aes("relative_width", "coverage"))
            + p9.geom_hline(yintercept=0.95, linetype="dashed", color="gray")
            + p9.geom_line(p9.aes(group="scenario"), color="lightgray")
            + p9.geom_errorbar(p9.aes(ymin="low", ymax="high", color="interval"), width=0)
            + p9.geom_point(p9.aes(color="interval", shape="learner"), size=2.5)
            + p9.facet_grid("estimand ~ size")
            + p9.labs(x=f"{WIDTH} / {FULL_WIDTH}", y="Coverage", color="", shape="")
            + p9.theme_bw()
        )

    def plot_refits(self) -> ggplot:
        """Plot width and coverage against the number of refits (Molnar et al., Figure 5).

        Every process, learner, n and estimand has its own panels, and lines connect plans with the
        same `cov_type`: where those of several kinds have the same, ``only(plan=[...])`` picks one.
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        points = self._with_limits()
        differ = [name for name in TRUTH if len(points[name].unique()) > 1] or ["estimand"]
        named = points.assign(n="n = " + points["n"].astype(str))[differ]
        points["of"] = ["\n".join(names) for names in named.itertuples(index=False)]
        points["of"] = pd.Categorical(points["of"], points["of"].unique())
        width = points.assign(panel=f"{WIDTH} /\n{FULL_WIDTH}", value=points["relative_width"])
        no_limits = {"low": np.nan, "high": np.nan}
        coverage = points.assign(panel="Coverage", value=points["coverage"])
        long = pd.concat([width.assign(**no_limits), coverage], ignore_index=True)
        nominal = pd.DataFrame({"panel": ["Coverage"], "value": [0.95]})
        return (
            p9.ggplot(long, p9.aes("refits", "value", color="cov_type"))
            + p9.geom_hline(
                p9.aes(yintercept="value"), data=nominal, linetype="dashed", color="gray"
            )
            + p9.geom_errorbar(p9.aes(ymin="low", ymax="high"), width=0, na_rm=True)
            + p9.geom_line(p9.aes(group="cov_type"))
            + p9.geom_point()
            + p9.facet_grid("panel ~ of", scales="free_y")
            + p9.labs(x="Refits, those for the variance included", y="", color="")
            + p9.theme_bw()
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.rows)} rows", f"{len(self.truths)} true values")

    def __str__(self) -> str:
        return self.rows.to_string()

    def _with_limits(self) -> pd.DataFrame:
        """Return the rows with 95% Monte Carlo limits of coverage; raise if there are none."""
        if self.rows.empty:
            raise DataError("A plot needs results of at least one row of the study, but has none.")
        half = 1.96 * self.rows["coverage_mcse"]
        return self.rows.assign(
            interval=self.rows["plan"] + ", " + self.rows["cov_type"],
            low=self.rows["coverage"] - half,
            high=self.rows["coverage"] + half,
        )


def matching_rows(frame: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have these values in these columns; None stands for all."""
    for column, value in values.items():
        if value is not None:
            allowed = [value] if isinstance(value, str) or np.ndim(value) == 0 else list(value)
            frame = frame[frame[column].isin(allowed)]
    return frame


def pooled_truths(records: Iterable[Record]) -> dict[Target, pd.DataFrame]:
    """Return mean and Monte Carlo error of every term, by process, learner, n and estimand."""
    truths = {}
    for row, terms in pool_records(r for r in records if r.row.kind == "truth").items():
        for (estimand,), pool in terms.items():
            mean = pool.sums["sums"] / pool.size
            variance = np.clip(pool.sums["squares"] / pool.size - mean**2, 0, None)
            error = np.sqrt(variance / max(pool.size - 1, 1))
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
