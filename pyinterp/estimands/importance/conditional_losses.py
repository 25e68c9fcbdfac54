"""Losses with a feature redrawn given the other variables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import DesignError, PredictionError
from pyinterp.estimands.estimand import Estimate
from pyinterp.estimands.importance.marginal_losses import LEAST_PERMUTATIONS, Permutations, one_term
from pyinterp.losses.rowwise import Loss
from pyinterp.samplers import ConditionalDistribution, Draws
from pyinterp.whatif import PREDICTIONS, FeatureWhatIf

__all__ = ["conditional_losses", "number_of_draws", "predicted_draws"]


def conditional_losses(
    whatif: FeatureWhatIf,
    y: FloatArray,
    losses: FloatArray,
    *,
    distribution: ConditionalDistribution,
    loss: Loss,
    draws: Permutations,
    rng: np.random.Generator,
) -> tuple[Estimate, Estimate]:
    r"""Return the mean loss with a feature redrawn given the others, and with its own values.

    .. math:: e_{cond} = \frac1n \sum_i \sum_k w_{ik} L(y_i, f(\tilde x_{ik}, x_{C,i}))

    (Khan, Saarela and Kustra 2025, eq. 26). There is no Monte Carlo error with all draws that the
    distribution has: all other rows' residuals, or all levels with their probabilities
    :math:`w_{ik}`.

    Parameters
    ----------
    whatif : FeatureWhatIf
        The model on n evaluation rows, with the feature replaced.
    y, losses : ndarray of shape (n,)
        Responses of the rows, and their losses with the feature's own values.
    distribution : ConditionalDistribution
        Of the feature given all other variables.
    loss : Loss
        Per-row loss.
    draws : int, "auto" or "all"
        Number of draws per row.
    rng : numpy.random.Generator
        Used if not all draws are made.

    Returns
    -------
    switched, original : Estimate
        With one term each. The contribution of a row as a donor is a deviation from the mean of the
        rows that it exchanges values with.
    """
    n = len(y)
    as_row, as_donor, unreplaced = np.empty(n), np.zeros(n), np.zeros(n)
    k = number_of_draws(whatif, distribution, draws)
    by_draw = np.zeros(k or 0)
    for block, predictions in predicted_draws(whatif, distribution, k, rng):
        matrix = np.asarray(loss(y[block.rows, None], predictions))
        as_row[block.rows] = block.mean(matrix)
        if block.donors is not None:
            original = np.broadcast_to(losses[block.rows, None], matrix.shape)
            as_donor += block.by_donor(matrix, n)
            unreplaced += block.by_donor(original, n)
        if k is not None and matrix.shape[1] == k:
            by_draw += matrix.sum(axis=0) / n
    between = 0.0
    if k is not None:  # a sample without replacement, if draws have an end
        between = float(np.var(by_draw, ddof=1)) / k * max(1 - k / distribution.size, 0.0)
    return (
        one_term(as_row, distribution.deviations(as_donor), between),
        one_term(losses, distribution.deviations(unreplaced)),
    )


def predicted_draws(
    whatif: FeatureWhatIf,
    distribution: ConditionalDistribution,
    k: int | None,
    rng: np.random.Generator,
) -> Iterator[tuple[Draws, FloatArray]]:
    """Yield k draws per row, or all for None, with their predictions, in blocks of rows."""
    for block in distribution.all() if k is None else distribution.some(k, rng):
        try:
            yield block, whatif.pairs(block.rows, block.positions, block.frame)
        except (DesignError, PredictionError) as error:
            raise type(error)(
                f"Conditional draws of {', '.join(whatif.variables)} can be values that were never "
                "observed, which the formula or the learner does not take; use a sampler that "
                'draws observed values ("subgroup", or "categorical" for levels), or '
                "`pi.samplers.Residual(within_range=True)`. "
                f"{error}"
            ) from error


def number_of_draws(
    whatif: FeatureWhatIf, distribution: ConditionalDistribution, draws: Permutations
) -> int | None:
    """Return the number of draws per row; None stands for all that the distribution has."""
    n = whatif.sample.nobs
    if draws == "all" or (draws == "auto" and n * distribution.size <= whatif.most_draws):
        return None
    number = max(LEAST_PERMUTATIONS, PREDICTIONS // n) if draws == "auto" else int(draws)
    return number if number < distribution.size else None
