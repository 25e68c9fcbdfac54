"""Results of coverage studies: tidy frames with Monte Carlo errors, and plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp.errors import DataError, OptionError, did_you_mean, listed, shown
from pyinterp.simulation.studies.ledger import Line, pooled

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["COLUMNS", "CoverageResults", "chosen", "pooled_truths"]

# What lines of coverage add up over repetitions, per term.
COLUMNS = ("covered", "rejected", "width", "width2", "error", "error2", "variance")

ROW = ["process", "learner", "n", "plan", "refits", "cov_type", "estimand"]

TRUTH = ["process", "learner", "n", "estimand"]

RELATIVE_WIDTH = "Mean width / (2 x 1.96 x true sd)"


@dataclass(frozen=True, eq=False)
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
        What the learner finds on average: one row per process, learner, n, estimand and term.
    """

    frame: pd.DataFrame
    rows: pd.DataFrame
    truths: pd.DataFrame

    @classmethod
    def of(cls, lines: Sequence[Line], refits: Mapping[str, int]) -> CoverageResults:
        """Pool blocks of repetitions; `refits` has the number of every plan."""
        truths = pooled_truths(lines)
        parts, rows = [], []
        for (kind, process, learner, n, plan), terms in pooled(lines).items():
            for name, (_, size, found) in terms.items() if kind == "coverage" else ():
                estimand, cov_type = name.rsplit("|", 1)
                part = _described(found, size, truths[process, learner, n, estimand])
                key = (process, learner, n, plan, refits[plan], cov_type, estimand)
                about = dict(zip(ROW, key, strict=True))
                parts.append(part.assign(**about))
                rows.append({**about, **_averaged(found, size, part)})
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=ROW)
        ordered = frame[ROW + [c for c in frame.columns if c not in ROW]]
        means = [
            mean.assign(process=process, learner=learner, n=n, estimand=estimand)
            for (process, learner, n, estimand), mean in truths.items()
        ]
        columns = [*TRUTH, "term", "truth", "truth_mcse"]
        every = pd.concat([pd.DataFrame(columns=columns, dtype=object), *means][bool(means) :])
        return cls(ordered, pd.DataFrame(rows), every[columns].reset_index(drop=True))

    def only(self, **values: Any) -> CoverageResults:
        """Return the rows with these values, such as ``only(learner="lm", n=[100, 1000])``."""
        frame, rows = chosen(ROW, values, self.frame, self.rows)
        about = {name: value for name, value in values.items() if name in TRUTH}
        return CoverageResults(frame, rows, *chosen(TRUTH, about, self.truths))

    def plot(self) -> ggplot:
        """Plot width against coverage (Molnar et al., Figures 3 and 4).

        One point per row of the study; lines connect the intervals of the same process, learner
        and n.
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        shown = self._shown().assign(
            scenario=self.rows["process"] + self.rows["learner"],
            size="n = " + self.rows["n"].astype(str),
        )
        return (
            p9.ggplot(shown, p9.aes("relative_width", "coverage"))
            + p9.geom_hline(yintercept=0.95, linetype="dashed", color="gray")
            + p9.geom_line(p9.aes(group="scenario"), color="lightgray")
            + p9.geom_errorbar(p9.aes(ymin="low", ymax="high", color="interval"), width=0)
            + p9.geom_point(p9.aes(color="interval", shape="learner"), size=2.5)
            + p9.facet_grid("estimand ~ size")
            + p9.labs(x=RELATIVE_WIDTH, y="Coverage", color="", shape="")
            + p9.theme_bw()
        )

    def plot_refits(self) -> ggplot:
        """Plot width and coverage against the number of refits (Molnar et al., Figure 5).

        Every process, learner, n and estimand has its own panels, and lines connect plans with the
        same `cov_type`: where those of several kinds have the same, ``only(plan=[...])`` picks one.
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        shown = self._shown()
        differ = [name for name in TRUTH if len(shown[name].unique()) > 1] or ["estimand"]
        named = shown.assign(n="n = " + shown["n"].astype(str))[differ]
        shown["of"] = ["\n".join(names) for names in named.itertuples(index=False)]
        shown["of"] = pd.Categorical(shown["of"], shown["of"].unique())
        relative = RELATIVE_WIDTH.replace(" / ", " /\n")
        width = shown.assign(panel=relative, value=shown["relative_width"])
        missing = {"low": np.nan, "high": np.nan}
        coverage = shown.assign(panel="Coverage", value=shown["coverage"])
        long = pd.concat([width.assign(**missing), coverage], ignore_index=True)
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

    def __str__(self) -> str:
        return self.rows.to_string()

    def _shown(self) -> pd.DataFrame:
        if self.rows.empty:
            raise DataError("A plot needs results of at least one row of the study, but has none.")
        half = 1.96 * self.rows["coverage_mcse"]
        return self.rows.assign(
            interval=self.rows["plan"] + ", " + self.rows["cov_type"],
            low=self.rows["coverage"] - half,
            high=self.rows["coverage"] + half,
        )


def chosen(
    known: Sequence[str], values: Mapping[str, Any], *frames: pd.DataFrame
) -> Iterator[pd.DataFrame]:
    """Yield the rows of every frame that have these values in the `known` columns."""
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise OptionError(
            f"`only` takes the columns {listed(known, most=20)}; got {shown(unknown[0])}."
            + did_you_mean(unknown[0], known)
        )
    for frame in frames:
        part = frame
        for column, value in values.items():
            wanted = value if isinstance(value, list | tuple) else [value]
            part = part[part[column].isin(wanted)]
        yield part


def pooled_truths(lines: Sequence[Line]) -> dict[tuple[str, str, int, str], pd.DataFrame]:
    """Return mean and Monte Carlo error of every term, by process, learner, n and estimand."""
    frames = {}
    truths = (line for line in lines if line.row[0] == "truth")
    for (_, process, learner, n, _), terms in pooled(truths).items():
        for estimand, (_, size, found) in terms.items():
            mean = np.array(found["sums"]) / size
            variance = np.clip(np.array(found["squares"]) / size - mean**2, 0, None)
            frames[process, learner, n, estimand] = pd.DataFrame(
                {
                    "term": found["term"],
                    "truth": mean,
                    "truth_mcse": np.sqrt(variance / max(size - 1, 1)),
                }
            )
    return frames


def _described(found: Mapping[str, Any], r: int, truth: pd.DataFrame) -> pd.DataFrame:
    mean = pd.DataFrame(found["sums"], columns=list(COLUMNS)) / r
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


def _averaged(found: Mapping[str, Any], r: int, part: pd.DataFrame) -> dict[str, float]:
    coverage = float(part["coverage"].mean())
    between = max(found["shares"] / r - coverage**2, 0.0) * r / max(r - 1, 1)
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
