"""Averages of rows' curves: the mean, and robust ones that a few rows can't move far."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.estimands.estimate import Estimate

Average: TypeAlias = Literal["mean", "median", "trimmed", "exemplar"]
AVERAGES = ("mean", "median", "trimmed", "exemplar")

TRIM = 0.1


def average_curve(
    curves: FloatArray, average: Average, weights: FloatArray | None = None
) -> Estimate:
    """Return the average of curves, shape (n, q), with every row's contribution.

    Only the mean takes weights of rows.

    Contributions to robust averages are their influence functions, with the average added.
    """
    if average == "mean":
        return Estimate.of_rows(curves, weights)
    if average == "exemplar":  # one made-up row, whose curve is no mean over rows
        return Estimate.of_rows(curves)
    return {"median": _median, "trimmed": _trimmed_mean}[average](curves)


def _trimmed_mean(curves: FloatArray) -> Estimate:
    """Return the mean without the 10 % smallest and largest values, as R's ``mean(trim=)``."""
    n = len(curves)
    cut = int(np.floor(TRIM * n))
    ordered = np.sort(curves, axis=0)
    value = ordered[cut : n - cut].mean(axis=0)
    winsorized = np.clip(curves, ordered[cut], ordered[n - 1 - cut])
    return _around(value, (winsorized - winsorized.mean(axis=0)) / (1 - 2 * TRIM))


def _median(curves: FloatArray) -> Estimate:
    """Return the median; its density is estimated with Hall and Sheather's (1988) bandwidth."""
    value = np.median(curves, axis=0)
    reach = min(_hall_sheather(len(curves)), 0.25)
    low, high = np.quantile(curves, [0.5 - reach, 0.5 + reach], axis=0)
    return _around(value, np.sign(curves - value) * (high - low) / (4 * reach))


def _hall_sheather(n: int) -> float:
    """Return the bandwidth, in probability, for the density at the median."""
    z = float(stats.norm.isf(0.025))
    return float(n ** (-1 / 3) * z ** (2 / 3) * (1.5 * stats.norm.pdf(0) ** 2) ** (1 / 3))


def _around(value: FloatArray, influence: FloatArray) -> Estimate:
    """Return the estimate whose contributions are the value plus centered influences."""
    rows = value + influence - influence.mean(axis=0)
    return Estimate(value=value, rows=rows, mc_variance=np.zeros(len(value)))
