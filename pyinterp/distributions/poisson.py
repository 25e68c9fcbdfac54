"""Poisson predictive distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pyinterp._typing import FloatArray
from pyinterp.distributions.distribution import Distribution

__all__ = ["Poisson"]

# From here on the series of the entropy is off by less than 1e-10 nats.
LARGE = 200.0
# Counts above mean + SPREAD * sd + MORE have probability below 1e-16.
SPREAD, MORE = 10.0, 30.0
# Means whose counts are added together.
BLOCK = 2**10


@dataclass(frozen=True)
class Poisson(Distribution):
    """Poisson, with its mean."""

    name = "Poisson"
    support = "counts 0, 1, 2, ..."
    discrete = True
    parameters = ("mean",)

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log probabilities."""
        mean = parameters[..., 0]
        return np.asarray(special.xlogy(y, mean) - mean - special.gammaln(y + 1))

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies: sums over counts, for large means the series of Stirling's formula."""
        mean = parameters[..., 0]
        values, which = np.unique(mean, return_inverse=True)
        entropy = np.empty(len(values))
        large = values > LARGE
        m = values[large]
        entropy[large] = (
            0.5 * np.log(2 * np.pi * np.e * m) - 1 / (12 * m) - 1 / (24 * m**2)
            - 19 / (360 * m**3) - 9 / (80 * m**4)
        )  # fmt: skip
        few = np.count_nonzero(~large)  # values are sorted
        for start in range(0, few, BLOCK):
            part = slice(start, min(start + BLOCK, few))
            most = values[part][-1]
            counts = np.arange(most + SPREAD * np.sqrt(most) + MORE)
            log = self.log_density(counts, values[part, None, None])
            entropy[part] = -(np.exp(log) * log).sum(axis=-1)
        return np.asarray(entropy[which.reshape(mean.shape)])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(parameters[..., 0])

    def covers(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether responses are counts."""
        return np.asarray((y >= 0) & (y == np.floor(y)))

    def positive(self) -> tuple[int, ...]:
        """Return the position of the mean."""
        return (0,)
