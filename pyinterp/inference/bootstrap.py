"""Inference from the means of bootstrap samples: percentile intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import InferenceError
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.intervals import Alternative, bounds, one_tail
from pyinterp.inference.replicates import Replicates, covariance
from pyinterp.inference.variance import Variance


@dataclass(frozen=True, kw_only=True, repr=False)
class BootstrapVariance(Variance):
    """The covariance of B bootstrap means, with intervals and p-values from their distribution.

    Percentiles are numpy's ``method="weibull"``: the k-th of B ordered means is the k/(B + 1)
    quantile. A lower limit at the 1/(B + 1) quantile or below is infinite, and so is an upper one
    at B/(B + 1) or above. So no p-value is below 1/(B + 1), twice that if two-sided.

    Attributes
    ----------
    means : ndarray of shape (B, q)
    """

    means: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        return replace(super().of(terms), means=self.means[:, terms])

    def p_heading(self, alternative: Alternative) -> str:
        """Return the heading of P in tables; it is no tail area of a t."""
        return "P"

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        Their limits are the quantiles of the bootstrap means at alpha / 2 and 1 - alpha / 2.
        """
        tail = one_tail(alpha, alternative)
        varies = np.where(bse > 0, 1.0, np.nan)
        low = _limit(self.means, tail)
        high = -_limit(-self.means, tail)
        return bounds(low * varies, high * varies, alternative)

    def joint_interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return :math:`\bar T \mp c\,\mathrm{se}`, which cover all terms at once.

        c is the 1 - alpha quantile over bootstraps of :math:`\max_j |T^*_j - \bar T_j| /
        \mathrm{se}_j` (its sign kept if one-sided); a few hundred bootstraps have no percentiles
        as far out as many terms need.
        """
        single = self.interval(estimate, bse, alpha, alternative)
        if (bse > 0).sum() < 2:
            return single
        # The upper quantile is the negated lower one of negated maxima.
        c = -_limit(-self._largest(estimate, bse, alternative), alpha)[0]
        half = c * np.where(bse > 0, bse, np.nan)
        # No narrower than the interval of the term alone, which the percentiles give.
        low = np.fmin(estimate - half, single[:, 0])
        return bounds(low, np.fmax(estimate + half, single[:, 1]), alternative)

    def joint_p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return the smallest alpha at which each of `joint_interval` excludes the null value."""
        single = self.p_values(estimate, bse, null, alternative)
        if (bse > 0).sum() < 2:
            return single
        away = np.divide(estimate - null, bse, out=np.full(len(bse), np.nan), where=bse > 0)
        signed = {"two-sided": np.abs(away), "greater": away, "less": -away}[alternative]
        negated = -self._largest(estimate, bse, alternative)
        joint = [np.nan if np.isnan(t) else _p_value(negated, -float(t))[0] for t in signed]
        return np.maximum(joint, single)

    def _largest(
        self, estimate: FloatArray, bse: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return the largest deviation from the estimate, of every bootstrap sample, (B, 1)."""
        vary = bse > 0
        away = (self.means - estimate)[:, vary] / bse[vary]
        signed = {"two-sided": np.abs(away), "greater": -away, "less": away}[alternative]
        return np.asarray(signed.max(axis=1, keepdims=True))

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: FloatArray) -> FloatArray:
        """Return missing values: P comes from percentiles, and no t statistic gives it."""
        return np.full(len(bse), np.nan)

    def p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return p-values of ``estimate = null``; missing where `bse` is 0 or there is no null.

        The smallest alpha at which the interval excludes the null value.
        """
        greater = _p_value(self.means, null)
        less = _p_value(-self.means, np.negative(null))
        both = np.minimum(2 * np.minimum(greater, less), 1.0)
        p = {"two-sided": both, "greater": greater, "less": less}[alternative]
        return np.where((bse > 0) & ~np.isnan(null), p, np.nan)


def bootstrap(replicates: Replicates) -> BootstrapVariance:
    r"""Covariance of the B bootstrap means, B - 1 df, and percentile intervals.

    .. math:: V = \frac{1}{B - 1} \sum_b (T^*_b - \bar T^*) (T^*_b - \bar T^*)^\top

    :math:`T^*_b` is the mean over the k splits of bootstrap sample b. The estimate is the mean
    over all refits (Khan et al. 2025, Algorithm 1, line 16). The noise of k splits is part of V:
    for a mean over rows V is 1 + 4/k times the variance of the bootstrap, 1 + 2/k times if copies
    are split as they come.
    """
    means = _means(replicates)
    count = len(means)
    return BootstrapVariance(
        cov=covariance(means),
        df=count - 1,
        rescales=False,
        of_t=False,
        note=(
            f"Intervals (percentiles of {count} bootstrap means) are for the learner at the "
            "header's number of distinct training rows."
        ),
        interval_note=(
            "Limits are not estimate -/+ t std err: they are quantiles of the bootstrap means "
            "(of simultaneous intervals, estimate -/+ c std err)."
        ),
        test_note=(
            "P is the smallest alpha at which the interval excludes {null}: at least "
            f"{2 / (count + 1):.2g} ({1 / (count + 1):.2g} if one-sided)."
        ),
        too_few=f"beyond all {count} bootstrap means; draw more bootstrap samples",
        means=means,
    )


def _limit(means: FloatArray, tail: float) -> FloatArray:
    """Return the lower limits with probability `tail` below them, shape (q,).

    Upper limits are the negated lower limits of the negated means.
    """
    if tail <= 1 / (len(means) + 1):
        return np.full(means.shape[1], -np.inf)
    return np.array([np.quantile(column, tail, method="weibull") for column in means.T])


def _p_value(means: FloatArray, value: FloatArray | float) -> FloatArray:
    """Return the smallest tail whose lower limit is above `value`, shape (q,)."""
    ordered, count = np.sort(means, axis=0), len(means)
    at = (ordered <= value).sum(axis=0)
    place = np.clip(at, 1, count - 1)
    below, above = (np.take_along_axis(ordered, p[None], 0)[0] for p in (place - 1, place))
    inside = (at > 0) & (at < count)
    step = np.divide(value - below, above - below, out=np.zeros(len(at)), where=inside)
    level = np.where(inside, place + step, 1.0) / (count + 1)
    return np.where(at < count, level, 1.0)


def _means(replicates: Replicates) -> FloatArray:
    """Return the mean of every bootstrap sample over its splits, shape (B, q)."""
    numbers, of = np.unique(np.asarray(replicates.evaluations.bootstraps), return_inverse=True)
    if len(numbers) < 2:
        raise InferenceError(
            f"A variance over bootstraps needs at least 2 bootstrap samples; there is "
            f"{len(numbers)} with refits that succeeded."
        )
    sums = np.zeros((len(numbers), replicates.per_refit.shape[1]))
    np.add.at(sums, of, replicates.per_refit)
    return sums / np.bincount(of)[:, None]


register_variance("bootstrap", bootstrap, needs="bootstraps")
