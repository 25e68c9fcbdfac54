"""Averages of curves: definitions, and influences by differentiation and by simulation."""

import numpy as np
import pytest
from statsmodels.regression.quantile_regression import hall_sheather

from pyinterp.estimands.effects.partial_dependence import _hall_sheather, average_curve

RNG = np.random.default_rng(3)
CURVES = RNG.standard_t(4, size=(101, 3))


@pytest.mark.parametrize("average", ["median", "trimmed"])
def test_contributions_have_the_average_as_their_mean(average):
    found = average_curve(CURVES, average)
    np.testing.assert_allclose(found.rows.mean(axis=0), found.value)


@pytest.mark.parametrize(("average", "tolerance"), [("median", 0.1), ("trimmed", 0.03)])
def test_their_standard_errors(average, tolerance):
    """Over 2,000 samples of 200 the spread is what contributions say, 4 se of that being 6%.

    The median's density is estimated; the tolerance adds its smoothing.
    """
    draws = np.random.default_rng(8).standard_t(4, size=(200, 2000))
    found = average_curve(draws, average)
    said = np.sqrt(np.mean(found.rows.var(axis=0, ddof=1) / 200))
    assert found.value.std(ddof=1) / said == pytest.approx(1, abs=0.063 + tolerance)


def test_a_constant_curve_has_no_spread():
    for average in ("median", "trimmed"):
        found = average_curve(np.ones((50, 2)), average)
        np.testing.assert_array_equal(found.rows, 1)


@pytest.mark.parametrize("n", [10, 100, 5000])
def test_the_bandwidth_is_that_of_statsmodels(n):
    assert _hall_sheather(n) == pytest.approx(hall_sheather(n, 0.5, 0.05), rel=1e-12)
