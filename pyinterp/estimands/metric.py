"""A metric of all rows together, such as an area under a curve, with its sampling error."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.metric_functions import NOT_SMOOTH, MetricFunction, MetricLike, choose_metric
from pyinterp.losses.metrics import Metric, evaluate


def metric_of_rows(problem: Problem, metric: MetricLike) -> Estimand:
    """Return the estimand of a metric M(Y, f(X)), with the sign that it has."""
    score = choose_metric(metric, problem.predictor, problem.response)
    unclear = isinstance(score, MetricFunction) and not score.direction
    better: Literal["smaller", "larger"] = "smaller" if score.smaller_is_better else "larger"
    return Estimand(
        key=("metric of rows", score),
        terms=Terms.plain([score.name]),
        measure=partial(_measure, metric=score),
        words=Words(
            label=score.name,
            title="metric of predictions",
            quantity="metric",
            details=(score.name,),
            unit=score.unit.format(y=problem.response.name),
            meaning=f"Metric of all evaluation rows together{_direction(better, unclear=unclear)}.",
            notes=(score.note,) if score.note else (),
            exact="No Monte Carlo error.",
            unknown_error=NOT_SMOOTH,
            zero_variance="the metric is the same in every refit",
        ),
        parameter=Parameter(range=score.range, better=None if unclear else better),
        coverage=(score.name,),
        no_weights=None if score.takes_weights else "it is of a function that takes no weights",
        score=score,
    )


def _direction(better: str, *, unclear: bool) -> str:
    return "" if unclear else f"; {better} is better"


def _measure(case: ModelOnRows, *, metric: Metric) -> Measurement:
    value, influence = evaluate(metric, case.y, case.of_kind(metric.needs).factual, case.weights)
    rows = (value + influence)[:, None]
    return {"metric": Estimate(value=np.array([value]), rows=rows, mc_variance=np.zeros(1))}
