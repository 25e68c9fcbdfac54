r"""SAGE: Shapley shares of the loss (Covert, Lundberg and Lee 2020), squared error.

Features S are present, the others are drawn jointly, from other rows:
:math:`v(S) = -E[(Y - E[f(x_S, X_C)])^2]`. With predictions :math:`f_a` of K draws for one row,
the square of a mean is without bias by pairs of draws:
:math:`(y - f_a)(y - f_b), a \neq b`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import factorial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.features import Features
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import without_rounding
from pyinterp.estimands.population import outputs_of, responses_of
from pyinterp.estimands.questions import method
from pyinterp.losses.rowwise import LOSSES
from pyinterp.samplers import balanced_permutations
from pyinterp.whatif import PREDICTIONS

Pick: TypeAlias = Callable[[FloatArray], FloatArray]  # returns predictions with outputs last
MOST_FEATURES = 10  # of which all subsets are taken
DRAWS = 10  # for a row and a subset, at most
ORDERINGS = 8  # per refit of more features, each with its reverse
ROUNDING = 1e-7  # of the range of f, in which it is a sum of functions of one feature


@method("sage", importance=True)
def sage(problem: Problem) -> Estimand:
    r"""SAGE: Shapley shares of the features in the fall of squared error, Brier's of classes.

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|!\,(p - |S| - 1)!}{p!}
        \big[v(S \cup j) - v(S)\big], \quad v(S) = -E\big[(Y - E[f(x_S, X_C)])^2\big]

    with absent features :math:`X_C` drawn jointly from other rows, independently of those that are
    present (Covert, Lundberg and Lee 2020, of marginal draws). All add up to the loss of the
    mean prediction less that of the prediction; *share* is of the former, so that shares add up
    to an R² (of classes D²).

    If f is a sum of functions :math:`g_j` of one feature each, as a linear model is,
    :math:`\phi_j = cov(g_j, 2 Y - f)`. Else it is the mean over all subsets of up to 10 features,
    and over some orderings and their reverses of more. A group counts as one feature.

    Parameters
    ----------
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In squared units of the response; one term per feature.

    Examples
    --------
    >>> found = res.sage()
    >>> found.params.round().to_dict()
    {'sex': -8.0, 'bmi': 1636.0, 'bp': 652.0}
    """
    features, loss = dict(problem.features), problem.squared_loss
    unit = loss.unit.format(y=problem.response.name)
    words = Words(
        label="SAGE",
        title="Shapley importance (SAGE)",
        details=(loss.name,),
        unit=unit,
        meaning=(
            f"Mean fall of expected {loss.name}{f', in units of {unit},' if unit else ''} when the "
            "feature is added to others, over all orders; absent features are drawn jointly from "
            "other rows."
        ),
        always=(
            "A feature that the learner does not use has 0. Below 0 the feature makes predictions "
            "worse, on average over the features known before it.",
        ),
        exact="All draws and subsets, no Monte Carlo error.",
        inexact="as some of all draws, or orderings, are used",
    )
    name = "R²" if loss == LOSSES["squared"] else "D²"
    of_loss = Words(
        label=f"{name} share",
        title=f"shares of {name}",
        meaning=f"Share of the loss of a mean prediction, mean over refits: all add up to {name}.",
    )
    make = partial(
        Estimand,
        key=("sage", tuple(features.items())),
        terms=Terms.plain(list(features)),
        measure=partial(measure_shares, features=features),
        score=loss,
        version=2,  # deviations of donors are from their row's mean
        why_no_weights="its weighted form is not written yet, unlike those of `loco` and `pfi`",
    )
    return make(
        read=_shares,
        form="shares",
        words=words,
        coverage=("SAGE",),
        parameter=Parameter(null=0.0),  # no square: of a correlated null it is nearly normal
        diagnostic=make(read=_of_loss, form="of the loss", words=of_loss),
    )


def _shares(measurement: Measurement) -> Estimate:
    return without_rounding(measurement["shares"], measurement["nothing"].value)


def _of_loss(measurement: Measurement) -> Estimate:
    shares = _shares(measurement)
    return shares.over(Estimate.stack([measurement["nothing"]] * len(shares.value)))


def shapley_weights(p: int) -> tuple[FloatArray, FloatArray]:
    """Return all subsets of p players, bool of shape (2^p, p), and weights (1, p, 2^p)."""
    inside = (np.arange(2**p)[:, None] >> np.arange(p) & 1).astype(bool)
    of_size = np.array([factorial(k) * factorial(p - k - 1) / factorial(p) for k in range(p)])
    size = inside.sum(axis=1)[:, None]
    weights = np.where(inside, of_size[size - 1], -of_size[np.minimum(size, p - 1)])
    return inside, weights.T[None]


def orderings(p: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return subsets as `shapley_weights`, and weights of every ordering with its reverse."""
    subsets, weights = dict[bytes, int](), np.zeros((ORDERINGS, p, 2 * ORDERINGS * (p + 1)))
    for each in weights:
        order = rng.permutation(p)
        for one in (order, order[::-1]):
            places = [
                subsets.setdefault(np.isin(np.arange(p), one[:k]).tobytes(), len(subsets))
                for k in range(p + 1)
            ]
            each[one, places[1:]] += 0.5
            each[one, places[:-1]] -= 0.5
    inside = np.array([np.frombuffer(key, bool) for key in subsets])
    return inside, weights[:, :, : len(inside)]


def measure_shares(case: ModelOnRows, *, features: Features) -> Measurement:
    """Return Shapley shares, and the loss of the mean prediction."""
    y = responses_of(case)
    pick = partial(outputs_of, classes=case.whatif.predictor.classes)
    parts = additive_parts(case, features, pick)
    if parts is not None:
        return _of_sum(parts, y, pick(case.whatif.factual))
    p, n, rng = len(features), len(y), case.draw("sage")
    inside, weights = shapley_weights(p) if p <= MOST_FEATURES else orderings(p, rng)
    k = int(np.clip(PREDICTIONS // (n * len(inside)), 3, min(DRAWS, n - 1)))
    index = balanced_permutations(n, k, rng)
    predictions = _predictions(case, features, inside, index, pick)
    losses = [_losses(y[:, None, None] - f, index) for f in predictions]
    rows, donors, draws = np.split(np.hstack(losses), [n, 2 * n])
    mean = -weights.mean(axis=0).T
    jackknife = 4 / k * ((k - 1) / max(k - 2, 1)) ** 2  # of a mean over pairs
    between = np.var(draws @ mean, axis=0, ddof=1) * jackknife * (1 - k / (n - 1))
    if len(weights) > 1:
        between += np.var(weights @ rows.mean(axis=0), axis=0, ddof=1) / len(weights)

    def combined(weights: Any, mc_variance: FloatArray) -> Estimate:
        """Return the sums of the subsets' losses, times weights."""
        made = rows @ weights
        return Estimate(
            value=made.mean(axis=0), rows=made, donors=donors @ weights, mc_variance=mc_variance
        )

    nothing = combined(~inside.any(axis=1, keepdims=True), np.zeros(1))
    return {"shares": combined(mean, between), "nothing": nothing}


def _predictions(
    case: ModelOnRows, features: Features, inside: Any, index: IntArray, pick: Pick
) -> Iterator[FloatArray]:
    """Yield predictions of rows with absent features of others, (n, k, subsets, outputs).

    Many subsets at once: of small data a call takes longer than its predictions.
    """
    sample, rows = case.evaluation.variables, np.arange(len(index))
    for present in np.array_split(inside, -(-index.size * len(inside) // PREDICTIONS)):
        columns = dict[str, Any]()
        for there, names in zip(present.T, features.values(), strict=True):
            of = np.where(there, rows[:, None, None], index[:, :, None])
            columns |= {name: sample[name].array.take(of.ravel()) for name in names}
        each = np.arange(of.size).reshape(len(rows), -1)
        f = case.whatif.of([*columns]).pairs(rows, each, pd.DataFrame(columns))
        yield pick(f).reshape(*of.shape, -1)


def _losses(away: FloatArray, index: IntArray) -> FloatArray:
    """Return losses by subset, in columns: of rows, of donors as deviations, and of draws.

    A donor's deviation is from the mean of its row: a feature without use has none.
    """
    k, donors = away.shape[1], np.zeros(away.shape[::2])
    pairs = (away * (away.sum(axis=1, keepdims=True) - away)).sum(axis=3) / (k - 1)
    rows = pairs.mean(axis=1)
    np.add.at(donors, index, 2 / (k - 1) * (pairs - rows[:, None]))
    return np.vstack([rows, donors, pairs.mean(axis=0)])


def additive_parts(case: ModelOnRows, features: Features, pick: Pick) -> FloatArray | None:
    """Return p functions of one feature each, whose sum is f, at every row: (p, n, outputs).

    Up to constants. None if it is not their sum: at the rows, and with some features of other rows.
    """
    f, p = pick(case.whatif.factual), len(features)
    # Subsets by the bits of features' numbers, and the empty one: they separate any two features.
    moved = np.arange(p) >> np.arange(p.bit_length() + 1)[:, None] & 1
    others = balanced_permutations(len(f), min(DRAWS, len(f) - 1), case.draw("sage"))
    parts, predicted = (
        np.concatenate([*_predictions(case, features, inside, index, pick)], axis=2)
        for inside, index in ((np.eye(p), 0 * others[:, :1]), (1.0 - moved, others))
    )
    both = np.where(moved[..., None], parts[others], parts[:, None]).sum(axis=3)
    away = np.abs(both - (p - 1) * f[0] - predicted).max()
    return parts[:, 0].swapaxes(0, 1) if away <= ROUNDING * np.ptp(f, axis=0).max() else None


def _of_sum(parts: FloatArray, y: FloatArray, f: FloatArray) -> Measurement:
    r"""Return :math:`cov(g_j, 2 y - f)` with n - 1: the U-statistic of all rows and draws."""
    n, g, r = len(y), f - f.mean(axis=0), y - f.mean(axis=0)
    level, centered = r.mean(axis=0), parts - parts.mean(axis=1, keepdims=True)
    h = 2 * (r - level) - g
    rows = np.einsum("jnk,nk->nj", centered, h) * n / (n - 1)
    nothing = (np.square(r) - 2 * level * g).sum(axis=1) + (h * g).sum() / (n - 1) / n
    return {"shares": Estimate.of_rows(rows), "nothing": Estimate.of_rows(nothing[:, None])}
