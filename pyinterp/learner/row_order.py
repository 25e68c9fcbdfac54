"""Rows that look ordered in time, under plans that take rows as exchangeable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pyinterp.estimands.estimand import ModelOnRows

__all__ = ["order_note"]

# In standard errors 1 / sqrt(n) of independent rows: 1 of 30,000 data sets has a larger one.
LARGEST_AUTOCORRELATION = 4.0


def order_note(cases: Sequence[ModelOnRows]) -> str:
    """Return a footnote if rows have an index of dates or residuals alike in row order; else "".

    Residuals are out of sample, the mean over refits. Rows sorted by the response say nothing.
    """
    population = cases[0].population
    y, sign = population.y, ""
    if isinstance(population.index, pd.DatetimeIndex | pd.PeriodIndex):
        sign = "Rows have an index of dates."
    elif y is not None and (np.diff(y) < 0).any() and (np.diff(y) > 0).any():
        total = np.zeros((*cases[0].whatif.factual.shape[1:], population.nobs))
        count = np.zeros(population.nobs)
        for case in cases:
            predicted, rows = case.whatif.factual.T, case.sample.rows
            classes = np.arange(len(predicted))[:, None]
            total[..., rows] += (case.y if predicted.ndim == 1 else case.y == classes) - predicted
            count[rows] += 1
        seen = np.atleast_2d(total)[:, count > 0] / count[count > 0]
        around = seen - seen.mean(axis=1, keepdims=True)
        squares = np.square(around).sum()
        alike = (around[:, 1:] * around[:, :-1]).sum() / squares if squares else 0.0
        if alike * np.sqrt(seen.shape[1]) > LARGEST_AUTOCORRELATION:
            sign = f"Residuals of rows next to each other are alike (autocorrelation {alike:.2f})."
    return sign and (
        f"{sign} If rows are ordered in time, losses are too small and intervals too narrow: use "
        "`pi.Splits(TimeSeriesSplit())`, or blocks of rows as `cluster`."
    )
