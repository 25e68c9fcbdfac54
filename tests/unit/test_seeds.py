"""Random streams: one per purpose, refit and name, and none of them shared."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.random import Seeds
from pyinterp.simulation.data_copy import copy_of


def first(seeds, *key):
    return float(seeds.stream(*key).random())


def test_streams_are_reproducible_and_distinct():
    keys = list(product(["splits", "refits", "draws"], [0, 1, 2], ["", "x", "z"]))
    numbers = [first(Seeds(1), *key) for key in keys]
    assert numbers == [first(Seeds(1), *key) for key in keys]
    assert len(set(numbers)) == len(keys)
    assert not set(numbers) & {first(Seeds(2), *key) for key in keys}


def test_a_stream_does_not_depend_on_other_streams():
    seeds = Seeds(1)
    alone = first(seeds, "draws", 3, "x")
    seeds.stream("draws", 3, "z").random(100)
    assert first(seeds, "draws", 3, "x") == alone


def test_a_generator_advances_and_repeats():
    rng = np.random.default_rng(5)
    a, b = Seeds.start(rng), Seeds.start(rng)
    assert a != b
    assert Seeds.start(np.random.default_rng(5)) == a


def test_integers_of_any_size_and_none():
    assert Seeds.start(np.int64(7)) == Seeds.start(7) == Seeds(7)
    assert Seeds.start(2**70).entropy == 2**70
    assert Seeds.start(None) != Seeds.start(None)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, np.random.RandomState(1), [1]])
def test_anything_else_is_a_clear_error(seed):
    with pytest.raises(OptionError, match=r"`seed` must be a non-negative int, a numpy.random.Gen"):
        Seeds.start(seed)


@pytest.mark.parametrize("response", ["y", "two"])
def test_a_certificate_does_not_depend_on_last_bits(data, monkeypatch, response):
    """Another processor adds up in another order, and the same seed has the same data sets."""
    data = data.assign(two=np.where(data["y"] > data["y"].median(), "yes", "no"))
    estimator = LinearRegression() if response == "y" else LogisticRegression()
    results = fit_of(f"{response} ~ x + z", data, estimator, pi.Subsampling(5))

    def certify():
        return pi.certify(results, data_sets=3, truth_refits=10).frame

    def moved(analysis):
        copy, change = copy_of(analysis), 1 + 1e-14
        means = copy.means * change
        if response == "two":
            means /= means.sum(axis=1, keepdims=True) * change
        return replace(
            copy,
            means=means,
            residuals=copy.residuals * change,
            function=lambda frame: means[frame.index],
        )

    before = certify()
    monkeypatch.setattr("pyinterp.simulation.certify.copy_of", moved)
    np.testing.assert_allclose(certify(), before, rtol=1e-8, atol=1e-8)
