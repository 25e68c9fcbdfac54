"""Losses with a feature redrawn given the other variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyinterp.design import IntArray
from pyinterp.engine import PREDICTIONS, WhatIf
from pyinterp.engine.whatif import PAIRS
from pyinterp.errors import DesignError
from pyinterp.estimands.base import Estimate
from pyinterp.estimands.switched import LEAST_PERMUTATIONS, Permutations, one_term
from pyinterp.losses import Loss
from pyinterp.sample import FloatArray
from pyinterp.samplers import Draws, Law

__all__ = ["redrawn_losses"]


def redrawn_losses(
    whatif: WhatIf,
    y: FloatArray,
    losses: FloatArray,
    *,
    law: Law,
    variables: Sequence[str],
    loss: Loss,
    draws: Permutations,
    rng: np.random.Generator,
) -> tuple[Estimate, Estimate]:
    r"""Return the mean loss with `variables` redrawn given the others, and the mean loss as it is.

    .. math:: e_{cond} = \frac1n \sum_i \sum_k w_{ik} L(y_i, f(\tilde x_{ik}, x_{C,i}))

    (Khan, Saarela and Kustra 2025, eq. 26). With all draws that the law has it has no Monte Carlo
    error: all other rows' residuals, or all levels with their probabilities :math:`w_{ik}`.

    Parameters
    ----------
    whatif : WhatIf
        The model on n evaluation rows.
    y, losses : ndarray of shape (n,)
        Responses and losses of the rows as they are.
    law : Law
        Of `variables` given all others.
    variables : sequence of str
        The variables that are redrawn jointly.
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
    k = _number(whatif, law, variables, loss, draws)
    n = len(y)
    as_row, as_donor, met = np.empty(n), np.zeros(n), np.zeros(n)
    by_draw = np.zeros(k or 0)
    for block in law.all() if k is None else law.some(k, rng):
        matrix = _losses(whatif, y, variables, loss, block)
        weights = block.weights
        as_row[block.rows] = (
            matrix.mean(axis=1) if weights is None else (weights * matrix).sum(axis=1)
        )
        if block.donors is not None:
            share = 1 / matrix.shape[1]
            own = np.broadcast_to(losses[block.rows, None], matrix.shape)
            as_donor += _added(block.donors, matrix, n) * share
            met += _added(block.donors, own, n) * share
        if len(by_draw) == matrix.shape[1]:
            by_draw += matrix.sum(axis=0) / n
    between = 0.0
    if k is not None:  # a sample without replacement, if draws have an end
        between = float(np.var(by_draw, ddof=1)) / k * (1 - k / law.size)
    return (
        one_term(as_row, _apart(as_donor, law.strata), between),
        one_term(losses, _apart(met, law.strata)),
    )


def _number(
    whatif: WhatIf, law: Law, variables: Sequence[str], loss: Loss, draws: Permutations
) -> int | None:
    """Return the number of draws; None stands for all."""
    n = whatif.sample.nobs
    most = min(PAIRS, whatif.most_pairs(variables, whatif.distinct(variables), loss))
    if draws == "all" or (draws == "auto" and n * law.size <= most):
        return None
    wanted = max(LEAST_PERMUTATIONS, PREDICTIONS // n) if draws == "auto" else int(draws)
    return wanted if wanted < law.size else None


def _losses(
    whatif: WhatIf, y: FloatArray, variables: Sequence[str], loss: Loss, block: Draws
) -> FloatArray:
    try:
        predictions = whatif.paired(block.rows, variables, block.drawn, block.given)
    except DesignError as error:
        raise DesignError(
            f"Conditional draws of {', '.join(variables)} can be values that were never observed, "
            "which the formula does not take; use `sampler=pi.samplers.Residual(within_range=True)`"
            f' or `sampler="subgroup"`. {error}'
        ) from error
    return np.asarray(loss(y[block.rows, None], predictions))


def _added(donors: IntArray, values: FloatArray, n: int) -> FloatArray:
    added = np.bincount(donors.ravel(), weights=values.ravel(), minlength=n)
    return np.asarray(added, dtype=np.float64)


def _apart(contributions: FloatArray, strata: IntArray | None) -> FloatArray:
    """Return deviations from the mean, of the stratum if values are exchanged within strata."""
    if strata is None:
        strata = np.zeros(len(contributions), np.intp)
    means = np.bincount(strata, weights=contributions) / np.bincount(strata)
    apart: FloatArray = contributions - means[strata]
    return apart
