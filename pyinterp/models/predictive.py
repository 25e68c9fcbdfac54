"""Predictive distributions that fitted regressors state, read from whatever they offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray, Matrix
from pyinterp.distributions import Distribution, Gamma, LogNormal, Normal, NormalMixture, Poisson
from pyinterp.errors import PredictionError, list_of, reason
from pyinterp.models.final_step import final_step
from pyinterp.models.libraries import library_of
from pyinterp.models.library import Parameters, Statement
from pyinterp.models.predictor import Predictor, learner_name
from pyinterp.models.scikit_learn import with_sd

WHAT_TO_USE = (
    "use a learner that states one: a regressor with `predict(X, return_std=True)`, such as "
    "BayesianRidge; OLS or GLM of statsmodels; a random forest with `min_samples_leaf=5`; NGBoost; "
    "one with `predict_components(X)`; or `pi.Distributional(estimator, ...)`"
)
# Single precision, in which some libraries predict.
SAME = 1e-5
QUANTILES = ("quantile", "reg:quantileerror", "Quantile")


def predictive(predictor: Predictor, row: Matrix) -> Predictor:
    """Return a fitted model's predictor of distributions; of class probabilities, itself.

    Parameters
    ----------
    predictor : Predictor
        Of means, probabilities or labels.
    row : matrix
        A design row, to see what the model predicts.

    Raises
    ------
    PredictionError
        If the model states no distribution.
    """
    if predictor.kind in ("probability", "distribution"):
        return predictor
    if predictor.kind == "label":
        raise PredictionError(
            f"{predictor.name} predicts classes without probabilities, so it states no predictive "
            "distribution; use a classifier with `predict_proba`, or CalibratedClassifierCV."
        )
    last = final_step(predictor.estimator)
    inputs = row if last.before is None else last.before(row)
    stated = _statement(last.model, inputs)
    if stated is None:
        raise PredictionError(
            f"{predictor.name} predicts a mean but no distribution, so its uncertainty is not "
            f"defined; {WHAT_TO_USE}."
        )
    family, parameters = stated
    if last.before is not None:
        parameters = partial(_after, last.before, parameters)
    read = Predictor(predictor.estimator, "distribution", None, parameters, family)
    if not isinstance(getattr(last.model, "predictive_distribution", None), Distribution):
        _check_mean(predictor, read, family, row)
    return read


def _after(before: Callable[[Matrix], Any], parameters: Parameters, rows: Matrix) -> FloatArray:
    """Return parameters of rows that the earlier steps of a pipeline transform."""
    return parameters(before(rows))


def _check_mean(predictor: Predictor, read: Predictor, family: Distribution, row: Matrix) -> None:
    """Raise unless the distribution has the mean that is predicted: it is the model's then."""
    predicted, mean = predictor(row), family.mean(read(row))
    if not np.allclose(predicted, mean, rtol=SAME, atol=SAME * float(np.abs(predicted).max())):
        raise PredictionError(
            f"The distribution that was read from {predictor.name} has mean {mean[0]:.6g}, but "
            f"the model predicts {predicted[0]:.6g}: its `predict` does something of its own. Use "
            "`pi.Distributional(estimator, ...)`, and say what the distribution is."
        )


def _statement(model: Any, row: Any) -> Statement | None:
    """Return the family of the distribution that a model states, and what predicts its parameters.

    The first convention that the model follows decides; None if it follows none. Some are tried on
    `row`, one row of inputs.
    """
    _refuse_quantiles(model)
    family = getattr(model, "predictive_distribution", None)
    if isinstance(family, Distribution):  # of `pi.Distributional`, and of any that states one
        return family, model.predict_parameters
    results = getattr(model, "results_", model)
    return (
        _of_components(model, row)
        or library_of(results).distribution(results)
        or _of_ngboost(model, row)
        or _of_standard_deviation(model)
    )


def _refuse_quantiles(model: Any) -> None:
    """Raise `PredictionError` if a model predicts quantiles, which are no distribution."""
    name = type(getattr(getattr(model, "results_", model), "model", model)).__name__
    losses = (getattr(model, attribute, None) for attribute in ("loss", "objective"))
    by_loss = any(isinstance(loss, str) and loss.startswith(QUANTILES) for loss in losses)
    if by_loss or name in ("QuantileRegressor", "QuantReg"):
        raise PredictionError(
            f"{name} predicts a quantile, and one quantile is no distribution: neither its density "
            f"nor its entropy is known; {WHAT_TO_USE}."
        )


def _of_components(model: Any, row: Any) -> Statement | None:
    """Read equal-weight mixtures of Normals: draws of a posterior, ensembles."""
    if not callable(getattr(model, "predict_components", None)):
        return None
    return NormalMixture(_components(model, row).shape[1] // 2), partial(_components, model)


def _components(model: Any, inputs: Any) -> FloatArray:
    """Return means, then standard deviations, of a mixture's components: (rows, 2 x components)."""
    components = model.predict_components(inputs)
    shapes = [np.shape(part) for part in components]
    if len(shapes) != 2 or len(shapes[0]) != 2 or shapes[0] != shapes[1]:
        raise PredictionError(
            "`predict_components` must return means and standard deviations, both of shape "
            f"(rows, components), but that of {learner_name(model)} returned shapes "
            f"{list_of(shapes)}."
        )
    return np.concatenate([np.asarray(part) for part in components], axis=1)


def _of_standard_deviation(model: Any) -> Statement | None:
    """Return a Normal of ``predict(X, return_std=True)``."""
    try:
        states = "return_std" in signature(model.predict).parameters
    except (AttributeError, TypeError, ValueError):
        return None
    return (Normal(), partial(with_sd, model)) if states else None


# By the name of NGBoost's distribution: our family, and its parameters from theirs.
FAMILIES: dict[str, tuple[Distribution, Callable[[Mapping[str, Any]], tuple[Any, ...]]]] = {
    "Normal": (Normal(), lambda of: (of["loc"], of["scale"])),
    "LogNormal": (LogNormal(), lambda of: (np.log(of["scale"]), of["s"])),
    "Poisson": (Poisson(), lambda of: (of["mu"],)),
    "Gamma": (Gamma(), lambda of: (of["alpha"], 1 / of["beta"])),
}


def _of_ngboost(model: Any, row: Any) -> Statement | None:
    """Read the distribution that ``pred_dist(X)`` returns; of survival it is a subclass."""
    if not callable(getattr(model, "pred_dist", None)):
        return None
    try:
        kinds = [kind.__name__ for kind in type(model.pred_dist(row)).__mro__]
    except Exception as error:
        raise PredictionError(
            f"{learner_name(model)} has `pred_dist`, but it can't predict a distribution: "
            f"{reason(error)}"
        ) from error
    name = next((kind for kind in kinds if kind in FAMILIES), None)
    if name is None:
        raise PredictionError(
            f"{learner_name(model)} predicts a distribution of type {kinds[0]}; those that can be "
            f"read are {', '.join(FAMILIES)}. For others use `pi.Distributional(estimator, ...)`."
        )
    return FAMILIES[name][0], partial(_parameters, model, name)


def _parameters(model: Any, name: str, inputs: Any) -> FloatArray:
    """Return parameters of a family, (n, P), from those that NGBoost predicts."""
    parameters = FAMILIES[name][1](model.pred_dist(inputs).params)
    return np.column_stack([np.broadcast_to(np.ravel(p), len(inputs)) for p in parameters])
