"""Normal predictive distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.distributions.distribution import Distribution
from pyinterp.errors import PredictionError

__all__ = ["Normal", "check_spread"]

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
# Of a mean: a standard deviation below it is what rounding leaves of 0.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def check_spread(means: FloatArray, sds: FloatArray, who: str) -> None:
    """Raise `PredictionError` unless standard deviations are larger than 0, and than rounding."""
    certain = ~(sds > ROUNDING * np.abs(means))
    if certain.any():
        raise PredictionError(
            "The standard deviation of a predictive distribution must be larger than 0, and than "
            f"the rounding of its mean, but {who} predicts {sds[certain].min():.6g} for some row. "
            "A response that is certain has no density; give the model noise, as WhiteKernel does "
            "for Gaussian processes."
        )


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

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise `PredictionError` unless all standard deviations are positive."""
        check_spread(parameters[..., 0], parameters[..., 1], who)
