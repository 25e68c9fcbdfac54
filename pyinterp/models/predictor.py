"""Predictions of any fitted estimator, in one form: means, or class probabilities in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import is_classifier as sklearn_is_classifier

from pyinterp._typing import FloatArray, Matrix
from pyinterp.distributions import Distribution
from pyinterp.errors import OptionError, PredictionError
from pyinterp.models.answers import (
    Answers,
    ClassOrder,
    DecisionFunction,
    Indicator,
    plain,
    position,
)
from pyinterp.models.final_step import innermost
from pyinterp.models.native_boosters import check_not_native
from pyinterp.models.prediction_checks import (
    as_numbers,
    check_finite,
    check_kind,
    check_probabilities,
    check_repeatable,
)
from pyinterp.models.remedies import explanation
from pyinterp.representation import about

__all__ = [
    "Kind",
    "Predictor",
    "check_estimator",
    "check_instance",
    "is_classifier",
    "learner_name",
]

Kind: TypeAlias = Literal["mean", "probability", "label", "distribution", "answers"]


@dataclass(frozen=True)
class Predictor:
    """A fitted estimator as a function of design rows.

    Attributes
    ----------
    estimator : object
        The fitted estimator.
    kind : {"mean", "probability", "label", "distribution", "answers"}
        What is predicted. "label" is 1 for the class that ``predict`` says and 0 for the others:
        of a classifier without ``predict_proba``, or if labels are asked for. "distribution"
        stands for the parameters of `distribution`, "answers" for all that scorers may ask for.
    classes : tuple or None
        The classes, in the order of the prediction's columns.
    distribution : Distribution or None
        The family whose parameters are predicted, if they are.
    order : ClassOrder or None
        How the estimator's own columns of classes are ordered, if it is a classifier.
    indicator : Indicator or None
        The labels that the estimator itself predicts, if it is a classifier.
    ordinal : bool
        Whether the classes have an order.
    """

    estimator: Any
    kind: Kind
    classes: tuple[Any, ...] | None
    _call: Callable[[Matrix], Any]
    distribution: Distribution | None = None
    order: ClassOrder | None = None
    indicator: Indicator | None = None
    ordinal: bool = False

    @classmethod
    def of(
        cls, estimator: Any, classes: Sequence[Any] | None = None, *, coded: bool = False
    ) -> Predictor:
        """Wrap a fitted estimator, a results object with ``predict``, or a function.

        Parameters
        ----------
        estimator : object
            With ``predict``, or callable.
        classes : sequence, optional
            The classes to report, in order; by default the estimator's own. A class that the
            estimator has not seen gets probability 0.
        coded : bool
            The estimator was fitted to positions in `classes`, not to the labels themselves.
        """
        check_kind(estimator, learner_name(estimator))
        if is_classifier(estimator):
            own = _classes_of(estimator, needed=classes is None)
            names = tuple(classes) if classes is not None else tuple(plain(c) for c in own)
            place = [int(c) for c in own] if coded else [position(c, names) for c in own]
            order = ClassOrder(tuple(place), len(names))
            outputs = tuple(range(len(names))) if coded else names
            indicator = Indicator(estimator.predict, outputs, learner_name(estimator))
            labels = cls(estimator, "label", names, indicator, order=order, indicator=indicator)
            proba = getattr(estimator, "predict_proba", None)
            if proba is None:
                return labels
            call = _InOrder(estimator, proba, order, one_column=False)
            return replace(labels, kind="probability", _call=call)
        if callable(getattr(estimator, "predict", None)):
            if classes is not None:
                raise OptionError(
                    "`classes` is for a function that returns class probabilities, but "
                    f"{learner_name(estimator)} predicts numbers; leave it out."
                )
            return cls(estimator, "mean", None, estimator.predict)
        if callable(estimator) and not isinstance(estimator, type):
            if classes is None:
                return cls(estimator, "mean", None, estimator)
            order = ClassOrder(tuple(range(len(classes))), len(classes))
            call = _InOrder(estimator, estimator, order, one_column=True)
            return cls(estimator, "probability", tuple(classes), call)
        raise PredictionError(
            f"An estimator must have a `predict` method; {learner_name(estimator)} has none. Pass "
            "a function of rows that returns what it predicts."
        )

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return predictions of shape (n,) for means, (n, `width`) otherwise."""
        try:
            output = self._call(matrix)
        except PredictionError:
            raise
        except Exception as error:
            raise PredictionError(
                f"{self.name} can't predict {len(matrix)} rows: "
                f"{explanation(error, self.estimator)}"
            ) from error
        predicted = as_numbers(output, self.name)
        if self.kind == "mean" and predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        expected = (len(matrix), self.width) if self.width else (len(matrix),)
        if predicted.shape != expected:
            several = self.kind == "mean" and predicted.ndim == 2
            code = getattr(self.estimator, "code", "model.predict(X)")
            one = f"; pass a function of one output, such as `lambda X: {code}[:, 0]`"
            raise PredictionError(
                f"{self.name} must return one prediction per row, of shape "
                f"{expected}; it returned shape {predicted.shape}{one if several else ''}."
            )
        check_finite(predicted, self.name)
        if self.kind == "probability":
            check_probabilities(predicted, self.name)
        if self.distribution is not None:
            self.distribution.check(predicted, self.name)
        return predicted

    def check(self, matrix: Matrix) -> FloatArray:
        """Return predictions after all checks, one of which predicts some rows in another batch.

        Raises
        ------
        PredictionError
            If predictions of the same rows differ, or `predict` changes the rows.
        """
        return check_repeatable(self, matrix, self.name)

    def as_kind(self, kind: Literal["label", "answers"]) -> Predictor:
        """Return the predictor of the model's own labels, or of all that scorers may ask for.

        Itself, for labels, if it has no `predict` that says some: then the largest probability
        decides.
        """
        if kind == "label":
            if self.indicator is None:
                return self
            return replace(self, kind="label", _call=self.indicator)
        answers = Answers(
            self.as_kind("label"),
            self if self.kind == "probability" else None,
            self.decision_function,
            len(self.classes or ()),
        )
        return replace(self, kind="answers", _call=answers)

    @property
    def decision_function(self) -> DecisionFunction | None:
        """The decision function of a classifier, if it has one."""
        function = getattr(self.estimator, "decision_function", None)
        if self.order is None or function is None:
            return None
        return DecisionFunction(function, self.order, self.name)

    @property
    def width(self) -> int:
        """How many numbers a prediction has: classes, parameters or answers; 0 for a mean."""
        if isinstance(self._call, Answers):
            return self._call.width
        if self.distribution is not None:
            return len(self.distribution.parameters)
        return len(self.classes or ())

    @property
    def name(self) -> str:
        """What tables and messages call the estimator."""
        return learner_name(self.estimator)

    def __repr__(self) -> str:
        return about(self, f"{self.kind} of {learner_name(self.estimator)}")


def _classes_of(estimator: Any, *, needed: bool) -> list[Any]:
    """Return the classes of a fitted classifier; raise if they are of several responses."""
    labels = list(getattr(estimator, "classes_", ()))
    if needed and not labels:
        raise PredictionError(
            f"A classifier must know its classes, `classes_`, but {learner_name(estimator)} has "
            "none; fit it first."
        )
    if labels and np.ndim(labels[0]):
        raise PredictionError(
            f"A classifier must predict one response, but {learner_name(estimator)} was fitted to "
            f"{len(labels)} at once; fit one to each."
        )
    return labels


def check_estimator(estimator: Any) -> None:
    """Raise unless `estimator` is an instance that can be trained and predicts."""
    check_instance(estimator, "estimator")
    check_not_native(estimator)
    kind = type(innermost(estimator))
    for method in ("fit", "predict", "get_params", "set_params"):
        # Unfitted, some wrappers do not show what they will have: their classes do.
        if not any(callable(getattr(owner, method, None)) for owner in (estimator, kind)):
            hint = " Inherit from sklearn.base.BaseEstimator." if "params" in method else ""
            raise PredictionError(
                f"An estimator must have a `{method}` method; {learner_name(estimator)} has none."
                + hint
            )
    check_kind(estimator, learner_name(estimator))


def check_instance(estimator: Any, argument: str) -> None:
    """Raise `OptionError` if `estimator` is a class instead of an instance."""
    if not isinstance(estimator, type):
        return
    name = estimator.__name__
    instance = f"{name}()"
    if estimator.__module__.startswith("statsmodels"):
        instance = f"pi.statsmodels_learner({name})"
    raise OptionError(f"`{argument}` must be an instance such as {instance}, not the class.")


def is_classifier(estimator: Any) -> bool:
    """Whether the estimator predicts classes."""
    if hasattr(estimator, "__sklearn_tags__"):
        return bool(sklearn_is_classifier(estimator))
    return hasattr(estimator, "classes_") and hasattr(estimator, "predict")


def learner_name(estimator: Any) -> str:
    """Return the name to print for an estimator; a pipeline's is that of its last step."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        return f"Pipeline({learner_name(steps[-1][1])})"
    name = getattr(estimator, "learner_name", None)
    if isinstance(name, str):
        return name
    model = getattr(estimator, "model", None)  # a statsmodels results object
    if model is not None and hasattr(estimator, "params"):
        return type(model).__name__
    if hasattr(estimator, "__name__"):
        return str(estimator.__name__)
    return type(estimator).__name__


@dataclass(frozen=True)
class _InOrder:
    """A function of design rows that gives probabilities in the order of the k classes.

    With `one_column`, a single column is the probability of the second of two classes.
    """

    estimator: Any
    proba: Callable[[Matrix], Any]
    order: ClassOrder
    one_column: bool

    def __call__(self, matrix: Matrix) -> FloatArray:
        predicted = as_numbers(self.proba(matrix), learner_name(self.estimator))
        if self.one_column and predicted.ndim == 1 and self.order.k == 2:
            return np.column_stack([1 - predicted, predicted])
        if predicted.ndim != 2 or predicted.shape[1] != len(self.order.place):
            return predicted
        return self.order(predicted)
