"""Coefficients of fitted models with their covariance, and the same models with other values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.models.final_step import innermost
from pyinterp.models.predictor import Predictor
from pyinterp.representation import about, frozen

# From the object that holds coefficients, and other values, to a copy that has those.
Move = Callable[[Any, FloatArray], Any]
INDEFINITE = 1e-8  # of the largest eigenvalue of correlations: a negative one is no rounding


@frozen
class Coefficients:
    """The k coefficients of a fitted model.

    Attributes
    ----------
    values : ndarray of shape (k,)
    cov : ndarray of shape (k, k)
        Their sampling covariance, as the model states it.
    df : float
        Degrees of freedom of the model's own tests; infinite if these are normal.
    cov_type : str
        What the model calls the covariance; empty if it has no name for it.
    holder : object
        The object that holds them.
    move : callable
        ``move(holder, values)`` returns a copy of the holder with other coefficients.
    """

    values: FloatArray
    cov: FloatArray
    df: float
    cov_type: str
    holder: Any
    move: Move

    def directions(self) -> FloatArray:
        """Return a root R of the covariance, shape (k, rank): ``R @ R.T`` is the covariance.

        Coefficients have units, so it is the root of the correlations that is computed.
        """
        spread = np.sqrt(np.diag(self.cov))
        unit = np.where(spread > 0, spread, 1.0)
        values, vectors = np.linalg.eigh(self.cov / np.outer(unit, unit))
        positive = values > len(values) * np.finfo(np.float64).eps * values[-1]
        return np.asarray(unit[:, None] * vectors[:, positive] * np.sqrt(values[positive]))

    def shift(self, predictor: Predictor, by: FloatArray) -> Predictor:
        """Return a predictor whose model has coefficients that differ by `by`, shape (k,).

        It is a copy in which the other model takes the place of the holder.
        """
        other = self.move(self.holder, self.values + by)
        places = {id(self.holder): other}
        if hasattr(self.holder, "_results"):  # methods of statsmodels' wrappers are its
            places[id(self.holder._results)] = other._results
        return deepcopy(predictor, places)

    __repr__ = about


def coefficients_of(fitted: Any) -> Coefficients | None:
    """Return the coefficients of a fitted model that states their covariance; None for others.

    Models are results of statsmodels, all else that has ``params``, ``cov_params()`` and
    ``predict``, and models of glum, if they stored the covariance.
    """
    holder = innermost(fitted)
    holder = getattr(holder, "inside", holder)  # of a model with an offset
    holder = getattr(holder, "results_", holder)  # of `statsmodels_learner`
    inside = getattr(holder, "_results", holder)  # whose numbers have no names
    if hasattr(inside, "params") and callable(getattr(inside, "cov_params", None)):
        return _with_covariance(holder, inside.params, inside.cov_params, _with_params)
    if hasattr(holder, "coef_") and callable(getattr(holder, "covariance_matrix", None)):
        intercept = [holder.intercept_] if holder.fit_intercept else []
        values = np.concatenate([intercept, np.ravel(holder.coef_)])
        return _with_covariance(holder, values, holder.covariance_matrix, _with_coef)
    return None


def _with_covariance(
    holder: Any, values: Any, covariance: Callable[[], Any], move: Move
) -> Coefficients | None:
    """Return coefficients with a whole covariance that is not indefinite; None if there is none.

    At the boundary of a variance component, as of mixed models, it can be indefinite.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # glum warns of one that is not right
            cov = np.asarray(covariance(), np.float64)
    except (AttributeError, TypeError, ValueError, RuntimeError, UserWarning):
        return None  # not stored, or penalized
    flat = np.asarray(values, np.float64).ravel(order="F")  # as in MNLogit
    if cov.shape != (len(flat), len(flat)) or not np.isfinite(cov).all() or not cov.any():
        return None
    spread = np.sqrt(np.abs(np.diag(cov)))
    values = np.linalg.eigvalsh(cov / np.outer(*[np.where(spread > 0, spread, 1.0)] * 2))
    if values[0] < -INDEFINITE * values[-1]:
        return None
    df = np.inf
    if getattr(holder, "use_t", False):
        df = float(getattr(holder, "df_resid_inference", None) or holder.df_resid)
    return Coefficients(
        values=flat,
        cov=cov,
        df=df,
        cov_type=str(getattr(holder, "cov_type", "") or ""),
        holder=holder,
        move=move,
    )


def _with_params(results: Any, values: FloatArray) -> Any:
    """Return a copy of results with other ``params``; a wrapper's inside is copied too."""
    inside = copy(getattr(results, "_results", results))
    shaped = values.reshape(np.shape(inside.params), order="F")
    named = isinstance(inside.params, pd.Series)
    inside.params = pd.Series(shaped, inside.params.index) if named else shaped
    inside._cache = {}  # what was computed of the first ones
    return type(results)(inside) if hasattr(results, "_results") else inside


def _with_coef(model: Any, values: FloatArray) -> Any:
    """Return a copy of a model with other ``coef_``, and ``intercept_`` where it fits one."""
    other = copy(model)
    if model.fit_intercept:
        other.intercept_ = float(values[0])
    other.coef_ = values[-np.size(model.coef_) :].reshape(np.shape(model.coef_))
    return other
