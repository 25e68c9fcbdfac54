"""Random streams: one root seed, and a child for every purpose, refit and feature.

A stream depends on what it is for and on nothing else, so that results do not depend on the number
of jobs or on which features were asked for.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pyinterp.errors import OptionError, quote

Seed = int | np.random.Generator | None
Purpose = Literal["splits", "refits", "draws"]
_CODE = {"splits": 0, "refits": 1, "draws": 2}


@dataclass(frozen=True)
class Seeds:
    """The root of all random streams of one analysis.

    Parameters
    ----------
    entropy : int
        Root entropy. The same entropy gives the same numbers.
    """

    entropy: int

    @classmethod
    def start(cls, seed: Seed) -> Seeds:
        """Make the root from an int, a Generator (which advances) or None (drawn and recorded)."""
        if isinstance(seed, np.random.Generator):
            return cls(int(seed.integers(2**32)))
        if seed is None:
            return cls(int(np.random.SeedSequence().generate_state(1)[0]))
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise OptionError(
                "`seed` must be a non-negative int, a numpy.random.Generator or None,"
                f" not {quote(seed)}."
            )
        return cls(int(seed))

    def stream(self, purpose: Purpose, refit: int = 0, name: str = "") -> np.random.Generator:
        """Return the generator for one purpose, refit and feature."""
        key = (_CODE[purpose], refit, zlib.crc32(name.encode()))
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))
