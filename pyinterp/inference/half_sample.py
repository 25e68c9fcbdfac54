"""Variance of a learner from refits on complementary halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from pyinterp.errors import InferenceError, check_alpha
from pyinterp.inference.evidence import Evidence, row_effects
from pyinterp.inference.intervals import Alternative, bounds
from pyinterp.inference.variance import Variance
from pyinterp.resampling.halves import LEAST_PAIRS
from pyinterp.sample import FloatArray

__all__ = ["HalfSampleVariance", "half_sample"]

# k, by which the standard error at the limits differs from that at the estimate, is at most this.
CAP = 0.6


@dataclass(frozen=True, kw_only=True)
class HalfSampleVariance(Variance):
    """The half-sample covariance, with intervals that take the standard error at their limits.

    Attributes
    ----------
    floor : float or None
        Value below which the estimand can't be, or hardly; the standard error of such an importance
        falls like the square root of its distance from there.
    under_null : ndarray of shape (q,)
        Variance of terms that do not matter to the learner, all interaction orders included.
    """

    floor: float | None
    under_null: FloatArray

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        Without a floor they are t intervals, :math:`c \pm h`. With the floor at 0 they are

        .. math:: [c - h/(1 + k), c + h/(1 - k)], \quad k = \min(h / (4c), 0.6),

        and k = 0.6 for c <= 0. One-sided and with alpha above 1/2, h is negative: the limit is on
        the other side of c, and k, from the size of h, has its sign.
        """
        if self.floor is None:
            return super().interval(estimate, bse, alpha, alternative)
        check_alpha(alpha)
        level = alpha / 2 if alternative == "two-sided" else alpha
        h = stats.t.isf(level, self.df) * np.where(bse > 0, bse, np.nan)
        above = estimate - self.floor
        k = np.full_like(h, CAP)
        # Only where it is below the cap, so that nothing overflows.
        np.divide(np.abs(h), 4 * above, out=k, where=np.abs(h) < 4 * CAP * above)
        k = np.copysign(k, h)
        return bounds(estimate - h / (1 + k), estimate + h / (1 - k), alternative)

    def statistic(self, estimate: FloatArray, bse: FloatArray, null: float) -> FloatArray:
        """Return t statistics of ``estimate = null``, their standard error taken at the null.

        Their t test rejects exactly the values that the interval excludes.
        """
        if self.floor is None:
            return super().statistic(estimate, bse, null)
        above, far = estimate - self.floor, np.abs(estimate - null)
        missing = np.full(len(bse), np.nan)
        # Beyond the caps below steps do not matter: there they might overflow.
        steps = np.divide(far, 4 * above, out=np.full(len(bse), np.inf), where=far < 8 * above)
        below = null < estimate
        # The half-width h of the interval that just reaches the null value.
        reach = np.where(
            below,
            np.where(steps <= CAP / (1 + CAP), far / (1 - np.minimum(steps, CAP)), (1 + CAP) * far),
            np.where(steps <= CAP / (1 - CAP), far / (1 + steps), (1 - CAP) * far),
        )
        signed = np.where(below, reach, -reach)
        return np.asarray(np.divide(signed, bse, out=missing, where=bse > 0))

    def null_test(self, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return statistic and p-value of the null-variance test; missing without variance."""
        if self.floor is None:
            raise InferenceError(
                "The null-variance test is for importances, which are at least 0 at the truth."
            )
        spread = np.sqrt(self.under_null)
        missing = np.full(len(spread), np.nan)
        ratio = np.asarray(np.divide(estimate - self.floor, spread, out=missing, where=spread > 0))
        return ratio, np.asarray(stats.chi2.sf(np.maximum(1 + np.sqrt(2) * ratio, 0), 1))


def half_sample(evidence: Evidence) -> HalfSampleVariance:
    r"""Variance bound from M pairs of refits on complementary halves, M df.

    .. math:: V = \frac{1}{4M} \sum_j D_j D_j^\top + \frac{s^2}{m}, \quad
        D_j = T_{j0} - T_{j1} + 2 (\bar b_{j0} - \bar b_{j1})

    :math:`T_{jh}` is the estimate of the refit trained on half h of split j and evaluated on the
    other; :math:`\bar b_{jh}` the mean over the rows of half h of :math:`\hat b_i`, a row's
    contribution as it deviates from the estimate, averaged over the M halves that it evaluated;
    :math:`s^2` the variance over the m refits whose mean is reported. In expectation V is at least
    the variance of that mean, for any learner: two disjoint halves have no training row in common,
    so their difference has all the variance that training causes (Efron and Stein 1981).
    """
    m, M = len(evidence.estimates), len(evidence.pairs)
    if M < LEAST_PAIRS:
        raise InferenceError(
            f'`cov_type="half-sample"` needs at least {LEAST_PAIRS} pairs of refits on '
            f"complementary halves, but these results have {M}: fit with `pi.HalfSampling()`."
        )
    if m < 2:
        raise InferenceError(f"At least 2 refits must estimate; {m} did.")
    each = np.array([[half.estimate.value for half in pair] for pair in evidence.pairs])
    halves = [half for pair in evidence.pairs for half in pair]
    positions, effects = row_effects([h.estimate for h in halves], [h.rows for h in halves])
    evaluated = np.array([effects[at].mean(axis=0) for at in positions]).reshape(each.shape)
    # Refits evaluated on the second half were trained on the first.
    trained = evaluated[:, ::-1]
    difference = each[:, 0] - each[:, 1] + 2 * (trained[:, 0] - trained[:, 1])
    middle = _covariance(each.mean(axis=1))
    between = _covariance(evidence.per_refit) / m if evidence.apart else middle / M
    on = "63.2% of" if evidence.apart else "half"
    at_null = (
        ""
        if evidence.floor is None
        else "t and P take the standard error at the null value, 3/4 of the one shown (5/2 for "
        "estimates below it)."
    )
    return HalfSampleVariance(
        cov=difference.T @ difference / (4 * M) + between,
        df=M,
        cov_type="half-sample",
        label="half-sample",
        note=f"Intervals (half-sample, {M} df) are for the learner trained on {on} the data.",
        test_note=at_null,
        floor=evidence.floor,
        under_null=np.diag(middle + between),
    )


def _covariance(values: FloatArray) -> FloatArray:
    q = values.shape[1]
    return np.asarray(np.cov(values, rowvar=False, ddof=1).reshape(q, q))
