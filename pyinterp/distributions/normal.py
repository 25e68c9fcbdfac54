"""Normal predictive distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.distributions.distribution import Distribution

__all__ = ["Normal"]

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Normal(Distribution):
    r"""Normal, with mean and standard deviation.

    Its entropy is :math:`\tfrac12 \log(2 \pi e \sigma^2)`.
    """

    name = "Normal"
    parameters = ("mean", "standard deviation")

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities."""
        mean, sd = parameters[..., 0], parameters[..., 1]
        return np.asarray(-HALF_LOG_2PI - np.log(sd) - 0.5 * np.square((y - mean) / sd))

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies."""
        return np.asarray(HALF_LOG_2PI + 0.5 + np.log(parameters[..., 1]))

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(parameters[..., 0])

    def positive(self) -> tuple[int, ...]:
        """Return the position of the standard deviation."""
        return (1,)
