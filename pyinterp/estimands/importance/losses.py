"""Mean losses with a feature replaced, by other rows' values or draws, and their comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.checks import check_choice
from pyinterp.data.features import Features
from pyinterp.errors import DesignError, InferenceError, PredictionError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.positivity import variance_parts
from pyinterp.losses.rowwise import Loss
from pyinterp.ranges import POSITIVE
from pyinterp.samplers import ConditionalDistribution, Draws, Sampler, balanced_permutations
from pyinterp.whatif import PERMUTATIONS, PREDICTIONS, FeatureWhatIf

Relation = Literal["difference", "ratio"]
Permutations = int | Literal["auto", "all"]
LossPair = tuple[Estimate, Estimate]  # with the feature replaced, and as it is

LEAST_PERMUTATIONS = 10
PARAMETERS = {
    "difference": Parameter(null=0.0, no_effect=0.0),
    "ratio": Parameter(null=1.0, no_effect=1.0, range=POSITIVE),
}

LOSS_PARTS = "rows", "donors"

# A feature that the model never uses can differ from 0 by the rounding of sums in another order.
ROUNDING = 1e-12


def measure_losses(
    case: ModelOnRows,
    *,
    features: Features,
    loss: Loss,
    permutations: Permutations,
    samplers: Mapping[str, Sampler],
    of_response: bool = True,
) -> Measurement:
    """Return mean losses of one model, "changed" with each feature replaced and "original" as is.

    Parameters
    ----------
    case : ModelOnRows
        The model on n rows.
    features : mapping of str to tuple of str
        The variables of q features, which are replaced one feature at a time.
    loss : Loss
    permutations : int, "auto" or "all"
        How many donors or draws each row meets.
    samplers : mapping of str to Sampler
        Of features that are drawn given the other variables; others take values of other rows.
    of_response : bool
        False if the loss is of predictions alone, as entropy is.

    Returns
    -------
    dict of str to Estimate
        "changed" has q terms, "original" one, or q where features differ in it. With samplers also
        the parts of the variance of their features.
    """
    serving = case.of_kind(loss.needs)
    y = case.y if of_response else np.zeros(case.evaluation.nobs)
    losses = loss(y, serving.factual)
    n, q = len(y), len(features)
    # Of a million rows they are large: written into one table, and what is equal kept once.
    rows, donors = np.empty((n, q), order="F"), np.empty((n, q), order="F")
    values, errors = np.empty(q), np.zeros(q)
    original, last = dict[str, Estimate](), one_term(losses, np.zeros(n), weights=case.weights)
    if case.weights is None and permutations in ("auto", "all") and n > 1:
        places = {name: j for j, name in enumerate(features) if name not in samplers}
        # A donor meets every row but itself: the mean loss of all others.
        others, step = losses.sum() - losses, max(1, PREDICTIONS // n)
        last = one_term(losses, (others - others.mean()) / (n - 1))
        for some in (list(places)[k : k + step] for k in range(0, len(places), step)):
            asked = {name: features[name] for name in some}
            names, over_donors, by_donor = serving.sums_of_all(y, loss, asked)
            # Every row also met its own values, with which it has its original loss.
            own, at = losses[:, None], [places[name] for name in names]
            rows[:, at] = (over_donors - own) / (n - 1)
            by_donor = (by_donor - own) / (n - 1)
            donors[:, at], values[at] = by_donor - by_donor.mean(axis=0), rows[:, at].mean(axis=0)
            original |= dict.fromkeys(names, last)
    for j, (name, variables) in enumerate(features.items()):
        if name in original:
            continue
        whatif = serving.of(variables)
        draw = partial(case.draw, name)
        if name in samplers:
            distribution = case.conditional(samplers[name], whatif.variables)
            pair = _conditional_losses(whatif, y, losses, loss, permutations, draw(), distribution)
        else:
            pair = marginal_losses(whatif, y, losses, loss, permutations, draw, case.weights)
        changed, as_is = pair
        rows[:, j], donors[:, j] = changed.rows[:, 0], np.asarray(changed.donors)[:, 0]
        values[j], errors[j] = changed.value[0], changed.mc_variance[0]
        same = all(np.array_equal(getattr(as_is, of), getattr(last, of)) for of in LOSS_PARTS)
        original[name] = last = last if same else as_is
    parts = [original[name] for name in features]
    measured = {
        "changed": Estimate(value=values, rows=rows, donors=donors, mc_variance=errors),
        # One term, if it is the same beside every feature, as it is unless some are constant.
        "original": last if len({*map(id, parts)}) == 1 else Estimate.stack(parts),
    }
    if samplers:
        measured |= variance_parts(case, {name: features[name] for name in samplers}, samplers)
    return measured


def marginal_losses(
    whatif: FeatureWhatIf,
    y: FloatArray,
    losses: FloatArray,
    loss: Loss,
    permutations: Permutations,
    draw: Callable[[], np.random.Generator],
    weights: FloatArray | None,
) -> LossPair:
    r"""Return the mean loss with a feature replaced, and with its values as they are.

    With all pairs the first is the U-statistic :math:`e_{switch}` of Fisher, Rudin and Dominici
    (2019). It is the mean over all ordered pairs of rows i != k, where i keeps :math:`x_C` and y,
    and k donates :math:`x_S`. It is the average over every permutation and has no Monte Carlo
    error. With K balanced permutations each row meets K of the n - 1 donors.

    With sampling weights it is :math:`\sum_i w_i \bar L_i / W`, the mean over rows of the weighted
    mean of the losses that each has with the values of the others:

    .. math:: \bar L_i = \sum_{k \ne i} w_k L_{ik} / (W - w_i), \quad W = \sum_i w_i

    So the original losses have their weighted mean, and a feature that is never used has
    importance 0.

    Parameters
    ----------
    whatif : FeatureWhatIf
        The model on n evaluation rows, with the feature replaced.
    y, losses : ndarray of shape (n,)
        Responses of the rows, and their losses with the feature's observed values.
    loss : Loss
        Per-row loss.
    permutations : int, "auto" or "all"
        Number K of permutations.
    draw : callable
        Returns the random stream, for K < n - 1; not called for all pairs.
    weights : ndarray of shape (n,), optional
        Sampling weights of the rows, also as donors; then all pairs are taken.
    """
    n, donors = len(y), whatif.donors
    k = n - 1  # all pairs
    if weights is None and permutations == "auto":
        if n * len(donors.counts) > whatif.most_pairs(loss):
            k = min(PERMUTATIONS, max(LEAST_PERMUTATIONS, PREDICTIONS // n))
    elif weights is None and not isinstance(permutations, str):
        k = int(permutations)
    if k < n - 1:
        return some_pairs(whatif, y, losses, loss, balanced_permutations(n, k, draw()))
    if len(donors.counts) == 1:  # constant here: replacing it changes nothing
        original = one_term(losses, np.zeros(n), weights=weights)
        return original, original
    rows_weigh = np.ones(n) if weights is None else weights
    others, relative = rows_weigh.sum() - rows_weigh, rows_weigh / rows_weigh.mean()
    shares = rows_weigh / others
    if weights is None:
        over_donors, over_rows = whatif.summed_losses(y, loss)
        over_rows = over_rows / (n - 1)
    else:
        over_donors, over_rows = _weighted_sums(whatif, y, loss, weights, shares)
    # Every row also met its own values, with which it has its original loss.
    as_row = (over_donors - rows_weigh * losses) / others
    as_donor = over_rows[donors.of_row] - shares * losses
    # As a donor, row k meets every row but itself: the mean of their own losses leaves k out.
    unreplaced = shares @ losses - shares * losses
    as_donor, unreplaced = (
        relative * (each - np.average(each, weights=weights)) for each in (as_donor, unreplaced)
    )
    return one_term(as_row, as_donor, 0.0, weights), one_term(losses, unreplaced, 0.0, weights)


def some_pairs(
    whatif: FeatureWhatIf, y: FloatArray, losses: FloatArray, loss: Loss, index: IntArray
) -> LossPair:
    """Return the same as `marginal_losses`, row i with donors ``index[i]``, shape (n, k)."""
    n, k = index.shape
    predictions = whatif.pairs(np.arange(n), whatif.donors.of_row[index])
    matrix = loss(y[:, None], predictions)
    as_donor, unreplaced = np.zeros(n), np.zeros(n)
    np.add.at(as_donor, index, matrix)
    np.add.at(unreplaced, index, np.broadcast_to(losses[:, None], (n, k)))
    # The permutations are a sample without replacement of the n - 1 shifts of one random order.
    between = np.var(matrix.mean(axis=0), ddof=1) / k * (1 - k / (n - 1))
    return (
        one_term(matrix.mean(axis=1), (as_donor - as_donor.mean()) / k, between),
        one_term(losses, unreplaced / k - losses.mean()),
    )


def _weighted_sums(
    whatif: FeatureWhatIf, y: FloatArray, loss: Loss, weights: FloatArray, shares: FloatArray
) -> TwoArrays:
    """Return weighted sums of the losses of all pairs: every row's over donors, and the reverse."""
    donors = whatif.donors
    of_donor = np.bincount(donors.of_row, weights, minlength=len(donors.counts))
    over_donors, over_rows = np.empty(len(y)), np.zeros(len(donors.counts))
    for rows, predictions in whatif.cross():
        matrix = loss(y[rows, None], predictions)
        over_donors[rows] = matrix @ of_donor
        over_rows += shares[rows] @ matrix
    return over_donors, over_rows


def _conditional_losses(
    whatif: FeatureWhatIf,
    y: FloatArray,
    losses: FloatArray,
    loss: Loss,
    draws: Permutations,
    rng: np.random.Generator,
    distribution: ConditionalDistribution,
) -> LossPair:
    r"""Return the mean loss with a feature redrawn given the others, and with its own values.

    .. math:: e_{cond} = \frac1n \sum_i \sum_k w_{ik} L(y_i, f(\tilde x_{ik}, x_{C,i}))

    (Khan, Saarela and Kustra 2025, eq. 26). There is no Monte Carlo error with all draws that the
    distribution has: all other rows' residuals, or all levels with their probabilities
    :math:`w_{ik}`. The contribution of a row as a donor is a deviation from the mean of the rows
    that it exchanges values with. With sampling weights the mean over rows is weighted, and so are
    the draws, by their donors.
    """
    unreplaced, weights = np.zeros(len(y)), whatif.sample.weights

    def losses_of(block: Draws, predictions: FloatArray) -> TwoArrays:
        """Return losses with draws and their means; add own losses, by donor, to `unreplaced`."""
        matrix = loss(y[block.rows, None], predictions)
        own = np.broadcast_to(losses[block.rows, None], matrix.shape)
        unreplaced[:] += block.by_donor(times_weights(own, block.rows, weights), len(y))
        return matrix, block.mean(matrix)

    changed = mean_over_draws(whatif, distribution, draws, rng, losses_of)
    return changed, one_term(losses, distribution.deviations(unreplaced, weights), 0.0, weights)


def times_weights(values: FloatArray, rows: IntArray, weights: FloatArray | None) -> FloatArray:
    """Return values of some rows, shape (b, k), times the rows' weights in units of their mean."""
    return values if weights is None else (weights / weights.mean())[rows, None] * values


def mean_over_draws(
    whatif: FeatureWhatIf,
    distribution: ConditionalDistribution,
    draws: Permutations,
    rng: np.random.Generator,
    function: Callable[[Draws, FloatArray], TwoArrays],
) -> Estimate:
    """Return the mean over rows and draws of a function of predictions, as one term.

    ``function(block, predictions)`` returns values, shape (rows, draws), of a block of rows with
    their draws, and the rows' contributions, shape (rows,).
    """
    n, weights = whatif.sample.nobs, whatif.sample.weights
    k = None  # all that the distribution has
    if draws != "all" and (draws != "auto" or n * distribution.size > whatif.most_draws):
        k = max(LEAST_PERMUTATIONS, PREDICTIONS // n) if draws == "auto" else int(draws)
        # Draws by weight within strata are no permutations.
        equal = weights is None or distribution.strata is None
        k = k if k < distribution.size and equal else None
    as_row, as_donor, by_draw = np.empty(n), np.zeros(n), np.zeros(k or 0)
    for drawn in distribution.all() if k is None else distribution.some(k, rng):
        block = drawn.by_weight(weights) if k is None else drawn
        try:
            predictions = whatif.pairs(block.rows, block.positions, block.frame)
        except (DesignError, PredictionError) as error:
            raise type(error)(
                f"Conditional draws of {', '.join(whatif.variables)} can be values that were never "
                "observed, which the formula or the learner does not take; use a sampler that "
                'draws observed values ("subgroup", or "categorical" for levels), or '
                "`pi.samplers.Residual(within_range=True)`. "
                f"{error}"
            ) from error
        values, as_row[block.rows] = function(block, predictions)
        values = times_weights(values, block.rows, weights)
        as_donor += block.by_donor(values, n)
        if k is not None and values.shape[1] == k:
            by_draw += values.sum(axis=0) / n
    between = 0.0
    if k is not None:  # a sample without replacement, if draws have an end and no weights
        rest = max(1 - k / distribution.size, 0.0) if weights is None else 1.0
        between = float(np.var(by_draw, ddof=1)) / k * rest
    return one_term(as_row, distribution.deviations(as_donor, weights), between, weights)


def one_term(
    rows: FloatArray,
    donors: FloatArray,
    mc_variance: float = 0.0,
    weights: FloatArray | None = None,
) -> Estimate:
    """Return the estimate of one term from its contributions, shape (n,).

    Those of donors are deviations. Weights are of the rows.
    """
    mean = Estimate.of_rows(rows[:, None], weights)
    return replace(mean, donors=donors[:, None], mc_variance=np.array([mc_variance]))


def comparison(
    problem: Problem,
    features: Features,
    loss: Loss,
    relation: Relation,
    words: Words,
    **fields: Any,
) -> Estimand:
    """Return how much a loss grows for every feature, measured as "changed" and "original" loss.

    The meaning in `words` is the end of the sentence: when it grows. `fields` are the estimand's
    other ones.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    response, is_ratio = problem.sample.response, relation == "ratio"
    unit = "" if is_ratio else loss.unit.format(y="" if response is None else response.name)
    change = f"Increase in expected {loss.name}{f', in units of {unit},' if unit else ''}"
    if is_ratio:
        change = f"Factor by which expected {loss.name} grows"
    return Estimand(
        terms=Terms.plain(list(features)),
        read=ratio if is_ratio else difference,
        form=relation,
        words=replace(
            words,
            details=(loss.name, "ratio") if is_ratio else (loss.name,),
            unit=unit,
            meaning=f"{change} when {words.meaning}",
        ),
        parameter=PARAMETERS[relation],
        score=loss,
        **fields,
    )


def difference(measurement: Measurement) -> Estimate:
    """Return the increase of a loss; exactly 0 where it is the same up to rounding."""
    changed, original = measurement["changed"], measurement["original"]
    return without_rounding(changed.minus(original), original.value)


def ratio(measurement: Measurement) -> Estimate:
    """Return the factor by which a loss is larger."""
    changed, original = measurement["changed"], measurement["original"]
    if (original.value <= ROUNDING**2 * np.abs(changed.value)).any():
        raise InferenceError(
            "The ratio needs a positive loss, but it is 0 in some refit; use "
            '`relation="difference"`.'
        )
    return with_loss_below(changed.over(original), original.rows)


def with_loss_below(ratios: Estimate, rows: FloatArray) -> Estimate:
    """Return ratios that know the contributions, shape (n, 1), to the loss that divides them."""
    return replace(ratios, below=np.broadcast_to(rows, ratios.rows.shape))


def without_rounding(estimate: Estimate, scale: FloatArray) -> Estimate:
    """Set terms that are 0 in every row, up to rounding, to 0."""
    rows, donors = estimate.rows, estimate.donors
    each = [rows] if donors is None else [rows, donors]
    largest = np.max([np.maximum(x.max(axis=0), -x.min(axis=0)) for x in each], axis=0)
    # Not "larger than", so that terms with missing contributions keep them.
    nonzero = ~(largest <= ROUNDING * np.abs(scale))
    if nonzero.all():
        return estimate
    return Estimate(
        value=np.where(nonzero, estimate.value, 0.0),
        rows=np.where(nonzero, rows, 0.0),
        donors=None if donors is None else np.where(nonzero, donors, 0.0),
        mc_variance=np.where(nonzero, estimate.mc_variance, 0.0),
    )
