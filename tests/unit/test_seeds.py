"""Random streams: one per purpose, refit and name, and none of them shared."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from pyinterp.errors import OptionError
from pyinterp.random import Seeds


def first(seeds: Seeds, *key: Any) -> float:
    return float(seeds.stream(*key).random())


def test_streams_are_reproducible_and_distinct() -> None:
    keys = list(product(["splits", "refits", "draws"], [0, 1, 2], ["", "x", "z"]))
    numbers = [first(Seeds(1), *key) for key in keys]
    assert numbers == [first(Seeds(1), *key) for key in keys]
    assert len(set(numbers)) == len(keys)
    assert not set(numbers) & {first(Seeds(2), *key) for key in keys}


def test_a_stream_does_not_depend_on_other_streams() -> None:
    seeds = Seeds(1)
    alone = first(seeds, "draws", 3, "x")
    seeds.stream("draws", 3, "z").random(100)
    assert first(seeds, "draws", 3, "x") == alone


def test_a_generator_advances_and_repeats() -> None:
    rng = np.random.default_rng(5)
    a, b = Seeds.start(rng), Seeds.start(rng)
    assert a != b
    assert Seeds.start(np.random.default_rng(5)) == a


def test_integers_of_any_size_and_none() -> None:
    assert Seeds.start(np.int64(7)) == Seeds.start(7) == Seeds(7)
    assert Seeds.start(2**70).entropy == 2**70
    assert Seeds.start(None) != Seeds.start(None)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, np.random.RandomState(1), [1]])
def test_anything_else_is_a_clear_error(seed: Any) -> None:
    with pytest.raises(OptionError, match=r"`seed` must be a non-negative int, a numpy.random.Gen"):
        Seeds.start(seed)
