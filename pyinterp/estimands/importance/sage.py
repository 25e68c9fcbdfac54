r"""SAGE: Shapley shares of the loss (Covert, Lundberg and Lee 2020), squared error.

Features S are present, the others are drawn jointly, from other rows:
:math:`v(S) = -E[(Y - E[f(x_S, X_C)])^2]`. With predictions :math:`f_a` of K draws for one row,
the square of a mean is without bias by pairs of draws:
:math:`(y - f_a)(y - f_b), a \neq b`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import factorial
from typing import TypeAlias

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.features import Features
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import without_rounding
from pyinterp.estimands.population import outputs_of, responses_of
from pyinterp.estimands.questions import method
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
    to an R².

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
        title="Shapley shares of the loss",
        details=(loss.name,),
        unit=unit,
        meaning=(
            f"Mean fall of expected {loss.name}{f', in units of {unit},' if unit else ''} when the "
            "feature is added to others, over all orders; absent features are drawn jointly from "
            "other rows."
        ),
        always=(
            "A correlated feature that the learner does not use has 0 in one fit, and values below "
            "0 are no error: the feature repairs what others spoil.",
        ),
        exact="All draws and subsets, no Monte Carlo error.",
        inexact="as some of all draws, or orderings, are used",
    )
    make = partial(
        Estimand,
        key=("sage", tuple(features.items())),
        terms=Terms.plain(list(features)),
        measure=partial(measure_shares, features=features),
        score=loss,
    )
    return make(
        read=_shares,
        form="shares",
        words=words,
        parameter=Parameter(null=0.0),  # no square: of a correlated null it is nearly normal
        diagnostic=make(read=_of_loss, form="of the loss", words=SHARE),
    )


SHARE = Words(
    label="R² share",
    title="shares of R²",
    meaning="Share of the loss of the mean prediction: all add up to R².",
)


def _shares(measurement: Measurement) -> Estimate:
    return without_rounding(measurement["shares"], measurement["nothing"].value)


def _of_loss(measurement: Measurement) -> Estimate:
    shares = _shares(measurement)
    return shares.over(Estimate.stack([measurement["nothing"]] * len(shares.value)))


def shapley_weights(p: int) -> tuple[FloatArray, FloatArray]:
    """Return all subsets of p players, bool of shape (2^p, p), and weights (p, 2^p) of values."""
    inside = (np.arange(2**p)[:, None] >> np.arange(p) & 1).astype(bool)
    of_size = np.array([factorial(k) * factorial(p - k - 1) / factorial(p) for k in range(p)])
    size = inside.sum(axis=1)[:, None]
    weights = np.where(inside, of_size[size - 1], -of_size[np.minimum(size, p - 1)])
    return inside, weights.T


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
    y, pick = (
        responses_of(case.evaluation, case),
        partial(outputs_of, classes=case.whatif.predictor.classes),
    )
    parts = additive_parts(case, features, pick)
    if parts is not None:
        return _of_sum(parts, y, pick(case.whatif.factual))
    p, n, rng = len(features), len(y), case.draw("sage")
    if p <= MOST_FEATURES:
        inside, exact = shapley_weights(p)
        weights = exact[None]
    else:
        inside, weights = orderings(p, rng)
    k = int(np.clip(PREDICTIONS // (n * len(inside)), 2, min(DRAWS, n - 1)))
    index = balanced_permutations(n, k, rng)
    rows, donors, draws = (np.empty((len(inside), size)) for size in (n, n, k))
    for s, present in enumerate(inside):
        absent = [v for names, there in zip(features.values(), present, strict=True) if not there
                  for v in names]  # fmt: skip
        rows[s], donors[s], draws[s] = _loss(case, absent, y, index, pick)
    mean = weights.mean(axis=0)
    between = np.var(mean @ draws, axis=1, ddof=1) * 4 / k * (1 - k / (n - 1))
    if len(weights) > 1:
        between += np.var(weights @ rows.mean(axis=1), axis=0, ddof=1) / len(weights)

    def combined(weights: FloatArray, mc_variance: FloatArray) -> Estimate:
        return Estimate(
            value=weights @ rows.mean(axis=1),
            rows=(weights @ rows).T,
            donors=(weights @ donors).T,
            mc_variance=mc_variance,
        )

    nothing = (inside.sum(axis=1) == 0).astype(np.float64)[None]
    return {
        "shares": combined(np.asarray(-mean), between),
        "nothing": combined(nothing, np.zeros(1)),
    }


def _loss(
    case: ModelOnRows, absent: list[str], y: FloatArray, index: IntArray, pick: Pick
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the loss of rows without some variables, of donors as deviations, and of draws."""
    n, k = index.shape
    if not absent:
        return np.square(y - pick(case.whatif.factual)).sum(axis=1), np.zeros(n), np.zeros(k)
    whatif = case.whatif.of(absent)
    away = y[:, None] - pick(whatif.pairs(np.arange(n), whatif.donors.of_row[index]))
    pairs = (away * (away.sum(axis=1, keepdims=True) - away)).sum(axis=2) / (k - 1)
    as_donor = 2 * np.bincount(index.ravel(), pairs.ravel(), n) / k
    return pairs.mean(axis=1), as_donor - as_donor.mean(), pairs.mean(axis=0)


def additive_parts(case: ModelOnRows, features: Features, pick: Pick) -> FloatArray | None:
    """Return functions of one feature each at every row, (p, n, outputs), of which f is the sum.

    Up to constants; None if it is not their sum, at the rows and where some features are shuffled.
    """
    sample, f, every = case.evaluation.variables, pick(case.whatif.factual), [*features.values()]
    names, parts = [v for names in every for v in names], np.empty((len(every), *f.shape))
    for j, own in enumerate(every):
        others = [v for v in names if v not in own]
        blocks = case.whatif.of(others).cross(sample[others].iloc[[0]]) if others else ()
        parts[j] = f
        for rows, block in blocks:
            parts[j, rows] = pick(block)[:, 0]
    scale, level = ROUNDING * np.ptp(f, axis=0).max(), (len(every) - 1) * f[0]
    shuffled = np.arange(len(f))[::-1]
    for moved in (slice(0), slice(0, None, 2), slice(len(every) // 2)):
        variables, both = [v for names in every[moved] for v in names], parts.copy()
        both[moved] = both[moved][:, shuffled]
        predictions = f
        if variables:
            whatif = case.whatif.of(variables)
            index = whatif.donors.of_row[shuffled][:, None]
            predictions = pick(whatif.pairs(np.arange(len(f)), index))[:, 0]
        if not np.abs(both.sum(axis=0) - level - predictions).max() <= scale:
            return None
    return parts


def _of_sum(parts: FloatArray, y: FloatArray, f: FloatArray) -> Measurement:
    r"""Return :math:`cov(g_j, 2 y - f)` with n - 1: the U-statistic of all rows and draws."""
    n, r, g = len(y), y - f.mean(axis=0), f - f.mean(axis=0)
    centered, level = parts - parts.mean(axis=1, keepdims=True), r.mean(axis=0)
    rows = np.einsum("jnk,nk->nj", centered, 2 * (r - level) - g) * n / (n - 1)
    pairs = ((2 * (r - level) - g) * g).sum() / (n - 1) / n
    nothing = (np.square(r) - 2 * level * g).sum(axis=1) + pairs
    return {"shares": Estimate.of_rows(rows), "nothing": Estimate.of_rows(nothing[:, None])}
