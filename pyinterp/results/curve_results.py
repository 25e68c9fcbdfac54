"""Curves of several variables: tables below each other, and a grid of panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.checks import check_alpha
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.parameters import takes
from pyinterp.results import summary as tables
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults, broom_frame
from pyinterp.results.table import Table
from pyinterp.results.tabular import Tabular

if TYPE_CHECKING:
    from plotnine import ggplot
    from plotnine.composition import Compose

__all__ = ["CurveResults"]


@dataclass(frozen=True, eq=False, repr=False)
class CurveResults(Tabular):
    """Curves of several variables, as ``pd()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By variable. For an object ``curves``, ``curves["bmi"]`` is one.
    """

    results: Mapping[str, EstimandResults]

    def __getitem__(self, name: str) -> EstimandResults:
        if name not in self.results:
            raise OptionError(
                f"There is no curve of {quote(name)}. Variables: {list_of(self.results)}."
                + did_you_mean(name, self.results)
            )
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates of all curves, by term."""
        return pd.concat([result.params for result in self.results.values()])

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors of all curves, by term."""
        return pd.concat([result.bse for result in self.results.values()])

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals of all curves, by term."""
        return pd.concat([result.conf_int(alpha) for result in self.results.values()])

    def glance(self) -> pd.DataFrame:
        """Return one row per curve about the whole analysis, as R's broom does."""
        return pd.concat([r.glance() for r in self.results.values()], ignore_index=True)

    @takes()
    def summary(
        self,
        alpha: float = 0.05,
        *,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
        date: bool = True,
    ) -> Table:
        """Return the tables of all curves below each other, under one header.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        {table}
        {date}
        """
        several = list(self.results.values())
        options = tables.TableOptions(
            alpha=alpha, title=title, notes=notes, decimals=decimals, date=date
        )
        return tables.summarize_several(several, options, title=several[0].estimand.heading)

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the curves' summary frames below each other, with a column `variable`."""
        frames = [
            result.summary_frame(alpha).assign(variable=name)
            for name, result in self.results.items()
        ]
        stacked = pd.concat(frames)
        return stacked[["variable", *stacked.columns.drop("variable")]]

    def to_r(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return `summary_frame` with the terms as a column, under broom's own column names."""
        return broom_frame(self.tidy(alpha))

    def plot(self, alpha: float = 0.05) -> Compose | ggplot:
        """Plot all curves in a grid of panels with one vertical scale.

        A category with more levels than a panel has lines has a column of its own, to the right.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        check_alpha(alpha)
        return plots.panels(list(self.results.values()), alpha=alpha)
