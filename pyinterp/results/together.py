"""Several importances of the same features side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.checks import check_alpha, check_count, check_flag
from pyinterp.parameters import takes
from pyinterp.results import summary as tables
from pyinterp.results.footnotes import NotesOption, headings_of
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
    def terms(self) -> pd.Index:
        """Names of the rows: the terms of the first measure, then those that others add."""
        names = (name for result in self.results.values() for name in result.exog_names)
        return pd.Index(list(dict.fromkeys(names)), name="term")

    @property
    def labels(self) -> list[str]:
        """What tables and plots call the measures: their labels, descriptions if these repeat."""
        return headings_of(list(self.results.values()))

    @property
    def params(self) -> pd.DataFrame:
        """Estimates, one row per feature and one column per measure.

        Missing where a measure has no value for a feature.
        """
        return self._side_by_side({name: r.params for name, r in self.results.items()})

    @property
    def bse(self) -> pd.DataFrame:
        """Standard errors, laid out like `params`."""
        return self._side_by_side({name: r.bse for name, r in self.results.items()})

    @property
    def tvalues(self) -> pd.DataFrame:
        """Test statistics, laid out like `params`."""
        return self._side_by_side({name: r.tvalues for name, r in self.results.items()})

    @property
    def pvalues(self) -> pd.DataFrame:
        """P-values, laid out like `params`."""
        return self._side_by_side({name: r.pvalues for name, r in self.results.items()})

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals: per measure, a name in `params`, columns 0 and 1."""
        return self._side_by_side({name: r.conf_int(alpha) for name, r in self.results.items()})

    def _side_by_side(
        self, parts: Mapping[str, pd.Series[float]] | Mapping[str, pd.DataFrame]
    ) -> pd.DataFrame:
        """Return columns under the measures' names, one row per term of any measure."""
        terms = self.terms
        aligned = {name: part.reindex(terms) for name, part in parts.items()}
        return pd.concat(aligned, axis=1)

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
            result.summary_frame(alpha).assign(measure=label)
            for label, result in zip(self.labels, self.results.values(), strict=True)
        ]
        stacked = pd.concat(frames)
        return stacked[["measure", *stacked.columns.drop("measure")]]

    def to_r(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return `summary_frame` with the terms as a column, under broom's own column names."""
        return broom_frame(self.tidy(alpha))

    def plot(self, alpha: float = 0.05, *, sort: bool = True, top: int | None = None) -> ggplot:
        """Plot estimates with their intervals, one color per measure.

        Measures in different units have a panel each.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Draw features in decreasing order of the first measure, or else as in the data.
        top : int, optional
            How many features are drawn, the first in that order; by default all.
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        check_alpha(alpha)
        check_flag("sort", sort)
        if top is not None:
            check_count("top", top)
        several = list(self.results.values())
        panels = len({results.estimand.unit for results in several}) > 1
        return plots.together(several, self.labels, alpha=alpha, sort=sort, top=top, panels=panels)
