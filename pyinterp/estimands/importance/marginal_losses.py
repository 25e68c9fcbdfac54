"""Losses with a feature replaced by independent draws: all pairs of rows, or some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.estimands.estimand import Estimate
from pyinterp.estimands.importance.weighted_losses import weighted_pairs
from pyinterp.losses.rowwise import Loss
from pyinterp.samplers import balanced_permutations
from pyinterp.whatif import PERMUTATIONS, PREDICTIONS, FeatureWhatIf

__all__ = ["LEAST_PERMUTATIONS", "Permutations", "marginal_losses", "one_term", "some_pairs"]

Permutations: TypeAlias = int | Literal["auto", "all"]

LEAST_PERMUTATIONS = 10


def marginal_losses(
    whatif: FeatureWhatIf,
    y: FloatArray,
    losses: FloatArray,
    *,
    loss: Loss,
    permutations: Permutations,
    draw: Callable[[], np.random.Generator],
    weights: FloatArray | None = None,
) -> tuple[Estimate, Estimate]:
    r"""Return the mean loss with a feature replaced, and with its own values.

    With all pairs the first is the U-statistic :math:`e_{switch}` of Fisher, Rudin and Dominici
    (2019), the mean over all ordered pairs of rows i != k (i keeps :math:`x_C` and y, k donates
    :math:`x_S`). It is the average over every permutation and has no Monte Carlo error. With K
    balanced permutations each row meets K of the n - 1 donors.

    Parameters
    ----------
    whatif : FeatureWhatIf
        The model on n evaluation rows, with the feature replaced.
    y, losses : ndarray of shape (n,)
        Responses of the rows, and their losses with the feature's own values.
    loss : Loss
        Per-row loss.
    permutations : int, "auto" or "all"
        Number K of permutations.
    draw : callable
        Returns the random stream, for K < n - 1; not called for all pairs.
    weights : ndarray of shape (n,), optional
        Sampling weights of the rows, also as donors; then all pairs are taken.

    Returns
    -------
    switched, original : Estimate
        With one term each and both sides' contributions.
    """
    n = len(y)
    if weights is not None:
        return weighted_pairs(whatif, y, losses, loss, weights)
    k = _number(permutations, n, len(whatif.donors.frame), whatif.most_pairs(loss))
    if k < n - 1:
        return some_pairs(whatif, y, losses, loss, balanced_permutations(n, k, draw()))
    return _all_pairs(whatif, y, losses, loss)


def _number(permutations: Permutations, n: int, values: int, most: float) -> int:
    """Return the number of permutations; n - 1 stands for all pairs."""
    if permutations == "all" or (permutations == "auto" and n * values <= most):
        return n - 1
    if permutations == "auto":
        return min(PERMUTATIONS, max(LEAST_PERMUTATIONS, PREDICTIONS // n), n - 1)
    return min(int(permutations), n - 1)


def _all_pairs(
    whatif: FeatureWhatIf, y: FloatArray, losses: FloatArray, loss: Loss
) -> tuple[Estimate, Estimate]:
    n, donors = len(y), whatif.donors
    if len(donors.frame) == 1:  # constant here: replacing it changes nothing
        return one_term(losses, losses * 0), one_term(losses, losses * 0)
    over_donors, over_rows = whatif.summed_losses(y, loss)
    # Every row also met its own values, with which it has its original loss.
    as_row = (over_donors - losses) / (n - 1)
    as_donor = (over_rows[donors.of_row] - losses) / (n - 1)
    # As a donor, row k meets every row but itself: the mean of their own losses leaves k out.
    return (
        one_term(as_row, as_donor - as_donor.mean()),
        one_term(losses, (losses.mean() - losses) / (n - 1)),
    )


def some_pairs(
    whatif: FeatureWhatIf, y: FloatArray, losses: FloatArray, loss: Loss, index: IntArray
) -> tuple[Estimate, Estimate]:
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


def one_term(rows: FloatArray, donors: FloatArray, mc_variance: float = 0.0) -> Estimate:
    """Return the estimate of one term from its contributions, shape (n,)."""
    return Estimate(
        value=np.array([rows.mean()]),
        rows=rows[:, None],
        donors=donors[:, None],
        mc_variance=np.array([mc_variance]),
    )
