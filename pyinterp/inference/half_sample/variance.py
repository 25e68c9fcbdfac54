"""Variance of a learner from refits on complementary halves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_alpha
from pyinterp.inference.half_sample import square
from pyinterp.inference.half_sample.constants import FEW_CLUSTERS, MARGIN
from pyinterp.inference.half_sample.parts import VarianceParts, variance_parts
from pyinterp.inference.intervals import Alternative, bounds, t_quantile
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.simultaneous import LargestT
from pyinterp.inference.variance import Variance

__all__ = ["SquareVariance", "half_sample", "half_sample_t"]


@dataclass(frozen=True, kw_only=True, repr=False)
class SquareVariance(Variance):
    """The half-sample covariance of estimands that vary as squares, with the hull of `square`.

    Attributes
    ----------
    no_effect : float
        The value of no effect: 0 of a difference, 1 of a ratio.
    at_no_effect : ndarray of shape (q,)
        The measured standard errors of estimates whose true value is that one.
    """

    no_effect: float
    at_no_effect: FloatArray

    def of(self, terms: IntArray) -> Self:
        """Return the variance of some of the terms."""
        return replace(super().of(terms), at_no_effect=self.at_no_effect[terms])

    @property
    def varies_as_square(self) -> bool:
        """Whether intervals are the hull of `square`."""
        return True

    def interval(
        self, estimate: FloatArray, bse: FloatArray, alpha: float, alternative: Alternative
    ) -> FloatArray:
        """Return 1 - alpha intervals, shape (q, 2); missing where `bse` is 0.

        A one-sided interval has one of the two limits at the same alpha: a square has no sign, so
        alpha is not spent on one side.
        """
        check_alpha(alpha)
        q = t_quantile(alpha / 2, self.df)
        low, high = square.limits(*self._above(estimate, bse), q).T + self.no_effect
        return bounds(low, high, alternative)

    def null_error(self, estimate: FloatArray, bse: FloatArray) -> FloatArray:
        """Return the standard errors at no effect, by which the test of it divides."""
        return np.where(bse > 0, square.error_at_zero(*self._above(estimate, bse)), bse)

    def statistic(
        self, estimate: FloatArray, bse: FloatArray, null: FloatArray | float
    ) -> FloatArray:
        """Return t statistics of ``estimate = null``; missing where `bse` is 0."""
        return square.statistic(*self._above(estimate, bse), null - self.no_effect)

    def p_values(
        self,
        estimate: FloatArray,
        bse: FloatArray,
        null: FloatArray | float,
        alternative: Alternative,
    ) -> FloatArray:
        """Return p-values; one-sided the two-sided ones, or 1 for an estimate on the other side."""
        p = super().p_values(estimate, bse, null, "two-sided")
        if alternative == "two-sided":
            return p
        other = estimate <= null if alternative == "greater" else estimate >= null
        return np.where(other & ~np.isnan(p), 1.0, p)

    def p_heading(self, alternative: Alternative) -> str:
        """Return what tables call P."""
        return super().p_heading("two-sided") if alternative == "two-sided" else "P"

    def _joint(self, bse: FloatArray, alternative: Alternative) -> LargestT:
        return super()._joint(bse, "two-sided")

    def _above(
        self, estimate: FloatArray, bse: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return estimates above no effect, and their two standard errors, missing for 0."""
        error = np.where(bse > 0, bse, np.nan)
        return estimate - self.no_effect, error, np.minimum(self.at_no_effect, error)


def half_sample_t(replicates: Replicates) -> Variance:
    r"""A + s²/m from M pairs of refits on complementary halves, t intervals with M df.

    .. math:: V = A + \frac{s^2}{m}

    See `VarianceParts`. A bounds the variance of any learner's mean over refits on halves from
    above; intervals are symmetric.
    """
    parts = variance_parts(replicates)
    return _plain(replicates, parts, "half-sample-t")


def half_sample(replicates: Replicates) -> Variance:
    r"""Variance from M pairs of refits on complementary halves, M df.

    Estimands that vary as squares of effects, as importances do, have

    .. math:: V = g^2 \max\left( A - \tfrac12 S,\; S \right) + \frac{s^2}{m}, \quad
        v_0^2 = \min\left( g^2 r^2 S + \frac{s^2}{m},\; V \right)

    at the estimate and at 0, and the interval of `square`. S is the variance of the pairs' means
    over pairs. In expectation A - S is the variance of the mean of many refits on halves; half of S
    is kept as a margin. Given the estimate, A is nearly proportional to it, and S is not: S
    serves an estimate that is small by chance. g is by how much refits on 0.632 n rows
    find more than halves (`HalfFits.growth`), r the share of a standard error by training that the
    mean of many refits keeps (`mean_share`). Ratios to a loss take
    :math:`\max(A, S)` times the squared factor by which they are larger than on halves.

    All others have ``half-sample-t``.
    """
    parts = variance_parts(replicates)
    if replicates.no_effect is None:
        return _plain(replicates, parts, "half-sample")
    A, S = parts.of_pairs
    margin, growth = (0.0, parts.ratio_growth) if replicates.relative else (MARGIN, parts.growth)
    larger = (A - margin * S).mean(axis=0) > S.mean(axis=0)
    of_pairs = np.square(growth) * np.where(larger, A - margin * S, S)
    of_halves = of_pairs.mean(axis=0)
    at_zero = np.minimum((parts.growth * parts.mean_share) ** 2 * parts.S, of_halves)
    plain = _plain(replicates, parts, "half-sample")
    own = {
        "cov": plain.cov - parts.A + _with_diagonal(parts.A, of_halves),
        "bse_error": parts.bse_error(of_pairs),
    }
    return SquareVariance(
        **{**vars(plain), **own},
        no_effect=replicates.no_effect,
        at_no_effect=np.sqrt(at_zero + np.diag(parts.by_refits)),
    )


def _plain(replicates: Replicates, parts: VarianceParts, cov_type: str) -> Variance:
    """Return the variance A + s²/m, or missing with the reason, with its words."""
    refused = _first(fit.reason for fit in replicates.half_fits)
    warning = _first(fit.warning for fit in replicates.half_fits)
    on = "63.2% of" if replicates.has_own_refits else "half"
    of = "rows" if replicates.cluster_count is None else "clusters"
    note = f"Intervals ({cov_type}, {parts.pairs} df) are for the learner trained on {on} the {of}."
    cov = parts.A + parts.by_refits
    return Variance(
        cov=np.full_like(cov, np.nan) if refused else cov,
        df=parts.pairs,
        cov_type=cov_type,
        label=cov_type,
        note="" if refused else note,
        reason=refused,
        bse_error=parts.bse_error(parts.of_pairs[0]),
        warning="" if refused else " ".join(filter(None, [warning, _few_clusters(replicates)])),
    )


def _few_clusters(replicates: Replicates) -> str:
    """Warn if halves are made of few clusters."""
    count = replicates.cluster_count
    if count is None or count >= FEW_CLUSTERS:
        return ""
    return (
        f"There are {count} clusters; with fewer than {FEW_CLUSTERS}, 95% intervals covered 93% "
        "and tests of size 5% rejected 6% in simulations."
    )


def _first(texts: Iterable[str]) -> str:
    """Return the first text that is not empty."""
    return next(filter(None, texts), "")


def _with_diagonal(cov: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the covariance with these variances and the same correlations."""
    old = np.diag(cov)
    scale = np.sqrt(np.divide(variances, old, out=np.zeros_like(old), where=old > 0))
    scaled = np.asarray(cov * np.outer(scale, scale))
    np.fill_diagonal(scaled, variances)
    return scaled
