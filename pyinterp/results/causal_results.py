"""Results of the causal reading of one feature: effects, importance, and the share of variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.parameters import takes
from pyinterp.results import summary as tables
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults
from pyinterp.results.table import Table
from pyinterp.results.tabular import Tabular

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["CausalResults"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CausalResults(Tabular):
    """What a feature would do if it were set, if the stated assumptions hold.

    Attributes
    ----------
    effects : EstimandResults
        Average effects against the first level or smallest value. ``effects.row_frame()`` has the
        CATE of every row.
    importance : EstimandResults
        MVIM and CVIM as mean squared effects, by plug-in, beside their permutation estimates.
    share : EstimandResults
        CVIM / (2 V(Y)), the share of variance that the feature explains causally.
    """

    effects: EstimandResults
    importance: EstimandResults
    share: EstimandResults

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
        """Return the three tables with their assumptions.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        {table}
        {date}
        """
        options = tables.TableOptions(
            alpha=alpha, title=title, notes=notes, decimals=decimals, date=date
        )
        return tables.summarize_several(self.parts, options, title="Causal reading")

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the parts' summary frames below each other, with a column `measure`."""
        frames = [
            part.summary_frame(alpha).assign(measure=part.estimand.label) for part in self.parts
        ]
        stacked = pd.concat(frames)
        return stacked[["measure", *stacked.columns.drop("measure")]]

    @property
    def parts(self) -> list[EstimandResults]:
        """The three results, in the order of the table."""
        return [self.effects, self.importance, self.share]

    def plot(self, alpha: float = 0.05) -> ggplot:
        """Plot the average effects, with the effects of every row as thin curves."""
        return self.effects.plot(alpha)
