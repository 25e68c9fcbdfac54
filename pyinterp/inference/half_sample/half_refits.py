"""How a learner predicts when it is trained on halves, and on the training sets of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from joblib import parallel_config

from pyinterp._typing import FloatArray
from pyinterp.errors import PyinterpError
from pyinterp.inference.half_sample.constants import (
    BEYOND_NOISE,
    CERTAIN,
    LARGEST_GROWTH,
    LARGEST_IDLE_SHARE,
    STABLE,
)
from pyinterp.random import Seeds
from pyinterp.resampling.refits import Refit

# Predictions of mixed rows, with the number of the pair that the refit is in.
Mixtures: TypeAlias = list[tuple[int, FloatArray]]
# By how much the variance that training causes goes up from 0.632 n to n/2 rows, to first order.
SIZES = 0.632 / 0.5
MIXTURES = 1000
ROUNDING = 1e-12
MORE_ROWS = "so that halves do not show its variance; fit on more rows, or let it adapt to fewer"


class Verdict(NamedTuple):
    """Statistics of the predictions of halves, beside the estimate's refits.

    Attributes
    ----------
    growth : float
        The factor g by which refits of the estimate find more than halves; 1 within noise.
    reason : str
        Why halves say too little of the learner; empty if they do not.
    warning : str
        That predictions on halves vary more than their size tells; empty if they do not.
    """

    growth: float
    reason: str
    warning: str


@dataclass(frozen=True)
class HalfRefits:
    """Signal and spread of predictions on rows that did not train, per refit.

    The signal is the covariance of response and prediction, the spread the variance of predictions;
    of classes, summed over indicators and probabilities.

    Attributes
    ----------
    estimating : ndarray of shape (m, 2)
        Of the refits whose mean is the estimate; m = 0 if these are the halves.
    halves : ndarray of shape (2 M, 2)
        Of refits on halves.
    mean_share : float
        r of `mean_share`.
    """

    estimating: FloatArray
    halves: FloatArray
    mean_share: float = 1.0

    @cached_property
    def verdict(self) -> Verdict:
        """What both sizes of training rows tell of halves."""
        if min(len(self.estimating), len(self.halves)) < 2:
            return Verdict(1.0, "", "")
        half, half_spread = (float(self.halves[:, j].mean()) for j in (0, 1))
        signal, spread = map(float, self.estimating.mean(axis=0))
        error = float(
            np.sqrt(
                self.estimating[:, 0].var(ddof=1) / len(self.estimating)
                + self.halves[:, 0].var(ddof=1) / len(self.halves)
            )
        )
        growth, reason, warning = 1.0, "", ""
        if signal > 0 and signal - half > BEYOND_NOISE * error:
            growth = LARGEST_GROWTH
            if half > 0:
                growth = float(np.clip(signal / half, 1.0, LARGEST_GROWTH))
        constant = float((self.halves[:, 1] == 0).mean())
        if signal > max(LARGEST_GROWTH * half, 0.0) and signal - half > CERTAIN * error:
            reason = (
                f"trained on half the rows the learner finds {max(half / signal, 0.0):.0%} of what "
                f"it finds on 63.2% (the covariance of response and prediction), {MORE_ROWS}"
            )
        elif spread > 0 and constant > LARGEST_IDLE_SHARE:
            reason = (
                f"trained on half the rows {constant:.0%} of the refits predict the same for every "
                f"row, {MORE_ROWS}"
            )
        if spread > 0 and SIZES * spread < STABLE * half_spread:
            warning = (
                f"Trained on half the rows, predictions vary {half_spread / spread:.3g} times as "
                "much as on 63.2%, as they do where features are nearly as many as rows: standard "
                "errors are too large. Fit on more rows, or use a penalty."
            )
        return Verdict(growth, reason, warning)


def signal_and_spread(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the covariance of responses and predictions, and the variance of predictions."""
    f = prediction.reshape(len(prediction), -1)
    if (np.ptp(f, axis=0) <= ROUNDING * np.abs(f).max()).all():
        return np.zeros(2)  # not the rounding of a constant
    observed = (y[:, None] == np.arange(f.shape[1])) if f.shape[1] > 1 else y[:, None]
    f = f - f.mean(axis=0)
    away = observed - observed.mean(axis=0)
    return np.array([(f * away).mean(axis=0).sum(), (f * f).mean(axis=0).sum()])


def share_in_mean(mixtures: Mixtures | None) -> float:
    r"""Return r, the share of the predictions' training variance that stays in their mean.

    .. math:: r = 1 - S_f / A_f, \quad A_f = \frac{1}{4M} \sum_{j, x} (f_{j0}(x) - f_{j1}(x))^2,
        \quad S_f = \frac{1}{M - 1} \sum_{j, x} (\bar f_j(x) - \bar f(x))^2

    with :math:`f_{jh}` the prediction, less its mean over rows, of the refit on half h of pair j,
    and :math:`\bar f_j` the mean of a pair. It is 1 for learners that are linear in the training
    rows, 0 for pure noise.

    Parameters
    ----------
    mixtures : list of (int, ndarray), or None
        What `predictions_of_mixtures` returns.

    Returns
    -------
    float
        In [0, 1]; 1 where nothing varies, where the learner refuses such rows, and of fewer than
        two pairs.
    """
    if mixtures is None:
        return 1.0
    predictions: dict[int, list[FloatArray]] = {}
    for pair, values in mixtures:
        predictions.setdefault(pair, []).append(values)
    f = np.array([pair for pair in predictions.values() if len(pair) == 2])
    if len(f) < 2:  # of a shard
        return 1.0
    size = float(np.square(f).mean())
    f = f - f.mean(axis=2, keepdims=True)
    A = float(np.square(f[:, 0] - f[:, 1]).mean(axis=0).sum() / 4)
    S = float(f.mean(axis=1).var(axis=0, ddof=1).sum())
    if ROUNDING**2 * size * f[0, 0].size >= A:
        return 1.0
    return float(np.clip(1 - S / A, 0.0, 1.0))


def predictions_of_mixtures(
    refits: Sequence[Refit], variables: pd.DataFrame, seeds: Seeds
) -> Mixtures | None:
    """Return predictions of 1,000 mixtures of the data's rows, each with the number of its pair.

    In a mixture every variable has its value in another row, so that few of them are training
    rows. They are encoded once per design.

    Parameters
    ----------
    refits : sequence of Refit
        Those in pairs of complementary halves count.
    variables : DataFrame
        Variables of all rows of the data.
    seeds : Seeds

    Returns
    -------
    list of (int, ndarray), or None
        None where the learner refuses such rows.
    """
    pairs = [(r.group.number, r) for r in refits if r.group is not None and r.group.kind == "pair"]
    if not pairs:
        return []
    rng = seeds.stream("draws", name="mixtures of rows")
    rows = pd.concat(
        [
            column.take(rng.integers(len(variables), size=MIXTURES)).reset_index(drop=True)
            for _, column in variables.items()
        ],
        axis=1,
    )
    encoded = {}
    predictions = []
    try:
        for pair, refit in pairs:
            if id(refit.design) not in encoded:
                encoded[id(refit.design)] = refit.design.encode(rows)
            # A forest's threads add up its trees in any order.
            with parallel_config("sequential"):
                values = refit.predictor(encoded[id(refit.design)]).reshape(MIXTURES, -1)
            predictions.append((pair, values))
    except PyinterpError:
        return None
    return predictions
