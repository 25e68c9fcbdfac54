"""Results of the causal reading of one feature: effects, importance, and the share of variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyinterp.checks import check_alpha
from pyinterp.results import summary as tables
from pyinterp.results.results import EstimandResults

if TYPE_CHECKING:
    from plotnine import ggplot
    from statsmodels.iolib.summary import Summary

__all__ = ["CausalResults"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CausalResults:
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

    def summary(self, alpha: float = 0.05) -> Summary:
        """Return the three tables with their assumptions.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        """
        check_alpha(alpha)
        parts = [self.effects, self.importance, self.share]
        return tables.summarize_below(parts, alpha=alpha, title="Causal reading")

    def plot(self, alpha: float = 0.05) -> ggplot:
        """Plot the average effects, with the effects of every row as thin curves."""
        return self.effects.plot(alpha)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())
