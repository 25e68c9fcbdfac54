"""Permutation importance by a metric of all rows together, as R's vip and DALEX measure it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice, is_count
from pyinterp.data.features import Features, Names
from pyinterp.data.frames import fill_masks
from pyinterp.errors import InferenceError, OptionError, quote
from pyinterp.estimands.estimand import Estimand, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import (
    PARAMETERS,
    Permutations,
    Relation,
    one_term,
    with_loss_below,
    without_rounding,
)
from pyinterp.estimands.importance.permutation import NO_USE, Replacement, permutation_importance
from pyinterp.estimands.questions import method
from pyinterp.losses.metric_functions import NOT_SMOOTH, MetricLike, choose_metric
from pyinterp.losses.metrics import Metric, evaluate
from pyinterp.losses.rowwise import LossLike
from pyinterp.samplers import balanced_permutations, is_conditional

PermutationsOrRows = Permutations | Mapping[str, npt.ArrayLike]

PERMUTATIONS = 10


@method("pfi", importance=True)
def pfi(
    problem: Problem,
    features: Names | None = None,
    *,
    loss: LossLike | None = None,
    metric: MetricLike | None = None,
    permutations: PermutationsOrRows = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
) -> Estimand:
    r"""Permutation feature importance (PFI), marginal or conditional.

    .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

    where :math:`\tilde X_S` is drawn from the marginal distribution of the feature,
    independently of all else (Molnar et al. 2021, eqs 3, 4 and 8), or from its distribution
    given all other variables. For a learner it is the mean over refits of the PFI on each
    refit's evaluation rows.

    Parameters
    ----------
    {features}
    {loss}
    {metric}
    permutations : "auto", "all", int or mapping
        "all" takes the mean over all ordered pairs of different rows, the U-statistic
        :math:`e_{switch}` of Fisher, Rudin and Dominici (2019), without Monte Carlo error. A
        number K takes K balanced permutations: no row is its own donor and each meets K
        different donors. "auto" is "all" for tree ensembles, linear models and kernel
        machines, which have exact engines, as long as rows times distinct values of the feature
        stay at most 1e8 per refit; with squared error there is no bound. For other models
        "auto" is "all" up to 15,000 predictions per refit (122 rows), or 30 distinct values;
        beyond it 30, down to 10 where these would make more than 250,000 predictions. With a
        metric "auto" is 10; there is no mean over all pairs. A mapping gives, per feature, the
        permutations of the rows of one fitted model, shape (n, K).
    relation : {"difference", "ratio"}
        How the two expected losses are compared, per refit.
    sampler : str, Sampler or mapping
        How values that replace a feature are drawn: "marginal" takes values of the other rows;
        all else draws given the other variables, as for `cvim`, and "knockoff" is allowed too.
        Of a mapping, features that it does not name are "marginal".
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the loss; one term per feature.

    Raises
    ------
    LossError
        If the learner's predictions can't serve the loss.

    Examples
    --------
    >>> res.pfi().summary_frame()[["estimate", "conf_low", "conf_high"]].round()
          estimate  conf_low  conf_high
    term
    sex       49.0     -20.0      285.0
    bmi     2725.0    1503.0     4378.0
    bp       780.0     362.0     1389.0
    >>> res.pfi("bmi", loss="absolute", permutations=10).params.round(1).to_dict()
    {'bmi': 14.9}
    """
    if metric is not None:
        if loss is not None or is_conditional(sampler):
            other = "loss" if loss is not None else "sampler"
            raise OptionError(f"Give `metric` or `{other}`, not both.")
        return metric_importance(
            problem, features, metric=metric, permutations=permutations, relation=relation
        )
    if isinstance(permutations, Mapping):
        raise OptionError(
            'Given permutations are for a `metric`, for example the metric "mse" instead of '
            "the squared loss."
        )
    return permutation_importance(
        problem, features, loss=loss, permutations=permutations, relation=relation, sampler=sampler
    )


def metric_importance(
    problem: Problem,
    features: Names | None,
    *,
    metric: MetricLike,
    permutations: PermutationsOrRows,
    relation: Relation,
) -> Estimand:
    r"""Importance of features by how much worse a metric gets.

    .. math:: \frac{1}{K} \sum_k M(Y, f(\tilde X^{(k)}_S, X_C)) - M(Y, f(X))

    with the sign that makes worse larger, where the k-th permutation of the evaluation rows gives
    the values of :math:`X_S`. M need not be a mean over rows. Its value depends on their number,
    and on the order in which mean and function are taken. So there is no exact value over all pairs
    of rows.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    chosen = problem.choose(features)
    score = choose_metric(metric, problem.predictor, problem.response, direction=True)
    draws, key = _number_or_rows(permutations, chosen)
    differs = relation == "difference"
    unit = score.unit.format(y=problem.response.name) if differs else ""
    what = f"Factor by which {score.name} gets worse"
    if differs:
        worse = "Increase in" if score.smaller_is_better else "Decrease of"
        what = f"{worse} {score.name}{f', in {unit},' if unit else ''}"
    return Estimand(
        key=("metric", tuple(chosen.items()), score, relation, key),
        terms=Terms.plain(list(chosen)),
        measure=partial(
            _measure, features=chosen, metric=score, permutations=draws, relation=relation
        ),
        words=Words(
            label="PFI",
            title="permutation feature importance",
            details=(score.name,) if differs else (score.name, "ratio"),
            unit=unit,
            meaning=f"{what} when the feature's values are permuted.",
            notes=(score.note,) if score.note else (),
            inexact="as some of all permutations are used",
            unknown_error=NOT_SMOOTH,
            zero_variance=NO_USE,
        ),
        parameter=PARAMETERS[relation],
        coverage=("PFI by metric",) if differs else (),
        why_no_weights="its permutations exchange rows that weigh the same; PFI by a loss, such as "
        '`pfi(loss="log")`, takes weights',
        score=score,
    )


def _number_or_rows(
    permutations: PermutationsOrRows, features: Features
) -> tuple[int | dict[str, IntArray], Hashable]:
    """Return the number of permutations, or a user's by feature, and its place in keys."""
    if isinstance(permutations, Mapping):
        absent = [name for name in features if name not in permutations]
        if absent:
            raise OptionError(f"`permutations` has none for feature {quote(absent[0])}.")
        rows = {name: _row_numbers(permutations[name], name) for name in features}
        return rows, tuple((name, i.shape, i.tobytes()) for name, i in rows.items())
    if isinstance(permutations, str):
        check_choice("permutations", permutations, ("auto", "all"))
        if permutations == "all":
            raise OptionError(
                'A metric is not a mean over rows, so `permutations="all"` is not defined for it; '
                "give their number, or a loss."
            )
        return PERMUTATIONS, PERMUTATIONS
    if not is_count(permutations, 1):
        raise OptionError(
            "With a metric `permutations` must be a whole number of at least 1, or map features to "
            f"arrays of row numbers, not {quote(permutations)}: it has no mean over all pairs."
        )
    return int(permutations), int(permutations)


def _row_numbers(values: npt.ArrayLike, name: str) -> IntArray:
    """Return a user's permutations of a feature as an array of integers."""
    try:
        array = fill_masks(values)
    except (TypeError, ValueError):  # lists of different lengths
        array = np.empty(0)
    if array.dtype.kind not in "iu":
        raise OptionError(
            f"The permutations of {quote(name)} must be an array of row numbers, not "
            f"{quote(values)}."
        )
    return array.astype(np.intp)


def _measure(
    case: ModelOnRows,
    *,
    features: Features,
    metric: Metric,
    permutations: int | dict[str, IntArray],
    relation: Relation,
) -> Measurement:
    """Return how much worse a metric gets, or by what factor, when each feature is permuted."""
    y, n = case.y, case.evaluation.nobs
    serving = case.of_kind(metric.needs)
    base = evaluate(metric, y, serving.factual)
    parts = []
    for name, variables in features.items():
        whatif = serving.of(variables)
        if isinstance(permutations, int):
            index = balanced_permutations(n, min(permutations, n - 1), case.draw(name))
        else:
            index = permutations[name]
            whole = index.ndim == 2 and len(index) == n
            if not whole or not (np.sort(index, axis=0) == np.arange(n)[:, None]).all():
                raise OptionError(
                    f"The permutations of {quote(name)} must be an array of shape ({n}, number of "
                    f"permutations) whose columns hold the numbers 0 to {n - 1} once each; got "
                    f"shape {index.shape}."
                )
        predictions = whatif.pairs(np.arange(n), whatif.donors.of_row[index])
        k = index.shape[1]
        values, rows, donors = np.empty(k), np.zeros(n), np.zeros(n)
        for draw in range(k):
            permuted = evaluate(metric, y, predictions[:, draw])
            values[draw], pair = _importance(metric, permuted, base, relation)
            # A pair of a row and its donor counts for both.
            rows += pair / k
            donors[index[:, draw]] += pair / k
        # One permutation does not show how much another one differs.
        error = float(np.var(values, ddof=1) / k) if k > 1 else np.nan
        term = one_term(values.mean() + rows, donors, error)
        # Influences may be missing where the metric is not.
        parts.append(replace(term, value=values.mean(keepdims=True)))
    importance = Estimate.stack(parts)
    if relation == "difference":
        importance = without_rounding(importance, np.full(len(parts), base[0]))
    else:
        importance = with_loss_below(importance, (base[0] + base[1])[:, None])
    return {"importance": importance}


def _importance(
    metric: Metric,
    permuted: tuple[float, FloatArray],
    base: tuple[float, FloatArray],
    relation: Relation,
) -> tuple[float, FloatArray]:
    """Return the importance under one permutation, and the influences of rows and donors."""
    worse, better = (permuted, base) if metric.smaller_is_better else (base, permuted)
    if relation == "difference":
        return worse[0] - better[0], worse[1] - better[1]
    if better[0] <= 0:
        raise InferenceError(
            f"The ratio needs a positive {metric.name}, but it is {better[0]:g} in some refit; "
            'use `relation="difference"`.'
        )
    value = worse[0] / better[0]
    return value, (worse[1] - value * better[1]) / better[0]
