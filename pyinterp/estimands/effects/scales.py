"""Parts of predictions that are analyzed: a scale, and one class or several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import FINITE, check_choice, check_number, is_list
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, reason
from pyinterp.estimands.estimand import Problem
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range
from pyinterp.whatif import WhatIf

ScaleName = Literal["probability", "logit", "centered-logit", "cumulative"]
Scale = (
    ScaleName | Literal["score", "rate"] | Mapping[Any, float] | Callable[[FloatArray], FloatArray]
)

SCALES = ("probability", "logit", "centered-logit", "cumulative", "score", "rate")
PHRASES = {
    "probability": "predicted probability",
    "logit": "predicted logit",
    "centered-logit": "predicted centered logit (log p minus its mean over the classes)",
    "cumulative": "predicted probability",
    "rate": "predicted rate",
}
LINEAR = ("mean", "rate", "probability", "cumulative")
RELATIONS = ("difference", "ratio", "odds ratio")
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
        each = zip(map(str, self.classes), map("{:g}".format, self.values), strict=True)
        return ", ".join(" ".join(dict.fromkeys(one)) for one in each)


UsedScale = ScaleName | Literal["mean", "rate"] | Scores | Callable[[FloatArray], FloatArray]


class Outputs(NamedTuple):
    """The numbers per prediction that a curve is about, and the words for them.

    Attributes
    ----------
    labels : tuple
        The classes; (None,) for means.
    positions : tuple of int
        Their positions in the predictions; (-1,) for means.
    scale : Scale or "mean"
    phrase : str
        The predicted quantity, such as "prediction of `y`".
    details : tuple of str
        Words of headers in parentheses: scale and class, unless they are the default.
    unit : str
        The response's name, which stands for its unit; empty on another scale.
    range : tuple of float
        The least and the largest value of their means.
    linear : bool
        Whether they are linear functions of predictions.
    """

    labels: tuple[Any, ...]
    positions: tuple[int, ...]
    scale: UsedScale
    phrase: str
    details: tuple[str, ...]
    unit: str
    range: Range
    linear: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """What they are, without the words for them."""
        return self.labels, self.positions, self.scale

    @classmethod
    def of(
        cls, problem: Problem, scale: Scale | None, which_class: Any, *, rates: bool = False
    ) -> Outputs:
        """Return the requested outputs, checked against the kind of predictions.

        Only estimands that set the offset have `rates`.
        """
        used = _scale_of(problem.predictor, scale)
        if used == "rate" and not rates:
            raise OptionError(
                '`scale="rate"` is an option of `pd` alone: `pd("x", scale="rate").differences()`.'
            )
        labels, positions = _classes_of(problem.predictor, which_class, used)
        response, name = problem.sample.response, _name_of(used)
        details = [] if used == "mean" else [name]
        if len(labels) == 1 and labels[0] is not None:
            details.append(f"class {labels[0]}")
        aim = problem.predictor.aim
        own = f" at each row's own offset `{problem.offset}`" * (
            used != "rate" and bool(problem.offset)
        )
        span = POSITIVE if aim.family and used in ("mean", "rate") else REAL
        span = SHARES if used in ("probability", "cumulative") else span
        if isinstance(used, Scores):
            span = min(used.values), max(used.values)
        return cls(
            labels=labels,
            positions=positions,
            scale=used,
            phrase=_in_words(None if response is None else response.name, used, labels, aim.phrase)
            + own,
            details=tuple(details),
            unit=response.name if used == "mean" and response is not None else "",
            range=span,
            linear=isinstance(used, Scores) or used in LINEAR,
        )

    @property
    def relations(self) -> tuple[str, ...]:
        """How their means may be compared."""
        return RELATIONS[: 3 if self.range == SHARES else 1 + (self.scale in ("mean", "rate"))]

    def values(self, predictions: FloatArray) -> FloatArray:
        """Return predictions, shape (n, ...) or (n, ..., classes), as shape (outputs, n, ...)."""
        return rescale(predictions, self.positions, self.scale)

    def curves(self, whatif: WhatIf, points: pd.DataFrame) -> FloatArray:
        """Return predictions of all rows at some points, shape (rows, outputs, points)."""
        curves = np.empty((whatif.sample.nobs, len(self.labels), len(points)))
        for rows, predictions in whatif.of(list(points.columns)).cross(points):
            curves[rows] = self.values(predictions).swapaxes(0, 1)
        return curves


def _in_words(response: str | None, scale: UsedScale, labels: tuple[Any, ...], phrase: str) -> str:
    """Return the predicted quantity, on its scale and of its class, in words."""
    name = "the response" if response is None else f"`{response}`"
    if isinstance(scale, Scores):
        return f"expected score of {name} ({scale})"
    of_class, several = labels[0] is not None, len(labels) > 1
    if callable(scale):
        what = "predicted probability" if of_class else "prediction"
        predicted = f"`{_name_of(scale)}` of the {what}"
    else:
        predicted = PHRASES.get(scale, phrase)
    if of_class and scale == "cumulative" and several:
        return f"{predicted} that {name} is at most the class shown"
    if of_class:
        return f"{predicted} that {name} is {'the class shown' if several else labels[0]}"
    return predicted if response is None else f"{predicted} of {name}"


def _classes_of(
    predictor: Predictor, which: Any, scale: UsedScale
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the labels of the chosen classes, and their column numbers in the predictions.

    By default these are the second class of two, every class of more, and every class but the last
    for cumulative probabilities, whose labels become ``≤ label``. A mean and an expected score have
    no classes: the label is None and the position -1.
    """
    if isinstance(scale, Scores) or predictor.classes is None:
        if which is not None:
            raise OptionError(
                "`which_class` is no option of the expected score, which is of all."
                if isinstance(scale, Scores)
                else "`which_class` is for classifiers; this learner predicts a mean."
            )
        return (None,), (-1,)
    classes = list(predictor.classes)
    if which is None:
        labels = classes[1:] if len(classes) == 2 else classes
        labels = classes[:-1] if scale == "cumulative" else labels
    else:
        several = is_list(which) and all(isinstance(label, Hashable) for label in which)
        labels = list(dict.fromkeys(which)) if several else [which]
    if not labels:
        raise OptionError(f"`which_class` must name at least one class of {list_of(classes)}.")
    places = tuple(_place(label, classes) for label in labels)
    chosen = [classes[k] for k in places]
    if scale == "cumulative":
        chosen = [f"≤ {label}" for label in chosen]
    return tuple(chosen), places


def position_of(predictor: Predictor, which: Any) -> int | None:
    """Return the position of one class; None for all classes together, and for numbers."""
    if which is None:
        return None
    if predictor.classes is None:
        raise OptionError("`which_class` is for classifiers; this learner predicts numbers.")
    return _place(which, list(predictor.classes))


def _place(label: object, classes: list[Any]) -> int:
    """Return the position of a class, whose label is a single value."""
    scalar = label.item() if isinstance(label, np.generic) else label
    if isinstance(scalar, Hashable) and scalar is not pd.NA and scalar in classes:
        return classes.index(scalar)
    raise OptionError(
        f"`which_class` must be among {list_of(classes)}, not {quote(label)}."
        f"{did_you_mean(label, classes)}"
    )


def _scale_of(predictor: Predictor, scale: Scale | None) -> UsedScale:
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
    used: Any = "probability" if scale is None else scale
    check_choice("scale", used, SCALES)
    if used != "probability" and predictor.kind == "label":
        raise OptionError(f'`scale="{used}"` needs a classifier with `predict_proba`.')
    name: ScaleName = used
    return name


def _of_order(predictor: Predictor, scale: Any) -> UsedScale:
    """Return a scale of ordered classes: cumulative probabilities, or scores."""
    classes = predictor.classes
    if classes is None or not predictor.ordinal or predictor.kind == "label":
        raise OptionError(
            "Cumulative probabilities and scores need probabilities of ordered classes: make the "
            "response an ordered category, `astype(pd.CategoricalDtype([...], ordered=True))`, of "
            'a classifier with `predict_proba`, as the page "Ordered answers, and a questionnaire" '
            "does."
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
    name = f"The function `{_name_of(scale)}` of predictions"
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


def _name_of(scale: UsedScale) -> str:
    """Return the name of a scale in tables."""
    if callable(scale):
        return getattr(scale, "__name__", "scaled").replace("<lambda>", "function")
    names = {"centered-logit": "centered logit", "cumulative": "cumulative probability"}
    return "expected score" if isinstance(scale, Scores) else names.get(scale, scale)
