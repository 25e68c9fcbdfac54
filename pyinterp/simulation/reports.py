"""Results of coverage studies: tidy frames with Monte Carlo errors, and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["CoverageResults"]

ROW = ["process", "learner", "n", "plan", "cov_type", "estimand"]


@dataclass(frozen=True, eq=False)
class CoverageResults:
    """Coverage, width and size of intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n, plan, variance estimator, estimand and term: `repetitions`,
        `truth` and its Monte Carlo error `truth_mcse`; `coverage`, `width` (mean), `rejected`
        (share of p-values below alpha), `bias`, `sd` (of the estimates over data sets), `se` (root
        of the mean variance), each but the last with a Monte Carlo error, such as `coverage_mcse`.
    rows : pandas.DataFrame
        Means over the terms of an estimand; `coverage_mcse` allows for their dependence.
    """

    frame: pd.DataFrame
    rows: pd.DataFrame

    @classmethod
    def of(cls, lines: Sequence[Mapping[str, Any]]) -> CoverageResults:
        """Pool blocks of repetitions."""
        truth = _truths([line for line in lines if line["key"][0] == "truth"])
        pooled: dict[tuple[Any, ...], dict[str, Any]] = {}
        columns: list[str] = []
        for line in lines:
            kind, process, learner, n, plan, _, size = line["key"]
            if kind != "coverage":
                continue
            columns = line["columns"]
            for name, found in line["terms"].items():
                estimand, cov_type = name.rsplit("|", 1)
                into = pooled.setdefault(
                    (process, learner, n, plan, cov_type, estimand),
                    {"repetitions": 0, "sums": 0.0, "share2": 0.0},
                )
                into["repetitions"] += size
                into["sums"] = into["sums"] + np.array(found["sums"])
                into["share2"] += found["share2"]
        parts, rows = [], []
        for key, found in pooled.items():
            process, learner, n, _, _, estimand = key
            part = _described(found, columns, truth[process, learner, n, estimand])
            about = dict(zip(ROW, key, strict=True))
            parts.append(part.assign(**about))
            rows.append({**about, **_averaged(found, part)})
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=ROW)
        ordered = frame[ROW + [c for c in frame.columns if c not in ROW]]
        return cls(ordered, pd.DataFrame(rows))

    def plot(self) -> ggplot:
        """Plot width against coverage, one point per row of the study (Molnar et al., Figure 3)."""
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        shown = self.rows.assign(
            interval=self.rows["plan"] + ", " + self.rows["cov_type"],
            low=self.rows["coverage"] - 1.96 * self.rows["coverage_mcse"],
            high=self.rows["coverage"] + 1.96 * self.rows["coverage_mcse"],
            size="n = " + self.rows["n"].astype(str),
        )
        return (
            p9.ggplot(shown, p9.aes("relative_width", "coverage", color="interval"))
            + p9.geom_hline(yintercept=0.95, linetype="dashed", color="gray")
            + p9.geom_errorbar(p9.aes(ymin="low", ymax="high"), width=0)
            + p9.geom_point(p9.aes(shape="learner"), size=2.5)
            + p9.facet_grid("estimand ~ size")
            + p9.labs(
                x="Mean width / (2 x 1.96 x true standard deviation)",
                y="Coverage",
                color="",
                shape="",
            )
            + p9.theme_bw()
        )


def _truths(lines: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], pd.DataFrame]:
    """Return mean and Monte Carlo error of every term, by process, learner, n and estimand."""
    parts: dict[tuple[Any, ...], list[tuple[int, Mapping[str, Any]]]] = {}
    for line in lines:
        _, process, learner, n, _, _, size = line["key"]
        for estimand, found in line["terms"].items():
            parts.setdefault((process, learner, n, estimand), []).append((size, found))
    frames = {}
    for key, found in parts.items():
        sizes = np.array([size for size, _ in found])
        means = np.array([f["mean"] for _, f in found])
        total, mean = sizes.sum(), np.average(means, axis=0, weights=sizes)
        squares = np.array([f["square"] for _, f in found]).sum(axis=0)
        squares = squares + (sizes[:, None] * np.square(means - mean)).sum(axis=0)
        mcse = np.sqrt(squares / (total - 1) / total)
        frames[key] = pd.DataFrame({"term": found[0][1]["term"], "truth": mean, "truth_mcse": mcse})
    return frames


def _described(
    found: Mapping[str, Any], columns: Sequence[str], truth: pd.DataFrame
) -> pd.DataFrame:
    r = found["repetitions"]
    mean = pd.DataFrame(found["sums"], columns=list(columns)) / r
    bessel = r / max(r - 1, 1)
    sd = np.sqrt(np.clip(mean["estimate2"] - mean["estimate"] ** 2, 0, None) * bessel)
    spread = np.sqrt(np.clip(mean["width2"] - mean["width"] ** 2, 0, None) * bessel)
    return truth.assign(
        repetitions=r,
        coverage=mean["covered"],
        coverage_mcse=np.sqrt(mean["covered"] * (1 - mean["covered"]) / r),
        width=mean["width"],
        width_mcse=spread / np.sqrt(r),
        rejected=mean["rejected"],
        rejected_mcse=np.sqrt(mean["rejected"] * (1 - mean["rejected"]) / r),
        bias=mean["estimate"],
        bias_mcse=sd / np.sqrt(r),
        sd=sd,
        sd_mcse=sd / np.sqrt(2 * max(r - 1, 1)),
        se=np.sqrt(mean["variance"]),
    )


def _averaged(found: Mapping[str, Any], part: pd.DataFrame) -> dict[str, float]:
    r, coverage = found["repetitions"], float(part["coverage"].mean())
    between = max(found["share2"] / r - coverage**2, 0.0) * r / max(r - 1, 1)
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
