"""Rows that look ordered in time, under plans that take rows as exchangeable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.sample import Sample
from pyinterp.resampling.refits import Refit

# The autocorrelation must be larger than 2.33 standard errors 1 / root(n) of exchangeable rows, a
# test at 1%, and than .25, so that weak dependence in many rows says nothing.
STANDARD_ERRORS, LEAST = 2.33, 0.25


def order_note(sample: Sample, refits: Sequence[Refit], predictions: Sequence[FloatArray]) -> str:
    """Return a footnote if rows have an index of dates, or residuals alike in row order; else "".

    Splits into blocks of rows know the order, unless dates are not sorted: no training row lies
    between two evaluation rows. Clusters that are runs of rows may be blocks of time that are too
    short: their mean residuals are then alike.

    Parameters
    ----------
    sample : Sample
    refits : sequence of Refit
    predictions : sequence of ndarray
        By refit, of its evaluation rows.
    """
    if sample.clusters is not None:
        alike = _alike(sample, refits, predictions)
        return alike and (
            f"Mean residuals of clusters next to each other are alike ({alike}). If clusters are "
            "blocks of time, intervals are too narrow: take longer blocks, as the page "
            '"Rows in time order" does.'
        )
    dated = isinstance(index := sample.index, pd.DatetimeIndex | pd.PeriodIndex)
    jumps = dated and not index.is_monotonic_increasing  # type: ignore[union-attr]  # is an index
    sets = ((refit.train_rows, refit.evaluation.rows) for refit in refits)
    between = (((train > rows.min()) & (train < rows.max())).any() for train, rows in sets)
    if not jumps and not any(between):
        return ""
    if dated:
        sign = f"Rows have an index of dates{', but are not sorted by it' * jumps}."
    elif alike := _alike(sample, refits, predictions):
        sign = f"Residuals of rows next to each other are alike ({alike})."
    else:
        return ""
    return (
        f"{sign} If rows are ordered in time, losses are too small and intervals too narrow: use "
        "blocks of rows as `cluster` for importances and effects, and `TimeSeriesSplit` for "
        'forecasts, as the page "Rows in time order" does. '
        "If they are sorted by firm or person, that is the `cluster`."
    )


def _alike(sample: Sample, refits: Sequence[Refit], predictions: Sequence[FloatArray]) -> str:
    """Return the autocorrelation in words if it is large; not of tables sorted by the response."""
    found, n = _autocorrelation(sample, refits, predictions)
    if found <= max(STANDARD_ERRORS / np.sqrt(n), LEAST) or _is_sorted(sample):
        return ""
    return f"autocorrelation {found:.2f}"


def _is_sorted(sample: Sample) -> bool:
    """Whether the response never falls, never rises, or has every class in one run."""
    y, response = sample.y, sample.response
    if y is None or response is None:
        return True
    steps = np.diff(y)
    if response.classes is not None:
        return bool(np.count_nonzero(steps) < len(np.unique(y)))
    return bool((steps >= 0).all() or (steps <= 0).all())


def _autocorrelation(
    sample: Sample, refits: Sequence[Refit], predictions: Sequence[FloatArray]
) -> tuple[float, int]:
    """Return the correlation of residuals, means over refits, with the next row's; and the rows.

    Of classes, over the residuals of all of them. Of clusters, between the means of neighbors; 0 if
    a cluster's rows do not stand together.
    """
    last, outputs = sample.rows.max(), predictions[0].shape[1:] or (1,)
    total, count = np.zeros((*outputs, last + 1)), np.zeros(last + 1)
    classes = np.arange(len(total))[:, None]
    for refit, predicted in zip(refits, predictions, strict=True):
        y, rows = np.asarray(refit.evaluation.y), refit.evaluation.rows
        total[:, rows] += (y if predicted.ndim == 1 else y == classes) - predicted.T
        count[rows] += 1
    residuals = total[:, count > 0] / count[count > 0]
    if sample.clusters is not None:
        of_rows = sample.clusters[np.isin(sample.rows, np.flatnonzero(count))]
        starts = np.flatnonzero(np.append(True, of_rows[1:] != of_rows[:-1]))
        if len(starts) > len(np.unique(of_rows)):
            return 0.0, len(of_rows)
        sizes = np.diff(np.append(starts, len(of_rows)))
        residuals = np.add.reduceat(residuals, starts, axis=1) / sizes
    around = residuals - residuals.mean(axis=1, keepdims=True)
    squares = np.square(around).sum()
    alike = (around[:, 1:] * around[:, :-1]).sum() / squares if squares else 0.0
    return float(alike), around.shape[1]
