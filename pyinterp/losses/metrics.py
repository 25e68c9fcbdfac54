"""Metrics of all rows together: a root mean square, a correlation, an area under a curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import is_hashable
from pyinterp.data.sample import Response
from pyinterp.errors import LossError, quote, reason
from pyinterp.losses.rowwise import LOSSES, check_needs
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Kind, Predictor, most_probable
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range
from pyinterp.representation import about

MetricName: TypeAlias = Literal[
    "rmse", "mae", "mape", "mse", "rsq", "rsq_trad", "accuracy", "bal_accuracy", "youden",
    "logloss", "log_loss", "brier", "roc_auc", "pr_auc",
]  # fmt: skip
# What rounding may change, relative to the distance from 0 or 1.
ROUNDING = 1e-12

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
Combine: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]
Formula: TypeAlias = Callable[[FloatArray, IntArray, BoolArray], tuple[float, FloatArray]]

TWO_SENSITIVITIES = (
    "bal_accuracy is the mean of sensitivity and specificity, averaged over classes, as in R's "
    "yardstick; scikit-learn's balanced_accuracy, the mean sensitivity, differs for more than two "
    "classes."
)
HALF_BRIER = (
    "brier is half the squared error of probabilities, summed over classes, as in R's yardstick; "
    "the loss of that name is the whole sum for more than two classes."
)
STEPS = (
    "pr_auc is the average precision, the area under steps, as in scikit-learn; R's yardstick "
    "joins the points of the curve by lines."
)


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """How well all rows are predicted, as one number that need not be a mean over rows.

    Attributes
    ----------
    name : str
        As in R's yardstick and vip.
    smaller_is_better : bool
    needs : {"mean", "probability", "label", "answers"}
        What the metric is given. With "label" the largest prediction of a row is that of the class
        that the learner's own ``predict`` says; "answers" are for scorers.
    unit : str
        In terms of ``{y}``, the name of the response.
    note : str
        Footnote on its definition, and on how influences are computed if by no formula.
    range : tuple of float
        The least and the largest value that it can have. Intervals stay in it.
    """

    name: str
    smaller_is_better: bool
    needs: Kind = "mean"
    unit: str = ""
    note: str = ""
    range: Range = REAL

    @abstractmethod
    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the metric and every row's influence on it, shape (n,), whose mean is 0.

        For regression `y` and `prediction` have shape (n,). For classification `y` holds
        positions in the classes, and `prediction` probabilities, shape (n, classes).
        """

    @property
    def takes_weights(self) -> bool:
        """Whether the metric of weighted rows is written."""
        return type(self).with_weights is not Metric.with_weights

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        r"""Return the metric of weighted rows, and influences :math:`n w_i \, dM / dw_i`."""
        raise LossError(f"The metric {quote(self.name)} has no weighted form.")

    def __repr__(self) -> str:
        return about(
            self, self.name, f"{'smaller' if self.smaller_is_better else 'larger'} is better"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class OfMeans(Metric):
    """A smooth function of means over rows.

    Attributes
    ----------
    rows : callable
        ``rows(y, prediction)`` returns the n rows' values, shape (n,) or (n, c).
    combine : callable
        ``combine(means)`` returns the metric and its gradient, shape (c,).
    """

    rows: Rows
    combine: Combine

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the metric and influences by the delta method."""
        return self.with_weights(y, prediction, np.ones(len(y)))

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the function of weighted means, and influences by the delta method."""
        rows = self.rows(y, prediction).reshape(len(y), -1)
        means = np.average(rows, axis=0, weights=weights)
        value, gradient = self.combine(means)
        return value, weights / weights.mean() * ((rows - means) @ gradient)


@dataclass(frozen=True, kw_only=True, repr=False)
class OfRanks(Metric):
    """A function of the ranks of the probability of the second of two classes.

    Attributes
    ----------
    formula : callable
        ``formula(weights, level, events)`` returns the metric and its derivatives with respect to
        the rows' weights, times the sum of the weights of `events`; `level` numbers equal ranks.
    """

    formula: Formula

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the metric, rows with equal probabilities being ties."""
        return self.with_weights(y, prediction, np.ones(len(y)))

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the metric of weighted rows."""
        if prediction.shape[-1] != 2:
            raise LossError(
                f"The metric {quote(self.name)} is for two classes; this learner predicts "
                f"{prediction.shape[-1]}."
            )
        events = y == 1
        if events.all() or not events.any():
            raise LossError(
                f"The metric {quote(self.name)} needs rows of both classes, but all of the "
                f"{len(y)} evaluation rows have the same; stratify the resampling by the response."
            )
        value, derivatives = self.formula(weights, _levels(prediction[:, 1]), events)
        return value, len(y) * weights * derivatives


def _area_under_roc(
    weights: FloatArray, level: IntArray, events: BoolArray
) -> tuple[float, FloatArray]:
    """Return the probability that an event is ranked above another row, ties counting half.

    Influences are placement values (DeLong, DeLong and Clarke-Pearson 1988): the share of the other
    class that a row is ranked above, or below.
    """
    hits, others = (np.bincount(level, weights=weights * side) for side in (events, ~events))
    below = (others.cumsum() - others / 2) / others.sum()
    above = 1 - (hits.cumsum() - hits / 2) / hits.sum()
    area = float(hits @ below / hits.sum())
    placement = np.where(events, below[level], above[level])
    return area, (placement - area) / np.where(events, hits.sum(), others.sum())


def _average_precision(
    weights: FloatArray, level: IntArray, events: BoolArray
) -> tuple[float, FloatArray]:
    r"""Return the area under the steps of precision against recall.

    .. math:: AP = \frac{\sum_i w_i y_i P_i}{\sum_i w_i y_i}, \quad
        P_i = \frac{\sum_j w_j y_j 1[s_j \ge s_i]}{\sum_j w_j 1[s_j \ge s_i]}

    with 1 for events as y and their probability as s. Rows with equal probabilities enter together.
    """
    rows, hits = (np.bincount(level, weights=weights * side) for side in (1, events))
    above, hits_above = rows[::-1].cumsum()[::-1], hits[::-1].cumsum()[::-1]
    precision, total = hits_above / above, hits.sum()
    value = float(hits @ precision / total)
    # A row with a higher probability counts in the precision at those of all events below it.
    by_event = (hits / above).cumsum()
    by_row = (hits * precision / above).cumsum()
    change = events * (precision[level] - value + by_event[level]) - by_row[level]
    return value, change / total


def check_metric(metric: Metric, predictor: Predictor, response: Response) -> None:
    """Raise `LossError` unless the metric can be kept and the predictions suit it."""
    if not is_hashable(metric):
        raise LossError(
            "A metric must be hashable, as what it gives is kept: make its class a dataclass "
            f"with `frozen=True` that holds no arrays; {type(metric).__name__} is not."
        )
    check_needs(f"metric {quote(metric.name)}", metric.needs, predictor, response, METRICS)


def evaluate(
    metric: Metric, y: FloatArray, prediction: FloatArray, weights: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return a metric's value and its influences, checked; it can't write into its arguments.

    Influences are all missing if the metric has none.
    """
    arrays = read_only(y), read_only(prediction)
    try:
        value, rows = metric(*arrays) if weights is None else metric.with_weights(*arrays, weights)
    except LossError:
        raise
    except Exception as error:
        raise LossError(
            f"The metric {quote(metric.name)} can't be computed: {reason(error)}"
        ) from error
    number, influences = real_numbers(value), real_numbers(rows)
    if number is None or influences is None or number.ndim or influences.shape != y.shape:
        raise LossError(
            f"The metric {quote(metric.name)} must return a number and one influence per row, not "
            f"{quote(value)} and {quote(rows)}."
        )
    if not np.isfinite(number) or not (np.isfinite(influences).all() or np.isnan(influences).all()):
        raise LossError(f"The metric {quote(metric.name)} must be finite, but it is not.")
    return float(number), influences


def _mean(means: FloatArray) -> tuple[float, FloatArray]:
    return float(means[0]), np.ones(1)


def _root(means: FloatArray) -> tuple[float, FloatArray]:
    root = float(np.sqrt(means[0]))
    return root, np.array([0.5 / root if root > 0 else 0.0])


def _percent(y: FloatArray, prediction: FloatArray) -> FloatArray:
    if (y == 0).any():
        raise LossError(
            f"The percentage error is not defined where the response is 0, as in "
            f'{int((y == 0).sum())} rows; use "mae".'
        )
    return 100 * np.abs((y - prediction) / y)


def _moments(y: FloatArray, prediction: FloatArray) -> FloatArray:
    # About their means, so that no digits are lost; the correlation does not change.
    a, b = y - y.mean(), prediction - prediction.mean()
    return np.column_stack([a, b, a * a, b * b, a * b])


def _squared_correlation(means: FloatArray) -> tuple[float, FloatArray]:
    a, b, aa, bb, ab = means
    vy, vp, cov = aa - a * a, bb - b * b, ab - a * b
    if vp <= 0 or vy <= 0:
        raise LossError(
            'The squared correlation, "rsq", is not defined for constant predictions or '
            'responses; use "rsq_trad".'
        )
    value = cov**2 / (vy * vp)
    by_cov, by_vy, by_vp = 2 * cov / (vy * vp), -value / vy, -value / vp
    gradient = np.array(
        [-b * by_cov - 2 * a * by_vy, -a * by_cov - 2 * b * by_vp, by_vy, by_vp, by_cov]
    )
    return float(value), gradient


def _errors_and_moments(y: FloatArray, prediction: FloatArray) -> FloatArray:
    a = y - y.mean()
    return np.column_stack([np.square(y - prediction), a, a * a])


def _explained_share(means: FloatArray) -> tuple[float, FloatArray]:
    error, a, aa = means
    total = aa - a * a
    if total <= 0:
        raise LossError("R² is not defined where the response is the same in all evaluation rows.")
    return float(1 - error / total), np.array(
        [-1 / total, -2 * a * error / total**2, error / total**2]
    )


def _levels(probability: FloatArray) -> IntArray:
    """Return the ranks of probabilities; those that differ by rounding only are ties.

    The tolerance is relative to the distance from 0 or 1, so that tiny probabilities, and those
    near 1, are told from each other.
    """
    order = np.argsort(probability, kind="stable")
    ordered = probability[order]
    higher = np.diff(ordered) > ROUNDING * np.minimum(ordered, 1 - ordered)[1:]
    levels = np.empty(len(ordered), np.intp)
    levels[order] = np.concatenate([[0], np.cumsum(higher)])
    return levels


def _half_brier(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return half the squared distance from the observed class, as yardstick has it."""
    observed = y[:, None] == np.arange(prediction.shape[-1])
    return np.asarray(np.square(prediction - observed).sum(axis=-1) / 2)


def _correct(y: FloatArray, prediction: FloatArray) -> FloatArray:
    return np.asarray(most_probable(prediction) == y, dtype=np.float64)


def _tables(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return membership, true positives and true negatives of every class."""
    every = np.arange(prediction.shape[-1])
    member, predicted = y[:, None] == every, most_probable(prediction)[:, None] == every
    return np.hstack([member, member & predicted, ~member & ~predicted]).astype(np.float64)


def _balanced_accuracy(means: FloatArray) -> tuple[float, FloatArray]:
    """Return the mean of sensitivity and specificity, over the classes that occur."""
    share, hit, left = np.split(means, 3)
    if (share == 1).any():
        raise LossError(
            "Specificity needs rows of another class, but all evaluation rows have the same; "
            "stratify the resampling by the response."
        )
    present = share > 0
    weight = np.where(present, 0.5 / present.sum(), 0.0)
    below = np.where(present, share, 1.0)
    value = (weight * (hit / below + left / (1 - share))).sum()
    by_share = weight * (left / (1 - share) ** 2 - hit / below**2)
    return float(value), np.concatenate([by_share, weight / below, weight / (1 - share)])


def _youden(means: FloatArray) -> tuple[float, FloatArray]:
    value, gradient = _balanced_accuracy(means)
    return 2 * value - 1, 2 * gradient


def _error(name: str, rows: Rows, combine: Combine = _mean, **options: Any) -> Metric:
    """Return a metric of which smaller values are better, 0 the best."""
    options = {"range": POSITIVE, **options}
    return OfMeans(name=name, smaller_is_better=True, rows=rows, combine=combine, **options)


def _score(name: str, rows: Rows, combine: Combine = _mean, **options: Any) -> Metric:
    """Return a metric of which larger values are better, 1 the best."""
    options = {"range": SHARES, **options}
    return OfMeans(name=name, smaller_is_better=False, rows=rows, combine=combine, **options)


def _area(name: str, formula: Formula, note: str = "") -> Metric:
    return OfRanks(
        name=name,
        smaller_is_better=False,
        needs="probability",
        range=SHARES,
        formula=formula,
        note=note,
    )


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        _error("rmse", LOSSES["squared"], _root, unit="{y}"),
        _error("mae", LOSSES["absolute"], unit="{y}"),
        _error("mape", _percent, unit="percent"),
        _error("mse", LOSSES["squared"], unit="{y}²"),
        _score("rsq", _moments, _squared_correlation),
        _score("rsq_trad", _errors_and_moments, _explained_share, range=(-np.inf, 1.0)),
        _score("accuracy", _correct, needs="label"),
        _score("bal_accuracy", _tables, _balanced_accuracy, needs="label", note=TWO_SENSITIVITIES),
        _score("youden", _tables, _youden, needs="label", range=(-1.0, 1.0)),
        _error("logloss", LOSSES["log"], needs="probability", unit="nats"),
        _error("log_loss", LOSSES["log"], needs="probability", unit="nats"),
        _error("brier", _half_brier, needs="probability", range=SHARES, note=HALF_BRIER),
        _area("roc_auc", _area_under_roc),
        _area("pr_auc", _average_precision, note=STEPS),
    )
}
