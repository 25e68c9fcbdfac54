r"""Intervals to choose from, each computed from the same fits of the same data sets.

Of M pairs of refits on complementary halves come D, the difference of a pair, and the mean of a
pair; A is the mean of D^2 / 4 and S the variance of the means over pairs. With C(w) the covariance
of two refits whose training sets share w of their rows, :math:`C(w) = \sum_j v_j w^j`, the part of
training in them is

.. math:: E A = C(1) / 2, \quad E S = C(1) / 2 - C(1/2), \quad v_j \ge 0.

What is wanted is C(1/2), the variance of the mean over many halves: A - S has it without bias, and
A above it (Efron and Stein). Between them :math:`A - \lambda S` is still above it in expectation,
and nearer: of order j it has :math:`(1 - \lambda)/2 + \lambda 2^{-j}` where A has 1/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from pyinterp.inference.half_sample import ASYMMETRY, CAP, LEAST, SHARE
from pyinterp.inference.interval_scale import IntervalScale
from pyinterp.inference.learning import LARGEST, LITTLE, NOISY
from pyinterp.inference.squared_effect import SquaredEffect, law_of_a_sum, variance_of_squares
from pyinterp.ranges import Range

Components = Mapping[str, np.ndarray]


class Candidate(NamedTuple):
    """Centers, variances, df, variances at a bound, factors of k, noise in those at the bound."""

    center: np.ndarray
    variance: np.ndarray
    df: np.ndarray | float
    at_bound: np.ndarray | None = None
    asymmetry: np.ndarray | float = 1.0
    noise: np.ndarray | None = None


def is_importance(d: Components) -> np.ndarray:
    """Whether terms have a bound."""
    return ~np.isnan(d["bound"])


def growth(d: Components, most: float = 1.5, beyond: float = 1.0) -> np.ndarray:
    """Return by what factor refits at 0.632 n find more than those on halves: cov(y, f).

    1 unless the difference is beyond so many of its standard errors over refits.
    """
    main, half = d["signal main"], d["signal half"]
    error = np.sqrt(d["signal main sd"] ** 2 / 15 + d["signal half sd"] ** 2 / 30)
    more = main - half > beyond * error
    with np.errstate(all="ignore"):
        ratio = np.where(half > 0, main / half, np.inf)
    return np.where(more, np.clip(ratio, 1.0, most), 1.0)


def calm(d: Components) -> np.ndarray:
    """Return the share by which predictions on halves vary too much: 1, or less near n/2 = p."""
    with np.errstate(all="ignore"):
        ratio = 0.632 / 0.5 * d["spread main"] / d["spread half"]
    return np.where(np.isfinite(ratio), np.minimum(1.0, ratio), 1.0)


def kappa(d: Components) -> np.ndarray:
    """Return by what the standard error at 0 is multiplied, as `Learning.kappa`."""
    with np.errstate(all="ignore"):
        share = np.minimum(d["mean share"] / calm(d), 1.0)
        less = np.maximum(share / np.sqrt(2 - share**2), LITTLE)
    return NOISY * np.where((d["bound"] == 1) | np.isnan(less), 1.0, less)


def kappa_before(d: Components) -> np.ndarray:
    """Return the share over nine tenths, which was tried first."""
    with np.errstate(all="ignore"):
        share = np.clip(d["mean share"] / (0.9 * calm(d)), 0.3, 1.0)
    return np.where((d["bound"] == 1) | np.isnan(share), 1.0, share)


def size(d: Components) -> np.ndarray:
    """Return by what factor estimates are larger than those of halves, from 1 to 1.5."""
    more = np.divide(d["c15"], d["ch"], out=np.ones_like(d["ch"]), where=d["ch"] > 0)
    return np.clip(more, 1.0, LARGEST)


def today(d: Components) -> Candidate:
    """Return the half-sample interval of version 0.1."""
    return Candidate(d["c15"], d["A"] + d["s15"], 15.0)


def copies(d: Components) -> Candidate:
    """Return that of products of two copies of nine tenths of each half."""
    return Candidate(d["c15"], np.maximum(d["P15"], 0) + d["s15"], 15.0)


def copies_at_cost(d: Components) -> Candidate:
    """Return the same on at most 28 n rows: 10 refits and 10 pairs."""
    return Candidate(d["c10"], np.maximum(d["P10"], 0) + d["s10"], 10.0)


def overlapping(d: Components) -> Candidate:
    """Return that of overlapping pairs of 0.632 n."""
    return Candidate(d["co"], d["O"] + d["So"], 19.0)


def mixed(
    lam: float, *, scaled: bool = True, tamed: bool = True, beyond: float = 1.0
) -> Callable[..., Candidate]:
    r"""Return intervals by :math:`A - \lambda S` of importances, A of all others.

    `scaled`: at least the unbiased A - S, scaled to 0.632 n by what is found there. `tamed`: less
    where predictions on halves vary more than their number of rows explains.
    """

    def candidate(d: Components) -> Candidate:
        A, S = d["A"], d["middle"]
        V = np.maximum(A - lam * S, (1 - lam) * A)
        if scaled:
            V = np.maximum(V, growth(d, beyond=beyond) ** 2 * (A - S))
        V = np.where(is_importance(d), V, A) * (calm(d) if tamed else 1.0)
        return Candidate(d["c15"], V + d["s15"], 15.0)

    return candidate


def squared(
    lam: float = SHARE,
    least: float = LEAST,
    *,
    tests: bool = True,
    averaged: Callable[[Components], np.ndarray] | None = kappa,
    normal: bool = True,
) -> Callable[..., Candidate]:
    r"""Return intervals by max(A - lambda S, least S) of importances, A of all others.

    At least A - S, scaled as in `mixed`; of ratios at least A, scaled to their size. Lower limits
    invert the test of `SquaredEffect`, whose standard error at 0 comes from the smaller of S and
    that variance; with `tests=False` they are those of version 0.1. `averaged`: S there, and k of
    upper limits, are less for learners whose effects many refits average out.
    """

    def candidate(d: Components) -> Candidate:
        A, S = d["A"], d["middle"]
        near = np.maximum(A - lam * S, least * S)
        near = np.maximum(near, growth(d) ** 2 * (A - S))
        ratios = d["bound"] == 1
        share = np.where(ratios, 1.0, calm(d))
        left = averaged(d) if averaged else np.ones_like(A)
        at_bound = share**2 * np.minimum((growth(d) * left) ** 2 * S, near) + d["s15"]
        near = np.where(
            ratios, size(d) ** 2 * np.maximum(A, near), variance_of_squares(near, d["c15"], share)
        )
        V = np.where(is_importance(d), near, share * A) + d["s15"]
        asymmetry = np.clip(left, ASYMMETRY, 1.0)
        noise = d["s15"] if normal else None
        return Candidate(d["c15"], V, 15.0, at_bound if tests else None, asymmetry, noise)

    return candidate


# The interval of version 0.1, with which others are compared.
FIRST = "today"
CANDIDATES: Mapping[str, Callable[[Components], Candidate]] = {
    FIRST: today,
    "copies": copies,
    "copies, 28 n": copies_at_cost,
    "overlapping": overlapping,
    "mixed .5": mixed(0.5),
    "mixed .7": mixed(0.7),
    "squared, without its test": squared(tests=False, averaged=None),
    "squared, not averaged": squared(averaged=None, normal=False),
    "squared, share / .9": squared(averaged=kappa_before, normal=False),
    "squared .7": squared(0.7),
    "squared 1": squared(1.0),
    "default": squared(),
}


def limits(
    found: Candidate, bound: np.ndarray, ranges: Sequence[Range]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of 95% intervals: on the scale of a range, or with the error at the limit.

    `bound` is missing for what is no importance; `ranges` has one pair per term.
    """
    half = stats.t.isf(0.025, found.df) * np.sqrt(np.maximum(found.variance, 0.0))
    above = found.center - bound
    with np.errstate(all="ignore"):
        k = np.where(above > 0, np.minimum(half / (4 * above), CAP), CAP)
    k = np.where(np.isnan(bound), 0.0, found.asymmetry * k)
    low, high = found.center - half / (1 + k), found.center + half / (1 - k)
    if found.at_bound is not None:
        error = half / stats.t.isf(0.025, found.df)
        law = 1.0
        if found.noise is not None:
            with np.errstate(invalid="ignore"):  # where no refit uses a feature
                law = law_of_a_sum(1 - found.noise / found.at_bound)
        effect = SquaredEffect(above, error, np.sqrt(found.at_bound), float(np.max(found.df)), law)
        low = np.where(np.isnan(bound), low, bound + effect.low(0.05, 0.025))
        high = np.where(np.isnan(bound), high, np.maximum(high, bound))
    for j, range_ in enumerate(ranges):
        scale, center = IntervalScale(range_), found.center[:, j]
        if scale.name and np.isnan(bound[0, j]):
            away = half[:, j] * scale.slope(center)
            low[:, j] = scale.back(scale.of(center) - away)
            high[:, j] = scale.back(scale.of(center) + away)
    return low, high
