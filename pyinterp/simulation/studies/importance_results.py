"""Results of studies of importances: a tidy frame, the paper's tables and its Figures 4 to 9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.parameters import takes
from pyinterp.representation import about
from pyinterp.simulation.components import COLUMNS
from pyinterp.simulation.studies.coverage_results import matching_rows
from pyinterp.simulation.studies.records import Record, pool_records
from pyinterp.simulation.truth import Truth

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["ImportanceStudyResults", "Measure"]

Measure: TypeAlias = Literal["mvim", "cvim"]

ROW = ["process", "learner", "n", "measure", "feature"]
KEY = ["process", "learner", "measure", "feature", "n"]

HEADER = {
    "bias2_switch": ("Bias²", "switch"),
    "bias2_orig": ("Bias²", "orig"),
    "variance_switch": ("Variance", "switch"),
    "variance_orig": ("Variance", "orig"),
    "delta": ("", "δ"),
    "estimate": ("", "Estimate"),
    "corrected": ("", "Corrected"),
    "truth": ("", "True"),
}


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceStudyResults:
    """Bias, variance and delta of estimated importances; made by `ImportanceStudy`.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n (training rows), measure ("mvim" or "cvim") and feature:
        `repetitions` (models) and `validation` (rows per block of models); `bias2_switch`,
        `bias2_orig`, `variance_switch`, `variance_orig`, `delta`, `estimate` (mean of the
        estimated importances), `corrected` (which has the expectation `truth`, whatever the
        learner) and `truth`, in squared units of the response, each with a Monte Carlo standard
        error, such as `delta_mcse`, which is missing for a single block.
    """

    frame: pd.DataFrame

    @classmethod
    def of(
        cls,
        records: Sequence[Record],
        truths: Mapping[tuple[str, ...], Truth[float]],
        validation: int,
    ) -> ImportanceStudyResults:
        """Return the results of records, with truths by process, feature and measure."""
        rows = []
        for row, terms in pool_records(records).items():
            for (feature, measure), pool in terms.items():
                values = (*row[1:4], measure, feature)
                names: dict[str, Any] = dict(zip(ROW, values, strict=True))
                truth, truth_mcse = truths[row.process, feature, measure]
                rows.append(
                    {
                        **names,
                        "repetitions": pool.size,
                        "validation": validation,
                        **_describe(pool),
                        "truth": truth,
                        "truth_mcse": truth_mcse,
                    }
                )
        return cls(pd.DataFrame(rows) if rows else pd.DataFrame(columns=[*ROW, *HEADER]))

    @takes()
    def only(
        self,
        *,
        process: str | Sequence[str] | None = None,
        learner: str | Sequence[str] | None = None,
        n: int | Sequence[int] | None = None,
        measure: Measure | Sequence[Measure] | None = None,
        feature: str | Sequence[str] | None = None,
    ) -> ImportanceStudyResults:
        """Return the rows with these values, such as ``only(measure="cvim", n=[100, 1000])``.

        Parameters
        ----------
        process, learner : str or sequence of str, optional
            Names, by default all.
        n : int or sequence of int, optional
            Training rows.
        measure : {"mvim", "cvim"} or sequence of them, optional
        feature : str or sequence of str, optional
        """
        values = {
            "process": process,
            "learner": learner,
            "n": n,
            "measure": measure,
            "feature": feature,
        }
        return ImportanceStudyResults(matching_rows(self.frame, values))

    def table(self, digits: int = 2) -> pd.DataFrame:
        """Return the components as Tables 2 to 7 of Khan et al. (2025) have them, rounded.

        One row per process, learner, measure, feature and n, the last varying fastest.
        """
        places = self.frame[KEY].apply(lambda column: pd.factorize(column)[0])
        ordered = self.frame.loc[places.sort_values(KEY).index]
        table = ordered.set_index(KEY)[list(HEADER)].astype(np.float64).round(digits) + 0.0  # no -0
        table.columns = pd.MultiIndex.from_tuples(HEADER.values())
        return table

    def plot(self) -> ggplot:
        """Plot delta and the estimated importance against n (Khan et al. 2025, Figures 4 to 9).

        The dashed line is the true importance; bars are 95% Monte Carlo intervals.
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        named = self.frame["process"] + "\n" + self.frame["measure"].str.upper()
        panel = named + " of " + self.frame["feature"] + ", " + self.frame["learner"]
        frame = self.frame.assign(panel=pd.Categorical(panel, categories=panel.unique()))
        long = pd.concat(
            [
                frame.assign(
                    what=what, value=frame[column], half=1.96 * frame[f"{column}_mcse"].fillna(0)
                )
                for column, what in (("delta", "delta"), ("estimate", "estimate"))
            ],
            ignore_index=True,
        )
        long = long.assign(low=long["value"] - long["half"], high=long["value"] + long["half"])
        truth = frame.drop_duplicates("panel")
        return (
            p9.ggplot(long, p9.aes("n", "value", color="what"))
            + p9.geom_hline(p9.aes(yintercept="truth"), data=truth, linetype="dashed")
            + p9.geom_linerange(p9.aes(ymin="low", ymax="high"))
            + p9.geom_line()
            + p9.geom_point()
            + p9.facet_wrap("panel", scales="free_y")
            + p9.scale_x_log10()
            + p9.scale_color_manual(values={"delta": "#D55E00", "estimate": "#0072B2"})
            + p9.labs(
                x="Training rows",
                y="Squared units of the response",
                color="",
                caption="Dashed: the true importance. Bars: 95% Monte Carlo intervals.",
            )
            + p9.theme_bw()
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.frame)} rows")

    def __str__(self) -> str:
        return self.table().to_string()


def _describe(pool: Record) -> dict[str, float]:
    """Return means over blocks and their standard errors."""
    blocks = len(pool.blocks)
    mean = pool.sums["sums"] / blocks
    spread = np.clip(pool.sums["squares"] / blocks - mean**2, 0, None)
    error = np.sqrt(spread / (blocks - 1)) if blocks > 1 else np.full(len(mean), np.nan)
    pairs = zip(COLUMNS, mean.tolist(), error.tolist(), strict=True)
    return {name: v for c, m, e in pairs for name, v in ((c, m), (f"{c}_mcse", e))}
