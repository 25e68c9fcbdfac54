"""Sup-t: the level of each of several intervals that hold together."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from pyinterp.inference import Variance
from pyinterp.inference.simultaneous import LargestT


def exact_level(q, df, alpha, tails):
    """Return the level of q independent terms over a kappa chi-square, by quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    shares = (nodes + 1) / 2
    scale = np.sqrt(stats.chi2.isf(shares, df) / df)

    def excess(c):
        one = stats.norm.sf(c * scale) * tails
        return float(weights @ -np.expm1(q * np.log1p(-one)) / 2 - alpha)

    c = brentq(excess, stats.t.isf(alpha / tails, df), stats.t.isf(alpha / tails / q, df) + 1e-9)
    return float(tails * stats.t.sf(c, df))


@pytest.mark.parametrize("q", [2, 5, 20])
def test_independent_normal_terms_have_the_level_of_sidak(q):
    for df in (1e6, np.inf):
        level = LargestT.of(np.diag(np.arange(1.0, q + 1)), df, "two-sided").level(0.05)
        expected = 1 - 0.95 ** (1 / q)
        c, exact = (stats.norm.isf(v / 2) for v in (level, expected))
        assert c == pytest.approx(exact, rel=0.004)  # 4 times the error that is promised


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("q", "df"), [(2, 5), (20, 5), (6, 15), (20, 15)])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
def test_quantiles_of_independent_terms_are_exact_to_a_thousandth(q, df, alpha, side):
    tails = 2 if side == "two-sided" else 1
    level = LargestT.of(np.eye(q), df, side).level(alpha)
    c, exact = (stats.t.isf(v / tails, df) for v in (level, exact_level(q, df, alpha, tails)))
    assert c == pytest.approx(exact, rel=0.004)  # 4 times the error that is promised


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.7])
@pytest.mark.parametrize("df", [5, 15, np.inf])
@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_terms_that_move_together_keep_their_level(side, df, alpha):
    level = LargestT.of(np.ones((4, 4)), df, side).level(alpha)
    assert level == pytest.approx(alpha, rel=1e-4)
    assert level <= alpha  # no band is narrower than the intervals of single terms


def test_terms_whose_variance_is_rounding_do_not_count():
    variance = Variance(
        cov=np.diag([1.0, 1e-34, 1e-34, np.nan]), df=15, cov_type="corrected", label="", note=""
    )
    estimate, bse = np.array([1.0, 1.0, 1.0, np.nan]), np.array([1.0, 0.0, 0.0, np.nan])
    joint = variance.joint_interval(estimate, bse, 0.05, "two-sided")
    np.testing.assert_array_equal(joint, variance.interval(estimate, bse, 0.05, "two-sided"))


def test_terms_without_variance_do_not_count():
    cov = np.diag([1.0, 0.0, 0.0])
    assert LargestT.of(cov, 10, "two-sided").level(0.05) == 0.05
