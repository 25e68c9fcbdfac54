"""Tests of several hypotheses at once: Wald's, and the largest of several t statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import stats

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import InferenceError
from pyinterp.inference.contrasts import Hypotheses, certain
from pyinterp.inference.digits import p_in_words
from pyinterp.inference.simultaneous import RANK, LargestT
from pyinterp.inference.variance import Variance
from pyinterp.representation import frozen
from pyinterp.storage import Savable


@frozen
class JointTest(Savable):
    """A test of several hypotheses together.

    Attributes
    ----------
    statistic : float
        F, or the largest |t|.
    pvalue : float
        Of F; or the smallest P of one hypothesis, times their number (Bonferroni).
    df_num : int
        Number of hypotheses, without those that follow from others.
    df_denom : float
        Degrees of freedom of the denominator of F, or of t.
    method : {"F", "Bonferroni"}
    tests : ContrastResults
        Of the hypotheses one by one, not adjusted.
    """

    statistic: float
    pvalue: float
    df_num: int
    df_denom: float
    method: Literal["F", "Bonferroni"]
    tests: Any

    @property
    def fvalue(self) -> float:
        """The statistic, if it is an F."""
        if self.method != "F":
            raise InferenceError(
                "`fvalue` is of F tests, but hypotheses about single importances have a "
                "Bonferroni test; use `statistic`, the largest |t|."
            )
        return self.statistic

    def summary(self) -> Any:
        """Return the hypotheses as a table, with the joint test in its header."""
        return self.tests.summary()

    @property
    def sentence(self) -> str:
        """The test in a line."""
        p = p_in_words(self.pvalue)
        if self.method == "F":
            df = f"{self.df_num}, {self.df_denom:g}"
            return f"F test: F({df}) = {self.statistic:.3f}, {p}"
        return (
            f"Bonferroni test of {self.df_num} hypotheses: largest |t| = {self.statistic:.3f} "
            f"({self.df_denom:g} df), {p}, {self.df_num} times the P of this t, at most 1"
        )

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__


def wald_test(tests: Any, hypotheses: Hypotheses, variance: Variance) -> JointTest:
    r"""Test all hypotheses together.

    .. math:: T^2 = d^\top V^+ d, \qquad F = \frac{\nu - k + 1}{\nu k} T^2 \sim F(k, \nu - k + 1)

    with d the deviations from the hypotheses, V their covariance with :math:`\nu` degrees of
    freedom and k its rank: Hotelling's distribution, as V is estimated. By the delta method F is
    :math:`T^2 / k \sim F(k, \nu)`, as in statsmodels: least squares estimates one factor of V. A
    single hypothesis, and each about a single term, counts with its t: for one hypothesis F is its
    square.

    Importances are not normal at 0: of hypotheses about single ones the test is of the largest
    |t|, whose P counts as often as there are hypotheses (Bonferroni).

    Parameters
    ----------
    tests : ContrastResults
        Those of the hypotheses one by one, not adjusted.
    hypotheses : Hypotheses
    variance : Variance
        Of the q terms.
    """
    if tests.alternative != "two-sided":
        raise InferenceError(
            "A joint test is two-sided, but these results are one-sided "
            f'(alternative="{tests.alternative}"): ask for them with alternative="two-sided", or '
            "use `t_test`."
        )
    (used,) = np.nonzero(hypotheses.weights.any(axis=0))
    weights, df = hypotheses.weights[:, used], variance.df
    asked = int(np.linalg.matrix_rank(weights))
    if asked > df:
        raise InferenceError(
            f"At most {df:g} hypotheses can be tested together, as the covariance has {df:g} "
            f"degrees of freedom; got {asked}. Test fewer, or fit with more refits or pairs."
        )
    cov = weights @ variance.cov[np.ix_(used, used)] @ weights.T
    values, vectors = np.linalg.eigh(cov / np.outer(tests.sd, tests.sd))
    positive = values > RANK * values[-1]
    rank = int(positive.sum())
    if rank < asked:
        raise InferenceError(
            f"The {asked} hypotheses can't be tested together, as their estimates vary in {rank} "
            "directions only; test fewer."
        )
    directions, standardized = vectors[:, positive], (tests.effect - hypotheses.target) / tests.sd
    if not np.allclose(directions @ (directions.T @ standardized), standardized, 1e-6, 1e-8):
        raise InferenceError(
            f"The {len(weights)} hypotheses contradict each other: no values of the terms fulfil "
            "all of them."
        )
    single = np.count_nonzero(hypotheses.weights, axis=1) == 1
    if rank > 1 and single.all() and variance.varies_as_square:
        return JointTest(
            statistic=float(np.abs(tests.tvalue).max()),
            pvalue=min(1.0, rank * float(np.min(tests.pvalue))),
            df_num=rank,
            df_denom=df,
            method="Bonferroni",
            tests=tests,
        )
    # Of contrasts, the two sides of which differ, F would depend on how they are written.
    counts = (single | (rank == 1)) & np.isfinite(tests.tvalue)
    scores = directions.T @ np.where(counts, tests.tvalue, standardized)
    square = float(np.sum(np.square(scores) / values[positive]))
    below = df if variance.cov_type == "delta" else df - rank + 1
    if np.isinf(df):
        F, pvalue = square / rank, float(stats.chi2.sf(square, rank))
    else:
        F = square / rank * below / df
        pvalue = float(stats.f.sf(F, rank, below))
    return JointTest(
        statistic=F, pvalue=pvalue, df_num=rank, df_denom=below, method="F", tests=tests
    )


@frozen
class FlatTest(Savable):
    """A joint test that a curve or surface is flat.

    Attributes
    ----------
    statistic : float
        The largest t statistic of a difference between a point and the mean of its curve.
    pvalue : float
    df : float
        Degrees of freedom.
    points : int
        Points that vary.
    term : str
        The point that differs most.
    """

    statistic: float
    pvalue: float
    df: float
    points: int
    term: str

    def __str__(self) -> str:
        return (
            f"Flat curve: largest |t| = {self.statistic:.3f} of {self.points} points (at "
            f"{self.term}), {self.df:g} df, {p_in_words(self.pvalue)}"
        )


def flatness_test(
    estimate: FloatArray, variance: Variance, curves: IntArray, terms: Sequence[str]
) -> FlatTest:
    """Test that every curve is equal to its mean, by the largest of all points' t statistics.

    It rejects at a level if the simultaneous band of the centered curves at that level excludes 0
    somewhere. The number of points is not limited by the degrees of freedom.

    Parameters
    ----------
    estimate : ndarray of shape (q,)
    variance : Variance
    curves : ndarray of int, shape (q,)
        The curve, such as the class, to which each point belongs.
    terms : sequence of str
    """
    same = curves[:, None] == curves
    center = np.eye(len(estimate)) - same / same.sum(axis=1, keepdims=True)
    deviation, cov = center @ estimate, center @ variance.cov @ center.T
    spread = np.sqrt(np.clip(np.diag(cov), 0.0, None))
    rounding = 1e-12 * np.abs(estimate).max(initial=0.0)
    (vary,) = np.nonzero(spread > np.maximum(rounding, np.sqrt(certain(center, variance.cov))))
    if not len(vary):
        raise InferenceError(
            "Flatness can't be tested where no point varies against the others: every refit, or "
            "every row of a fitted model, has the same curve but for its height."
        )
    t = np.abs(deviation[vary]) / spread[vary]
    largest = LargestT.of(cov[np.ix_(vary, vary)], variance.df, "two-sided")
    single = 2 * stats.t.sf(t, variance.df)
    first = int(t.argmax())
    return FlatTest(
        statistic=float(t[first]),
        pvalue=float(largest.p_values(single)[first]),
        df=float(variance.df),
        points=len(vary),
        term=terms[int(vary[first])],
    )
