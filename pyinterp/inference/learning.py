"""What a learner finds at two sizes of training sets: on halves, and on those of the estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray

__all__ = ["Learning", "mean_share", "signal_and_spread"]

# Halves say nothing of larger training sets if they find less than this share of what those find,
# by more than so many standard errors; and little if predictions vary so much more.
LEAST, CERTAIN, MOST = 2 / 3, 5.0, 4.0
# Nor if their predictions vary at most so much, whatever the noise.
FLAT = 0.1
# Below this share of it, by more than so many standard errors, a note says so.
GROWN, NOTED = 0.87, 3.0
# Refits of the estimate find more than halves if by more than so many standard errors; at most so
# many times as much counts.
BEYOND, LARGEST = 1.0, 1.5
# By how much the variance that training causes goes up from 0.632 n to n/2 rows, to first order.
SIZES = 0.632 / 0.5
# Standard errors at 0 are those of the law times the first number, because S of 15 pairs is noisy:
# the test of a slope then rejects 5% at 5%, not 7%. The second is the least that is taken of them.
NOISY, LITTLE = 1.25, 0.2
ROUNDING = 1e-12


@dataclass(frozen=True)
class Learning:
    """Signal and spread of predictions on rows that did not train, per refit.

    The signal is the covariance of responses and predictions, the spread the variance of
    predictions; of classes, summed over indicators and probabilities.

    Attributes
    ----------
    estimating : ndarray of shape (m, 2)
        Of the refits that count for the estimate.
    halves : ndarray of shape (k, 2)
        Of refits on halves.
    mean_share : ndarray of shape (q,), or float
        By term, `mean_share` of what its feature does to predictions; 1 if it is not known.
    """

    estimating: FloatArray
    halves: FloatArray
    mean_share: FloatArray | float = 1.0

    @property
    def growth_warning(self) -> str:
        """Note on importances where halves find less, but not that little; empty if they do not."""
        signal, half = self._signal
        if signal <= 0 or half >= GROWN * signal or signal - half <= NOTED * self._signal_error:
            return ""
        return (
            f"Trained on half the rows the learner finds {half / signal:.0%} of what it finds on "
            "63.2% (the covariance of response and prediction), as strong penalties do: standard "
            "errors are scaled for it, and nominal 95% intervals of such a ridge regression "
            "covered 90-95% in simulations."
        )

    @property
    def growth(self) -> float:
        """By what factor refits of the estimate find more than halves; 1 within random error."""
        signal, half = self._signal
        if signal <= 0 or signal - half <= BEYOND * self._signal_error:
            return 1.0
        return float(np.clip(signal / half, 1.0, LARGEST)) if half > 0 else LARGEST

    @property
    def calm(self) -> float:
        """Share of a variance from halves that is left if predictions vary as their size tells.

        1, or less where the number of features is near that of the rows of a half.
        """
        spread, half = self._spread
        return min(1.0, SIZES * spread / half) if half > 0 else 1.0

    @property
    def kappa(self) -> FloatArray | float:
        r"""By term, what the standard error of halves' importances at 0 is multiplied by.

        .. math:: \kappa = 1.25 \max\left( \frac{\pi}{\sqrt{2 - \pi^2}},\, 0.2 \right)

        with :math:`\pi` the `mean_share`, over `calm`: near n/2 features means of many refits keep
        little, which `calm` takes off already.
        """
        share = np.minimum(self.mean_share / self.calm, 1.0) if self.calm else np.ones(())
        return np.asarray(NOISY * np.maximum(share / np.sqrt(2 - share**2), LITTLE))

    @property
    def _signal(self) -> tuple[float, float]:
        return float(self.estimating[:, 0].mean()), float(self.halves[:, 0].mean())

    @property
    def _signal_error(self) -> float:
        """Standard error of the difference of the signals, over refits."""
        parts = (self.estimating, self.halves)
        return float(np.sqrt(sum(part[:, 0].var(ddof=1) / len(part) for part in parts)))

    @property
    def _spread(self) -> tuple[float, float]:
        return float(self.estimating[:, 1].mean()), float(self.halves[:, 1].mean())

    @property
    def reason(self) -> str:
        """Why halves say nothing of the learner at the size of the estimate; empty if they do."""
        signal, half = self._signal
        spread, half_spread = self._spread
        end = "so that halves do not show its variance; fit on more rows, or let it adapt to fewer"
        certain = signal - half > CERTAIN * self._signal_error
        if signal > 0 and half < LEAST * signal and certain:
            return (
                f"trained on half the rows the learner finds {max(half / signal, 0.0):.0%} of what "
                "it finds on 63.2% (the covariance of response and prediction), " + end
            )
        if spread > 0 and half_spread <= FLAT * spread:
            return (
                "trained on half the rows the learner predicts nearly the same for every row (the "
                f"variance of predictions is {half_spread / spread:.0%} of that on 63.2%), " + end
            )
        return ""

    @property
    def warning(self) -> str:
        """Note where predictions on halves vary too much for their size; empty if they do not."""
        spread, half = self._spread
        if spread <= 0 or half <= MOST * SIZES * spread:
            return ""
        return (
            f"Trained on half the rows, predictions vary {half / spread:.3g} times as much as on "
            "63.2%, as they do where the number of features is near that of the rows: "
            "standard errors are scaled for it (not those of ratios) and uncertain. "
            "Fit on more rows, or use a penalty."
        )


def signal_and_spread(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the covariance of responses and predictions, and the variance of predictions."""
    f = prediction.reshape(len(prediction), -1)
    if (np.ptp(f, axis=0) <= ROUNDING * np.abs(f).max()).all():
        return np.zeros(2)  # not what rounding makes of a constant
    observed = (y[:, None] == np.arange(f.shape[1])) if f.shape[1] > 1 else y[:, None]
    f = f - f.mean(axis=0)
    away = observed - observed.mean(axis=0)
    return np.array([(f * away).mean(axis=0).sum(), (f * f).mean(axis=0).sum()])


def mean_share(effects: FloatArray, size: float) -> float:
    r"""Return the share of the variance by training that the mean of many refits keeps.

    .. math:: 1 - S / A, \quad A = \frac{1}{4M} \sum_{j, x} (f_{j0}(x) - f_{j1}(x))^2,

    S the variance of the pairs' means over pairs, added up over rows x. It counts all of what is
    linear in the training rows, about half of interactions of two rows, a quarter of those of
    three, and none of the learner's own randomness. In [0, 1]; 1 if nothing varies.

    Parameters
    ----------
    effects : ndarray of shape (M, 2, k, c)
        Of M pairs of refits on complementary halves, predictions or their differences on k rows.
    size : float
        Mean square of the predictions, whose rounding is no variance.
    """
    A = np.square(effects[:, 0] - effects[:, 1]).mean(axis=0) / 4
    S = effects.mean(axis=1).var(axis=0, ddof=1)
    if A.mean() <= ROUNDING**2 * size:
        return 1.0
    return float(np.clip(1 - S.sum() / A.sum(), 0.0, 1.0))
