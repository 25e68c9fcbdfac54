"""Several importances of the same features side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.checks import check_alpha, check_flag
from pyinterp.parameters import takes
from pyinterp.results import summary as tables
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults, broom_frame
from pyinterp.results.table import Table
from pyinterp.results.tabular import Tabular

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["ImportanceResults"]


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceResults(Tabular):
    """Importances of the same features, as ``importance()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By name, such as "cvim". For an object ``importances``, ``importances["cvim"]`` is one.
    """

    results: Mapping[str, EstimandResults]

    def __getitem__(self, name: str) -> EstimandResults:
        return self.results[name]

    @property
    def params(self) -> pd.DataFrame:
        """Estimates, one row per feature and one column per measure."""
        return pd.DataFrame({name: result.params for name, result in self.results.items()})

    @property
    def bse(self) -> pd.DataFrame:
        """Standard errors, laid out like `params`."""
        return pd.DataFrame({name: result.bse for name, result in self.results.items()})

    @property
    def tvalues(self) -> pd.DataFrame:
        """Test statistics, laid out like `params`."""
        return pd.DataFrame({name: result.tvalues for name, result in self.results.items()})

    @property
    def pvalues(self) -> pd.DataFrame:
        """P-values, laid out like `params`."""
        return pd.DataFrame({name: result.pvalues for name, result in self.results.items()})

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals: per measure, a name in `params`, columns 0 and 1."""
        return pd.concat({name: r.conf_int(alpha) for name, r in self.results.items()}, axis=1)

    def glance(self) -> pd.DataFrame:
        """Return one row per measure about the whole analysis, as R's broom does."""
        return pd.concat([r.glance() for r in self.results.values()], ignore_index=True)

    @takes()
    def summary(
        self,
        alpha: float = 0.05,
        *,
        sort: bool = True,
        top: int | None = None,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
        date: bool = True,
    ) -> Table:
        """Return the measures' tables below each other, under one header.

        Conditional measures add the positivity diagnostic R²_j.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Print features in decreasing order of the first measure that has them.
        {top}
        {table}
        {date}
        """
        options = tables.TableOptions(
            alpha=alpha,
            sort=sort,
            top=top,
            title=title,
            notes=notes,
            decimals=decimals,
            date=date,
        )
        return tables.summarize_several(list(self.results.values()), options, title="Importance")

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the measures' summary frames below each other, with a column `measure`."""
        frames = [
            result.summary_frame(alpha).assign(measure=result.estimand.label)
            for result in self.results.values()
        ]
        stacked = pd.concat(frames)
        return stacked[["measure", *stacked.columns.drop("measure")]]

    def to_r(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return `summary_frame` with the terms as a column, under broom's own column names."""
        return broom_frame(self.tidy(alpha))

    def plot(self, alpha: float = 0.05, *, sort: bool = True) -> ggplot:
        """Plot estimates with their intervals, one color per measure.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Draw features in decreasing order of the first measure, or else as in the data.
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        check_alpha(alpha)
        check_flag("sort", sort)
        several = list(self.results.values())
        labels = [results.estimand.label for results in several]
        return plots.together(several, labels, alpha=alpha, sort=sort)
