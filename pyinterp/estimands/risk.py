"""How good predictions are: expected loss, metrics of all rows, and means of a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import optimize

from pyinterp._typing import FloatArray
from pyinterp.checks import check_callable, check_choice, check_text
from pyinterp.data.features import names_of
from pyinterp.errors import LossError, OptionError, quote, reason
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method
from pyinterp.losses.metric_functions import NOT_SMOOTH, MetricFunction, MetricLike, choose_metric
from pyinterp.losses.metrics import Metric, evaluate
from pyinterp.losses.rowwise import LOSSES, Loss, LossLike, by_weight, choose
from pyinterp.models.links import Link, exponential, only_sum
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.prediction_checks import real_numbers
from pyinterp.ranges import REAL, Range

RiskRelation = Literal["loss", "explained"]

RPS_IN_WORDS = (
    "Mean over evaluation rows, and over the cuts between classes, of squared errors of cumulative "
    "probabilities; 0 is best."
)

# A constant is sought so far from that without features, on the scale of the link.
REACH, TINY = 20.0, 1e-9
NO_WEIGHTS = "your loss states its best constant prediction for rows that weigh the same"


@method("loss")
def risk(
    problem: Problem, loss: LossLike | None = None, *, relation: RiskRelation = "loss"
) -> Estimand:
    """Expected loss on evaluation rows, or the share of it that the features explain.

    Parameters
    ----------
    {loss}
    relation : {"loss", "explained"}
        "explained" gives R² for squared loss and D² for others: one minus the ratio to the
        loss of the best constant prediction of the training rows (of the evaluation rows for a
        `FittedModel`, whose training rows are not known).
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        With one term.

    Examples
    --------
    >>> res.loss(relation="explained").summary_frame().iloc[:, :2].round(2)
          estimate  std_error
    term
    R²        0.38       0.05
    """
    check_choice("relation", relation, ("loss", "explained"))
    row_loss = choose(loss, problem.predictor, problem.response)
    words = Words(
        label="loss",
        title="expected loss",
        details=(row_loss.name,),
        unit=row_loss.unit.format(y=problem.response.name),
        meaning=RPS_IN_WORDS if row_loss is LOSSES["rps"] else "Mean loss over evaluation rows.",
        exact="No Monte Carlo error.",
    )
    risk_of_rows = Estimand(
        key=("risk", row_loss),
        terms=Terms.plain(["loss"]),
        measure=partial(_measure, loss=row_loss),
        read=_loss,
        words=words,
        parameter=Parameter(range=row_loss.range, better="smaller"),
        coverage=("loss",),
        why_no_weights=None,
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
    constant = "linear predictor plus the offset" if problem.offset else "prediction"
    return replace(
        risk_of_rows,
        terms=Terms.plain([label]),
        read=_explained_share,
        form="explained",
        words=replace(
            words,
            label=label,
            title="explained share of expected loss",
            unit="",
            meaning=(
                f"One minus the ratio of the mean loss to that of the best constant {constant}, "
                "learned from the rows that trained."
            ),
        ),
        parameter=Parameter(null=0.0, range=(-np.inf, 1.0), better="larger"),
        coverage=("explained share",),
        why_no_weights=None if by_weight(row_loss.constant) else NO_WEIGHTS,
    )


def best_constant(case: ModelOnRows, loss: Loss) -> FloatArray | None:
    """Return the best constant prediction of the training rows, for every evaluation row.

    It comes from the evaluation rows if training rows are not known; None if the loss states none.
    With an offset the linear predictor is constant but for it: of a rate, a constant rate times
    exposure.
    """
    trained = case.evaluation if case.train is None or case.train.y is None else case.train
    y = case.y if trained.y is None else trained.y
    best, model = loss.best_constant(y, trained.weights), case.whatif.predictor.estimator
    if best is None:
        return None
    link = model.link(loss.needs) if isinstance(model, OffsetModel) else None
    if link is not None and loss.needs != "label":
        offsets = [rows.variables[model.name].to_numpy() for rows in (trained, case.evaluation)]
        return _beside_offset(loss, link, y, trained.weights, *offsets)
    factual = case.of_kind(loss.needs).factual
    if factual.ndim == 2 and len(best) < factual.shape[1]:  # last classes absent in training
        best = np.pad(best, (0, factual.shape[1] - len(best)))
    return np.broadcast_to(best, factual.shape)


def _beside_offset(
    loss: Loss,
    link: Link,
    y: FloatArray,
    weights: FloatArray | None,
    offset: FloatArray,
    others: FloatArray,
) -> FloatArray:
    """Return predictions of other offsets by the constant of least loss that is added to them."""
    if link is only_sum:
        constant: Any = loss.best_constant(y - offset, weights)
        return np.asarray(others + constant)
    if link is exponential and (degree := _degree(loss)) is not None:
        exposure = np.exp(offset)
        shares = exposure**degree * (1.0 if weights is None else weights)
        return np.exp(others) * loss.best_constant(y / exposure, shares)
    start = float(np.log(np.mean(y) + TINY)) if link is exponential else 0.0

    def mean_loss(b: float) -> float:
        return float(np.average(loss(y, link((offset + b)[:, None])), weights=weights))

    bounds = start - offset.max() - REACH, start - offset.min() + REACH
    found = optimize.minimize_scalar(
        mean_loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    )
    return link((others + found.x)[:, None])


def _degree(loss: Loss) -> float | None:
    """Return k if the loss of c y and c f is c**k times the loss of y and f; None otherwise.

    Constant rates are then constants of y / exposure, weighted by exposure**k.
    """
    if loss.needs != "mean" or not by_weight(loss.constant):
        return None
    y, f = np.array([0.1, 0.3]), np.array([0.2, 0.1])
    ratios = loss(2 * y, 2 * f) / loss(y, f)
    return float(np.log2(ratios[0])) if np.allclose(ratios, ratios[0], rtol=1e-9) else None


def _measure(case: ModelOnRows, *, loss: Loss) -> Measurement:
    """Return the mean loss, and that of the best constant prediction if the loss states one."""
    losses = loss(case.y, case.of_kind(loss.needs).factual)[:, None]
    measured = {"loss": Estimate.of_rows(losses, case.weights)}
    constant = best_constant(case, loss)
    if constant is not None:
        measured["constant"] = Estimate.of_rows(loss(case.y, constant)[:, None], case.weights)
    return measured


def _loss(measurement: Measurement) -> Estimate:
    """Return the mean loss."""
    return measurement["loss"]


def _explained_share(measurement: Measurement) -> Estimate:
    """Return one minus the ratio of the mean loss to that of the best constant prediction."""
    ratio = measurement["loss"].over(measurement["constant"])
    return Estimate(value=1 - ratio.value, rows=1 - ratio.rows, mc_variance=ratio.mc_variance)


@method("metric")
def metric_of_rows(problem: Problem, metric: MetricLike) -> Estimand:
    """Metric of all evaluation rows together, such as an area under a curve.

    It has the sign that it is defined with: "neg_mean_absolute_error" is negative. For a
    learner it is the mean over refits of the metric on each refit's evaluation rows. The
    standard error of one model is the error of the mean of the rows' influences, which are
    derivatives of the metric with respect to the rows' weights.

    Parameters
    ----------
    {metric}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        With one term.

    Raises
    ------
    LossError
        If the learner's predictions can't serve the metric.

    Examples
    --------
    >>> res.metric("rmse").params.round(1).to_dict()
    {'rmse': 60.2}
    """
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
        why_no_weights=None if score.takes_weights else "it is of a function that takes no weights",
        score=score,
    )


def _measure_metric(case: ModelOnRows, *, metric: Metric) -> Measurement:
    """Return a metric of all rows; contributions are it plus each row's influence on it."""
    value, influence = evaluate(metric, case.y, case.of_kind(metric.needs).factual, case.weights)
    rows = (value + influence)[:, None]
    return {"metric": Estimate(value=np.array([value]), rows=rows, mc_variance=np.zeros(1))}


class RowFunction(NamedTuple):
    """A function of rows, by the name that its user gave it."""

    name: str
    function: Callable[[FloatArray, FloatArray], Any]


def mean_over_rows(
    function: Callable[[FloatArray, FloatArray], Any],
    label: str,
    *,
    names: Sequence[str] | None = None,
    null: float | None = None,
    range: Range = REAL,  # noqa: A002 - the name of the estimand's field
) -> Estimand:
    r"""Return the estimand :math:`E[g(Y, f(X))]`, for ``results.estimate``.

    Parameters
    ----------
    function : callable
        ``function(y, prediction)`` returns every row's value of g, shape (n,), or of q functions,
        shape (n, q). `y` has shape (n,), with codes 0, 1, ... of classes; `prediction` has shape
        (n,), or (n, classes) for probabilities.
    label : str
        Heading of the estimates' column, and the term's name if there is one.
    names : sequence of str, optional
        Names of the q terms.
    null : float, optional
        Value under the null hypothesis; without it tables have no test.
    range : tuple of float, optional
        The least and the largest value that the mean can have, such as ``(0, np.inf)``. Intervals
        stay in it: without `null` they are symmetric on a logarithmic scale.

    Returns
    -------
    Estimand

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> bias = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias", null=0.0)
    >>> bool(abs(learner.fit(seed=1).estimate(bias).tvalues["bias"]) < 3)
    True
    """
    check_callable("function", function, "lambda y, prediction: prediction - y")
    check_text("label", label)
    terms = [label] if names is None else names_of(names, "names")
    if len(set(terms)) < len(terms):
        raise OptionError(f"`names` must be different, but {quote(terms)} are not.")
    return Estimand(
        key=("mean over rows", RowFunction(label, function), tuple(terms)),
        terms=Terms.plain(terms),
        measure=partial(_measure_mean, function=function, count=len(terms)),
        words=Words(
            label=label,
            title=f"mean {label}",
            quantity=f"mean {label}",
            meaning="Mean over evaluation rows.",
        ),
        parameter=Parameter(null=null, range=range),
        why_no_weights=None,
    )


def _measure_mean(
    case: ModelOnRows, *, function: Callable[[FloatArray, FloatArray], Any], count: int
) -> Measurement:
    """Return the mean over rows of the q values of a user's function, which are checked."""
    y, prediction = case.y, case.whatif.factual
    try:
        values = real_numbers(function(y, prediction))
    except Exception as error:
        raise OptionError(f"`function` can't be computed: {reason(error)}.") from error
    if values is not None and values.ndim == 1:
        values = values[:, None]
    if values is None or values.shape != (len(y), count) or not np.isfinite(values).all():
        got = "something else" if values is None else f"shape {values.shape}"
        raise OptionError(
            f"`function` must return finite numbers of shape ({len(y)}, {count}), one row per "
            f"evaluation row and one column per name; got {got}."
        )
    return {"mean": Estimate.of_rows(values, case.weights)}
