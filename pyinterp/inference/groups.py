"""Replicates of groups of rows side by side, so that one covariance covers them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.replicates import CoefficientErrors, Fold, Half, Replicates

__all__ = ["side_by_side"]


def side_by_side(groups: Sequence[Replicates]) -> Replicates:
    """Return the replicates of the same refits on several groups of rows as one.

    Values stand one group after the other. A row has no contribution, NaN, to another group's.
    Variances that are computed of rows take those of each group from `Replicates.groups`.
    """
    first = groups[0]
    return replace(
        first,
        estimates=_each([g.estimates for g in groups]),
        rows=tuple(np.concatenate(same) for same in zip(*(g.rows for g in groups), strict=True)),
        clusters=tuple(
            None if same[0] is None else np.concatenate([c for c in same if c is not None])
            for same in zip(*(g.clusters for g in groups), strict=True)
        ),
        pairs=tuple(
            (_half([pair[0] for pair in same]), _half([pair[1] for pair in same]))
            for same in zip(*(g.pairs for g in groups), strict=True)
        ),
        folds=tuple(
            Fold(
                _beside([fold.outer for fold in same]),
                _each([fold.inner for fold in same]),
                same[0].number,
            )
            for same in zip(*(g.folds for g in groups), strict=True)
        ),
        groups=tuple(groups),
        coefficient_errors=_of_coefficients([g.coefficient_errors for g in groups]),
    )


def _of_coefficients(groups: Sequence[CoefficientErrors | None]) -> CoefficientErrors | None:
    every = [errors for errors in groups if errors is not None]
    if not every:
        return None
    return every[0]._replace(changes=np.concatenate([errors.changes for errors in every], axis=1))


def _each(estimates: Sequence[Sequence[Estimate]]) -> tuple[Estimate, ...]:
    return tuple(_beside(same) for same in zip(*estimates, strict=True))


def _half(halves: Sequence[Half]) -> Half:
    return Half(_beside([h.estimate for h in halves]), np.concatenate([h.rows for h in halves]))


def _beside(parts: Sequence[Estimate]) -> Estimate:
    """Return estimates on different rows as one on all of them."""
    donors = any(part.donors is not None for part in parts)
    n, q = sum(len(part.rows) for part in parts), sum(len(part.value) for part in parts)
    rows = np.full((n, q), np.nan)
    as_donors = np.full((n, q), np.nan) if donors else None
    i = j = 0
    for part in parts:
        here = np.s_[i : i + len(part.rows), j : j + len(part.value)]
        rows[here] = part.rows
        if as_donors is not None:
            as_donors[here] = 0.0 if part.donors is None else part.donors
        i, j = i + len(part.rows), j + len(part.value)
    return Estimate(
        value=np.concatenate([part.value for part in parts]),
        rows=rows,
        donors=as_donors,
        mc_variance=np.concatenate([part.mc_variance for part in parts]),
    )
