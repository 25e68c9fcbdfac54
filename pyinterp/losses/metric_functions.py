"""Metrics that are functions of users, or scorers of scikit-learn; influences by small changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
from inspect import Parameter, signature
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metaestimators import available_if

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Response
from pyinterp.errors import LossError, OptionError, did_you_mean, list_of, quote, reason
from pyinterp.losses.influences import add_up
from pyinterp.losses.metrics import METRICS, Metric, MetricName, check_metric
from pyinterp.losses.sklearn_metrics import metric_by_formula
from pyinterp.models.predictor import Kind, Predictor, most_probable

__all__ = ["MetricFunction", "MetricLike", "choose_metric"]

MetricFunctionLike: TypeAlias = Callable[..., Any]
MetricLike: TypeAlias = "MetricName | str | Metric | MetricFunctionLike"

# Weight that is added to a row; that of every row is 1.
STEP = 1e-4
# Up to so many rows are changed one by one; of more, those that are alike are changed together.
ROWS = 1000
BLOCKS = 1000
# Names of scikit-learn's scorers for regression.
OF_NUMBERS = re.compile("error|deviance|^r2$|explained_variance")
WEIGHTS = ("sample_weight", "weights")


@dataclass(frozen=True, kw_only=True, repr=False)
class MetricFunction(Metric):
    """A metric by a function without formula of its influences.

    Attributes
    ----------
    function : callable
        ``function(y, prediction)``, and ``function(y, prediction, weights)`` if `weights`.
    weights : str
        The name of its parameter for weights of rows; empty if it has none.
    direction : bool
        Whether it is certain that `smaller_is_better` is right.
    """

    function: MetricFunctionLike
    weights: str = ""
    direction: bool = False

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the metric and influences by the infinitesimal jackknife, or by leaving out.

        Influences are missing where they do not add up, as of a median, which jumps.
        """
        value = self._value(y, prediction, np.ones(len(y)))
        influence = np.zeros(len(y))
        # A function may ignore its weights, or not change with small changes.
        for mean_influence in (self._by_weights, self._by_leaving_out)[not self.weights :]:
            for rows in _blocks(y, prediction):
                influence[rows] = mean_influence(y, prediction, rows, value)
            if influence.any():
                break
        return value, self._around_zero(influence, value, y, prediction, np.ones(len(y)))

    def _around_zero(
        self,
        influence: FloatArray,
        value: float,
        y: FloatArray,
        prediction: FloatArray,
        weights: FloatArray,
    ) -> FloatArray:
        """Return influences with mean 0, or missing ones if they do not add up."""

        def value_of(rows: IntArray) -> float | None:
            try:
                return self._value(y[rows], prediction[rows], weights[rows])
            except LossError:  # of rows of one class, say
                return None

        around = influence - influence.mean()
        smooth = add_up(around, weights, value, value_of, counts=prediction.ndim > 1)
        return around if smooth else np.full_like(around, np.nan)

    @property
    def takes_weights(self) -> bool:
        """Whether the function does."""
        return bool(self.weights)

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the metric of weighted rows, and influences by the infinitesimal jackknife.

        Missing where they do not add up, as of a median.
        """
        value = self._value(y, prediction, weights)
        influence = np.zeros(len(y))
        for rows in _blocks(y, prediction):
            changed = weights.copy()
            changed[rows] *= 1 + STEP
            changed *= weights.sum() / changed.sum()
            change = (self._value(y, prediction, changed) - value) / STEP
            influence[rows] = len(y) * change * weights[rows] / weights[rows].sum()
        if not influence.any() and self._ignores_weights(y, prediction, weights, value):
            raise LossError(
                f"The metric {quote(self.name)} takes weights, but they change nothing: let it use "
                "them, or leave `weights` out."
            )
        return value, self._around_zero(influence, value, y, prediction, weights)

    def _ignores_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray, value: float
    ) -> bool:
        """Whether fewer rows change the value, but large changes of weights do not."""
        if value == self._value(y[1:], prediction[1:], weights[1:]):
            return False
        others = np.random.default_rng(0).uniform(0.1, 10, size=(3, len(y)))
        return all(self._value(y, prediction, weights * change) == value for change in others)

    def _by_weights(
        self, y: FloatArray, prediction: FloatArray, rows: IntArray, value: float
    ) -> float:
        """Return the mean influence of some rows, by a small change of their weights."""
        n, k = len(y), len(rows)
        weights = np.ones(n)
        weights[rows] += STEP
        weights *= n / weights.sum()
        return (self._value(y, prediction, weights) - value) * (n + k * STEP) / (k * STEP)

    def _by_leaving_out(
        self, y: FloatArray, prediction: FloatArray, rows: IntArray, value: float
    ) -> float:
        """Return the mean influence of some rows, by leaving them out."""
        n, k = len(y), len(rows)
        others = np.delete(np.arange(n), rows)
        if not len(others):
            return 0.0
        left_out = self._value(y[others], prediction[others], np.ones(len(others)))
        return (value - left_out) * (n - k) / k

    def _value(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
        options = {self.weights: weights} if self.weights else {}
        try:
            number = np.asarray(self.function(y, prediction, **options))
        except Exception as error:
            raise LossError(
                f"The metric {quote(self.name)} can't be computed: {reason(error).rstrip('.')}."
                + self._advice(prediction)
            ) from error
        if number.dtype.kind not in "biuf" or number.size != 1 or not np.isfinite(number).all():
            raise LossError(
                f"The metric {quote(self.name)} must return one finite number, not "
                f"{quote(number)}; a function of every row is a `loss`."
            )
        return float(number.reshape(()))

    def _advice(self, prediction: FloatArray) -> str:
        """Return what to pass in place of a function of labels, or of one probability."""
        if prediction.ndim == 1 or isinstance(self.function, _Scorer):
            return ""
        short = self.name.removesuffix("_score")
        named = short in METRICS or short in get_scorer_names()
        scorer = f"`sklearn.metrics.make_scorer({self.name})`"
        return (
            " A function is given codes 0, 1, ... of classes as `y`, and as `prediction` their "
            f"probabilities, shape {prediction.shape}; for a function of labels, or of one "
            "probability, pass " + (f'the name "{short}", or {scorer}.' if named else f"{scorer}.")
        )


def choose_metric(
    metric: MetricLike, predictor: Predictor, response: Response, *, direction: bool = False
) -> Metric:
    """Return the metric, after a check that the predictions suit it.

    Parameters
    ----------
    metric : str, Metric or callable
        One of `METRICS`, the name of a scorer, a scorer, or a function.
    predictor : Predictor
    response : Response
    direction : bool
        Whether it must be certain that smaller, or larger, is better.
    """
    formula = metric_by_formula(metric) if response.classes is None else None
    chosen = _by_name(metric, predictor, response) if formula is None else formula
    check_metric(chosen, predictor, response)
    if direction and isinstance(chosen, MetricFunction) and not chosen.direction:
        raise LossError(
            f"An importance must know whether a smaller {quote(chosen.name)} is better; pass "
            "`sklearn.metrics.make_scorer(..., greater_is_better=...)`, or end the function's name "
            'in "_score" (larger is better), "_error" or "_loss" (smaller).'
        )
    return chosen


def _by_name(metric: object, predictor: Predictor, response: Response) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        if metric in METRICS:
            return METRICS[metric]
        if metric not in (scorers := get_scorer_names()):
            refuse_name(metric, scorers)
        if response.classes is not None and OF_NUMBERS.search(metric):
            raise LossError(
                f"The scorer {quote(metric)} is for regression, but `{response.name}` has classes; "
                'use "accuracy" or "roc_auc", for example.'
            )
        # A name can't say which class is of interest: it is the second of two, the one coded 1.
        codes = None if response.classes is None else tuple(range(len(response.classes)))
        coded = replace(response, classes=codes)
        return _of_scorer(_scorer(metric), metric, predictor, coded)
    if not callable(metric) or isinstance(metric, type):
        several = "; ask for one metric at a time" if isinstance(metric, list | dict) else ""
        raise LossError(
            "`metric` must be a name, a Metric, a function `metric(y, prediction)` or a scorer of "
            f"scikit-learn, not {quote(metric)}{several}."
        )
    first, weights = _parameters(metric)
    if first == "estimator":
        return _of_scorer(metric, _scorer_name(metric), predictor, response)
    name = getattr(metric, "__name__", type(metric).__name__)
    return _of_function(metric, name, weights, predictor)


@lru_cache  # scikit-learn makes another one each time, whose measurements would not be shared
def _scorer(name: str) -> MetricFunctionLike:
    scorer: MetricFunctionLike = get_scorer(name)
    return scorer


def refuse_name(metric: str, scorers: list[str]) -> NoReturn:
    """Raise `OptionError` for a name that is none of ours and none of scikit-learn's."""
    raise OptionError(
        f"`metric` must be one of {list_of(METRICS, most=20, limit=300)}, the name of a scorer of "
        f"scikit-learn, a function or a Metric, not {quote(metric)}."
        + did_you_mean(metric, [*METRICS, *scorers])
    )


def _of_function(
    function: MetricFunctionLike, name: str, weights: str, predictor: Predictor
) -> MetricFunction:
    words = name.rsplit("_", maxsplit=1)[-1]
    return MetricFunction(
        name=name,
        smaller_is_better=words in ("error", "loss", "deviance"),
        direction=words in ("error", "loss", "deviance", "score"),
        needs=predictor.kind,
        note=_note(name, weights),
        function=function,
        weights=weights,
    )


def _of_scorer(
    scorer: MetricFunctionLike, name: str, predictor: Predictor, response: Response
) -> MetricFunction:
    weights, needs = _weights_of_scorer(scorer), _needs_of_scorer(scorer, predictor)
    return MetricFunction(
        name=name,
        smaller_is_better=False,
        direction=True,
        needs=needs,
        note=f"{_note(name, weights)} A scorer: larger is better.",
        function=_Scorer(scorer, needs, response, predictor.kind == "probability"),
        weights=weights,
    )


def _needs_of_scorer(scorer: MetricFunctionLike, predictor: Predictor) -> Kind:
    """Return what a scorer asks a model for; a scorer that does not say may ask for anything."""
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


def _note(name: str, weights: str) -> str:
    how = (
        "the infinitesimal jackknife (small changes of the weights of rows; rows are left out if "
        "nothing changes)"
        if weights
        else "the jackknife (rows are left out)"
    )
    return (
        f"Influences of rows on {name}: by {how}, one by one up to {ROWS} evaluation rows, else "
        f"in {BLOCKS} blocks of similar rows; right for smooth functions of rows, not for medians."
    )


def _parameters(function: MetricFunctionLike) -> tuple[str, str]:
    """Return the names of the first parameter and of that for weights; empty if it has none."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):  # compiled functions may have no signature
        return "", ""
    names = [p.name for p in parameters]
    weights = next((name for name in WEIGHTS if name in names), "")
    required = [
        p.name
        for p in parameters
        if p.default is Parameter.empty
        and p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        and p.name not in WEIGHTS
    ]
    if names[:1] != ["estimator"] and len(required) > 2:
        raise LossError(
            "A metric is a function of `y` and `prediction`, and of `weights` if it has weights; "
            f"this one needs {list_of(required)}."
        )
    return (names[0] if names else ""), weights


def _weights_of_scorer(scorer: MetricFunctionLike) -> str:
    """Return the name of a scorer's parameter for weights; empty if its function takes none."""
    weights = _parameters(scorer)[1]
    function = getattr(scorer, "_score_func", None)
    # Scorers of `make_scorer` take weights even where they can't hand them on.
    return weights if function is None or weights in _names_in(function) else ""


def _names_in(function: MetricFunctionLike) -> list[str]:
    """Return the names of a function's parameters; of one without a signature none are known."""
    try:
        return list(signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _scorer_name(scorer: MetricFunctionLike) -> str:
    """Return the name of a scorer's function, with the sign that the scorer gives it."""
    text = repr(scorer)
    if not text.startswith("make_scorer("):
        return getattr(scorer, "__name__", type(scorer).__name__)
    name = text.removeprefix("make_scorer(").split(",")[0].rstrip(")")
    return f"-{name}" if "greater_is_better=False" in text else name


@dataclass(frozen=True)
class _Scorer:
    """A scorer of scikit-learn as a function of responses and predictions.

    Attributes
    ----------
    scorer : callable
    needs : str
        What predictions are.
    response : Response
    probable : bool
        Whether answers have probabilities.
    """

    scorer: MetricFunctionLike
    needs: Kind
    response: Response
    probable: bool

    def __call__(self, y: FloatArray, prediction: FloatArray, **weights: FloatArray) -> Any:
        rows = np.arange(len(y))[:, None]
        if self.response.classes is None:
            return self.scorer(_Regressor(prediction), rows, y, **weights)
        model = self._classifier(prediction, np.array(self.response.classes))
        return self.scorer(model, rows, self.response.labels(y), **weights)

    def _classifier(self, prediction: FloatArray, classes: npt.NDArray[Any]) -> _Classifier:
        if self.needs != "answers":
            probabilities = prediction if self.needs == "probability" else None
            return _Classifier(classes, classes[most_probable(prediction)], probabilities)
        labels = classes[prediction[:, 0].astype(np.intp)]
        k = len(classes) if self.probable else 0
        probabilities, scores = prediction[:, 1 : 1 + k], prediction[:, 1 + k :]
        return _Classifier(
            classes,
            labels,
            probabilities if k else None,
            _one_or_several(scores),
        )


class _Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A regressor that knows the predictions of the rows."""

    def __init__(self, prediction: FloatArray) -> None:
        self.prediction = prediction

    def predict(self, rows: IntArray) -> FloatArray:
        """Return the predictions of rows, by their numbers."""
        return self.prediction[rows[:, 0]]


def _one_or_several(scores: FloatArray) -> FloatArray | None:
    """Return a decision function as scikit-learn shapes it; None if there is none."""
    if not scores.shape[1]:
        return None
    return scores[:, 0] if scores.shape[1] == 1 else scores


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A classifier that knows its answers for the rows."""

    def __init__(
        self,
        classes: npt.NDArray[Any],
        labels: npt.NDArray[Any],
        probabilities: FloatArray | None = None,
        scores: FloatArray | None = None,
    ) -> None:
        self.classes, self.labels = classes, labels
        self.probabilities, self.scores = probabilities, scores
        self.classes_ = classes

    def predict(self, rows: IntArray) -> npt.NDArray[Any]:
        """Return the labels of rows, by their numbers."""
        return np.asarray(self.labels[rows[:, 0]])

    @available_if(lambda self: self.probabilities is not None)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, rows: IntArray) -> FloatArray:
        """Return the probabilities of rows, by their numbers."""
        return np.asarray(self.probabilities)[rows[:, 0]]

    @available_if(lambda self: self.scores is not None)  # type: ignore[untyped-decorator]  # as above
    def decision_function(self, rows: IntArray) -> FloatArray:
        """Return the decision function of rows, by their numbers."""
        return np.asarray(self.scores)[rows[:, 0]]


def _blocks(y: FloatArray, prediction: FloatArray) -> Iterator[IntArray]:
    """Yield rows that are changed together: each by itself, or those that are most alike.

    The influence of a row is a function of its response and prediction.
    """
    n, classes = len(y), prediction.ndim == 2
    if n <= ROWS or (classes and y.max() > 1):
        yield from np.arange(n)[:, None]
        return
    if classes:
        place = prediction[:, 1:] if prediction.shape[1] == 2 else prediction
        cells = [np.flatnonzero(y == value) for value in np.unique(y)]
    else:
        place = np.column_stack([y, prediction, y - prediction])
        cells = [np.arange(n)]
    yield from _divide(place, cells)


def _divide(place: FloatArray, cells: list[IntArray]) -> list[IntArray]:
    """Divide cells of rows at their mean, always the widest, so that outliers stand alone."""
    scale = np.square(place - place.mean(axis=0)).sum(axis=0)
    place = place[:, scale > 0] / np.sqrt(scale[scale > 0])
    if not place.shape[1]:
        return cells
    queue = [_Cell.of(place, rows) for rows in cells]
    heapify(queue)
    while len(queue) < BLOCKS and queue[0].order < 0:
        wide = heappop(queue)
        above = place[wide.rows, wide.axis] > place[wide.rows, wide.axis].mean()
        if above.all() or not above.any():  # equal but for rounding
            heappush(queue, wide._replace(order=0.0))
            continue
        for side in (above, ~above):
            heappush(queue, _Cell.of(place, wide.rows[side]))
    return [cell.rows for cell in queue]


class _Cell(NamedTuple):
    """Rows, minus the largest sum of squares of their places, and the axis that has it."""

    order: float
    first: int
    axis: int
    rows: IntArray

    @classmethod
    def of(cls, place: FloatArray, rows: IntArray) -> _Cell:
        squares = np.square(place[rows] - place[rows].mean(axis=0)).sum(axis=0)
        axis = int(squares.argmax())
        return cls(-float(squares[axis]), int(rows[0]), axis, rows)
