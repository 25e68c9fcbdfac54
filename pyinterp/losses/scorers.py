"""Scorers of scikit-learn as functions of responses and predictions; formulas of some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Response
from pyinterp.losses.metrics import METRICS, Formula, FormulaMetric, Metric, Result
from pyinterp.models.predictor import Kind, Predictor, most_probable
from pyinterp.ranges import REAL

Scorer = Callable[..., Any]

# Functions with their default options, by our name.
FUNCTIONS = {
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "r2_score": "rsq_trad",
    "root_mean_squared_error": "rmse",
}
SCORERS = {
    "r2" if function == "r2_score" else f"neg_{function}": name
    for function, name in FUNCTIONS.items()
}


@lru_cache  # scikit-learn makes another one each time, whose measurements would not be shared
def scorer_of(name: str) -> Scorer:
    """Return a scorer by its name."""
    scorer: Scorer = sk.get_scorer(name)
    return scorer


def formula_of(metric: object) -> Metric | None:
    """Return our formula for a metric of scikit-learn (a function, scorer or name), or None."""
    if isinstance(metric, str):
        return _formula(metric) if metric in SCORERS else None
    for function, ours in FUNCTIONS.items():
        if metric is getattr(sk, function):
            return replace(METRICS[ours], name=function)
    if hasattr(metric, "_score_func"):
        for name in SCORERS:
            if repr(metric) == repr(scorer := sk.get_scorer(name)):  # options and all
                return _formula(name) if metric._score_func is scorer._score_func else None
    return None


@lru_cache  # as above
def _formula(name: str) -> FormulaMetric:
    """Return a scorer's formula: our metric's, with the sign that makes larger better."""
    metric = METRICS[SCORERS[name]]
    if not metric.smaller_is_better:
        return replace(metric, name=name)
    formula = partial(_negative, metric.formula)
    return replace(metric, name=name, smaller_is_better=False, range=REAL, formula=formula)


def _negative(
    formula: Formula, y: FloatArray, prediction: FloatArray, weights: FloatArray
) -> Result:
    """Return minus a metric and minus its rows' influences, as scorers have errors."""
    value, derivatives = formula(y, prediction, weights)
    return -value, -derivatives


def name_of(scorer: Scorer) -> str:
    """Return the name of a scorer's function, with the sign that the scorer gives it."""
    text = repr(scorer)
    if not text.startswith("make_scorer("):
        return getattr(scorer, "__name__", type(scorer).__name__)
    name = text.removeprefix("make_scorer(").split(",")[0].rstrip(")")
    return f"-{name}" if "greater_is_better=False" in text else name


def needs_of(scorer: Scorer, predictor: Predictor) -> Kind:
    """Return the kind of predictions that a scorer asks for; "answers" are all of them."""
    if predictor.kind == "mean":
        return "mean"
    methods = getattr(scorer, "_response_method", ())
    answers: dict[str, Kind] = {"predict": "label"}
    if predictor.kind == "probability":
        answers["predict_proba"] = "probability"
    if predictor.decision_function is not None:
        answers["decision_function"] = "answers"
    wanted = (methods,) if isinstance(methods, str) else methods  # the first that there is
    return next((answers[method] for method in wanted if method in answers), "answers")


@dataclass(frozen=True)
class ScorerFunction:
    """A scorer of scikit-learn as a function of responses and predictions.

    Attributes
    ----------
    scorer : callable
    needs : str
        The kind of the predictions.
    response : Response
    probable : bool
        Whether answers have probabilities.
    """

    scorer: Scorer
    needs: Kind
    response: Response
    probable: bool

    def __call__(self, y: FloatArray, prediction: FloatArray, **weights: FloatArray) -> Any:
        """Return the score of a model that is known by its answers for the rows."""
        rows = np.arange(len(y))[:, None]
        if self.response.classes is None:
            return self.scorer(_Regressor(prediction), rows, y, **weights)
        none, classes = prediction[:, :0], np.array(self.response.classes)
        if self.needs == "answers":
            k = len(classes) if self.probable else 0
            codes, probabilities, scores = np.split(prediction, [1, 1 + k], axis=1)
            labels = classes[codes[:, 0].astype(np.intp)]
        else:
            probabilities, scores = prediction if self.needs == "probability" else none, none
            labels = classes[most_probable(prediction)]
        model = _Classifier(classes, labels, probabilities, scores)
        return self.scorer(model, rows, self.response.labels(y), **weights)


@dataclass(eq=False, repr=False)
class _Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A regressor that knows the predictions of the rows."""

    prediction: FloatArray

    def predict(self, rows: IntArray) -> FloatArray:
        """Return the predictions of rows, by their numbers."""
        return self.prediction[rows[:, 0]]


@dataclass(eq=False, repr=False)
class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A classifier that knows its answers for the rows; those that it lacks have no columns."""

    classes_: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    probabilities: FloatArray
    scores: FloatArray

    def predict(self, rows: IntArray) -> npt.NDArray[Any]:
        """Return the labels of rows, by their numbers."""
        return self.labels[rows[:, 0]]

    @available_if(lambda self: self.probabilities.size)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, rows: IntArray) -> FloatArray:
        """Return the probabilities of rows, by their numbers."""
        return self.probabilities[rows[:, 0]]

    @available_if(lambda self: self.scores.size)  # type: ignore[untyped-decorator]  # as above
    def decision_function(self, rows: IntArray) -> FloatArray:
        """Return the decision function of rows, by their numbers, one column as scikit-learn."""
        scores = self.scores[rows[:, 0]]
        return scores[:, 0] if scores.shape[1] == 1 else scores
