"""Certificates: what intervals of a table cover on copies of its data, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.inference.digits import number_format
from pyinterp.parallel.progress import clock
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOptions, summarize_frame
from pyinterp.results.table import Table
from pyinterp.results.tabular import Tabular
from pyinterp.simulation.studies.coverage_results import COLUMNS, CoverageResults

__all__ = ["Certificate"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Certificate(Tabular):
    """Coverage, width and power of the intervals of one table; made by `certify`.

    Attributes
    ----------
    table : EstimandResults
        The results whose intervals these are.
    counts : CoverageResults
        Counts over data sets as of any study: `counts.rows` has the coverage of all terms.
    sums : ndarray of shape (data sets, terms, columns)
        The same by data set; the columns are those of records of studies.
    alpha : float
        1 - alpha is the nominal coverage.
    truth : str
        What gave the truth, in words.
    expected_seconds, seconds : float
        What the call that returned this was expected to take, and what it took.
    """

    table: EstimandResults
    counts: CoverageResults
    sums: FloatArray
    alpha: float
    truth: str
    expected_seconds: float
    seconds: float

    def _error(self, coverage: float) -> float:
        """Return the standard error of a share of the data sets (Agresti and Coull)."""
        n = len(self.sums) + 4
        center = (coverage * len(self.sums) + 2) / n
        return float(np.sqrt(center * (1 - center) / n))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per term.

        `estimate` in the data; `truth` in the copy; `coverage` and `coverage_error`, its standard
        error, which is not 0 for shares of 0 and 1 (Agresti and Coull); the shares of intervals
        `below` and `above` the truth; `relative_width`, mean width divided by that of an interval
        that knows the standard deviation of the estimates; `rejected`, the share of p-values below
        alpha, missing without a null value; mean `width`; `rejected_mcse`, `truth_mcse`, Monte
        Carlo errors; `bias` and `sd` of the estimates over data sets, and `se`, the root of the
        mean of their squared standard errors.
        """
        frame = self.counts.frame.set_index("term")
        missed = self.sums[:, :, COLUMNS.index("covered")] == 0
        error = self.sums[:, :, COLUMNS.index("error")]
        known = 2 * stats.norm.isf(self.alpha / 2) * frame["sd"]
        tested = np.nan if self.table.null is None else 1.0
        numbers = {
            "estimate": self.table.params,
            "truth": frame["truth"],
            "coverage": frame["coverage"],
            "coverage_error": frame["coverage"].map(self._error),
            "below": (missed & (error < 0)).mean(axis=0),
            "above": (missed & (error > 0)).mean(axis=0),
            "relative_width": frame["width"] / known,
            "rejected": tested * frame["rejected"],
        }
        others = frame[["width", "rejected_mcse", "truth_mcse", "bias", "sd", "se"]]
        every = pd.DataFrame(numbers, index=frame.index).join(others)
        grid = self.table.estimand.terms.axes
        return every if grid else every.sort_values("truth", ascending=False, kind="stable")

    def summary_frame(self) -> pd.DataFrame:
        """Return `frame`."""
        return self.frame

    def summary(self, *, notes: NotesOption = "short") -> Table:
        """Return a table of coverage, width and power.

        Parameters
        ----------
        notes : {"short", "full", "none"}
            Footnotes; "full" are those of "short".
        """
        TableOptions(notes=notes)
        context, row = self.table.context, self.counts.rows.iloc[0]
        number = number_format(self.frame["truth"].to_numpy(), self.frame["sd"].to_numpy())
        shown = list(map(str, self.frame.loc[:, :"rejected"].dropna(axis=1, how="all")))
        note = NOTE.format(100 * (1 - self.alpha))
        if "rejected" in shown:
            note += TESTS.format(self.alpha)
        sizes = ("estimate", "truth")
        return summarize_frame(
            self.frame.rename(columns=HEADINGS),
            {HEADINGS.get(name, name): number if name in sizes else "%.3f" for name in shown},
            title="Coverage on copies of the data",
            facts=[
                ("Estimand:", self.table.estimand.description),
                ("Data sets:", f"{len(self.sums)} of {context.nobs} rows"),
                ("Learner:", context.learner),
                ("Truth:", f"{self.truth}, std err at most {self.frame['truth_mcse'].max():.2g}"),
                ("Resampling:", f"{context.plan}, {self.table.cov_type}"),
                ("Time:", f"{clock(self.seconds)}, expected {clock(self.expected_seconds)}"),
                ("Coverage:", f"{row['coverage']:.3f}, std err {self._error(row['coverage']):.3f}"),
            ],
            notes=[] if notes == "none" else [f"{note}.", CAUTION],
        )


HEADINGS = {"coverage_error": "std err", "relative_width": "rel. width"}
NOTE = (
    "coverage: share of data sets whose {:.4g}% interval holds the truth; below, above: share "
    "whose interval is below it or above it; rel. width: mean width, divided by that of an "
    "interval that knows the standard deviation of the estimates"
)
TESTS = "; rejected: share of data sets with P < {:.4g}"
CAUTION = "Data sets are copies of the data: where estimate and truth differ, coverage may too."
