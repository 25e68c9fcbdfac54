"""Metrics that are functions of users, or scorers of scikit-learn; influences by small changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer_names

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import is_hashable
from pyinterp.data.sample import Response
from pyinterp.errors import LossError, OptionError, did_you_mean, list_of, quote, reason
from pyinterp.losses.metrics import METRICS, Metric, MetricName, Result
from pyinterp.losses.rowwise import check_needs
from pyinterp.losses.scorers import ScorerFunction, formula_of, name_of, needs_of, scorer_of
from pyinterp.models.predictor import Predictor

MetricFunctionLike = Callable[..., Any]
MetricLike: TypeAlias = "MetricName | str | Metric | MetricFunctionLike"

# Weight that is added to a row; every row has 1.
STEP = 1e-4
# Up to so many rows are changed one by one; of more, those that are alike are changed together.
ROWS = 1000
BLOCKS = 1000
# Names of scikit-learn's scorers for regression.
OF_NUMBERS = re.compile("error|deviance|^r2$|explained_variance")
WEIGHTS = ("sample_weight", "weights")

NOT_SMOOTH = "the metric jumps where the weights of rows change a little, as medians do"
# Groups of rows that are left out together, and the multiple of their effects' sum of squares by
# which influences may miss it: below 0.1, rarely up to 1, for smooth functions of 20 rows and more;
# a million for a median of weighted rows. Where rows that are left out have no more than so many
# different effects, as on a median, a quantile or a count, groups must agree with them: groups
# of a median miss by 0.05 to 5.
GROUPS = 12
DISAGREEMENT, STRICT = 2, 0.02
FEW_EFFECTS = 3
ROUNDING = 1e-9


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

    def __call__(self, y: FloatArray, prediction: FloatArray) -> Result:
        """Return the metric and influences by the infinitesimal jackknife, or by leaving out.

        Influences are missing where they do not add up, as of a median, which jumps.
        """
        n, ones, influence = len(y), np.ones(len(y)), np.zeros(len(y))
        value, blocks = self._value(y, prediction, ones), list(_blocks(y, prediction))
        for rows in blocks if self.weights else ():
            step = len(rows) * STEP
            moved = self._value(y, prediction, _more_weight(ones, rows))
            influence[rows] = (moved - value) * (n + step) / step
        if not influence.any():  # no weights, or they are ignored, or small changes change nothing
            for rows in blocks if len(blocks) > 1 else ():
                y_left, prediction_left = np.delete(y, rows), np.delete(prediction, rows, axis=0)
                without = self._value(y_left, prediction_left, np.ones(len(y_left)))
                influence[rows] = (value - without) * len(y_left) / len(rows)
        return value, self._around_zero(influence, value, y, prediction, ones)

    def _around_zero(
        self,
        influence: FloatArray,
        value: float,
        y: FloatArray,
        prediction: FloatArray,
        weights: FloatArray,
    ) -> FloatArray:
        """Return influences with mean 0, or missing ones if they do not add up.

        They add up if leaving out several rows has about the effect that they say, over groups.
        """
        influence, n = influence - influence.mean(), len(y)
        size = round(np.sqrt(n))
        if n < 3 * size:
            return influence
        order = np.random.default_rng(0).permuted(np.tile(np.arange(n), (GROUPS, 1)), axis=1)
        foretold, change = np.empty(GROUPS), np.empty(GROUPS)
        for k, (out, kept) in enumerate(zip(order[:, :size], order[:, size:], strict=True)):
            foretold[k] = -influence[out].mean() * size / n * weights.sum() / weights[kept].sum()
            try:
                change[k] = self._value(y[kept], prediction[kept], weights[kept]) - value
            except LossError:  # of rows of one class, say
                change[k] = foretold[k]
        off, largest = change - foretold, np.abs(influence).max()
        if max(np.abs(change).max(), np.abs(off).max()) <= ROUNDING * max(abs(value), largest):
            return influence
        effects = len(np.unique(np.round(influence / largest, 6))) if largest else 1
        # A smooth metric of labels may have few different effects of rows.
        strict = prediction.ndim == 1 and effects <= FEW_EFFECTS
        smooth = off @ off <= (STRICT if strict else DISAGREEMENT) * (change @ change)
        return influence if smooth else np.full_like(influence, np.nan)

    @property
    def takes_weights(self) -> bool:
        """Whether the function does."""
        return bool(self.weights)

    def with_weights(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
        """Return the weighted metric, and the influence of every row on it.

        The influence is the change of the metric per relative increase of a row's weight
        (infinitesimal jackknife); rows of a block, which are much alike, change together.
        Influences are missing if their sum does not foretell the metric without some rows, as for a
        median.
        """
        value = self._value(y, prediction, weights)
        influence = np.zeros(len(y))
        for rows in _blocks(y, prediction):
            moved = self._value(y, prediction, _more_weight(weights, rows))
            change = (moved - value) / STEP
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

    def _value(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
        """Return the user's metric as a finite number, of rows with these weights."""
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
        """Return the metric to pass in place of a function of labels, or of one probability."""
        if prediction.ndim == 1 or isinstance(self.function, ScorerFunction):
            return ""
        short = self.name.removesuffix("_score")
        by_name = f'the name "{short}", or ' if short in [*METRICS, *get_scorer_names()] else ""
        return (
            " A function is given codes 0, 1, ... of classes as `y`, and as `prediction` their "
            f"probabilities, shape {prediction.shape}; for a function of labels, or of one "
            f"probability, pass {by_name}`sklearn.metrics.make_scorer({self.name})`."
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
    formula = formula_of(metric) if response.classes is None else None
    chosen = _by_name(metric, predictor, response) if formula is None else formula
    if not is_hashable(chosen):
        raise LossError(
            "A metric must be hashable, as what it gives is kept: make its class a dataclass "
            f"with `frozen=True` that holds no arrays; {type(chosen).__name__} is not."
        )
    check_needs(f"metric {quote(chosen.name)}", chosen.needs, predictor, response, METRICS)
    if direction and isinstance(chosen, MetricFunction) and not chosen.direction:
        raise LossError(
            f"An importance must know whether a smaller {quote(chosen.name)} is better; pass "
            "`sklearn.metrics.make_scorer(..., greater_is_better=...)`, or end the function's name "
            'in "_score" (larger is better), "_error" or "_loss" (smaller).'
        )
    return chosen


def _by_name(metric: object, predictor: Predictor, response: Response) -> Metric:
    """Return a metric by its own name or a scorer's, after a check that there is one."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        if metric in METRICS:
            return METRICS[metric]
        if metric not in (scorers := get_scorer_names()):
            raise OptionError(
                f"`metric` must be one of {list_of(METRICS, most=20, limit=300)}, the name of a "
                f"scorer of scikit-learn, a function or a Metric, not {quote(metric)}."
                + did_you_mean("roc_auc" if metric == "auc" else metric, [*METRICS, *scorers])
            )
        if response.classes is not None and OF_NUMBERS.search(metric):
            raise LossError(
                f"The scorer {quote(metric)} is for regression, but `{response.name}` has classes; "
                'use "accuracy" or "roc_auc", for example.'
            )
        # A name can't say which class is of interest: it is the second of two, the one coded 1.
        codes = None if response.classes is None else tuple(range(len(response.classes)))
        coded = replace(response, classes=codes)
        return _of_scorer(scorer_of(metric), metric, predictor, coded)
    if not callable(metric) or isinstance(metric, type):
        several = "; ask for one metric at a time" if isinstance(metric, list | dict) else ""
        raise LossError(
            "`metric` must be a name, a Metric, a function `metric(y, prediction)` or a scorer of "
            f"scikit-learn, not {quote(metric)}{several}."
        )
    parameters = _parameters(metric)
    if [p.name for p in parameters[:1]] == ["estimator"]:
        return _of_scorer(metric, name_of(metric), predictor, response)
    return _of_function(metric, parameters, predictor)


def _of_function(
    function: MetricFunctionLike, parameters: Sequence[Parameter], predictor: Predictor
) -> MetricFunction:
    """Return a function of y and predictions as a metric; raise if it needs more arguments."""
    required = [
        p.name
        for p in parameters
        if p.default is Parameter.empty
        and p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        and p.name not in WEIGHTS
    ]
    if len(required) > 2:
        raise LossError(
            "A metric is a function of `y` and `prediction`, and of `weights` if it has weights; "
            f"this one needs {list_of(required)}."
        )
    name, weights = getattr(function, "__name__", type(function).__name__), _weights(parameters)
    last_word = name.rsplit("_", maxsplit=1)[-1]
    return MetricFunction(
        name=name,
        smaller_is_better=last_word in ("error", "loss", "deviance"),
        direction=last_word in ("error", "loss", "deviance", "score"),
        needs=predictor.kind,
        note=_note(name, weights),
        function=function,
        weights=weights,
    )


def _of_scorer(
    scorer: MetricFunctionLike, name: str, predictor: Predictor, response: Response
) -> MetricFunction:
    """Return a scorer of scikit-learn as a metric of the predictions for which the scorer asks."""
    weights, needs = _weights(_parameters(scorer)), needs_of(scorer, predictor)
    function = getattr(scorer, "_score_func", None)
    # Scorers of `make_scorer` take weights even where they can't hand them on.
    if function is not None and weights not in [p.name for p in _parameters(function)]:
        weights = ""
    return MetricFunction(
        name=name,
        smaller_is_better=False,
        direction=True,
        needs=needs,
        note=f"{_note(name, weights)} A scorer: larger is better.",
        function=ScorerFunction(scorer, needs, response, predictor.kind == "probability"),
        weights=weights,
    )


def _parameters(function: MetricFunctionLike) -> list[Parameter]:
    """Return a function's parameters; none if a compiled function has no signature."""
    try:
        return list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _weights(parameters: Sequence[Parameter]) -> str:
    """Return the name of the parameter for weights; empty if there is none."""
    names = [p.name for p in parameters]
    return next((name for name in WEIGHTS if name in names), "")


def _note(name: str, weights: str) -> str:
    """Return the footnote on how the influences of rows on a metric are computed."""
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


def _more_weight(weights: FloatArray, rows: IntArray) -> FloatArray:
    """Return weights of the same sum, larger by a small share for some rows."""
    moved = weights.copy()
    moved[rows] *= 1 + STEP
    return np.asarray(moved * (weights.sum() / moved.sum()))


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
    queue = [_cell(place, rows) for rows in cells]
    heapify(queue)
    while len(queue) < BLOCKS and queue[0][0] < 0:
        _, first, axis, rows = heappop(queue)
        above = place[rows, axis] > place[rows, axis].mean()
        if above.all() or not above.any():  # equal but for rounding
            heappush(queue, (0.0, first, axis, rows))
            continue
        for side in (above, ~above):
            heappush(queue, _cell(place, rows[side]))
    return [rows for *_, rows in queue]


def _cell(place: FloatArray, rows: IntArray) -> tuple[float, int, int, IntArray]:
    """Return minus the largest sum of squares of rows' places, the first row, its axis, and all."""
    squares = np.square(place[rows] - place[rows].mean(axis=0)).sum(axis=0)
    axis = int(squares.argmax())
    return -float(squares[axis]), int(rows[0]), axis, rows
