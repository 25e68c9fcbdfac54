"""What a learner finds on halves, and on the training sets of the estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.inference.half_sample.constants import (
    BEYOND_NOISE,
    CERTAIN,
    LARGEST_GROWTH,
    LARGEST_IDLE_SHARE,
    STABLE,
)

__all__ = ["HalfFits", "signal_and_spread"]

# By how much the variance that training causes goes up from 0.632 n to n/2 rows, to first order.
SIZES = 0.632 / 0.5
ROUNDING = 1e-12
MORE_ROWS = "so that halves do not show its variance; fit on more rows, or let it adapt to fewer"


@dataclass(frozen=True)
class HalfFits:
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

    @property
    def growth(self) -> float:
        """The factor g by which refits of the estimate find more than halves; 1 within noise."""
        signal, half, error = self._signals
        if signal <= 0 or signal - half <= BEYOND_NOISE * error:
            return 1.0
        return float(np.clip(signal / half, 1.0, LARGEST_GROWTH)) if half > 0 else LARGEST_GROWTH

    @property
    def reason(self) -> str:
        """Why halves say too little of the learner; empty if they do not."""
        signal, half, error = self._signals
        enough = max(LARGEST_GROWTH * half, 0.0)
        if signal > enough and signal - half > CERTAIN * error:
            return (
                f"trained on half the rows the learner finds {max(half / signal, 0.0):.0%} of what "
                f"it finds on 63.2% (the covariance of response and prediction), {MORE_ROWS}"
            )
        constant = float((self.halves[:, 1] == 0).mean())
        if self._spread > 0 and constant > LARGEST_IDLE_SHARE:
            return (
                f"trained on half the rows {constant:.0%} of the refits predict the same for every "
                f"row, {MORE_ROWS}"
            )
        return ""

    @property
    def warning(self) -> str:
        """Say so where predictions on halves vary more than their size tells; else empty."""
        half = float(self.halves[:, 1].mean())
        if self._spread <= 0 or SIZES * self._spread >= STABLE * half:
            return ""
        return (
            f"Trained on half the rows, predictions vary {half / self._spread:.3g} times as much "
            "as on 63.2%, as they do where features are nearly as many as rows: standard errors "
            "are too large. Fit on more rows, or use a penalty."
        )

    @property
    def _signals(self) -> tuple[float, float, float]:
        """Signals at both sizes, and the standard error of their difference over refits."""
        parts = (self.estimating[:, 0], self.halves[:, 0])
        if not len(self.estimating):
            return 0.0, float(parts[1].mean()), 0.0
        error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
        return float(parts[0].mean()), float(parts[1].mean()), float(error)

    @property
    def _spread(self) -> float:
        return float(self.estimating[:, 1].mean()) if len(self.estimating) else 0.0


def signal_and_spread(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the covariance of responses and predictions, and the variance of predictions."""
    f = prediction.reshape(len(prediction), -1)
    if (np.ptp(f, axis=0) <= ROUNDING * np.abs(f).max()).all():
        return np.zeros(2)  # not what rounding makes of a constant
    observed = (y[:, None] == np.arange(f.shape[1])) if f.shape[1] > 1 else y[:, None]
    f = f - f.mean(axis=0)
    away = observed - observed.mean(axis=0)
    return np.array([(f * away).mean(axis=0).sum(), (f * f).mean(axis=0).sum()])
