"""Curves of several variables: tables below each other, and a grid of panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.checks import check_alpha
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.results import summary as tables
from pyinterp.results.results import EstimandResults, broom_frame

if TYPE_CHECKING:
    from plotnine import ggplot
    from plotnine.composition import Compose
    from statsmodels.iolib.summary import Summary

__all__ = ["CurveResults"]


@dataclass(frozen=True, eq=False, repr=False)
class CurveResults:
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

    def summary(self, alpha: float = 0.05) -> Summary:
        """Return the tables of all curves below each other, under one header.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        """
        check_alpha(alpha)
        several = list(self.results.values())
        title = several[0].estimand.heading
        return tables.summarize_below(several, alpha=alpha, title=title)

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
        return broom_frame(self.summary_frame(alpha).reset_index())

    def plot(self, alpha: float = 0.05) -> Compose | ggplot:
        """Plot all curves in a grid of panels with one vertical scale.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        """
        from pyinterp.results import plots  # noqa: PLC0415 - plotnine takes a second to import

        check_alpha(alpha)
        return plots.panels(list(self.results.values()), alpha=alpha)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())
