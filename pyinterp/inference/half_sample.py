"""Variance of a learner from refits on complementary halves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray
from pyinterp.checks import check_alpha
from pyinterp.errors import InferenceError
from pyinterp.inference.intervals import Alternative, bounds, t_quantile
from pyinterp.inference.replicates import Half, Replicates, contributions
from pyinterp.inference.variance import Variance
from pyinterp.resampling.halves import LEAST_PAIRS

__all__ = ["CAP", "HalfSampleVariance", "half_sample", "training_parts"]

# k, by which the standard error at the limits differs from that at the estimate, is at most this.
CAP = 0.6
LIMITS = (
    "The standard error of an importance grows with its true value. An interval holds the true "
    "values that a t test, with the standard error at that value, does not reject: it reaches "
    "further up than down."
)
TESTS = (
    "t = {deviation} / ({error}), the standard error if the true value is {null}: 3/4 of std err "
    "for estimates above {null}, 5/2 for those below."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class HalfSampleVariance(Variance):
    """The half-sample covariance, with intervals that take the standard error at their limits.

    Attributes
    ----------
    lower_bound : float or None
        Value below which the estimand can't be, or hardly; the standard error of such an importance
        falls like the square root of its distance from there.
    under_null : ndarray of shape (q,)
        Variance of terms that do not matter to the learner, all interaction orders included.
    """

    lower_bound: float | None
    under_null: FloatArray

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        Without a bound they are t intervals, :math:`c \pm h`. With the bound at 0 they are

        .. math:: [c - h/(1 + k), c + h/(1 - k)], \quad k = \min(h / (4c), 0.6),

        and k = 0.6 for c <= 0. One-sided and with alpha above 1/2, h is negative: the limit is on
        the other side of c, and k, from the size of h, has its sign.
        """
        if self.lower_bound is None:
            return super().interval(estimate, bse, alpha, alternative)
        check_alpha(alpha)
        level = alpha / 2 if alternative == "two-sided" else alpha
        h = t_quantile(level, self.df) * np.where(bse > 0, bse, np.nan)
        above = estimate - self.lower_bound
        k = np.full_like(h, CAP)
        # Only where it is below the cap, so that nothing overflows.
        np.divide(np.abs(h), 4 * above, out=k, where=np.abs(h) < 4 * CAP * above)
        k = np.copysign(k, h)
        return bounds(estimate - h / (1 + k), estimate + h / (1 - k), alternative)

    def null_error(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray | float
    ) -> FloatArray:
        """Return the standard errors at the null values, by which statistics are divided.

        Their t test rejects exactly the values that the interval excludes. At the bound: 3/4 of
        `bse`, and 5/2 of it for estimates below it.
        """
        if self.lower_bound is None:
            return super().null_error(estimate, bse, null)
        above, far = estimate - self.lower_bound, np.abs(estimate - null)
        # Beyond the caps below steps do not matter: there they might overflow.
        steps = np.divide(far, 4 * above, out=np.full(len(bse), np.inf), where=far < 8 * above)
        factor = np.where(
            null < estimate,
            np.where(steps <= CAP / (1 + CAP), 1 - steps, 1 / (1 + CAP)),
            np.where(steps <= CAP / (1 - CAP), 1 + steps, 1 / (1 - CAP)),
        )
        return np.asarray(bse * factor)

    def null_test(self, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return statistic and p-value of the null-variance test; missing without variance."""
        if self.reason:
            raise InferenceError(f"There is no null-variance test: {self.reason}.")
        if self.lower_bound is None:
            raise InferenceError(
                "The null-variance test is for importances, which are at least 0 at the truth."
            )
        spread = np.sqrt(self.under_null)
        missing = np.full(len(spread), np.nan)
        ratio = np.asarray(
            np.divide(estimate - self.lower_bound, spread, out=missing, where=spread > 0)
        )
        return ratio, np.asarray(stats.chi2.sf(np.maximum(1 + np.sqrt(2) * ratio, 0), 1))


def half_sample(replicates: Replicates) -> HalfSampleVariance:
    r"""Variance bound from M pairs of refits on complementary halves, M df.

    .. math:: V = \frac{1}{4M} \sum_j D_j D_j^\top + \frac{s^2}{m}, \quad
        D_j = (\tau_{j0} - \tau_{j1}) - (\epsilon_{j0} - \epsilon_{j1})

    :math:`T_{jh} = \tau_{jh} + \epsilon_{jh}` is the estimate of the refit trained on half h of
    split j and evaluated on the other: a part by training and a part by the rows that evaluate
    (`training_parts`). A row that trains one of a pair evaluates the other; the minus adds up
    what it does in both ways. :math:`s^2` is the variance over the m refits whose mean is
    reported. In expectation V is at least the variance of such a mean over refits on halves, for
    any learner: two disjoint halves have no training row in common, so their difference has all
    the variance that training causes (Efron and Stein 1981). In simulations, what
    refits on 0.632 n have in common varied up to 1.2 times as much for trees and forests, whose V
    is too large by more.
    """
    m, M = len(replicates.estimates), len(replicates.pairs)
    if M < LEAST_PAIRS:
        raise InferenceError(
            f'`cov_type="half-sample"` needs at least {LEAST_PAIRS} pairs of refits on '
            f"complementary halves, but these results have {M}: fit with `pi.HalfSampling()`."
        )
    if m < 2:
        raise InferenceError(f"At least 2 refits must estimate; {m} did.")
    each = np.array([[half.estimate.value for half in pair] for pair in replicates.pairs])
    by_group = [training_parts([h for p in g.pairs for h in p]) for g in replicates.parts]
    by_training = np.concatenate(by_group, axis=1).reshape(each.shape)
    # The part by training less the part by evaluating.
    signed = 2 * by_training - (each - each[0, 0])
    difference = signed[:, 0] - signed[:, 1]
    middle = _covariance(each.mean(axis=1))
    between = _covariance(replicates.per_refit) / m if replicates.apart else middle / M
    on = "63.2% of" if replicates.apart else "half"
    learning = replicates.learning
    refused = learning.reason if learning is not None else ""
    warning = learning.warning if learning is not None and not refused else ""
    cov = difference.T @ difference / (4 * M) + between
    under_null = np.diag(middle + between)
    note = f"Intervals (half-sample, {M} df) are for the learner trained on {on} the data."
    return HalfSampleVariance(
        cov=np.full_like(cov, np.nan) if refused else cov,
        df=M,
        cov_type="half-sample",
        label="half-sample",
        note="" if refused else note,
        reason=refused,
        warning=warning,
        interval_note="" if replicates.lower_bound is None else LIMITS,
        test_note="" if replicates.lower_bound is None else TESTS,
        lower_bound=replicates.lower_bound,
        under_null=np.full_like(under_null, np.nan) if refused else under_null,
    )


def training_parts(halves: Sequence[Half]) -> FloatArray:
    r"""Return the parts of the estimates that are due to training, up to a constant, (2M, q).

    Least squares of :math:`t_{ij} = \tau_{jh} + b_i`: the contributions t of every row i, as a
    donor too, to the estimate of each split j by a level of the refit and an effect of the row. The
    rows' effects are eliminated from the normal equations. Exact where estimates add up what
    training rows and evaluation rows do.
    """
    sizes = np.array([len(half.rows) for half in halves])
    rows, position = np.unique(np.concatenate([h.rows for h in halves]), return_inverse=True)
    positions = np.split(position, np.cumsum(sizes)[:-1])
    member = np.zeros((len(rows), len(halves)))
    around = halves[0].estimate.value  # what is common to all costs digits
    sums = np.zeros((len(rows), len(around)))
    for k, (half, at) in enumerate(zip(halves, positions, strict=True)):
        member[at, k] = 1.0
        sums[at] += contributions(half.estimate) - around
    times = member.sum(axis=1, keepdims=True)
    totals = sizes[:, None] * np.array([half.estimate.value - around for half in halves])
    shared = np.diag(sizes) - member.T @ (member / times)
    # A constant is left open: take the solution that adds up to 0. A missing term stays alone.
    return np.asarray(np.linalg.solve(shared + 1.0, totals - member.T @ (sums / times)))


def _covariance(values: FloatArray) -> FloatArray:
    q = values.shape[1]
    return np.asarray(np.cov(values, rowvar=False, ddof=1).reshape(q, q))
