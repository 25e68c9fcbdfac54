"""On what scale predictions are analyzed, and for which classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, is_list
from pyinterp.errors import OptionError, did_you_mean, listed, reason, shown
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Predictor

__all__ = ["Scale", "UsedScale", "classes_of", "name_of", "scale_of", "scaled"]

Scale: TypeAlias = (
    Literal["probability", "logit", "centered-logit"] | Callable[[FloatArray], FloatArray]
)
UsedScale: TypeAlias = Scale | Literal["mean"]

SCALES = ("probability", "logit", "centered-logit")
# What R's pdp takes for a probability of 0.
EPSILON = float(np.finfo(np.float64).eps)


def classes_of(predictor: Predictor, which: Any) -> list[tuple[Any, int]]:
    """Return label and position of the wanted classes; by default the second of two, or all."""
    if predictor.classes is None:
        if which is not None:
            raise OptionError("`which_class` is for classifiers; this learner predicts a mean.")
        return [(None, -1)]
    known = list(predictor.classes)
    if which is None:
        wanted = known[1:] if len(known) == 2 else known
    else:
        wanted = list(dict.fromkeys(which)) if _several(which) else [which]
    if not wanted:
        raise OptionError(f"`which_class` must name at least one class of {listed(known)}.")
    places = [_place(label, known) for label in wanted]
    return [(known[place], place) for place in places]


def _several(which: object) -> bool:
    return is_list(which) and all(isinstance(label, Hashable) for label in which)


def _place(label: object, known: list[Any]) -> int:
    """Return the position of a class, whose label is a single value."""
    scalar = label.item() if isinstance(label, np.generic) else label
    if isinstance(scalar, Hashable) and scalar is not pd.NA and scalar in known:
        return known.index(scalar)
    raise OptionError(
        f"`which_class` must be among {listed(known)}, not {shown(label)}."
        f"{did_you_mean(label, known)}"
    )


def scale_of(predictor: Predictor, scale: Scale | None) -> UsedScale:
    """Return the scale that is meant, after checking that predictions have it."""
    if callable(scale) and not isinstance(scale, type):
        return scale
    if predictor.classes is None:
        if scale is not None:
            raise OptionError(
                "The scale of a learner that predicts a mean must be a function of its "
                f"predictions, such as np.exp, not {shown(scale)}."
            )
        return "mean"
    chosen: Scale = "probability" if scale is None else scale
    check_choice("scale", chosen, SCALES)
    if chosen != "probability" and predictor.kind == "label":
        raise OptionError(f'`scale="{chosen}"` needs a classifier with `predict_proba`.')
    return chosen


def scaled(predictions: FloatArray, classes: tuple[int, ...], scale: UsedScale) -> FloatArray:
    """Return predictions on their scale, class by class in the first axis.

    Parameters
    ----------
    predictions : ndarray of shape (...) or (..., number of classes)
    classes : tuple of int
        Positions of the wanted classes; (-1,) for means.
    scale : Scale or "mean"
    """
    if classes == (-1,):
        return (_applied(scale, predictions) if callable(scale) else predictions)[None]
    if callable(scale):
        values = _applied(scale, predictions)
    elif scale == "probability":
        values = predictions
    else:
        logs = np.log(np.where(predictions > 0, predictions, EPSILON))
        # Of two classes the centered logit is half the logit.
        full = 2 if scale == "logit" and predictions.shape[-1] == 2 else 1
        values = full * (logs - logs.mean(axis=-1, keepdims=True))
    return np.moveaxis(values[..., list(classes)], -1, 0)


def _applied(scale: Callable[[FloatArray], FloatArray], predictions: FloatArray) -> FloatArray:
    """Return a user's function of predictions: one real, finite number for each."""
    name = f"The function `{name_of(scale)}` of predictions"
    try:
        given = scale(read_only(predictions))
    except Exception as error:
        raise OptionError(f"{name} can't be evaluated: {reason(error)}") from error
    values = real_numbers(given)
    if values is None or values.shape != predictions.shape or not np.isfinite(values).all():
        raise OptionError(
            f"{name} must return one finite number for each, shape {predictions.shape}; it "
            f"returned {shown(given)}."
        )
    return values


def name_of(scale: UsedScale) -> str:
    """Return what tables call a scale."""
    if callable(scale):
        return getattr(scale, "__name__", "scaled")
    return "centered logit" if scale == "centered-logit" else scale
