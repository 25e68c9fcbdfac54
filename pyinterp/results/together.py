"""Results of several estimands of one analysis: their tables below each other, one plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pyinterp.checks import check_alpha, check_count, check_flag
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.results.footnotes import headings_of
from pyinterp.results.results import EstimandResults
from pyinterp.results.tabular import TableOfEstimands

if TYPE_CHECKING:
    from plotnine import ggplot
    from plotnine.composition import Compose

__all__ = ["CausalResults", "CurveResults", "ImportanceResults", "SeveralResults"]


class SeveralResults(TableOfEstimands):
    """Results of several estimands: a subclass says which, and how they are drawn."""

    column = "measure"

    @property
    def labels(self) -> list[str]:
        """What tables and plots call the parts: their labels, descriptions if these repeat."""
        return headings_of(self.parts)

    def glance(self) -> pd.DataFrame:
        """Return one row per part about the whole analysis, as R's broom does."""
        return pd.concat([part.glance() for part in self.parts], ignore_index=True)

    def summary_frame(self, alpha: float | None = None) -> pd.DataFrame:
        """Return the parts' summary frames below each other, with a column that names them."""
        frames = [part.summary_frame(self.alpha if alpha is None else alpha) for part in self.parts]
        return pd.concat(frames, keys=self.labels, names=[self.column]).reset_index(self.column)


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceResults(SeveralResults):
    """Importances of the same features, as ``importance()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By name, such as "cvim". For an object ``importances``, ``importances["cvim"]`` is one.
    """

    results: Mapping[str, EstimandResults]
    title = "Importance"

    def __getitem__(self, name: str) -> EstimandResults:
        return self.results[name]

    @property
    def parts(self) -> list[EstimandResults]:
        """The results, in the order of the table."""
        return list(self.results.values())

    @property
    def terms(self) -> pd.Index:
        """Names of the rows: the terms of the first measure, then those that others add."""
        names = (name for result in self.parts for name in result.exog_names)
        return pd.Index(list(dict.fromkeys(names)), name="term")

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
        return pd.concat({name: part.reindex(terms) for name, part in parts.items()}, axis=1)

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
        panels = len({part.estimand.words.unit for part in self.parts}) > 1
        return plots.together(
            self.parts, self.labels, alpha=alpha, sort=sort, top=top, panels=panels
        )


@dataclass(frozen=True, eq=False, repr=False)
class CurveResults(SeveralResults):
    """Curves of several variables, as ``pd()`` returns them.

    Attributes
    ----------
    results : mapping of str to EstimandResults
        By variable. For an object ``curves``, ``curves["bmi"]`` is one.
    """

    results: Mapping[str, EstimandResults]
    column = "variable"

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
    def parts(self) -> list[EstimandResults]:
        """The results, in the order of the table."""
        return list(self.results.values())

    @property
    def labels(self) -> list[str]:
        """Names of the variables."""
        return list(self.results)

    @property
    def params(self) -> pd.Series[float]:
        """Estimates of all curves, by term."""
        return pd.concat([part.params for part in self.parts])

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors of all curves, by term."""
        return pd.concat([part.bse for part in self.parts])

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return 1 - alpha intervals of all curves, by term."""
        return pd.concat([part.conf_int(alpha) for part in self.parts])

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
        return plots.panels(self.parts, alpha=alpha)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CausalResults(SeveralResults):
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
    title = "Causal reading"

    @property
    def parts(self) -> list[EstimandResults]:
        """The three results, in the order of the table."""
        return [self.effects, self.importance, self.share]

    def plot(self, alpha: float = 0.05) -> ggplot:
        """Plot the average effects, with the effects of every row as thin curves."""
        return self.effects.plot(alpha)
