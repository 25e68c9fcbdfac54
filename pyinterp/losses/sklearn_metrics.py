"""scikit-learn's metrics and scorers whose influences have a formula here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sklearn import metrics as sk

from pyinterp._typing import FloatArray
from pyinterp.losses.metrics import METRICS, Metric

__all__ = ["metric_by_formula"]

# Functions with their default options, by our name.
FUNCTIONS = {
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "r2_score": "rsq_trad",
    "root_mean_squared_error": "rmse",
}
SCORERS = {
    "neg_mean_absolute_error": "mae",
    "neg_mean_squared_error": "mse",
    "neg_root_mean_squared_error": "rmse",
    "r2": "rsq_trad",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Negative(Metric):
    """A metric with the other sign, as scorers have it: larger is better."""

    metric: Metric

    def __call__(self, y: FloatArray, prediction: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the metric and minus the influences."""
        value, influences = self.metric(y, prediction)
        return -value, -influences

    @property
    def takes_weights(self) -> bool:
        """Whether the metric does."""
        return self.metric.takes_weights

    def with_weights(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return minus the metric of weighted rows and minus the influences."""
        value, influences = self.metric.with_weights(y, prediction, weights)
        return -value, -influences


def metric_by_formula(metric: object) -> Metric | None:
    """Return the formula of a function, scorer or scorer's name of scikit-learn; None without."""
    if isinstance(metric, str):
        return _scorer(metric) if metric in SCORERS else None
    for function, ours in FUNCTIONS.items():
        if metric is getattr(sk, function):
            return replace(METRICS[ours], name=function)
    scored = getattr(metric, "_score_func", None)
    for name in SCORERS if scored is not None else ():
        scorer = sk.get_scorer(name)
        if scored is scorer._score_func and repr(metric) == repr(scorer):  # options and all
            return _scorer(name)
    return None


def _scorer(name: str) -> Metric:
    metric = METRICS[SCORERS[name]]
    if not metric.smaller_is_better:
        return replace(metric, name=name)
    return Negative(
        name=name,
        smaller_is_better=False,
        needs=metric.needs,
        unit=metric.unit,
        metric=metric,
    )
