"""Predictive distributions: log densities and entropies by scipy, by quad and by sampling."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats

from pyinterp.distributions import Gamma, LogNormal, Normal, NormalMixture, Poisson
from pyinterp.errors import PredictionError

FAMILIES = {
    "normal": (Normal(), np.array([[0.3, 0.5], [-2, 7], [1e3, 1e-3]]), stats.norm),
    "gamma": (
        Gamma(),
        np.array([[0.3, 2.0], [5, 0.1], [80, 3]]),
        lambda shape, scale: stats.gamma(shape, scale=scale),
    ),
    "log-normal": (
        LogNormal(),
        np.array([[0.3, 0.5], [-2, 1.5], [4, 0.01]]),
        lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
    ),
    "poisson": (
        Poisson(),
        np.array([[0.01], [0.7], [3.0], [55.0], [199.0], [201.0], [5e3]]),
        stats.poisson,
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_log_densities_and_entropies_are_scipys(name):
    family, parameters, frozen = FAMILIES[name]
    for row in parameters:
        reference = frozen(*row)
        y = np.asarray(reference.ppf([0.01, 0.3, 0.5, 0.9, 0.999]))
        log = reference.logpmf if family.discrete else reference.logpdf
        assert_allclose(family.log_density(y, row), log(y), rtol=1e-9, atol=1e-12)
    expected = [float(frozen(*row).entropy()) for row in parameters]
    if name == "poisson":  # scipy stops adding too early where the mean is large
        counts = np.arange(8000)
        logs = [stats.poisson.logpmf(counts, mean) for (mean,) in parameters]
        expected = [-np.sum(np.exp(log[log > -700]) * log[log > -700]) for log in logs]
    assert_allclose(family.entropy(parameters), expected, rtol=1e-9, atol=1e-10)
    assert family.parameters == tuple(dict.fromkeys(family.parameters))
    assert len(family.parameters) == parameters.shape[1]


def by_quad(means, sds):
    """Integrate with scipy, told where components are."""
    family, parameters = NormalMixture(len(means)), np.concatenate([means, sds])

    def integrand(y):
        log = float(family.log_density(np.array(y), parameters))
        return -np.exp(log) * log

    edges = np.unique(
        [
            [m + k * s for k in (-9, -4, -2, -1, 0, 1, 2, 4, 9)]
            for m, s in zip(means, sds, strict=True)
        ]
    )
    parts = [
        integrate.quad(integrand, a, b, epsabs=1e-12, limit=200, full_output=1)[0]
        for a, b in pairwise(edges)
    ]
    return float(np.sum(parts))


mixtures = st.integers(1, 6).flatmap(
    lambda m: st.tuples(
        st.lists(st.floats(-20, 20), min_size=m, max_size=m),
        st.lists(st.floats(-3, 2).map(lambda e: 10.0**e), min_size=m, max_size=m),
    )
)


@settings(max_examples=60, deadline=None)
@given(mixtures)
def test_the_entropy_of_a_mixture_is_the_integral_to_1e_6_nats(mixture):
    means, sds = (np.array(part) for part in mixture)
    found = NormalMixture(len(means)).entropy(np.concatenate([means, sds])[None])[0]
    assert found == pytest.approx(by_quad(means, sds), abs=1e-6)


@pytest.mark.parametrize(
    ("means", "sds"),
    [
        ([0.0, 7.0], [1.0, 1.0]),  # where an even grid is least precise
        ([0.0, 0.0], [1.0, 0.0089]),  # almost the narrowest component that has a grid
        ([0.0, 0.0], [1.0, 0.0087]),  # a narrower one
        ([0.0, 3.0, 3.1], [2.0, 0.1, 0.3]),
    ],
)
def test_the_entropy_of_a_mixture_to_1e_8_nats(means, sds):
    found = NormalMixture(len(means)).entropy(np.array([means + sds]))[0]
    assert found == pytest.approx(by_quad(np.array(means), np.array(sds)), abs=1e-8)


def test_the_entropy_of_a_mixture_does_not_depend_on_where_it_is():
    for sds in ([1.0, 1.0], [1.0, 1e4]):  # on an even grid, and panel by panel
        entropy = NormalMixture(2).entropy(np.array([[0, 2, *sds], [1e15, 1e15 + 2, *sds]]))
        assert entropy[1] == pytest.approx(entropy[0], abs=1e-8)


@pytest.mark.parametrize(
    ("means", "sds"),
    [
        ([0.0, 0.0], [1e-8, 1e8]),
        ([0.3, 0.0], [1e-14, 1.0]),
        ([0.0, 1e12], [1e-3, 1e-3]),
        ([0.0] * 4, [1e-8, 1.0, 1e8, 1e16]),
    ],
)
def test_components_of_very_different_size_or_place_are_seen(means, sds):
    """One has hardly any mass where the other is: the mean of entropies, plus log M."""
    entropy = NormalMixture(len(means)).entropy(np.array([means + sds]))[0]
    each = Normal().entropy(np.column_stack([means, sds]))
    assert entropy == pytest.approx(each.mean() + np.log(len(sds)), abs=1e-6)


def test_the_entropy_of_a_mixture_of_many():
    rng = np.random.default_rng(5)
    means, sds = rng.normal(0, 2, (3, 50)), np.exp(rng.normal(-0.5, 0.7, (3, 50)))
    found = NormalMixture(50).entropy(np.concatenate([means, sds], axis=1))
    assert_allclose(found, list(map(by_quad, means, sds)), rtol=0, atol=1e-8)


def test_components_that_are_alike_are_one_normal_and_far_apart_ones_add_log_m():
    one = NormalMixture(4).entropy(np.array([[1.0] * 4 + [2.0] * 4]))
    assert_allclose(one, Normal().entropy(np.array([[1.0, 2.0]])), atol=1e-9)
    far = NormalMixture(2).entropy(np.array([[-1e3, 1e3, 1e-3, 3.0]]))
    halves = Normal().entropy(np.array([[0, 1e-3], [0, 3.0]])).mean() + np.log(2)
    assert_allclose(far, halves, atol=1e-8)


def test_the_shape_is_that_of_the_predictions():
    parameters = np.random.default_rng(0).uniform(1, 2, (3, 5, 4))
    assert NormalMixture(2).entropy(parameters).shape == (3, 5)
    assert NormalMixture(2).log_density(np.ones((3, 1)), parameters).shape == (3, 5)
    assert Normal().entropy(parameters[..., :2]).shape == (3, 5)
    assert Poisson().entropy(parameters[..., :1]).shape == (3, 5)


@pytest.mark.parametrize("family", [Normal(), Gamma(), LogNormal(), Poisson(), NormalMixture(2)])
def test_parameters_that_are_no_distribution_are_refused(family):
    parameters = np.ones((3, len(family.parameters)))
    family.check(parameters, "Me")
    parameters[1, -1] = 0.0
    with pytest.raises(PredictionError, match=r"must be larger than 0.* Me predicts"):
        family.check(parameters, "Me")
