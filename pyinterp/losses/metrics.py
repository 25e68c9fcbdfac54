"""Metrics of all rows together: a root mean square, a correlation, an area under a curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pyinterp._typing import BoolArray, FloatArray, IntArray
from pyinterp.errors import LossError, quote, reason
from pyinterp.losses.rowwise import LOSSES
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Kind, most_probable
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range
from pyinterp.representation import about, frozen

MetricName = Literal[
    "rmse", "mae", "mape", "mse", "rsq", "rsq_trad", "accuracy", "bal_accuracy", "youden",
    "logloss", "log_loss", "brier", "roc_auc", "pr_auc",
]  # fmt: skip
# The change by rounding, relative to the distance from 0 or 1.
ROUNDING = 1e-12

Rows = Callable[[FloatArray, FloatArray], FloatArray]
Result = tuple[float, FloatArray]  # a metric, and influences or derivatives by row
Formula = Callable[[FloatArray, FloatArray, FloatArray], Result]

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


@frozen
class Metric(ABC):
    """How well all rows are predicted, as one number that need not be a mean over rows.

    Attributes
    ----------
    name : str
        As in R's yardstick and vip.
    smaller_is_better : bool
    needs : {"mean", "probability", "label", "answers"}
        Kind of the predictions that the metric is given. With "label" the largest of a row is for
        the class that the learner's ``predict`` says; "answers" are for scorers.
    unit : str
        In terms of ``{y}``, the name of the response.
    note : str
        Footnote on its definition, and on how influences are computed if by no formula.
    range : tuple of float
        The least and the largest value that it can have. Intervals stay in it.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> class Bias(pi.Metric):
    ...     def __call__(self, y, prediction):
    ...         return self.with_weights(y, prediction, np.ones(len(y)))
    ...     def with_weights(self, y, prediction, weights):
    ...         errors = prediction - y
    ...         value = np.average(errors, weights=weights)
    ...         return float(value), weights / weights.mean() * (errors - value)
    >>> bias = Bias(name="bias", smaller_is_better=True)
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).metric(bias).params.round(1).to_dict()
    {'bias': 5.9}
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
        r"""Return the metric of weighted rows, and influences :math:`n w_i \, dM / dw_i`.

        Examples
        --------
        >>> y, prediction = np.array([1.0, 2.0]), np.array([2.0, 2.0])
        >>> bias.with_weights(y, prediction, np.array([3.0, 1.0]))[0]
        0.75
        """
        raise LossError(f"The metric {quote(self.name)} has no weighted form.")

    def __repr__(self) -> str:
        return about(
            self, self.name, f"{'smaller' if self.smaller_is_better else 'larger'} is better"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class FormulaMetric(Metric):
    r"""A metric with a formula of its influences.

    Attributes
    ----------
    formula : callable
        ``formula(y, prediction, weights)`` returns the metric M of weighted rows, and its
        derivatives :math:`\sum_j w_j \, dM / dw_i`, shape (n,), whose weighted mean is 0.
    """

    formula: Formula

    def __call__(self, y: FloatArray, prediction: FloatArray) -> Result:
        """Return the metric and influences by its formula."""
        return self.with_weights(y, prediction, np.ones(len(y)))

    def with_weights(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
        """Return the metric of weighted rows, and influences by its formula."""
        value, derivatives = self.formula(y, prediction, weights)
        return float(value), weights / weights.mean() * derivatives


def evaluate(
    metric: Metric, y: FloatArray, prediction: FloatArray, weights: FloatArray | None = None
) -> Result:
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


@dataclass(frozen=True)
class _MeanOf:
    """The formula of a mean over rows; equal for the same function, also after pickling."""

    rows: Rows

    def __call__(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
        values = self.rows(y, prediction)
        mean = np.average(values, weights=weights)
        return mean, values - mean


def _root_mean_square(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return the root of the mean squared error, and every row's influence on it."""
    mean, deviations = _MeanOf(LOSSES["squared"])(y, prediction, weights)
    root = np.sqrt(mean)
    return root, deviations * (0.5 / root if root > 0 else 0.0)


def _percent(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the absolute error of every row as a percentage of the response."""
    if (y == 0).any():
        raise LossError(
            f"The percentage error is not defined where the response is 0, as in "
            f'{int((y == 0).sum())} rows; use "mae".'
        )
    return 100 * np.abs((y - prediction) / y)


def _squared_correlation(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return the squared correlation of responses and predictions, and rows' influences."""
    if np.ptp(y) == 0 or np.ptp(prediction) == 0:
        raise LossError(
            'The squared correlation, "rsq", is not defined for constant predictions or '
            'responses; use "rsq_trad".'
        )
    a, b = (side - np.average(side, weights=weights) for side in (y, prediction))
    cov, vy, vp = (np.average(product, weights=weights) for product in (a * b, a * a, b * b))
    value = cov**2 / (vy * vp)
    return value, 2 * cov * a * b / (vy * vp) - value * (a * a / vy + b * b / vp)


def _explained_share(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return R² with the mean of these rows as the constant, and every row's influence on it."""
    if np.ptp(y) == 0:
        raise LossError("R² is not defined where the response is the same in all evaluation rows.")
    errors, squares = np.square(y - prediction), np.square(y - np.average(y, weights=weights))
    error, total = (np.average(rows, weights=weights) for rows in (errors, squares))
    return 1 - error / total, (error / total * squares - errors) / total


def _half_brier(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return half the squared distance from the observed class, as yardstick has it."""
    observed = y[:, None] == np.arange(prediction.shape[-1])
    return np.asarray(np.square(prediction - observed).sum(axis=-1) / 2)


def _correct(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return 1 for rows whose class is predicted, else 0."""
    return np.asarray(most_probable(prediction) == y, np.float64)


def _balanced_accuracy(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return the mean of sensitivity and specificity, over the classes that occur."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise LossError(
            "Specificity needs rows of another class, but all evaluation rows have the same; "
            "draw within classes, by `pi.Subsampling(strata=...)`, or use a loss."
        )
    member = y[:, None] == classes
    right = member == (most_probable(prediction)[:, None] == classes)
    share, hits = (np.average(rows, axis=0, weights=weights) for rows in (member, member & right))
    sensitivity = hits / share
    specificity = np.average(~member & right, axis=0, weights=weights) / (1 - share)
    by_member = member * (right - sensitivity) / share
    by_other = ~member * (right - specificity) / (1 - share)
    value = (sensitivity + specificity).mean() / 2
    return value, (by_member + by_other).mean(axis=1) / 2


def _youden(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return Youden's index, twice the balanced accuracy less one, and rows' influences."""
    value, derivatives = _balanced_accuracy(y, prediction, weights)
    return 2 * value - 1, 2 * derivatives


def _ranks(name: str, y: FloatArray, prediction: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return the ranks of the second class's probabilities, and which rows are of that class.

    Probabilities that differ by rounding only are ties. The tolerance is relative to the distance
    from 0 or 1, so that tiny probabilities, and those near 1, are told from each other.
    """
    if prediction.shape[-1] != 2:
        raise LossError(
            f"The metric {quote(name)} is for two classes; this learner predicts "
            f"{prediction.shape[-1]}."
        )
    events = y == 1
    if events.all() or not events.any():
        raise LossError(
            f"The metric {quote(name)} needs rows of both classes, but all of the "
            f"{len(y)} evaluation rows have the same; draw within classes, by "
            "`pi.Subsampling(strata=...)`, or use a loss."
        )
    order = np.argsort(prediction[:, 1], kind="stable")
    ordered = prediction[order, 1]
    higher = np.diff(ordered) > ROUNDING * np.minimum(ordered, 1 - ordered)[1:]
    level = np.empty(len(ordered), np.intp)
    level[order] = np.concatenate([[0], np.cumsum(higher)])
    return level, events


def _area_under_roc(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    """Return the probability that an event is ranked above another row, ties counting half.

    Influences are placement values (DeLong, DeLong and Clarke-Pearson 1988): the share of the other
    class that a row is ranked above, or below.
    """
    level, events = _ranks("roc_auc", y, prediction)
    hits, others = (np.bincount(level, weights=weights * side) for side in (events, ~events))
    below = (others.cumsum() - others / 2) / others.sum()
    above = 1 - (hits.cumsum() - hits / 2) / hits.sum()
    area = hits @ below / hits.sum()
    placement = np.where(events, below[level], above[level])
    share = np.where(events, hits.sum(), others.sum()) / weights.sum()
    return area, (placement - area) / share


def _average_precision(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> Result:
    r"""Return the area under the steps of precision against recall.

    .. math:: AP = \frac{\sum_i w_i y_i P_i}{\sum_i w_i y_i}, \quad
        P_i = \frac{\sum_j w_j y_j 1[s_j \ge s_i]}{\sum_j w_j 1[s_j \ge s_i]}

    with 1 for events as y and their probability as s. Rows with equal probabilities enter together.
    """
    level, events = _ranks("pr_auc", y, prediction)
    rows, hits = (np.bincount(level, weights=weights * side) for side in (1, events))
    above, hits_above = rows[::-1].cumsum()[::-1], hits[::-1].cumsum()[::-1]
    precision, total = hits_above / above, hits.sum()
    value = hits @ precision / total
    # A row with a higher probability counts in the precision at all events below it.
    by_event = (hits / above).cumsum()
    by_row = (hits * precision / above).cumsum()
    change = events * (precision[level] - value + by_event[level]) - by_row[level]
    return value, change / total * weights.sum()


def _error(name: str, formula: Formula, **options: Any) -> FormulaMetric:
    """Return a metric of which smaller values are better, 0 the best."""
    return _score(name, formula, smaller_is_better=True, range=POSITIVE, **options)


def _score(name: str, formula: Formula, **options: Any) -> FormulaMetric:
    """Return a metric of which larger values are better, 1 the best."""
    options = {"smaller_is_better": False, "range": SHARES, **options}
    return FormulaMetric(name=name, formula=formula, **options)


LOG_LOSS = _MeanOf(LOSSES["log"])
METRICS = {
    metric.name: metric
    for metric in (
        _error("rmse", _root_mean_square, unit="{y}"),
        _error("mae", _MeanOf(LOSSES["absolute"]), unit="{y}"),
        _error("mape", _MeanOf(_percent), unit="percent"),
        _error("mse", _MeanOf(LOSSES["squared"]), unit="{y}²"),
        _score("rsq", _squared_correlation),
        _score("rsq_trad", _explained_share, range=(-np.inf, 1.0)),
        _score("accuracy", _MeanOf(_correct), needs="label"),
        _score("bal_accuracy", _balanced_accuracy, needs="label", note=TWO_SENSITIVITIES),
        _score("youden", _youden, needs="label", range=(-1.0, 1.0)),
        _error("logloss", LOG_LOSS, needs="probability", unit="nats"),
        _error("log_loss", LOG_LOSS, needs="probability", unit="nats"),
        _error("brier", _MeanOf(_half_brier), needs="probability", note=HALF_BRIER),
        _score("roc_auc", _area_under_roc, needs="probability"),
        _score("pr_auc", _average_precision, needs="probability", note=STEPS),
    )
}
