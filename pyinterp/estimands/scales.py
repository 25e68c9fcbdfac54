"""On what scale predictions are analyzed, and for which classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from pyinterp.errors import OptionError, check_choice, did_you_mean
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray

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
        wanted = list(which) if isinstance(which, list | tuple) else [which]
    for label in wanted:
        if label not in known:
            raise OptionError(
                f"`which_class` must be among {known}, not {label!r}.{did_you_mean(label, known)}"
            )
    return [(label, known.index(label)) for label in wanted]


def scale_of(predictor: Predictor, scale: Scale | None) -> UsedScale:
    """Return the scale that is meant, after checking that predictions have it."""
    if callable(scale):
        return scale
    if predictor.classes is None:
        if scale is not None:
            raise OptionError(
                "The scale of a learner that predicts a mean must be a function of its "
                f"predictions, such as np.exp, not {scale!r}."
            )
        return "mean"
    chosen: Scale = scale or "probability"
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
        values = scale(predictions) if callable(scale) else predictions
        return np.asarray(values)[None]
    if callable(scale):
        values = np.asarray(scale(predictions))
    elif scale == "probability":
        values = predictions
    else:
        logs = np.log(np.where(predictions > 0, predictions, EPSILON))
        # Of two classes the centered logit is half the logit.
        full = 2 if scale == "logit" and predictions.shape[-1] == 2 else 1
        values = full * (logs - logs.mean(axis=-1, keepdims=True))
    return np.moveaxis(values[..., list(classes)], -1, 0)


def name_of(scale: UsedScale) -> str:
    """Return what tables call a scale."""
    return getattr(scale, "__name__", "scaled") if callable(scale) else scale.replace("-", " ")
