"""How good predictions are: expected loss, the share explained, and metrics of all rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice
from pyinterp.errors import LossError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.metric_functions import NOT_SMOOTH, MetricFunction, MetricLike, choose_metric
from pyinterp.losses.metrics import Metric, evaluate
from pyinterp.losses.rowwise import LOSSES, Loss, LossLike, choose

RiskRelation: TypeAlias = Literal["loss", "explained"]


NO_WEIGHTS = "a loss states its best constant prediction for rows that weigh the same"


def risk(
    problem: Problem, *, loss: LossLike | None = None, relation: RiskRelation = "loss"
) -> Estimand:
    r"""Expected loss :math:`E[L(Y, f(X))]`, or the share :math:`1 - E[L] / E[L_0]` explained.

    :math:`L_0` is the loss of the best constant prediction of the training rows (their mean for
    squared loss). So under squared loss the share is R² out of sample.
    """
    check_choice("relation", relation, ("loss", "explained"))
    row_loss = choose(loss, problem.predictor, problem.response)
    words = Words(
        label="loss",
        title="expected loss",
        details=(row_loss.name,),
        unit=row_loss.unit.format(y=problem.response.name),
        meaning="Mean loss over evaluation rows.",
        exact="No Monte Carlo error.",
    )
    risk_of_rows = Estimand(
        key=("risk", row_loss),
        terms=Terms.plain(["loss"]),
        measure=partial(_measure, loss=row_loss),
        read=itemgetter("loss"),
        words=words,
        parameter=Parameter(range=row_loss.range, better="smaller"),
        coverage=("loss",),
        no_weights=None,
        score=row_loss,
    )
    if relation == "loss":
        return risk_of_rows
    if row_loss.constant is None:
        raise LossError(
            f"The loss `{row_loss.name}` states no best constant prediction, so the share that "
            "is explained is not defined; use Loss(..., constant=...)."
        )
    label = "R²" if row_loss == LOSSES["squared"] else "D²"
    return replace(
        risk_of_rows,
        terms=Terms.plain([label]),
        read=_explained_share,
        words=replace(
            words,
            label=label,
            title="explained share of expected loss",
            unit="",
            meaning=(
                "One minus the ratio of the mean loss to that of the best constant prediction, "
                "learned from the rows that trained, if they are known."
            ),
        ),
        parameter=Parameter(null=0.0, range=(-np.inf, 1.0), better="larger"),
        coverage=(),
        no_weights=NO_WEIGHTS,
    )


def best_constant(case: ModelOnRows, loss: Loss) -> FloatArray | None:
    """Return the best constant prediction of the training rows, for every evaluation row.

    It comes from the evaluation rows if training rows are not known; None if the loss states none.
    """
    trained = None if case.train is None else case.train.y
    best = loss.best_constant(case.y if trained is None else trained)
    if best is None:
        return None
    factual = case.of_kind(loss.needs).factual
    if factual.ndim == 2 and len(best) < factual.shape[1]:  # last classes absent in training
        best = np.pad(best, (0, factual.shape[1] - len(best)))
    return np.asarray(np.broadcast_to(best, factual.shape))


def _measure(case: ModelOnRows, *, loss: Loss) -> Measurement:
    losses = loss(case.y, case.of_kind(loss.needs).factual)[:, None]
    measured = {"loss": Estimate.of_rows(losses, case.weights)}
    constant = best_constant(case, loss) if case.weights is None else None
    if constant is not None:
        measured["constant"] = Estimate.of_rows(loss(case.y, constant)[:, None])
    return measured


def _explained_share(measurement: Measurement) -> Estimate:
    ratio = measurement["loss"].over(measurement["constant"])
    return Estimate(value=1 - ratio.value, rows=1 - ratio.rows, mc_variance=ratio.mc_variance)


def metric_of_rows(problem: Problem, metric: MetricLike) -> Estimand:
    """Return the estimand of a metric M(Y, f(X)), with the sign that it has."""
    score = choose_metric(metric, problem.predictor, problem.response)
    better: Literal["smaller", "larger"] | None = None
    if not isinstance(score, MetricFunction) or score.direction:
        better = "smaller" if score.smaller_is_better else "larger"
    direction = "" if better is None else f"; {better} is better"
    return Estimand(
        key=("metric of rows", score),
        terms=Terms.plain([score.name]),
        measure=partial(_measure_metric, metric=score),
        words=Words(
            label=score.name,
            title="metric of predictions",
            quantity="metric",
            details=(score.name,),
            unit=score.unit.format(y=problem.response.name),
            meaning=f"Metric of all evaluation rows together{direction}.",
            notes=(score.note,) if score.note else (),
            exact="No Monte Carlo error.",
            unknown_error=NOT_SMOOTH,
            zero_variance="the metric is the same in every refit",
        ),
        parameter=Parameter(range=score.range, better=better),
        coverage=(score.name,),
        no_weights=None if score.takes_weights else "it is of a function that takes no weights",
        score=score,
    )


def _measure_metric(case: ModelOnRows, *, metric: Metric) -> Measurement:
    value, influence = evaluate(metric, case.y, case.of_kind(metric.needs).factual, case.weights)
    rows = (value + influence)[:, None]
    return {"metric": Estimate(value=np.array([value]), rows=rows, mc_variance=np.zeros(1))}
