"""Variance of a learner from refits on complementary halves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_alpha
from pyinterp.errors import InferenceError
from pyinterp.inference.intervals import Alternative, bounds, t_quantile
from pyinterp.inference.intervals import p_values as t_p_values
from pyinterp.inference.learning import LARGEST, NOISY
from pyinterp.inference.replicates import Half, Replicates, contributions
from pyinterp.inference.squared_effect import SquaredEffect, law_of_a_sum, variance_of_squares
from pyinterp.inference.variance import Variance
from pyinterp.resampling.halves import LEAST_PAIRS

__all__ = ["CAP", "HalfSampleVariance", "half_sample", "training_parts"]

# k, by which the standard error differs at the upper limit from that at the estimate, is at most:
CAP = 0.6
# It is multiplied by `Learning.kappa`, at most by 1 and at least by:
ASYMMETRY = 0.8
# Variances of importances are less by the first share of the variance of the pairs' means, and at
# least the second.
SHARE, LEAST = 0.9, 0.4
LIMITS = (
    "The standard error of an importance depends on its true value. An interval holds the true "
    "values that a test, with a standard error for that value, does not reject."
)
TESTS = (
    "t = {deviation} / ({error}), the standard error of a feature that does not matter. P takes "
    "the law of a squared effect and the noise of few refits, (χ²(ν) - ν)/√(2ν), not Student's, "
    "and is 1 for estimates that are not above {null}; it is below α exactly if the 1 - α interval "
    "excludes {null}."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class HalfSampleVariance(Variance):
    """The half-sample covariance, with intervals that have a standard error for each limit.

    Attributes
    ----------
    lower_bound : float or None
        Value below which the estimand can't be, or hardly; the standard error of such an importance
        falls like the square root of its distance from there.
    at_bound : ndarray of shape (q,)
        Standard errors of terms that do not matter to the learner.
    chi_df : ndarray of shape (q,)
        Degrees of freedom of the law of such terms, a chi-square: 1 without noise of refits.
    asymmetry : ndarray of shape (q,)
        By what k is multiplied.
    """

    lower_bound: float | None
    at_bound: FloatArray
    chi_df: FloatArray
    asymmetry: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return that of some of the terms."""
        return replace(
            super().of(terms),
            at_bound=self.at_bound[terms],
            chi_df=self.chi_df[terms],
            asymmetry=self.asymmetry[terms],
        )

    @property
    def special_law(self) -> bool:
        """Whether p-values of single terms are not those of their t statistics."""
        return self.lower_bound is not None

    def p_heading(self, alternative: Alternative) -> str:
        """Return what tables call P."""
        return "P" if self.special_law else super().p_heading(alternative)

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        r"""Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        Without a bound they are t intervals, :math:`c \pm h`. With the bound at 0 the lower limit
        is that of `SquaredEffect`, and the upper one

        .. math:: c + h/(1 - k), \quad k = b \min(h / (4c), 0.6),

        with the minimum taken as 0.6 for c <= 0, and not below the bound; b is `asymmetry`.
        One-sided with alpha above 1/2, h and k are negative, and the lower limit is
        :math:`c - h/(1 + k)`, for c <= 0 it is c.
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
        k = np.copysign(self.asymmetry * k, h)
        if level > 0.5:
            low = estimate - np.where(above > 0, h / (1 + k), 0.0)
        else:
            low = self.lower_bound + self._effect(above, bse).low(alpha, level)
        return bounds(low, np.maximum(estimate + h / (1 - k), self.lower_bound), alternative)

    def _effect(self, above: FloatArray, bse: FloatArray) -> SquaredEffect:
        error = np.where(bse > 0, bse, np.nan)
        return SquaredEffect(above, error, self.at_bound, self.df, self.chi_df)

    def null_error(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray | float
    ) -> FloatArray:
        """Return the standard errors at the null values, by which statistics are divided.

        At the bound, and between it and the estimate, those of `SquaredEffect`.
        """
        if self.lower_bound is None:
            return super().null_error(estimate, bse, null)
        above = estimate - self.lower_bound
        value = np.broadcast_to(null - self.lower_bound, above.shape)
        below = (value < above) | (value <= 0)
        squared = np.where(bse > 0, self._effect(above, bse).error(value), bse)
        return np.where(below, squared, self._at(value, above) * bse)

    def _at(self, value: FloatArray, above: FloatArray) -> FloatArray:
        """Return what standard errors of estimates above a bound are multiplied by elsewhere."""
        far, most = np.abs(above - value), self.asymmetry * CAP
        # Beyond the caps below steps do not matter: there they might overflow.
        steps = np.divide(far, 4 * above, out=np.full(far.shape, np.inf), where=far < 8 * above)
        less = np.where(steps <= CAP / (1 + most), 1 - self.asymmetry * steps, 1 / (1 + most))
        more = np.where(steps <= CAP / (1 - most), 1 + self.asymmetry * steps, 1 / (1 - most))
        return np.asarray(np.where(value < above, less, more))

    def p_values(
        self,
        estimate: FloatArray,
        bse: FloatArray,
        null: FloatArray | float,
        alternative: Alternative,
    ) -> FloatArray:
        """Return the smallest alpha at which intervals exclude the null values."""
        if self.lower_bound is None:
            return super().p_values(estimate, bse, null, alternative)
        above = estimate - self.lower_bound
        value = np.broadcast_to(null - self.lower_bound, above.shape)
        missing = np.full(len(bse), np.nan)
        t = np.divide(above - value, self._at(value, above) * bse, out=missing, where=bse > 0)
        p = t_p_values(t, self.df, alternative=alternative)
        if alternative != "greater":
            p = np.where((value <= 0) & ~np.isnan(t), 1.0, p)
        if alternative == "greater":
            p = np.where((above <= 0) & ~np.isnan(t), 1.0, p)
        if alternative != "less":
            sides = 2 if alternative == "two-sided" else 1
            squared = self._effect(above, bse).p_value(value, sides)
            p = np.where((value < above) & ~np.isnan(t), squared, p)
        return p


def half_sample(replicates: Replicates) -> HalfSampleVariance:
    r"""Variance from M pairs of refits on complementary halves, M df.

    .. math:: V = A + \frac{s^2}{m}, \quad A = \frac{1}{4M} \sum_j D_j D_j^\top, \quad
        D_j = (\tau_{j0} - \tau_{j1}) - (\epsilon_{j0} - \epsilon_{j1})

    :math:`T_{jh} = \tau_{jh} + \epsilon_{jh}` is the estimate of the refit trained on half h of
    split j and evaluated on the other: a part by training and a part by the rows that evaluate
    (`training_parts`). A row that trains one of a pair evaluates the other; the minus adds up
    what it does in both ways. :math:`s^2` is the variance over the m refits whose mean is
    reported. In expectation A is at least the variance of such a mean over refits on halves, for
    any learner: two disjoint halves have no training row in common, so their difference has all
    the variance that training causes (Efron and Stein 1981). A - S, with S the variance of the
    pairs' means, has that variance without bias. Importances take what is nearly that,

    .. math:: \max(A - 0.9 S,\; 0.4 S,\; g^2 (A - S))

    in the place of A, with the same correlations; g is by how much more refits of the estimate
    find than halves (`Learning.growth`), and the second term is for estimates where A is by chance
    near 0. What comes from halves is multiplied by `Learning.calm`; of importances it is the share
    of their effects' variances that is left (`variance_of_squares`). The standard error of an
    importance that is 0 comes from S times the square of `Learning.kappa`; :math:`s^2/m`, which is
    added, is normal noise in its law (`law_of_a_sum`).

    Ratios, whose loss below varies as much as that above, are not calmed. They take at least A,
    times the square of their mean at 0.632 n over that of halves, from 1 to 1.5: they vary in
    proportion to their size.
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
    learning, importances = replicates.learning, replicates.lower_bound is not None
    refused = _first(one.reason for one in learning)
    warning = "" if refused else _first(one.warning for one in learning)
    if importances and not refused and not warning:
        warning = _first(one.growth_warning for one in learning)
    A = difference.T @ difference / (4 * M)
    at_bound, chi_df = np.full(len(A), np.nan), np.ones(len(A))
    # Of several learners as if each were the one that varies more.
    growth = max((one.growth for one in learning), default=1.0)
    squares = () if replicates.relative else learning
    calm = max((one.calm for one in squares), default=1.0)
    kappas = [_for_each(one.kappa, len(A)) for one in squares]
    kappa = np.max(kappas or [np.full(len(A), NOISY)], axis=0)
    if not importances:
        cov = calm * A
    else:
        S, halves = np.diag(middle), each.mean(axis=(0, 1))
        near = _near(np.diag(A), S, growth)
        squared = calm**2 * np.minimum((growth * kappa) ** 2 * S, near)
        at_bound = np.sqrt(squared + np.diag(between))
        share = np.divide(squared, at_bound**2, out=np.ones_like(squared), where=at_bound > 0)
        chi_df = law_of_a_sum(share)
        cov = _with_diagonal(A, _of_importances(replicates, np.diag(A), near, halves, calm))
    cov = cov + between
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
        at_bound=np.full_like(at_bound, np.nan) if refused else at_bound,
        chi_df=chi_df,
        asymmetry=np.clip(kappa, ASYMMETRY, 1.0),
    )


def _for_each(numbers: FloatArray | float, terms: int) -> FloatArray:
    """Return numbers of terms, the same for every group of rows, one group after another."""
    some = np.atleast_1d(numbers)
    return np.tile(some, terms // len(some))


def _first(texts: Iterable[str]) -> str:
    """Return the first text that is not empty."""
    return next(filter(None, texts), "")


def _near(A: FloatArray, S: FloatArray, growth: float) -> FloatArray:
    """Return nearly the variance of means of refits on halves, from A and that of pairs' means."""
    return np.maximum(np.maximum(A - SHARE * S, LEAST * S), growth**2 * (A - S))


def _of_importances(
    replicates: Replicates, A: FloatArray, near: FloatArray, halves: FloatArray, calm: float
) -> FloatArray:
    """Return variances of importances, whose means over halves are these."""
    estimate = replicates.per_refit.mean(axis=0)
    if replicates.relative:
        return _more(estimate, halves) ** 2 * np.maximum(A, near)
    return variance_of_squares(near, estimate, calm)


def _more(estimate: FloatArray, halves: FloatArray) -> FloatArray:
    """Return by what factor estimates are larger than those of halves, from 1 to 1.5."""
    more = np.divide(estimate, halves, out=np.ones_like(halves), where=halves > 0)
    return np.clip(more, 1.0, LARGEST)


def _with_diagonal(cov: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the covariance with these variances and the same correlations."""
    old = np.diag(cov)
    scale = np.sqrt(np.divide(variances, old, out=np.zeros_like(old), where=old > 0))
    scaled = np.asarray(cov * np.outer(scale, scale))
    np.fill_diagonal(scaled, variances)
    return scaled


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
