"""Permutation importance by a metric of all rows together, as R's vip and DALEX measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_choice, is_count
from pyinterp.data.features import Features
from pyinterp.data.frames import fill_masks
from pyinterp.errors import InferenceError, OptionError, quote
from pyinterp.estimands.estimand import Estimand, Estimate, Measurement, ModelOnRows, Problem, Terms
from pyinterp.estimands.importance.marginal_losses import Permutations, one_term
from pyinterp.estimands.importance.relation import (
    NULL,
    RANGE,
    Relation,
    with_loss_below,
    without_rounding,
)
from pyinterp.losses.metric_functions import NOT_SMOOTH, MetricLike, choose_metric
from pyinterp.losses.metrics import Metric, evaluate
from pyinterp.samplers import balanced_permutations

__all__ = ["PermutationsOrRows", "metric_importance"]

PermutationsOrRows: TypeAlias = Permutations | Mapping[str, npt.ArrayLike]

PERMUTATIONS = 10


def metric_importance(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    metric: MetricLike,
    permutations: PermutationsOrRows = "auto",
    relation: Relation = "difference",
) -> Estimand:
    r"""Importance of features by how much worse a metric gets.

    .. math:: \frac{1}{K} \sum_k M(Y, f(\tilde X^{(k)}_S, X_C)) - M(Y, f(X))

    with the sign that makes worse larger, where the k-th permutation of the evaluation rows gives
    the values of :math:`X_S`. M need not be a mean over rows: its value depends on their number,
    and on the order in which mean and function are taken, so that there is no exact value over all
    pairs of rows.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    chosen = problem.choose(features)
    score = choose_metric(metric, problem.predictor, problem.response, direction=True)
    draws = _number_or_rows(permutations, chosen)
    unit = score.unit.format(y=problem.response.name) if relation == "difference" else ""
    worse = "Increase in" if score.smaller_is_better else "Decrease of"
    what = (
        f"{worse} {score.name}{f', in {unit},' if unit else ''}"
        if relation == "difference"
        else f"Factor by which {score.name} gets worse"
    )
    return Estimand(
        key=("metric", tuple(chosen.items()), score, relation, _key(draws)),
        terms=Terms.plain(list(chosen)),
        measure=partial(
            _measure, features=chosen, metric=score, permutations=draws, relation=relation
        ),
        read=_read,
        label="PFI",
        title="permutation feature importance",
        details=(score.name, *(("ratio",) if relation == "ratio" else ())),
        null=NULL[relation],
        varies_as_square=True,
        range=RANGE[relation],
        unit=unit,
        meaning=f"{what} when the feature's values are permuted.",
        notes=(score.note,) if score.note else (),
        metric=score,
        inexact="as some of all permutations are used",
        unknown_error=NOT_SMOOTH,
        zero_variance="never used by the learner in any refit, which does not mean certainly 0",
    )


def _number_or_rows(
    permutations: PermutationsOrRows, features: Features
) -> int | dict[str, IntArray]:
    """Return the number of permutations, or by feature the row numbers of a user's permutations."""
    if isinstance(permutations, str):
        return _by_name(permutations)
    if isinstance(permutations, Mapping):
        absent = [name for name in features if name not in permutations]
        if absent:
            raise OptionError(f"`permutations` has none for feature {quote(absent[0])}.")
        return {name: _row_numbers(permutations[name], name) for name in features}
    if not is_count(permutations, 1):
        raise OptionError(
            "With a metric `permutations` must be a whole number of at least 1, or map features to "
            f"arrays of row numbers, not {quote(permutations)}: it has no mean over all pairs."
        )
    return int(permutations)


def _by_name(permutations: str) -> int:
    check_choice("permutations", permutations, ("auto", "all"))
    if permutations == "all":
        raise OptionError(
            'A metric is not a mean over rows, so `permutations="all"` is not defined for it; give '
            "their number, or a loss."
        )
    return PERMUTATIONS


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


def _key(permutations: int | dict[str, IntArray]) -> object:
    """Return a hashable key of the permutations."""
    if isinstance(permutations, int):
        return permutations
    return tuple((name, index.shape, index.tobytes()) for name, index in permutations.items())


def _measure(
    case: ModelOnRows,
    *,
    features: Features,
    metric: Metric,
    permutations: int | dict[str, IntArray],
    relation: Relation,
) -> Measurement:
    y, n = case.y, case.sample.nobs
    serving = case.serving(metric)
    base = evaluate(metric, y, serving.factual)
    parts = []
    for name, whatif in serving.of_all(features):
        if isinstance(permutations, int):
            index = balanced_permutations(n, min(permutations, n - 1), case.draw(name))
        else:
            index = _check_permutations(permutations[name], name, n)
        predictions = whatif.pairs(np.arange(n), whatif.donors.of_row[index])
        comparisons = [
            _importance(metric, evaluate(metric, y, predictions[:, k]), base, relation, index[:, k])
            for k in range(index.shape[1])
        ]
        values, rows, as_donor = (np.array(part) for part in zip(*comparisons, strict=True))
        k = len(values)
        # One permutation does not show how much another one differs.
        error = float(np.var(values, ddof=1) / k) if k > 1 else np.nan
        term = one_term(values.mean() + rows.mean(axis=0), as_donor.mean(axis=0), error)
        # Influences may be missing where the metric is not.
        parts.append(replace(term, value=values.mean(keepdims=True)))
    importance = Estimate.stack(parts)
    if relation == "difference":
        importance = without_rounding(importance, np.full(len(parts), base[0]))
    else:
        importance = with_loss_below(importance, (base[0] + base[1])[:, None])
    return {"importance": importance}


def _read(measurement: Measurement) -> Estimate:
    return measurement["importance"]


def _check_permutations(index: IntArray, name: str, n: int) -> IntArray:
    """Return `index`, shape (n, K), if every column is a permutation of the n rows."""
    ordered = np.arange(n)[:, None]
    if index.ndim != 2 or len(index) != n or not (np.sort(index, axis=0) == ordered).all():
        raise OptionError(
            f"The permutations of {quote(name)} must be an array of shape ({n}, number of "
            f"permutations) whose columns hold the numbers 0 to {n - 1} once each; got shape "
            f"{index.shape}."
        )
    return index


def _importance(
    metric: Metric,
    permuted: tuple[float, FloatArray],
    base: tuple[float, FloatArray],
    relation: Relation,
    index: IntArray,
) -> tuple[float, FloatArray, FloatArray]:
    """Return importance under one permutation, and rows' influences as recipients and donors."""
    worse, better = (permuted, base) if metric.smaller_is_better else (base, permuted)
    if relation == "difference":
        value, by_worse, by_better = worse[0] - better[0], 1.0, -1.0
    else:
        if better[0] <= 0:
            raise InferenceError(
                f"The ratio needs a positive {metric.name}, but it is {better[0]:g} in some refit; "
                'use `relation="difference"`.'
            )
        value = worse[0] / better[0]
        by_worse, by_better = 1 / better[0], -value / better[0]
    by_permuted, by_base = (
        (by_worse, by_better) if metric.smaller_is_better else (by_better, by_worse)
    )
    # A pair of a row and its donor counts for both.
    pair = by_permuted * permuted[1] + by_base * base[1]
    as_donor = np.empty(len(index))
    as_donor[index] = pair
    return value, pair, as_donor
