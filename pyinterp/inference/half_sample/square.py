r"""The interval and the test of an estimand that varies as the square of an effect does.

An importance is the square of an effect, or close to one. Two textbook intervals are known for
its estimate c:

* the t interval of the *effect*, the root of the importance. If :math:`c + a = a (Z + \delta)^2`
  with Z standard normal, the true value is :math:`\theta = a \delta^2` and the variance is
  :math:`2 a^2 + 4 a \theta`; :math:`\sqrt{\theta}` lies in :math:`\sqrt{c + a} \mp q \sqrt{a}`.
* the plain t interval with the standard error at 0, :math:`c \mp q s_0`. It is right where
  estimates near 0 are normal.

The printed interval is the hull of both, and the test rejects 0 if both do. So it covers, and the
test holds its size, if either description is right. The statistic is :math:`t = c / s_0`.

Arrays have shape (q,): c is the estimate minus the value of no effect, `error` its standard error,
positive or missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_alpha
from pyinterp.inference.intervals import Alternative, bounds, t_quantile
from pyinterp.inference.simultaneous import LargestT
from pyinterp.inference.variance import Variance


def effect_variance(c: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return a, the variance of the effect: the solution of :math:`V = 2 a^2 + 4 a c_+`."""
    positive, root = np.maximum(c, 0.0), error / np.sqrt(2)
    # V/2 over a sum, in an order in which no unit over- or underflows.
    return np.asarray(root * (root / (np.hypot(positive, root) + positive)))


def error_at_zero(c: FloatArray, error: FloatArray, at_zero: FloatArray) -> FloatArray:
    r"""Return :math:`s_0 = c / t`, the standard error by which the test of 0 divides.

    .. math:: \max\left( v_0, \frac{c}{\sqrt{1 + c/a}} \right) \text{ if } c > 0, \quad
        \min(\max(-c, v_0), \mathrm{se}) \text{ else}

    Parameters
    ----------
    c, error : ndarray of shape (q,)
    at_zero : ndarray of shape (q,)
        :math:`v_0`, the measured standard error of an estimate whose true value is 0; at most
        `error`.
    """
    a = effect_variance(c, error)
    positive = np.maximum(c, 0.0)
    of_effect = positive / np.sqrt(1 + positive / a)
    return np.where(c > 0, np.maximum(at_zero, of_effect), np.clip(-c, at_zero, error))


def limits(c: FloatArray, error: FloatArray, at_zero: FloatArray, q: float) -> FloatArray:
    r"""Return the limits, shape (q, 2), of the interval at the quantile q of Student's t.

    .. math::
        \text{low} &= \min\left( (\sqrt{(c + a)_+} - q \sqrt{a})_+^2,\; c - q s_0 \right) \\
        \text{high} &= c + q s_0 \text{ if that is below } 0, \quad
            (\sqrt{(c + a)_+} + q \sqrt{a})^2 \text{ else}
    """
    a = effect_variance(c, error)
    reach = q * error_at_zero(c, error, at_zero)
    effect, spread = np.sqrt(np.maximum(c + a, 0.0)), q * np.sqrt(a)
    of_effect = np.square(np.maximum(effect - spread, 0.0))
    low = np.minimum(of_effect, c - reach)
    harm = c + reach
    high = np.where(harm < 0, harm, np.maximum(np.square(effect + spread), c))
    return np.column_stack([low, high])


def statistic(
    c: FloatArray, error: FloatArray, at_zero: FloatArray, null: FloatArray
) -> FloatArray:
    r"""Return the t statistic of the hypothesis that the true value is h, the dual of `limits`.

    .. math::
        t_e = \frac{\sqrt{(c + a)_+} - \sqrt{h}}{\sqrt{a}}, \quad t_0 = \frac{c - h}{s_0}, \quad
        t = \begin{cases}
            t_0 & h \le 0 \\
            \min(c / s_0, t_e) & c \le 0 < h \\
            \min(t_e, t_0) & 0 < h \le c \\
            \min(t_e, 0) & 0 < c < h
        \end{cases}
    """
    a, s0 = effect_variance(c, error), error_at_zero(c, error, at_zero)
    root = np.sqrt(np.maximum(null, 0.0))
    of_effect = (np.sqrt(np.maximum(c + a, 0.0)) - root) / np.sqrt(a)
    plain = (c - null) / s0
    above = np.minimum(of_effect, np.where(c > 0, np.maximum(plain, 0.0), c / s0))
    return np.where(null > 0, above, plain)


@dataclass(frozen=True, kw_only=True, repr=False)
class SquareVariance(Variance):
    """The half-sample covariance of estimands that vary as squares, with the hull of `limits`.

    Attributes
    ----------
    no_effect : float
        The value of no effect: 0 of a difference, 1 of a ratio.
    at_no_effect : ndarray of shape (q,)
        The measured standard errors of estimates whose true value is that one.
    """

    varies_as_square: ClassVar[bool] = True

    no_effect: float
    at_no_effect: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        return replace(super().of(terms), at_no_effect=self.at_no_effect[terms])

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        A one-sided interval has one of the two limits at the same alpha: a square has no sign, so
        alpha is not spent on one side.
        """
        check_alpha(alpha)
        q = t_quantile(alpha / 2, self.df)
        low, high = limits(*self._above(estimate, bse), q).T + self.no_effect
        return bounds(low, high, alternative)

    def null_error(self, estimate: FloatArray, bse: FloatArray) -> FloatArray:
        """Return the standard errors at no effect, by which the test of it divides."""
        return np.where(bse > 0, error_at_zero(*self._above(estimate, bse)), bse)

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return t statistics of ``estimate = null``; missing where `bse` is 0."""
        return statistic(*self._above(estimate, bse), null - self.no_effect)

    def p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return p-values; one-sided the two-sided ones, or 1 for an estimate on the other side."""
        p = super().p_values(estimate, bse, null, "two-sided")
        if alternative == "two-sided":
            return p
        other = estimate <= null if alternative == "greater" else estimate >= null
        return np.where(other & ~np.isnan(p), 1.0, p)

    def _joint(self, bse: FloatArray, alternative: Alternative) -> LargestT:
        """Return the law of the largest t; one-sided limits are the two-sided ones."""
        return super()._joint(bse, "two-sided")

    def _above(
        self, estimate: FloatArray, bse: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return estimates above no effect, and their two standard errors, missing for 0."""
        error = np.where(bse > 0, bse, np.nan)
        return estimate - self.no_effect, error, np.minimum(self.at_no_effect, error)
