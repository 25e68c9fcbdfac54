"""Predictions of any fitted estimator, in one form: means, or class probabilities in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import is_classifier as sklearn_is_classifier

from pyinterp._typing import FloatArray, Matrix
from pyinterp.distributions import Distribution
from pyinterp.errors import OptionError, PredictionError, list_of, quote, reason
from pyinterp.models.prediction_checks import (
    as_numbers,
    check_finite,
    check_kind,
    check_probabilities,
    check_repeatable,
)
from pyinterp.representation import about

__all__ = [
    "ClassOrder",
    "Kind",
    "Predictor",
    "check_estimator",
    "check_instance",
    "is_classifier",
    "learner_name",
]

Kind: TypeAlias = Literal["mean", "probability", "label", "distribution"]


@dataclass(frozen=True)
class ClassOrder:
    """From an estimator's columns of classes to those that are reported.

    Attributes
    ----------
    place : tuple of int
        The class of each of the estimator's columns.
    k : int
        How many classes are reported.
    """

    place: tuple[int, ...]
    k: int

    @property
    def same(self) -> bool:
        """Whether the columns are the classes, in order."""
        return self.place == tuple(range(self.k))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return values of all classes on the last axis; 0 for those the estimator lacks."""
        if self.same:
            return values
        full = np.zeros((*values.shape[:-1], self.k))
        full[..., list(self.place)] = values
        return full


@dataclass(frozen=True)
class Predictor:
    """A fitted estimator as a function of design rows.

    Attributes
    ----------
    estimator : object
        The fitted estimator.
    kind : {"mean", "probability", "label", "distribution"}
        What is predicted. "label" stands for a classifier without ``predict_proba``: its
        prediction is 1 for the predicted class and 0 for the others. "distribution" stands for
        the parameters of `distribution`.
    classes : tuple or None
        The classes, in the order of the prediction's columns.
    distribution : Distribution or None
        The family whose parameters are predicted, if they are.
    order : ClassOrder or None
        How the estimator's own columns of classes are ordered, if it is a classifier.
    """

    estimator: Any
    kind: Kind
    classes: tuple[Any, ...] | None
    _call: Callable[[Matrix], Any]
    distribution: Distribution | None = None
    order: ClassOrder | None = None

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
            labels = _classes_of(estimator, needed=classes is None)
            names = tuple(classes) if classes is not None else tuple(_plain(c) for c in labels)
            place = [int(c) for c in labels] if coded else [_position(c, names) for c in labels]
            order = ClassOrder(tuple(place), len(names))
            proba = getattr(estimator, "predict_proba", None)
            if proba is not None:
                call = _InOrder(estimator, proba, order, one_column=False)
                return cls(estimator, "probability", names, call, order=order)
            outputs = tuple(range(len(names))) if coded else names
            indicator = _Indicator(estimator, tuple(outputs))
            return cls(estimator, "label", names, indicator, order=order)
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
            f"An estimator must have a `predict` method; {learner_name(estimator)} has none."
        )

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return predictions of shape (n,) for means, (n, `width`) otherwise."""
        try:
            output = self._call(matrix)
        except PredictionError:
            raise
        except Exception as error:
            raise PredictionError(
                f"{self.name} can't predict {len(matrix)} rows: {reason(error)}"
            ) from error
        predicted = as_numbers(output, self.name)
        if self.kind == "mean" and predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        expected = (len(matrix), self.width) if self.width else (len(matrix),)
        if predicted.shape != expected:
            several = self.kind == "mean" and predicted.ndim == 2
            one = "; pass a function of one output, such as `lambda X: model.predict(X)[:, 0]`"
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

    @property
    def width(self) -> int:
        """How many numbers a prediction has: classes or parameters; 0 for a mean."""
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
    for method in ("fit", "predict", "get_params", "set_params"):
        if not callable(getattr(estimator, method, None)):
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


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _position(label: Any, names: Sequence[Any]) -> int:
    try:
        return list(names).index(_plain(label))
    except ValueError:
        raise PredictionError(
            f"The estimator predicts class {quote(label)}, which is not among {list_of(names)}."
        ) from None


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


@dataclass(frozen=True)
class _Indicator:
    """A function of design rows that gives 1 for the predicted class and 0 for the others."""

    estimator: Any
    names: tuple[Any, ...]

    def __call__(self, matrix: Matrix) -> FloatArray:
        classes = pd.Index(list(self.names), dtype=object)
        predicted = np.asarray(self.estimator.predict(matrix))
        labels = predicted[:, 0] if predicted.shape[1:] == (1,) else predicted
        if labels.ndim != 1:
            return np.asarray(labels, dtype=np.float64)  # refused for its shape
        codes = classes.get_indexer(pd.Index(labels, dtype=object))
        if (codes < 0).any():
            raise PredictionError(
                f"{learner_name(self.estimator)} must predict its classes, {list_of(classes)}, but "
                f"it predicted {quote(_plain(labels[codes < 0][0]))}."
            )
        return np.asarray(codes[:, None] == np.arange(len(classes)), dtype=np.float64)
