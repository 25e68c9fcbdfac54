"""Predictions of any fitted estimator, in one form: means, or class probabilities in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import is_classifier as sklearn_is_classifier
from sklearn.utils import get_tags

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.distributions import Distribution
from pyinterp.errors import FileError, OptionError, PredictionError, RefitError, list_of, quote
from pyinterp.models.aims import aim_of
from pyinterp.models.final_step import innermost, steps_of
from pyinterp.models.libraries import OTHER, library_of
from pyinterp.models.library import Aim
from pyinterp.models.prediction_checks import as_numbers, check_finite, check_probabilities
from pyinterp.models.remedies import explanation
from pyinterp.representation import about
from pyinterp.storage import AbsentFunction

Kind = Literal["mean", "probability", "label", "distribution", "answers"]
# Decimals of probabilities that the order of a sum does not change.
DECIMALS = 12


NO_MODELS = (
    "This needs models, which neither a file nor `fit(keep_models=False)` keeps; ask a fit that "
    "keeps them."
)


@dataclass(frozen=True)
class Predictor:
    """A fitted estimator as a function of design rows: the only place where a model is asked.

    Attributes
    ----------
    estimator : object
        The fitted estimator; its name, if it is not kept.
    kind : {"mean", "probability", "label", "distribution", "answers"}
        What is predicted. "label" is 1 for the class that ``predict`` says and 0 for the others:
        of a classifier without ``predict_proba``, or if labels are asked for. "distribution"
        stands for the parameters of `distribution`. "answers" are all that scorers may ask for,
        side by side: the number of the predicted class, the probabilities if there are some, and
        the decision function if there is one.
    classes : tuple or None
        The classes, in the order of the prediction's columns.
    distribution : Distribution or None
        The family whose parameters are predicted, if they are.
    order : tuple of int
        The class of each of the estimator's columns; empty if these are the classes, in order.
    labels : tuple or None
        What the ``predict`` of a classifier says for each of the classes.
    ordinal : bool
        Whether the classes have an order.
    total : float
        Predictions of training rows with an offset, in sum, by the response's sum, if far from 1.
    declaration : Aim or None
        What is predicted, if the user says it, or of a model that is not kept.
    """

    estimator: Any
    kind: Kind
    classes: tuple[Any, ...] | None
    _call: Callable[[Matrix], Any]
    distribution: Distribution | None = None
    order: tuple[int, ...] = ()
    labels: tuple[Any, ...] | None = None
    ordinal: bool = False
    total: float = 1.0
    declaration: Aim | None = None

    @cached_property
    def aim(self) -> Aim:
        """What a prediction is."""
        aim = self.declaration or aim_of(self.estimator)
        if self.classes is None or aim is self.declaration:
            return aim
        if self.kind == "label":
            return Aim("class", f"{self.name} without probabilities")
        return aim if aim.no_mean else Aim("probability", aim.words)

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
        if is_classifier(estimator):
            return cls._of_classifier(estimator, classes, coded=coded)
        predict = getattr(estimator, "predict", None)
        if callable(predict):
            if classes is not None:
                raise OptionError(
                    "`classes` is for a function that returns class probabilities, but "
                    f"{learner_name(estimator)} predicts numbers; leave it out."
                )
            return cls(estimator, "mean", None, predict)
        if not callable(estimator) or isinstance(estimator, type):
            raise PredictionError(
                f"An estimator must have a `predict` method; {learner_name(estimator)} has none. "
                "Pass a function of rows that returns what it predicts."
            )
        if classes is None:
            return cls(estimator, "mean", None, estimator)
        return cls(estimator, "probability", tuple(classes), estimator)

    @classmethod
    def _of_classifier(
        cls, estimator: Any, classes: Sequence[Any] | None, *, coded: bool
    ) -> Predictor:
        """Return the predictor of a fitted classifier, with classes in the order asked for."""
        seen = [plain(label) for label in getattr(estimator, "classes_", ())]
        if classes is None and not seen:
            raise PredictionError(
                f"A classifier must know its classes, `classes_`, but {learner_name(estimator)} "
                "has none; fit it first."
            )
        if seen and np.ndim(seen[0]):
            raise PredictionError(
                f"A classifier must predict one response, but {learner_name(estimator)} was fitted "
                f"to {len(seen)} at once; fit one to each."
            )
        names = tuple(seen if classes is None else classes)
        labels = tuple(range(len(names))) if coded else names
        for label in seen:
            if label not in labels:
                raise PredictionError(
                    f"The estimator predicts class {quote(label)}, which is not among "
                    f"{list_of(names)}."
                )
        order = tuple(labels.index(label) for label in seen)
        proba = getattr(estimator, "predict_proba", None)
        return cls(
            estimator,
            "label" if proba is None else "probability",
            names,
            estimator.predict if proba is None else proba,
            order=() if order == tuple(range(len(names))) else order,
            labels=labels,
        )

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return predictions of shape (n,) for means, (n, `width`) otherwise."""
        who = self.name
        if isinstance(self.estimator, str):
            raise FileError(NO_MODELS)
        if self.kind == "answers":
            predicted = self._answers(matrix)
        elif self.kind == "label":
            predicted = self._indicators(np.asarray(self._ask(self.estimator.predict, matrix)))
        else:
            predicted = as_numbers(self._ask(self._call, matrix), who)
            if self.kind == "probability":
                if self.labels is None and predicted.ndim == 1 and self.width == 2:
                    # A function may give the second class alone.
                    predicted = np.column_stack([1 - predicted, predicted])
                if predicted.ndim == 2 and predicted.shape[1] == len(self.order):
                    predicted = self.in_order(predicted)
            elif self.kind == "mean" and predicted.ndim == 2 and predicted.shape[1] == 1:
                predicted = predicted[:, 0]
        expected = (len(matrix), self.width) if self.width else (len(matrix),)
        if predicted.shape != expected:
            several = self.kind == "mean" and predicted.ndim == 2
            code = getattr(self.estimator, "code", "model.predict(X)")
            one = f"; pass a function of one output, such as `lambda X: {code}[:, 0]`"
            raise PredictionError(
                f"{who} must return one prediction per row, of shape "
                f"{expected}; it returned shape {predicted.shape}{one if several else ''}."
            )
        check_finite(predicted, who, matrix)
        if self.kind == "probability":
            check_probabilities(predicted, who)
        if self.distribution is not None:
            self.distribution.check(predicted, who)
        return predicted

    def _ask(self, function: Callable[[Matrix], Any], matrix: Matrix) -> Any:
        """Return the answer of a function or method of the model."""
        try:
            return function(matrix)
        except (PredictionError, FileError, RefitError):  # a model that is elsewhere
            raise
        except Exception as error:
            raise PredictionError(
                f"{self.name} can't predict {len(matrix)} rows: "
                f"{explanation(error, self.estimator)}"
            ) from error

    def in_order(self, values: FloatArray) -> FloatArray:
        """Return values of the estimator's columns, on the last axis, in the order of the classes.

        0 for classes that the estimator lacks. Means stay as they are.
        """
        if not self.order:
            return values
        full = np.zeros((*values.shape[:-1], len(self.classes or ())))
        full[..., list(self.order)] = values
        return full

    def _indicators(self, predicted: npt.NDArray[Any]) -> FloatArray:
        """Return 1 for the class of each label and 0 for the others."""
        said = predicted[:, 0] if predicted.shape[1:] == (1,) else predicted
        if said.ndim != 1:
            return np.asarray(said, np.float64)  # refused for its shape
        labels = pd.Index(list(self.labels or ()), dtype=object)
        codes = labels.get_indexer(pd.Index(said, dtype=object))
        if (codes < 0).any():
            raise PredictionError(
                f"{self.name} must predict its classes, {list_of(labels)}, but it predicted "
                f"{quote(plain(said[codes < 0][0]))}."
            )
        return np.asarray(codes[:, None] == np.arange(len(labels)), np.float64)

    def _answers(self, matrix: Matrix) -> FloatArray:
        """Return label, probabilities and decision function side by side, (n, `width`)."""
        parts = [most_probable(self.as_kind("label")(matrix))[:, None].astype(np.float64)]
        if self._states_probabilities:
            parts.append(replace(self, kind="probability")(matrix))
        if (function := self.decision_function) is not None:
            parts.append(self._scores(self._ask(function, matrix), len(matrix)))
        return np.hstack(parts)

    def _scores(self, answer: Any, n: int) -> FloatArray:
        """Return the decision function: one column for two classes, else one for each class."""
        k, values = len(self.classes or ()), as_numbers(answer, self.name).reshape(n, -1)
        seen = len(self.order) or k
        if values.shape[1] != (1 if k == 2 else k) or seen != k:
            raise PredictionError(
                "`decision_function` must give one column for two classes, else one for each of "
                f"the {k} classes; that of {self.name} gives {values.shape[1]} for "
                f"{seen} classes in its training rows. Use a scorer of "
                "probabilities or labels."
            )
        if k > 2:
            return self.in_order(values)
        return -values if self.order else values

    def by_kind(self, matrix: Matrix) -> dict[Kind, FloatArray]:
        """Return predictions by their kind; of a model that states probabilities labels too."""
        answers = {self.kind: self(matrix)}
        if self.kind == "probability":
            answers["label"] = self.as_kind("label")(matrix)
        return answers

    def as_kind(self, kind: Literal["label", "answers"]) -> Predictor:
        """Return the predictor of the model's own labels, or of all that scorers may ask for.

        Itself, for labels, if it has no `predict` that says some: then the largest probability
        decides.
        """
        if kind == "label" and self.labels is None:
            return replace(self, kind="probability") if self.kind == "answers" else self
        return replace(self, kind=kind)

    @property
    def decision_function(self) -> Callable[[Matrix], Any] | None:
        """The decision function of a classifier, if it has one."""
        return None if self.labels is None else getattr(self.estimator, "decision_function", None)

    @property
    def _states_probabilities(self) -> bool:
        """Whether the model predicts probabilities of classes."""
        return self.labels is None or hasattr(self.estimator, "predict_proba")

    @property
    def width(self) -> int:
        """How many numbers a prediction has: classes, parameters or answers; 0 for a mean."""
        k = len(self.classes or ())
        if self.kind == "answers":
            scores = 0 if self.decision_function is None else 1 if k == 2 else k
            return 1 + (k if self._states_probabilities else 0) + scores
        return k if self.distribution is None else len(self.distribution.parameters)

    def absent(self) -> Predictor:
        """Return a predictor of the same kind and classes, of whose model there is the name."""
        absent = AbsentFunction("predict")
        return replace(self, estimator=self.name, _call=absent, declaration=self.aim)

    @cached_property
    def name(self) -> str:
        """What tables and messages call the estimator."""
        return learner_name(self.estimator)

    __repr__ = about


def most_probable(probabilities: FloatArray) -> IntArray:
    """Return the class with the largest probability; the first of those equal but for rounding."""
    return np.asarray(np.round(probabilities, DECIMALS).argmax(axis=-1))


def plain(value: Any) -> Any:
    """Return a number or text of numpy as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def check_kind(estimator: Any) -> None:
    """Raise if an estimator declares itself neither a regressor nor a classifier."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return
    kind, who = get_tags(estimator).estimator_type, learner_name(estimator)
    if kind is None and hasattr(estimator, "predict_proba"):
        raise PredictionError(
            f"{who} has `predict_proba` but does not say that it is a classifier; let it inherit "
            "from sklearn.base.ClassifierMixin, before BaseEstimator."
        )
    if kind not in ("classifier", "regressor", None):
        raise PredictionError(
            f"An estimator must be a classifier or a regressor, but {who} is of type "
            f"{quote(kind)}; to explain its scores, pass a function that returns them."
        )


def check_estimator(estimator: Any) -> None:
    """Raise unless `estimator` is an instance that can be trained and predicts."""
    check_instance(estimator, "estimator")
    library = library_of(estimator)
    library.check(estimator)
    if library is not OTHER and type(estimator).__name__ == "Booster":
        raise OptionError(
            "A learner must be trained again on other rows, but a native Booster is fitted and has "
            f"no `fit`; use {library.estimator}Regressor or {library.estimator}Classifier, or "
            "explain this fit by `pi.FittedModel(booster, X, y)`."
        )
    # Unfitted, some wrappers do not show how they will predict: their learners' classes do.
    kind = type(innermost(estimator))
    for method in ("fit", "predict", "get_params", "set_params"):
        inside = None if "params" in method else getattr(kind, method, None)
        if not callable(getattr(estimator, method, inside)):
            hint = " Inherit from sklearn.base.BaseEstimator." if "params" in method else ""
            if method == "fit" and hasattr(estimator, "predict"):
                hint = " What is fitted already is explained by `pi.FittedModel(..., X, y)`."
            who = (
                type(estimator).__name__ if isinstance(estimator, str) else learner_name(estimator)
            )
            raise PredictionError(
                f"An estimator must have a `{method}` method; {who} has none.{hint}"
            )
    try:
        parts = [estimator, *estimator.get_params().values()]
    except AttributeError as error:
        raise PredictionError(
            "An estimator must keep every argument of its `__init__` as an attribute of that name, "
            f"but {type(estimator).__name__} does not ({error})."
        ) from error
    if any(type(p).__name__ == "FrozenEstimator" and hasattr(p, "predict") for p in parts):
        raise OptionError(
            "A learner must train on the rows of every refit, but a FrozenEstimator keeps what it "
            "has learned, of rows that evaluate it too; leave it out, or explain the fitted model "
            "on other rows by `pi.FittedModel(..., X, y)`."
        )
    check_kind(estimator)


def check_instance(estimator: Any, argument: str) -> None:
    """Raise `OptionError` if `estimator` is a class instead of an instance."""
    if not isinstance(estimator, type):
        return
    library = library_of(estimator)
    form = library.estimator if "{}" in library.estimator else "{}()"
    instance = form.format(estimator.__name__)
    raise OptionError(f"`{argument}` must be an instance such as {instance}, not the class.")


def is_classifier(estimator: Any) -> bool:
    """Whether the estimator predicts classes."""
    if hasattr(estimator, "__sklearn_tags__"):
        return bool(sklearn_is_classifier(estimator))
    return hasattr(estimator, "classes_") and hasattr(estimator, "predict")


def learner_name(estimator: Any) -> str:
    """Return the name to print for an estimator; pipelines and searches name their learner."""
    if isinstance(estimator, str):  # of a model that is not kept
        return estimator
    if steps := steps_of(estimator):
        return f"Pipeline({learner_name(steps[-1][1])})"
    name = getattr(estimator, "learner_name", None)
    if isinstance(name, str):
        return name
    model = getattr(estimator, "model", None)  # of results
    # Their wrappers would make a series.
    if model is not None and hasattr(getattr(estimator, "_results", estimator), "params"):
        return type(model).__name__
    if hasattr(estimator, "__name__"):
        return str(estimator.__name__)
    inside = learner_in(estimator)
    return type(estimator).__name__ + ("" if inside is None else f"({learner_name(inside)})")


def learner_in(estimator: Any) -> Any:
    """Return the learner that was given to a search or to another wrapper, or None."""
    for name in ("estimator", "regressor"):
        inside = getattr(estimator, name, None)
        if hasattr(inside, "fit") and name in getattr(estimator, "_get_param_names", list)():
            return inside
    return None
