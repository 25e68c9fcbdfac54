"""What a predictive distribution costs: its negative log likelihood, and its entropy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from pyinterp._typing import FloatArray
from pyinterp.distributions import Distribution
from pyinterp.losses.rowwise import EPSILON, LOSSES, Loss
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import POSITIVE

__all__ = ["CLASS_ENTROPY", "entropy", "negative_log_likelihood"]


def negative_log_likelihood(predictor: Predictor, position: int | None = None) -> Loss:
    r"""Return the loss :math:`-\log q(y | x)`; of classes it is the log loss.

    Parameters
    ----------
    predictor : Predictor
        Of class probabilities, or of distributions.
    position : int, optional
        Of a class, which is told from all others together.
    """
    if predictor.distribution is not None:
        return Loss(
            "negative log likelihood",
            _MinusLogDensity(predictor.distribution),
            needs="distribution",
            unit="nats",
        )
    if position is None:
        return LOSSES["log"]
    return Loss("log loss of one class", _OneClass(position), needs="probability", unit="nats")


def entropy(predictor: Predictor, position: int | None = None) -> Loss:
    r"""Return the entropy :math:`H[q(\cdot | x)]` as a loss that does not look at the response.

    Parameters are those of `negative_log_likelihood`.
    """
    if predictor.distribution is not None:
        function = _DifferentialEntropy(predictor.distribution)
        return Loss("entropy", function, needs="distribution", unit="nats")
    return replace(CLASS_ENTROPY, function=_ClassEntropy(position))


@dataclass(frozen=True)
class _MinusLogDensity:
    distribution: Distribution

    def __call__(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        self.distribution.check_response(y)
        return -self.distribution.log_density(y, parameters)


@dataclass(frozen=True)
class _DifferentialEntropy:
    distribution: Distribution

    def __call__(self, _: FloatArray, parameters: FloatArray) -> FloatArray:
        return self.distribution.entropy(parameters)


@dataclass(frozen=True)
class _ClassEntropy:
    """Entropy of class probabilities, with 0 log 0 = 0; of one class, that of its indicator."""

    position: int | None

    def __call__(self, _: FloatArray, probabilities: FloatArray) -> FloatArray:
        # Rounding, of single precision too, leaves some outside of [0, 1].
        if self.position is None:
            return np.asarray(special.entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=-1))
        p = np.clip(probabilities[..., self.position], 0.0, 1.0)
        return np.asarray(special.entr(p) + special.entr(1 - p))


@dataclass(frozen=True)
class _OneClass:
    position: int

    def __call__(self, y: FloatArray, probabilities: FloatArray) -> FloatArray:
        p = probabilities[..., self.position]
        observed = np.where(y == self.position, p, 1 - p)
        return np.asarray(-np.log(np.clip(observed, EPSILON, 1.0)))


CLASS_ENTROPY = Loss(
    "entropy", _ClassEntropy(None), needs="probability", unit="nats", range=POSITIVE
)
