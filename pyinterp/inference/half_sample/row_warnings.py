"""Terms whose intervals are not to be trusted: few rows decide them, or few refits use them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.replicates import Replicates, row_effects

__all__ = ["idle_share", "skewness"]

ROUNDING = 1e-12


def skewness(replicates: Replicates) -> FloatArray:
    r"""Return :math:`|g| / \sqrt n` of every term, g the skewness of the rows' contributions.

    Contributions, as donors too, are averaged over the refits that a row evaluates. 0 for terms
    whose rows all contribute the same. Of ratios, if it is larger, that of the contributions to
    the loss that divides them.
    """
    parts = [_of_rows(part) for part in replicates.parts]
    return np.concatenate(parts)


def idle_share(replicates: Replicates) -> FloatArray:
    """Return, per term, the share of half refits in which the feature has no effect at all.

    A refit that never uses a rare level, or a weak feature, has exactly the value of no effect
    there. The share is 0 for other estimands and plans.
    """
    halves = [half.estimate.value for pair in replicates.pairs for half in pair]
    if replicates.no_effect is None or not halves:
        return np.zeros(len(replicates.estimates[0].value))
    return np.asarray((np.array(halves) == replicates.no_effect).mean(axis=0))


def _of_rows(replicates: Replicates) -> FloatArray:
    if not replicates.rows or not len(replicates.estimates[0].rows):
        return np.zeros(len(replicates.estimates[0].value))
    found = _of_effects(replicates.estimates, replicates.rows)
    if replicates.estimates[0].below is None:
        return found
    bases = [Estimate.of_rows(e.below) for e in replicates.estimates if e.below is not None]
    return np.fmax(found, _of_effects(bases, replicates.rows))


def _of_effects(estimates: Sequence[Estimate], rows: Sequence[IntArray]) -> FloatArray:
    _, effects = row_effects(estimates, rows)
    away = effects - effects.mean(axis=0)
    largest = np.abs(away).max(axis=0)
    size = np.abs([estimate.value for estimate in estimates]).max(axis=0)
    # As shares of the largest, whose powers are numbers whatever the unit.
    shares = np.divide(away, largest, out=np.zeros_like(away), where=largest > ROUNDING * size)
    second, third = (np.power(shares, k).mean(axis=0) for k in (2, 3))
    ratio = np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0)
    return np.asarray(np.abs(ratio) / np.sqrt(len(away)))
