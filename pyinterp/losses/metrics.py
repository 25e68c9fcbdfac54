"""Metrics of all rows together: a root mean square, a correlation, an area under a curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.checks import is_hashable
from pyinterp.data.sample import Response
from pyinterp.errors import LossError, quote, reason
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Kind, Predictor, learner_name, most_probable
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range
from pyinterp.representation import about

__all__ = ["METRICS", "Metric", "MetricName", "check_metric", "evaluate"]

MetricName: TypeAlias = Literal[
    "rmse",
    "mae",
    "mape",
    "mse",
    "rsq",
    "rsq_trad",
    "accuracy",
    "bal_accuracy",
    "youden",
    "logloss",
    "log_loss",
    "brier",
    "roc_auc",
    "pr_auc",
]
# What rounding may change, relative to the distance from 0 or 1.
ROUNDING = 1e-12


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
        return False

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
        ``rows(y, prediction)`` returns the n rows' values, shape (n, c).
    combine : callable
        ``combine(means)`` returns the metric and its gradient, shape (c,).
    """

    rows: Callable[[FloatArray, FloatArray], FloatArray]
    combine: Callable[[FloatArray], tuple[float, FloatArray]]

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the metric and influences by the delta method."""
        rows = self.rows(y, prediction)
        means = rows.mean(axis=0)
        value, gradient = self.combine(means)
        return value, (rows - means) @ gradient

    @property
    def takes_weights(self) -> bool:
        """Always: means are weighted."""
        return True

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the function of weighted means, and influences by the delta method."""
        rows = self.rows(y, prediction)
        means = np.average(rows, axis=0, weights=weights)
        value, gradient = self.combine(means)
        return value, weights / weights.mean() * ((rows - means) @ gradient)


@dataclass(frozen=True, kw_only=True, repr=False)
class AreaUnderROC(Metric):
    """Probability that a row of the second of two classes scores above one of the first."""

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the area, ties counting half, and influences by placement values.

        DeLong, DeLong and Clarke-Pearson (1988).
        """
        event, score = _events_and_scores(y, prediction, "area under the ROC curve")
        # The share of the other class that a row ranks above (below, for the first class).
        placement = np.empty(len(y))
        ranks = stats.rankdata(score)
        for side in (event, ~event):
            above = (ranks[side] - stats.rankdata(score[side])) / (~side).sum()
            placement[side] = above if side is event else 1 - above
        area = float(placement[event].mean())
        share = np.where(event, event.mean(), 1 - event.mean())
        return area, (placement - area) / share

    @property
    def takes_weights(self) -> bool:
        """Always: pairs of rows weigh the product of their weights."""
        return True

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the area over weighted pairs, and influences by weighted placement values."""
        event, score = _events_and_scores(y, prediction, "area under the ROC curve")
        _, level = np.unique(score, return_inverse=True)
        events, others = (np.bincount(level, weights=weights * side) for side in (event, ~event))
        below = (others.cumsum() - others / 2) / others.sum()
        above = 1 - (events.cumsum() - events / 2) / events.sum()
        area = float(events @ below / events.sum())
        placement = np.where(event, below[level], above[level])
        total = np.where(event, events.sum(), others.sum())
        return area, len(y) * weights * (placement - area) / total


@dataclass(frozen=True, kw_only=True, repr=False)
class AveragePrecision(Metric):
    r"""Area under the steps of precision against recall.

    .. math:: AP = \frac{\sum_i w_i y_i P_i}{\sum_i w_i y_i}, \quad
        P_i = \frac{\sum_j w_j y_j 1[s_j \ge s_i]}{\sum_j w_j 1[s_j \ge s_i]}

    with 1 for rows of the second of two classes as y and its probability as s, all weights w
    equal. Influences are derivatives with respect to the weights.
    """

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return the average precision, rows with equal scores entering together."""
        return self.with_weights(y, prediction, np.ones(len(y)))

    @property
    def takes_weights(self) -> bool:
        """Always, as in the formula."""
        return True

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the average precision of weighted rows."""
        event, score = _events_and_scores(y, prediction, "average precision")
        _, level = np.unique(score, return_inverse=True)
        rows = np.bincount(level, weights=weights)
        events = np.bincount(level, weights=weights * event)
        above, hits = rows[::-1].cumsum()[::-1], events[::-1].cumsum()[::-1]
        precision, total = hits / above, events.sum()
        value = float(events @ precision / total)
        # A row with a higher score counts in the precision at the scores of all events below it.
        by_event = (events / above).cumsum()
        by_row = (events * precision / above).cumsum()
        change = event * (precision[level] - value + by_event[level]) - by_row[level]
        return value, len(y) / total * weights * change


def _events_and_scores(
    y: FloatArray, prediction: FloatArray, what: str
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return whether rows are of the second of two classes, and ranks of its probability."""
    if prediction.shape[-1] != 2:
        raise LossError(
            f"The {what} is for two classes; this learner predicts {prediction.shape[-1]}."
        )
    event = y == 1
    if event.all() or not event.any():
        raise LossError(
            f"The {what} needs rows of both classes, but all of the "
            f"{len(y)} evaluation rows have the same; stratify the resampling by the response."
        )
    return event, _ranks(prediction[:, 1])


def check_metric(metric: Metric, predictor: Predictor, response: Response) -> None:
    """Raise `LossError` unless the metric can be kept and the predictions suit it."""
    if not is_hashable(metric):
        raise LossError(
            "A metric must be hashable, as what it gives is kept: make its class a dataclass "
            f"with `frozen=True` that holds no arrays; {type(metric).__name__} is not."
        )
    classes: tuple[Kind, ...] = ("label", "probability")
    enough: dict[Kind, tuple[Kind, ...]] = {
        "mean": ("mean",),
        "probability": ("probability",),
        "label": classes,
        "answers": classes,
    }
    if predictor.kind in enough[metric.needs]:
        return
    what = {
        "mean": "numeric predictions",
        "probability": "class probabilities",
        "label": "a classifier",
        "answers": "a classifier",
    }[metric.needs]
    suited = [name for name, m in METRICS.items() if predictor.kind in enough[m.needs]]
    raise LossError(
        f"The metric {quote(metric.name)} needs {what}; {learner_name(predictor.estimator)}, "
        f"which predicts `{response.name}`, can serve {', '.join(suited)}."
    )


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


def _of_loss(loss: Loss) -> Callable[[FloatArray, FloatArray], FloatArray]:
    return partial(_losses, loss=loss)


def _losses(y: FloatArray, prediction: FloatArray, *, loss: Loss) -> FloatArray:
    return loss(y, prediction)[:, None]


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
    return 100 * np.abs((y - prediction) / y)[:, None]


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
        [
            -b * by_cov - 2 * a * by_vy,
            -a * by_cov - 2 * b * by_vp,
            by_vy,
            by_vp,
            by_cov,
        ]
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


def _ranks(probability: FloatArray) -> FloatArray:
    """Return the ranks of probabilities; those that differ by rounding only are ties.

    The tolerance is relative to the distance from 0 or 1, so that tiny probabilities, and those
    near 1, are told apart.
    """
    order = np.argsort(probability, kind="stable")
    ordered = probability[order]
    apart = np.diff(ordered) > ROUNDING * np.minimum(ordered, 1 - ordered)[1:]
    places = np.empty(len(ordered))
    places[order] = np.concatenate([[0], np.cumsum(apart)])
    return places


def _half_brier(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return half the squared distance from the observed class, as yardstick has it."""
    observed = y[:, None] == np.arange(prediction.shape[-1])
    return np.asarray(np.square(prediction - observed).sum(axis=-1, keepdims=True) / 2)


def _correct(y: FloatArray, prediction: FloatArray) -> FloatArray:
    return np.asarray(most_probable(prediction) == y, dtype=np.float64)[:, None]


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


_ROWS: tuple[Metric, ...] = (
    OfMeans(
        name="rmse",
        range=POSITIVE,
        smaller_is_better=True,
        unit="{y}",
        rows=_of_loss(LOSSES["squared"]),
        combine=_root,
    ),
    OfMeans(
        name="mae",
        range=POSITIVE,
        smaller_is_better=True,
        unit="{y}",
        rows=_of_loss(LOSSES["absolute"]),
        combine=_mean,
    ),
    OfMeans(
        name="mape",
        range=POSITIVE,
        smaller_is_better=True,
        unit="percent",
        rows=_percent,
        combine=_mean,
    ),
    OfMeans(
        name="mse",
        range=POSITIVE,
        smaller_is_better=True,
        unit="{y}²",
        rows=_of_loss(LOSSES["squared"]),
        combine=_mean,
    ),
    OfMeans(
        name="rsq",
        range=SHARES,
        smaller_is_better=False,
        rows=_moments,
        combine=_squared_correlation,
    ),
    OfMeans(
        name="rsq_trad",
        range=(-np.inf, 1.0),
        smaller_is_better=False,
        rows=_errors_and_moments,
        combine=_explained_share,
    ),
    OfMeans(
        name="accuracy",
        range=SHARES,
        smaller_is_better=False,
        needs="label",
        rows=_correct,
        combine=_mean,
    ),
    OfMeans(
        name="bal_accuracy",
        range=SHARES,
        smaller_is_better=False,
        needs="label",
        rows=_tables,
        combine=_balanced_accuracy,
        note=(
            "bal_accuracy is the mean of sensitivity and specificity, averaged over classes, as in "
            "R's yardstick; scikit-learn's balanced_accuracy, the mean sensitivity, differs for "
            "more than two classes."
        ),
    ),
    OfMeans(
        name="youden",
        range=(-1.0, 1.0),
        smaller_is_better=False,
        needs="label",
        rows=_tables,
        combine=_youden,
    ),
    OfMeans(
        name="logloss",
        range=POSITIVE,
        smaller_is_better=True,
        needs="probability",
        unit="nats",
        rows=_of_loss(LOSSES["log"]),
        combine=_mean,
    ),
    OfMeans(
        name="log_loss",
        range=POSITIVE,
        smaller_is_better=True,
        needs="probability",
        unit="nats",
        rows=_of_loss(LOSSES["log"]),
        combine=_mean,
    ),
    OfMeans(
        name="brier",
        range=SHARES,
        smaller_is_better=True,
        needs="probability",
        rows=_half_brier,
        combine=_mean,
        note=(
            "brier is half the squared error of probabilities, summed over classes, as in R's "
            "yardstick; the loss of that name is the whole sum for more than two classes."
        ),
    ),
    AreaUnderROC(name="roc_auc", range=SHARES, smaller_is_better=False, needs="probability"),
    AveragePrecision(
        name="pr_auc",
        range=SHARES,
        smaller_is_better=False,
        needs="probability",
        note=(
            "pr_auc is the average precision, the area under steps, as in scikit-learn; R's "
            "yardstick joins the points of the curve by lines."
        ),
    ),
)
METRICS = {metric.name: metric for metric in _ROWS}
