"""Predictive distributions of positive responses: gamma and log-normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pyinterp._typing import FloatArray
from pyinterp.distributions.distribution import Distribution
from pyinterp.distributions.normal import Normal

__all__ = ["Gamma", "LogNormal"]


@dataclass(frozen=True)
class Gamma(Distribution):
    """Gamma, with shape and scale."""

    name = "gamma"
    support = "numbers larger than 0"
    parameters = ("shape", "scale")

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities."""
        shape, scale = parameters[..., 0], parameters[..., 1]
        return np.asarray(
            special.xlogy(shape - 1, y) - y / scale - special.gammaln(shape) - shape * np.log(scale)
        )

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies."""
        shape, scale = parameters[..., 0], parameters[..., 1]
        rest = special.gammaln(shape) + (1 - shape) * special.digamma(shape)
        return np.asarray(shape + np.log(scale) + rest)

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(parameters[..., 0] * parameters[..., 1])

    def covers(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether responses are larger than 0."""
        return np.asarray(y > 0)

    def positive(self) -> tuple[int, ...]:
        """Return the positions of both parameters."""
        return 0, 1


@dataclass(frozen=True)
class LogNormal(Distribution):
    """Log-normal, with the mean and the standard deviation of the logarithm."""

    name = "log-normal"
    support = "numbers larger than 0"
    parameters = ("mean of the logarithm", "standard deviation of the logarithm")

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities."""
        log = np.log(y)
        return np.asarray(Normal().log_density(log, parameters) - log)

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies."""
        return np.asarray(Normal().entropy(parameters) + parameters[..., 0])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(np.exp(parameters[..., 0] + 0.5 * np.square(parameters[..., 1])))

    def covers(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether responses are larger than 0."""
        return np.asarray(y > 0)

    def positive(self) -> tuple[int, ...]:
        """Return the position of the standard deviation."""
        return (1,)
