"""The corrections for few rows are exact where they can be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.over_rows import rows
from pyinterp.inference.replicates import RefitEstimate, Replicates

WEIGHTS = np.array([0.2, 1.0, 1.0, 3.0, 0.7, 2.5, 9.0])
CLUSTERS = np.array([4, 4, 2, 2, 2, 9, 9])


def variance(values, weights, clusters):
    part = RefitEstimate(
        Estimate.of_rows(values[:, None], weights), np.arange(7), None, clusters, weights
    )
    return rows(Replicates.of((part,)))


@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS**3])
def test_the_variance_of_a_weighted_mean_is_unbiased(weights):
    """A quadratic form has the expectation of those of unit vectors, without simulation."""
    shares = np.ones(7) / 7 if weights is None else weights / weights.sum()
    mean = sum(variance(value, weights, None).cov for value in np.eye(7))
    assert_allclose(mean[0, 0], (shares**2).sum(), rtol=1e-12)


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_weights_that_hardly_differ_are_none(clusters):
    values = np.sin(np.arange(7.0))
    nearly = 1 + 1e-9 * np.arange(7)
    one, other = (variance(values, w, clusters) for w in (nearly, None))
    assert_allclose((one.cov[0, 0], one.df), (other.cov[0, 0], other.df), rtol=1e-7)


def test_degrees_of_freedom_count_the_effective_units():
    assert variance(WEIGHTS, WEIGHTS, None).df == pytest.approx(
        WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum() - 1
    )
    means = np.array([4.7 / 3, 1.2 / 2, 11.5 / 2])
    assert variance(WEIGHTS, WEIGHTS, CLUSTERS).df == pytest.approx(
        means.sum() ** 2 / (means**2).sum() - 1
    )
