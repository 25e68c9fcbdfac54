"""Scales on which predictions are analyzed, and the classes that they are of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, is_list
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, reason
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import REAL, SHARES, Range

__all__ = [
    "Scale",
    "UsedScale",
    "classes_of",
    "name_of",
    "position_of",
    "range_of",
    "rescale",
    "scale_of",
]

Scale: TypeAlias = (
    Literal["probability", "logit", "centered-logit"] | Callable[[FloatArray], FloatArray]
)
UsedScale: TypeAlias = Scale | Literal["mean"]

SCALES = ("probability", "logit", "centered-logit")
# What R's pdp takes for a probability of 0.
EPSILON = float(np.finfo(np.float64).eps)


def classes_of(predictor: Predictor, which: Any) -> list[tuple[Any, int]]:
    """Return label and position of the classes `which`; by default the second of two, or all."""
    if predictor.classes is None:
        if which is not None:
            raise OptionError("`which_class` is for classifiers; this learner predicts a mean.")
        return [(None, -1)]
    classes = list(predictor.classes)
    if which is None:
        labels = classes[1:] if len(classes) == 2 else classes
    else:
        labels = list(dict.fromkeys(which)) if _several(which) else [which]
    if not labels:
        raise OptionError(f"`which_class` must name at least one class of {list_of(classes)}.")
    places = [_place(label, classes) for label in labels]
    return [(classes[place], place) for place in places]


def position_of(predictor: Predictor, which: Any) -> int | None:
    """Return the position of one class; None for all classes together, and for numbers."""
    if which is None:
        return None
    if predictor.classes is None:
        raise OptionError("`which_class` is for classifiers; this learner predicts numbers.")
    return _place(which, list(predictor.classes))


def range_of(scale: UsedScale) -> Range:
    """Return the range of means of predictions on a scale."""
    return SHARES if scale == "probability" else REAL


def _several(which: object) -> bool:
    """Whether `which_class` is a list of labels, not one label."""
    return is_list(which) and all(isinstance(label, Hashable) for label in which)


def _place(label: object, classes: list[Any]) -> int:
    """Return the position of a class, whose label is a single value."""
    scalar = label.item() if isinstance(label, np.generic) else label
    if isinstance(scalar, Hashable) and scalar is not pd.NA and scalar in classes:
        return classes.index(scalar)
    raise OptionError(
        f"`which_class` must be among {list_of(classes)}, not {quote(label)}."
        f"{did_you_mean(label, classes)}"
    )


def scale_of(predictor: Predictor, scale: Scale | None) -> UsedScale:
    """Return the scale, checked against the predictions: by default the mean or the probability."""
    if callable(scale) and not isinstance(scale, type):
        return scale
    if predictor.classes is None:
        if scale is not None:
            raise OptionError(
                "The scale of a learner that predicts a mean must be a function of its "
                f"predictions, such as np.exp, not {quote(scale)}."
            )
        return "mean"
    name: Scale = "probability" if scale is None else scale
    check_choice("scale", name, SCALES)
    if name != "probability" and predictor.kind == "label":
        raise OptionError(f'`scale="{name}"` needs a classifier with `predict_proba`.')
    return name


def rescale(predictions: FloatArray, classes: tuple[int, ...], scale: UsedScale) -> FloatArray:
    """Return predictions on their scale, class by class in the first axis.

    Parameters
    ----------
    predictions : ndarray of shape (...) or (..., number of classes)
    classes : tuple of int
        Positions of the classes; (-1,) for means.
    scale : Scale or "mean"
    """
    if classes == (-1,):
        return (_apply(scale, predictions) if callable(scale) else predictions)[None]
    if callable(scale):
        values = _apply(scale, predictions)
    elif scale == "probability":
        values = predictions
    else:
        logs = np.log(np.where(predictions > 0, predictions, EPSILON))
        # Of two classes the centered logit is half the logit.
        full = 2 if scale == "logit" and predictions.shape[-1] == 2 else 1
        values = full * (logs - logs.mean(axis=-1, keepdims=True))
    return np.moveaxis(values[..., list(classes)], -1, 0)


def _apply(scale: Callable[[FloatArray], FloatArray], predictions: FloatArray) -> FloatArray:
    """Return a user's function of predictions, checked: one real, finite number for each."""
    name = f"The function `{name_of(scale)}` of predictions"
    try:
        result = scale(read_only(predictions))
    except Exception as error:
        raise OptionError(f"{name} can't be evaluated: {reason(error)}") from error
    values = real_numbers(result)
    if values is None or values.shape != predictions.shape or not np.isfinite(values).all():
        raise OptionError(
            f"{name} must return one finite number for each, shape {predictions.shape}; it "
            f"returned {quote(result)}."
        )
    return values


def name_of(scale: UsedScale) -> str:
    """Return the name of a scale in tables."""
    if callable(scale):
        return getattr(scale, "__name__", "scaled")
    return "centered logit" if scale == "centered-logit" else scale
