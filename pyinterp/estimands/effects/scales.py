"""Scales on which predictions are analyzed, and the classes that they are of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import FINITE, check_choice, check_number, is_list
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, reason
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import REAL, SHARES, Range

__all__ = [
    "Scale",
    "Scores",
    "UsedScale",
    "classes_of",
    "name_of",
    "position_of",
    "range_of",
    "rescale",
    "scale_of",
]

ScaleName: TypeAlias = Literal["probability", "logit", "centered-logit", "cumulative"]
Scale: TypeAlias = (
    ScaleName | Literal["score", "rate"] | Mapping[Any, float] | Callable[[FloatArray], FloatArray]
)

SCALES = ("probability", "logit", "centered-logit", "cumulative", "score", "rate")
# What R's pdp takes for a probability of 0.
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scores:
    """Numbers for ordered classes, of which predictions have a mean: the expected score.

    Attributes
    ----------
    classes : tuple
    values : tuple of float
    """

    classes: tuple[Any, ...]
    values: tuple[float, ...]

    def __str__(self) -> str:
        return ", ".join(f"{c} {v:g}" for c, v in zip(self.classes, self.values, strict=True))


UsedScale: TypeAlias = (
    ScaleName | Literal["mean", "rate"] | Scores | Callable[[FloatArray], FloatArray]
)


def classes_of(predictor: Predictor, which: Any, scale: UsedScale) -> list[tuple[Any, int]]:
    """Return label and position of the classes `which`; by default the second of two, or all.

    Of cumulative probabilities, all but the last.
    """
    if isinstance(scale, Scores):
        if which is not None:
            raise OptionError("`which_class` is no option of the expected score, which is of all.")
        return [(None, -1)]
    if predictor.classes is None:
        if which is not None:
            raise OptionError("`which_class` is for classifiers; this learner predicts a mean.")
        return [(None, -1)]
    classes = list(predictor.classes)
    if which is None:
        labels = classes[1:] if len(classes) == 2 else classes
        labels = classes[:-1] if scale == "cumulative" else labels
    else:
        labels = list(dict.fromkeys(which)) if _several(which) else [which]
    if not labels:
        raise OptionError(f"`which_class` must name at least one class of {list_of(classes)}.")
    places = [_place(label, classes) for label in labels]
    least = "≤ " if scale == "cumulative" else ""
    return [(f"{least}{classes[k]}" if least else classes[k], k) for k in places]


def position_of(predictor: Predictor, which: Any) -> int | None:
    """Return the position of one class; None for all classes together, and for numbers."""
    if which is None:
        return None
    if predictor.classes is None:
        raise OptionError("`which_class` is for classifiers; this learner predicts numbers.")
    return _place(which, list(predictor.classes))


def range_of(scale: UsedScale) -> Range:
    """Return the range of means of predictions on a scale."""
    if isinstance(scale, Scores):
        return min(scale.values), max(scale.values)
    return SHARES if scale in ("probability", "cumulative") else REAL


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
    ordinal = isinstance(scale, str) and scale in ("cumulative", "score")
    if ordinal or isinstance(scale, Mapping):
        return _of_order(predictor, scale)
    if isinstance(scale, str) and scale == "rate":
        if not getattr(predictor.estimator, "log_link", False):
            raise OptionError("A rate needs an `exposure`, or an offset of a logarithmic link.")
        return "rate"
    if predictor.classes is None:
        if scale is not None:
            raise OptionError(
                "The scale of a learner that predicts a mean must be a function of its "
                f"predictions, such as np.exp, not {quote(scale)}."
            )
        return "mean"
    name: Any = "probability" if scale is None else scale
    check_choice("scale", name, SCALES)
    if name != "probability" and predictor.kind == "label":
        raise OptionError(f'`scale="{name}"` needs a classifier with `predict_proba`.')
    used: UsedScale = name
    return used


def _of_order(predictor: Predictor, scale: Any) -> UsedScale:
    """Return a scale of ordered classes: cumulative probabilities, or scores."""
    classes = predictor.classes
    if classes is None or not predictor.ordinal or predictor.kind == "label":
        raise OptionError(
            "Cumulative probabilities and scores need probabilities of ordered classes: make the "
            "response an ordered category, `astype(pd.CategoricalDtype([...], ordered=True))`, of "
            "a classifier with `predict_proba`."
        )
    if scale == "cumulative":
        return "cumulative"
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in classes)
    scores = dict(zip(classes, classes if numbers else range(1, len(classes) + 1), strict=True))
    if isinstance(scale, Mapping):
        if set(scale) != set(classes):
            raise OptionError(
                f"Scores must name every class, {list_of(classes)}; got {list_of(scale)}."
            )
        scores = {label: scale[label] for label in classes}
    for label, score in scores.items():
        check_number(f"score of {label}", score, FINITE)
    return Scores(classes, tuple(float(score) for score in scores.values()))


def rescale(predictions: FloatArray, classes: tuple[int, ...], scale: UsedScale) -> FloatArray:
    """Return predictions on their scale, class by class in the first axis.

    Parameters
    ----------
    predictions : ndarray of shape (...) or (..., number of classes)
    classes : tuple of int
        Positions of the classes; (-1,) for means.
    scale : Scale or "mean"
    """
    if isinstance(scale, Scores):
        return np.asarray(predictions @ np.array(scale.values))[None]
    if classes == (-1,):
        return (_apply(scale, predictions) if callable(scale) else predictions)[None]
    if callable(scale):
        values = _apply(scale, predictions)
    elif scale == "probability":
        values = predictions
    elif scale == "cumulative":
        values = predictions.cumsum(axis=-1)
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
    names = {"centered-logit": "centered logit", "cumulative": "cumulative probability"}
    return "expected score" if isinstance(scale, Scores) else names.get(scale, scale)
