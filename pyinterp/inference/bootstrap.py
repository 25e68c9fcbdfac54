"""Inference from the means of bootstrap samples: percentile and BCa intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_alpha, check_choice
from pyinterp.errors import InferenceError
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, bounds, one_tail
from pyinterp.inference.replicates import Replicates, covariance
from pyinterp.inference.variance import Variance


@dataclass(frozen=True, kw_only=True, repr=False)
class BootstrapVariance(Variance):
    """The covariance of B bootstrap means, with intervals and p-values from their distribution.

    Percentiles are numpy's ``method="weibull"``: the k-th of B ordered means is the k/(B + 1)
    quantile. A lower limit at the 1/(B + 1) quantile or below is infinite, and so is an upper one
    at B/(B + 1) or above. So no p-value is below 1/(B + 1), twice that if two-sided; the smallest
    one of BCa depends on bias and acceleration.

    Attributes
    ----------
    means : ndarray of shape (B, q)
    bias, acceleration : ndarray of shape (q,)
        z0 and a of BCa; both 0 for percentile intervals.
    """

    means: FloatArray
    bias: FloatArray
    acceleration: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        return replace(
            super().of(terms),
            means=self.means[:, terms],
            bias=self.bias[terms],
            acceleration=self.acceleration[terms],
        )

    def p_heading(self, alternative: Alternative) -> str:
        """Return the heading of P in tables; it is no tail area of a t."""
        return "P"

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        Their limits are the quantiles of the bootstrap means at

        .. math:: \Phi\left(z_0 + \frac{z_0 + z_u}{1 - a (z_0 + z_u)}\right),
            \quad u = \alpha/2,\; 1 - \alpha/2

        (Efron 1987), which for percentile intervals are u.
        """
        tail = one_tail(alpha, alternative)
        varies = np.where(bse > 0, 1.0, np.nan)
        low = _limit(self.means, tail, self.bias, self.acceleration)
        high = -_limit(-self.means, tail, -self.bias, -self.acceleration)
        return bounds(low * varies, high * varies, alternative)

    def joint_interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return :math:`\bar T \mp c\,\mathrm{se}`, which cover all terms at once.

        c is the 1 - alpha quantile over bootstraps of :math:`\max_j |T^*_j - \bar T_j| /
        \mathrm{se}_j` (its sign kept if one-sided); a few hundred bootstraps have no percentiles
        as far out as many terms need.
        """
        check_alpha(alpha)
        if (bse > 0).sum() < 2:
            return self.interval(estimate, bse, alpha, alternative)
        c = -_limit(-self._largest(estimate, bse, alternative), alpha)[0]
        half = c * np.where(bse > 0, bse, np.nan)
        # No narrower than the interval of the term alone, which the percentiles give.
        single = self.interval(estimate, bse, alpha, alternative)
        low = np.fmin(estimate - half, single[:, 0])
        return bounds(low, np.fmax(estimate + half, single[:, 1]), alternative)

    def joint_p_values(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray, alternative: Alternative
    ) -> FloatArray:
        """Return the smallest alpha at which each of `joint_interval` excludes the null value."""
        if (bse > 0).sum() < 2:
            return self.p_values(estimate, bse, null, alternative)
        away = np.divide(estimate - null, bse, out=np.full(len(bse), np.nan), where=bse > 0)
        signed = {"two-sided": np.abs(away), "greater": away, "less": -away}[alternative]
        negated = -self._largest(estimate, bse, alternative)
        joint = [np.nan if np.isnan(t) else _p_value(negated, -float(t))[0] for t in signed]
        return np.maximum(joint, self.p_values(estimate, bse, null, alternative))

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
        check_choice("alternative", alternative, ALTERNATIVES)
        greater = _p_value(self.means, null, self.bias, self.acceleration)
        less = _p_value(-self.means, np.negative(null), -self.bias, -self.acceleration)
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
    zeros = np.zeros(means.shape[1])
    return _variance(means, bias=zeros, acceleration=zeros, bca=False)


def bootstrap_bca(replicates: Replicates) -> BootstrapVariance:
    r"""Covariance of the B bootstrap means, B - 1 df, and BCa intervals (Efron 1987).

    .. math:: z_0 = \Phi^{-1}\left(\frac{\#\{T^*_b < \bar T\} + \frac12 \#\{T^*_b = \bar T\}}{B}
        \right), \quad a = \frac{\sum_i l_i^3}{6 \left(\sum_i l_i^2\right)^{3/2}}

    :math:`l_i` is the empirical influence of row i as it evaluates: its contribution (as a donor
    too) as it deviates from the refit's estimate, averaged over the times that it evaluates a
    refit; summed over the rows of a cluster if clusters are drawn. What rows do by training is not
    in it. Efron's :math:`z_0` compares bootstrap means with the estimate on the sample itself.
    Algorithm 1 has none: here it compares them with their overall mean, and so measures their
    skewness but not the bias of the bootstrap. It is extreme, and so are the intervals, where most
    means are the same number, as for features that trees seldom use.
    """
    means = _means(replicates)
    estimate = replicates.per_refit.mean(axis=0)
    below = (means < estimate).mean(axis=0) + (means == estimate).mean(axis=0) / 2
    # Only rounding can put all means on one side of their mean.
    least = 1 / (2 * len(means))
    return _variance(
        means,
        bias=ndtri(np.clip(below, least, 1 - least)),
        acceleration=np.concatenate([_acceleration(group) for group in replicates.parts]),
        bca=True,
    )


def _limit(
    means: FloatArray,
    tail: float,
    bias: FloatArray | float = 0.0,
    acceleration: FloatArray | float = 0.0,
) -> FloatArray:
    """Return the lower limits with probability `tail` below them, shape (q,).

    Upper limits are the negated lower limits of the negated means.
    """
    level = _bca(tail, bias, acceleration)
    quantiles = [
        np.quantile(column, at, method="weibull")
        for column, at in zip(means.T, np.broadcast_to(level, means.shape[1]), strict=True)
    ]
    return np.where(level > 1 / (len(means) + 1), quantiles, -np.inf)


def _p_value(
    means: FloatArray,
    value: FloatArray | float,
    bias: FloatArray | float = 0.0,
    acceleration: FloatArray | float = 0.0,
) -> FloatArray:
    """Return the smallest tail whose lower limit is above `value`, shape (q,)."""
    ordered, count = np.sort(means, axis=0), len(means)
    at = (ordered <= value).sum(axis=0)
    place = np.clip(at, 1, count - 1)
    below, above = (np.take_along_axis(ordered, p[None], 0)[0] for p in (place - 1, place))
    inside = (at > 0) & (at < count)
    step = np.divide(value - below, above - below, out=np.zeros(len(at)), where=inside)
    level = np.where(inside, place + step, 1.0) / (count + 1)
    tail = _bca(level, -bias, -acceleration)  # the inverse of the map in `_limit`
    return np.where(at < count, tail, 1.0)


def _bca(
    level: FloatArray | float, bias: FloatArray | float, acceleration: FloatArray | float
) -> FloatArray:
    """Return the level of the quantile that is the BCa limit of a level.

    With the signs of `bias` and `acceleration` changed it is the inverse.
    """
    moved = bias + ndtri(level)
    scale = 1 - acceleration * moved
    # Beyond the pole of the acceleration there is no limit.
    far = np.where(moved > 0, 1.0, 0.0)
    by = np.divide(moved, scale, out=np.zeros_like(moved * scale), where=scale > 0)
    # Percentile intervals have their level as it is, without rounding.
    plain = np.equal(bias, 0) & np.equal(acceleration, 0)
    return np.where(plain, level, np.where(scale > 0, ndtr(bias + by), far))


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
    return np.asarray(sums / np.bincount(of)[:, None])


def _acceleration(replicates: Replicates) -> FloatArray:
    seen = replicates.evaluations.times > 0
    effects, clusters = replicates.effects[seen], replicates.evaluations.clusters
    if clusters is not None:
        numbers, of_row = np.unique(clusters[seen], return_inverse=True)
        summed = np.zeros((len(numbers), effects.shape[1]))
        np.add.at(summed, of_row, effects)
        effects = summed
    influence = effects - effects.mean(axis=0)
    cubes, squares = (influence**3).sum(axis=0), (influence**2).sum(axis=0)
    spread = 6 * squares**1.5
    return np.asarray(np.divide(cubes, spread, out=np.zeros(len(spread)), where=spread > 0))


def _variance(
    means: FloatArray, *, bias: FloatArray, acceleration: FloatArray, bca: bool
) -> BootstrapVariance:
    count = len(means)
    kind = "BCa from" if bca else "percentiles of"
    least = f"{2 / (count + 1):.2g} ({1 / (count + 1):.2g} if one-sided)"
    skewed = ", but for skewness" if bca else ""
    return BootstrapVariance(
        cov=covariance(means),
        df=count - 1,
        rescales=False,
        of_t=False,
        note=(
            f"Intervals ({kind} {count} bootstrap means) are for the learner at the header's "
            "number of distinct training rows."
        ),
        interval_note=(
            "Limits are not estimate -/+ t std err: they are quantiles of the bootstrap means "
            "(of simultaneous intervals, estimate -/+ c std err)."
        ),
        test_note=(
            "P is the smallest alpha at which the interval excludes {null}: at least "
            f"{least}{skewed}."
        ),
        too_few=f"beyond all {count} bootstrap means; draw more bootstrap samples",
        means=means,
        bias=bias,
        acceleration=acceleration,
    )


register_variance("bootstrap", bootstrap, needs="bootstraps")
register_variance("bootstrap-bca", bootstrap_bca, label="bootstrap, BCa", needs="bootstraps")
