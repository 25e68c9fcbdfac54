"""The corrections for few rows are exact where they can be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.over_rows import rows, units_of
from pyinterp.inference.replicates import RefitEstimate, Replicates

WEIGHTS = np.array([0.2, 1.0, 1.0, 3.0, 0.7, 2.5, 9.0])
CLUSTERS = np.array([4, 4, 2, 2, 2, 9, 9])


def variance(values, weights, clusters):
    part = RefitEstimate(
        Estimate.of_rows(values[:, None], weights), np.arange(7), None, clusters, weights
    )
    return float(rows(Replicates.of((part,), correction=0.0)).cov[0, 0])


def mean_variance(weights):
    """Return the expected variance of independent values of variance 1, without simulation.

    It is a quadratic form of the values, whose expectation is the sum of those of unit vectors.
    """
    return sum(variance(value, weights, None) for value in np.eye(7))


@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS**3])
def test_the_variance_of_a_weighted_mean_is_unbiased(weights):
    shares = np.ones(7) / 7 if weights is None else weights / weights.sum()
    assert_allclose(mean_variance(weights), (shares**2).sum(), rtol=1e-12)


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_weights_that_hardly_differ_are_none(clusters):
    values = np.sin(np.arange(7.0))
    nearly = 1 + 1e-9 * np.arange(7)
    one, other = (units_of(7, clusters, w) for w in (nearly, None))
    assert_allclose((one.factor, one.df), (other.factor, other.df), rtol=1e-7)
    assert_allclose(variance(values, nearly, clusters), variance(values, None, clusters), rtol=1e-7)


def test_degrees_of_freedom_count_the_effective_units():
    assert units_of(7, None, WEIGHTS).df == pytest.approx(
        WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum() - 1
    )
    means = np.array([(1 + 3 + 0.7) / 3, (0.2 + 1) / 2, (2.5 + 9) / 2])
    assert units_of(7, CLUSTERS, WEIGHTS).df == pytest.approx(
        means.sum() ** 2 / (means**2).sum() - 1
    )
