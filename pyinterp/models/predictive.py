"""Predictive distributions that fitted regressors state, read from whatever they offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from pyinterp._typing import FloatArray, Matrix
from pyinterp.distributions import Distribution, Gamma, LogNormal, Normal, NormalMixture, Poisson
from pyinterp.errors import PredictionError
from pyinterp.models.final_step import final_step
from pyinterp.models.predictor import Predictor, learner_name

__all__ = ["predictive"]

Parameters = Callable[[Matrix], FloatArray]

WHAT_TO_USE = (
    "one that states it is needed: a regressor with `predict(X, return_std=True)`, such as "
    "GaussianProcessRegressor or BayesianRidge, statsmodels' OLS or GLM, a forest with "
    "`min_samples_leaf=5`, an estimator of NGBoost or skpro, one with `predict_components(X)`, or "
    "`pi.Distributional(estimator, parameters, ...)`"
)
QUANTILES = {"QuantileRegressor", "QuantReg"}


def predictive(predictor: Predictor) -> Predictor:
    """Return the predictor of distributions that a predictor of means belongs to.

    Of class probabilities it is the predictor itself.

    Raises
    ------
    PredictionError
        If the fitted estimator states no distribution.
    """
    if predictor.kind == "probability":
        return predictor
    name = predictor.name
    if predictor.kind == "label":
        raise PredictionError(
            f"{name} predicts classes without probabilities, so it states no predictive "
            "distribution; use a classifier with `predict_proba`, or CalibratedClassifierCV."
        )
    last = final_step(predictor.estimator)
    stated = _stated(last.model, learner_name(last.model))
    if stated is None:
        raise PredictionError(
            f"{name} predicts a mean and no distribution, so predictive uncertainty is not "
            f"defined; {WHAT_TO_USE}."
        )
    call = stated.parameters if last.before is None else _After(last.before, stated.parameters)
    return Predictor(predictor.estimator, "distribution", None, call, stated.distribution)


@dataclass(frozen=True)
class _Stated:
    """A family, and the function from a model's inputs to its parameters, shape (n, P)."""

    distribution: Distribution
    parameters: Parameters


@dataclass(frozen=True)
class _After:
    """Parameters of rows that earlier steps of a pipeline transform."""

    before: Callable[[Matrix], Any]
    parameters: Parameters

    def __call__(self, matrix: Matrix) -> FloatArray:
        return self.parameters(self.before(matrix))


def _stated(model: Any, name: str) -> _Stated | None:
    for read in (_own, _of_quantiles, _statsmodels, _ngboost, _skpro, _standard_deviation, _forest):
        stated = read(model, name)
        if stated is not None:
            return stated
    return None


def _own(model: Any, _: str) -> _Stated | None:
    """Read what follows this package's own convention: a family, or components of a mixture."""
    family = getattr(model, "predictive_distribution", None)
    if isinstance(family, Distribution):
        return _Stated(family, model.predict_parameters)
    if not callable(getattr(model, "predict_components", None)):
        return None
    means, _ = model.predict_components(_one_row(model))
    return _Stated(NormalMixture(np.shape(means)[1]), _Components(model))
