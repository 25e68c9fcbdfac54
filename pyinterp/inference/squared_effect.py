r"""Lower limits and tests of importances, which vary as the square of an effect does.

If the estimate of an importance :math:`\theta \ge 0` is :math:`c = a (Z + \delta)^2 - a`, with Z
standard normal and :math:`\theta = a \delta^2`, its variance is :math:`2 a^2 + 4 a \theta`. The
test that rejects :math:`\theta` where the effect is more than z standard errors beyond
:math:`\delta` has the boundary

.. math:: c - \theta = (z^2 - 1) a + 2 z \sqrt{a \theta}.

It is exact at 0, where :math:`1 + c / a` has a chi-square law with 1 df. To it comes the noise of
the mean of a few refits, which is nearly normal: at 0 the estimate over its standard error has the
law of :math:`(\chi^2_\nu - \nu) / \sqrt{2 \nu}`, with the three moments of such a sum if
:math:`\nu = 1 / \rho^3` and :math:`\rho` is the square's part of the variance.

Both parts of the boundary are measured: the first by the standard error at 0, :math:`\sqrt 2 a`,
the second by that at the estimate, whose square is :math:`4 a (c + a)` on average over what else
varies, given c. Where the latter is less, estimates vary less like squares at large values than at
0, and the first part falls on the way from 0 to the estimate, by half of what the standard errors
say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.inference.intervals import t_quantile

__all__ = ["SquaredEffect", "law_of_a_sum", "variance_of_squares"]

# Share of the way from the law of squares to that of normals, where standard errors say so.
TAPER = 0.5
# p-values are the roots of a monotone function, by halving log alpha between these.
SMALLEST, HALVINGS = -690.0, 80


@dataclass(frozen=True)
class SquaredEffect:
    """Estimates of q importances, above their lower bound, with two standard errors of each.

    Attributes
    ----------
    estimate : ndarray of shape (q,)
    bse : ndarray of shape (q,)
        Standard errors at the estimates; missing where there is none.
    at_zero : ndarray of shape (q,)
        Standard errors if the true value is 0.
    df : float
        Degrees of freedom of `bse`.
    chi_df : ndarray of shape (q,), or float
        Those of the chi-square law at 0: 1 of a squared effect, more with normal noise.
    """

    estimate: FloatArray
    bse: FloatArray
    at_zero: FloatArray
    df: float
    chi_df: FloatArray | float = 1.0

    @property
    def growth(self) -> FloatArray:
        """Root of the rate at which the variance grows with the true value."""
        above = np.maximum(self.estimate, 0.0) + self.at_zero / np.sqrt(2)
        missing = np.zeros_like(self.bse)
        return np.asarray(np.divide(self.bse, np.sqrt(above), out=missing, where=above > 0))

    @property
    def taper(self) -> FloatArray:
        """By what share the first part is less at the estimates than at 0."""
        a = self.at_zero / np.sqrt(2)
        law = 4 * a * (np.maximum(self.estimate, 0.0) + a)
        share = np.divide(self.bse**2, law, out=np.ones_like(law), where=law > 0)
        return np.asarray(TAPER * np.maximum(1 - share, 0.0))

    def low(self, alpha: float, tail: float) -> FloatArray:
        """Return the smallest values that the test does not reject, shape (q,).

        Parameters
        ----------
        alpha : float
            Level of the interval, all of which is on this side if the true value is 0.
        tail : float
            The part of it on this side for large values: half of it if two-sided.
        """
        first = chi_square_quantile(alpha, self.chi_df) * self.at_zero
        above = self.estimate - first
        second = t_quantile(tail, self.df) * self.growth
        inner = above > 0
        fall = np.divide(self.taper * first, self.estimate, out=np.zeros_like(above), where=inner)
        # Of (1 - fall) y² + second y = above, without a difference that costs digits.
        total = second + np.hypot(second, 2 * np.sqrt((1 - fall) * np.maximum(above, 0.0)))
        root = np.divide(2 * above, total, out=np.zeros_like(above), where=inner & (total > 0))
        # Rounding must not move a limit beyond the estimate.
        limits = np.where(inner, np.minimum(root**2, self.estimate), above)
        return np.asarray(limits + 0 * self.bse)

    def error(self, value: FloatArray) -> FloatArray:
        """Return the standard errors if the true values are these."""
        return np.hypot(self.at_zero, self.growth * np.sqrt(np.maximum(value, 0.0)))

    def p_value(self, value: FloatArray, sides: int) -> FloatArray:
        """Return the smallest alpha whose lower limits are above values below the estimates."""
        away = self.estimate - value
        with np.errstate(divide="ignore", invalid="ignore"):
            at_zero = chi_square_tail(away / self.at_zero, self.chi_df)
        inner = np.flatnonzero((value > 0) & (away > 0) & np.isfinite(self.bse))
        if not len(inner):
            return np.asarray(at_zero)
        p = np.array(at_zero)
        v, c = value[inner], self.estimate[inner]
        chi_df = np.broadcast_to(self.chi_df, self.bse.shape)[inner]
        first = self.at_zero[inner] * (1 - self.taper[inner] * v / c)
        second = self.growth[inner] * np.sqrt(v)
        low, high = np.full(len(inner), SMALLEST), np.zeros(len(inner))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            alpha = np.exp(middle)
            quantile = stats.t.isf(alpha / sides, self.df)
            reached = chi_square_quantile(alpha, chi_df) * first + quantile * second < away[inner]
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        p[inner] = np.exp(high)
        return p


def variance_of_squares(
    variance: FloatArray, estimate: FloatArray, share: FloatArray | float
) -> FloatArray:
    """Return variances of importances if those of their effects are this share of what they were.

    The effect's variance a, of :math:`2 a^2 + 4 a c`, is multiplied by the share: the importance's
    variance too if its estimate c is large, and by the square of the share if c is 0.
    """
    c = np.maximum(estimate, 0.0)
    total = c + np.sqrt(c**2 + variance / 2)
    # Missing variances stay missing.
    a = share * np.divide(variance / 2, total, out=np.zeros_like(variance), where=total != 0)
    return np.where(share == 1.0, variance, 2 * a**2 + 4 * a * c)


def law_of_a_sum(share: FloatArray) -> FloatArray:
    """Return the df of the chi-square law of a squared effect with this share of the variance.

    The rest is normal. From 1 to 1,000, which is nearly normal.
    """
    return np.asarray(np.clip(share, 0.1, 1.0) ** -3)


def chi_square_quantile(alpha: FloatArray | float, df: FloatArray | float = 1.0) -> FloatArray:
    """Return the 1 - alpha quantile of a chi-square, standardized; 0 where it would be below."""
    return np.asarray(np.maximum(stats.chi2.isf(alpha, df) - df, 0.0) / np.sqrt(2 * df))


def chi_square_tail(value: FloatArray, df: FloatArray | float = 1.0) -> FloatArray:
    """Return the probability that a standardized chi-square is larger."""
    return np.asarray(stats.chi2.sf(df + np.sqrt(2 * df) * value, df))
