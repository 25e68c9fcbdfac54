"""What a fit shows of itself: the numbers of one table, permutation importances by default."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from pyinterp.learner.importances import Importances
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults

P = ParamSpec("P")
R = TypeVar("R")


def _of_pfi(
    method: Callable[Concatenate[EstimandResults, P], R],
) -> Callable[Concatenate[DefaultTable, P], R]:
    """Return a method of results as a method of the fit, which asks ``pfi()``."""

    @wraps(method)
    def of_fit(fit: DefaultTable, /, *args: P.args, **options: P.kwargs) -> R:
        return method(fit._pfi, *args, **options)

    first, _, rest = (method.__doc__ or "").partition("\n")
    of_fit.__doc__ = f"{first}\n\n        Of permutation importances, ``pfi()``.\n{rest}"
    return takes()(of_fit)


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

    conf_int = _of_pfi(EstimandResults.conf_int)
    t_test = _of_pfi(EstimandResults.t_test)
    wald_test = _of_pfi(EstimandResults.wald_test)
    summary_frame = _of_pfi(EstimandResults.summary_frame)
    tidy = _of_pfi(EstimandResults.tidy)
    summary = _of_pfi(EstimandResults.summary)
    plot = _of_pfi(EstimandResults.plot)
