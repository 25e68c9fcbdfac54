"""What a fit shows of itself: the numbers of one table, permutation importances by default."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from pyinterp.learner.importances import Importances
from pyinterp.results.results import EstimandResults

__all__ = ["DefaultTable"]

P = ParamSpec("P")
R = TypeVar("R")


def _of_pfi(
    method: Callable[Concatenate[EstimandResults, P], R], first_line: str
) -> Callable[Concatenate[DefaultTable, P], R]:
    """Return the method of a fit that is a method of its ``pfi()``, with the same parameters."""

    @wraps(method)
    def of_fit(self: DefaultTable, /, *args: P.args, **options: P.kwargs) -> R:
        return method(self._pfi, *args, **options)

    of_fit.__doc__ = "\n\n".join([first_line, *(method.__doc__ or "").split("\n\n")[1:]])
    return of_fit


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

    conf_int = _of_pfi(
        EstimandResults.conf_int, "Return 1 - alpha intervals of PFI, as ``pfi()`` has them."
    )
    t_test = _of_pfi(EstimandResults.t_test, "Test linear hypotheses about PFI, by ``pfi()``.")
    wald_test = _of_pfi(
        EstimandResults.wald_test, "Test linear hypotheses about PFI together, by ``pfi()``."
    )
    summary_frame = _of_pfi(
        EstimandResults.summary_frame, "Return PFI with its inference, one row per feature."
    )
    tidy = _of_pfi(EstimandResults.tidy, "Return `summary_frame` with the features as a column.")
    summary = _of_pfi(EstimandResults.summary, "Return the table of PFI, which ``pfi()`` prints.")
    plot = _of_pfi(EstimandResults.plot, "Plot PFI with its intervals, the plot of ``pfi()``.")
