"""What the half-sample variance is made of: A, S and s²/m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import InferenceError
from pyinterp.inference.half_sample.constants import LARGEST_GROWTH
from pyinterp.inference.replicates import Half, Replicates, contributions
from pyinterp.resampling.plans import LEAST_PAIRS

__all__ = ["VarianceParts", "training_parts", "variance_parts"]


@dataclass(frozen=True, kw_only=True)
class VarianceParts:
    r"""The parts of the variance of q estimates, from M pairs and m refits.

    Attributes
    ----------
    differences : ndarray of shape (M, q)
        :math:`D_j = (\tau_{j0} - \tau_{j1}) - (\epsilon_{j0} - \epsilon_{j1})`: the difference of
        the parts by training of a pair's refits, less the difference of their parts by evaluation
        rows (`training_parts`). A row that trains one of a pair evaluates the other; the minus adds
        up what it does in both ways.
    means : ndarray of shape (M, q)
        Means of the two estimates of each pair.
    estimates : ndarray of shape (m, q)
        What is averaged for the estimate.
    by_refits : ndarray of shape (q, q)
        :math:`s^2/m`, the covariance of the mean of `estimates` by the choice of refits; S/M if the
        pairs are the estimate.
    growth, mean_share : float
        g and r of the fit; of several learners the largest.
    ratio_growth : ndarray of shape (q,)
        By what factor ratios are larger than on halves.
    """

    differences: FloatArray
    means: FloatArray
    estimates: FloatArray
    by_refits: FloatArray
    growth: float
    mean_share: float
    ratio_growth: FloatArray

    @property
    def pairs(self) -> int:
        """M, the degrees of freedom."""
        return len(self.differences)

    @property
    def A(self) -> FloatArray:  # noqa: N802 - the symbol of the paper
        r"""Return :math:`A = \frac{1}{4M} \sum_j D_j D_j^\top`, shape (q, q).

        In expectation it is at least the variance of the mean of many refits on halves, for any
        learner: disjoint halves have no training row in common, so their difference has all of the
        variance by training (Efron and Stein 1981).
        """
        return np.asarray(self.differences.T @ self.differences / (4 * self.pairs))

    @property
    def of_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return what every pair gives for the diagonal of A, and for S; shape (M, q) each."""
        deviation = np.square(self.means - self.means.mean(axis=0))
        return np.square(self.differences) / 4, deviation * self.pairs / (self.pairs - 1)

    def bse_error(self, of_pairs: FloatArray) -> FloatArray:
        """Return the Monte Carlo error of standard errors, by the choice of pairs and refits.

        Parameters
        ----------
        of_pairs : ndarray of shape (M, q)
            What every pair gives for the variance, which is their mean plus `by_refits`.
        """
        m = len(self.estimates)
        of_refits = np.square(self.estimates - self.estimates.mean(axis=0)) / (m - 1)
        variance = of_pairs.mean(axis=0) + np.diag(self.by_refits)
        # As shares of the variance, whose squares are numbers whatever the unit.
        shares = [
            np.divide(each, variance, out=np.full_like(each, np.nan), where=variance > 0)
            for each in (of_pairs, of_refits)
        ]
        noise = sum(share.var(axis=0, ddof=1) / len(share) for share in shares)
        return np.asarray(np.sqrt(noise * variance) / 2)

    @property
    def S(self) -> FloatArray:  # noqa: N802
        """The variance of the means of the pairs, shape (q,)."""
        return np.asarray(self.of_pairs[1].mean(axis=0))


def variance_parts(replicates: Replicates) -> VarianceParts:
    """Return the parts of the variance; `InferenceError` without pairs of halves."""
    m, pairs = len(replicates.estimates), len(replicates.pairs)
    if pairs < LEAST_PAIRS:
        raise InferenceError(
            f'`cov_type="half-sample"` needs at least {LEAST_PAIRS} pairs of refits on '
            f"complementary halves, but these results have {pairs}: fit with `pi.HalfSampling()`."
        )
    if m < 2:
        raise InferenceError(f"At least 2 refits must estimate; {m} did.")
    each = np.array([[half.estimate.value for half in pair] for pair in replicates.pairs])
    by_group = [training_parts([h for p in g.pairs for h in p]) for g in replicates.parts]
    by_training = np.concatenate(by_group, axis=1).reshape(each.shape)
    # The part by training less the part by evaluating.
    signed = 2 * by_training - (each - each[0, 0])
    means, estimates = each.mean(axis=1), replicates.per_refit
    fits = replicates.half_fits
    own = replicates.has_own_refits
    return VarianceParts(
        differences=signed[:, 0] - signed[:, 1],
        means=means,
        estimates=estimates,
        by_refits=_covariance(estimates) / m if own else _covariance(means) / pairs,
        growth=max((fit.growth for fit in fits), default=1.0),
        mean_share=max((fit.mean_share for fit in fits), default=1.0),
        ratio_growth=_ratio_growth(estimates.mean(axis=0), means.mean(axis=0)),
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
    # The solution is unique up to a constant: take the one that adds up to 0. A missing term
    # changes no other.
    return np.asarray(np.linalg.solve(shared + 1.0, totals - member.T @ (sums / times)))


def _covariance(values: FloatArray) -> FloatArray:
    q = values.shape[1]
    return np.asarray(np.cov(values, rowvar=False, ddof=1).reshape(q, q))


def _ratio_growth(estimate: FloatArray, on_halves: FloatArray) -> FloatArray:
    growth = np.divide(estimate, on_halves, out=np.ones_like(estimate), where=on_halves > 0)
    return np.clip(growth, 1.0, LARGEST_GROWTH)
