"""Random streams by purpose and name, as the package's own, so that one seed gives all of them."""

from __future__ import annotations

import zlib

import numpy as np

PURPOSES = ("splits", "refits", "draws")


def stream(seed: int, purpose: str, name: str = "") -> np.random.Generator:
    """Return the random stream of a purpose and a name."""
    key = PURPOSES.index(purpose), 0, zlib.crc32(name.encode())
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
