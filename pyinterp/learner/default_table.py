"""What a fit shows of itself: the numbers of one table, permutation importances by default."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from pyinterp.inference.contrasts import Contrasts
from pyinterp.inference.joint_tests import JointTest
from pyinterp.learner.importances import Importances
from pyinterp.parameters import takes
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults, Hypothesis
from pyinterp.results.table import Table

if TYPE_CHECKING:
    from plotnine import ggplot

    from pyinterp.results.plots.style import Style

__all__ = ["DefaultTable"]


class DefaultTable(Importances):
    """The estimates, standard errors and tests of ``pfi()``, as attributes and methods of the fit.

    They are about permutation feature importance (PFI) with default options: how much larger the
    expected loss, squared error or log loss, is with other rows' values of a feature. They are no
    coefficients. PFI is measured when one of them is first asked for.
    """

    @cached_property
    def _pfi(self) -> EstimandResults:
        return self.pfi()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed again when it is needed."""
        return {name: value for name, value in vars(self).items() if name != "_pfi"}

    @property
    def params(self) -> pd.Series[float]:
        """PFI of every feature, in units of the loss: estimates of ``pfi()``."""
        return self._pfi.params

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors of the PFI in `params`, as ``pfi()`` has them."""
        return self._pfi.bse

    @property
    def tvalues(self) -> pd.Series[float]:
        """T statistics of the hypothesis PFI = 0, as ``pfi()`` has them."""
        return self._pfi.tvalues

    @property
    def pvalues(self) -> pd.Series[float]:
        """p-values of the hypothesis PFI = 0, as ``pfi()`` has them."""
        return self._pfi.pvalues

    @takes()
    def conf_int(
        self, alpha: float = 0.05, cols: Sequence[int] | Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return 1 - alpha intervals of PFI, as ``pfi()`` has them.

        Parameters
        ----------
        alpha : float
            Significance level; 0.05 gives 95% intervals.
        cols : sequence of int or str, optional
            Positions or names of the features to return; by default all.

        Returns
        -------
        pandas.DataFrame
            Columns 0 and 1, as in statsmodels.
        """
        return self._pfi.conf_int(alpha, cols)

    @takes()
    def t_test(self, hypotheses: Hypothesis) -> Contrasts:
        """Test linear hypotheses about PFI, such as ``"alcohol = sulphates"``, by ``pfi()``.

        Parameters
        ----------
        hypotheses : str, sequence of str, mapping, array of shape (k, q), or pair of arrays
            As for `EstimandResults.t_test`.

        Returns
        -------
        statsmodels.stats.contrast.ContrastResults
        """
        return self._pfi.t_test(hypotheses)

    @takes()
    def wald_test(self, hypotheses: Hypothesis) -> JointTest:
        """Test linear hypotheses about PFI together, by ``pfi()``.

        Parameters
        ----------
        hypotheses : str, sequence of str, mapping, array of shape (k, q), or pair of arrays
            As for `EstimandResults.wald_test`.
        """
        return self._pfi.wald_test(hypotheses)

    @takes()
    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return PFI with its inference, one row per feature, the frame of ``pfi()``."""
        return self._pfi.summary_frame(alpha)

    @takes()
    def tidy(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return `summary_frame` with the features as a column, as R's broom does."""
        return self._pfi.tidy(alpha)

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
        """Return the table of PFI, the summary of ``pfi()``.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        sort : bool
            Print features in decreasing order of their estimates.
        {top}
        {table}
        {date}
        """
        return self._pfi.summary(
            alpha,
            sort=sort,
            top=top,
            title=title,
            notes=notes,
            decimals=decimals,
            date=date,
        )

    @takes()
    def plot(
        self,
        alpha: float = 0.05,
        *,
        kind: Literal["auto", "dots", "bars", "forest"] = "auto",
        sort: bool = True,
        top: int | None = None,
        style: Style = "light",
    ) -> ggplot:
        """Plot PFI with its intervals, the plot of ``pfi()``.

        Parameters
        ----------
        alpha : float
            Significance level of the intervals.
        kind : {"auto", "dots", "bars", "forest"}
            "auto" draws dots; "forest" has the numbers beside them.
        sort : bool
            Draw features in decreasing order of their estimates, or else as in the data.
        top : int, optional
            How many features are drawn, the first in that order; by default all.
        style : {"light", "dark"}
            The ground on which marks are drawn.
        """
        return self._pfi.plot(alpha, kind=kind, sort=sort, top=top, style=style)
