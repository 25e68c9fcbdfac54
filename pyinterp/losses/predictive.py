"""The cost of a predictive distribution: its negative log likelihood, and its entropy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from pyinterp._typing import FloatArray
from pyinterp.distributions import Distribution
from pyinterp.losses.rowwise import LOSSES, Loss, LossFunction
from pyinterp.models.predictor import Predictor
from pyinterp.ranges import POSITIVE


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
        function = _OfDistribution(predictor.distribution, of_response=True)
        return Loss("negative log likelihood", function, needs="distribution", unit="nats")
    if position is None:
        return LOSSES["log"]
    of_one = _OfOneClass(LOSSES["log"].function, position)
    return Loss("log loss of one class", of_one, needs="probability", unit="nats")


def entropy(predictor: Predictor, position: int | None = None) -> Loss:
    r"""Return the entropy :math:`H[q(\cdot | x)]` as a loss that does not look at the response.

    Parameters as of `negative_log_likelihood`.
    """
    if predictor.distribution is not None:
        function = _OfDistribution(predictor.distribution, of_response=False)
        return Loss("entropy", function, needs="distribution", unit="nats")
    if position is None:
        return CLASS_ENTROPY
    return replace(CLASS_ENTROPY, function=_OfOneClass(_entropy, position))


@dataclass(frozen=True)
class _OfDistribution:
    """Minus the log density of the response, or the differential entropy."""

    distribution: Distribution
    of_response: bool

    def __call__(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        if not self.of_response:
            return self.distribution.entropy(parameters)
        self.distribution.check_response(y)
        return -self.distribution.log_density(y, parameters)


@dataclass(frozen=True)
class _OfOneClass:
    """A loss of class probabilities, of one class and all others together."""

    loss: LossFunction
    position: int

    def __call__(self, y: FloatArray, probabilities: FloatArray) -> FloatArray:
        p = probabilities[..., self.position]
        member = np.asarray(y == self.position, np.float64)
        return self.loss(member, np.stack([1 - p, p], axis=-1))


def _entropy(_: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return the entropy of class probabilities, with 0 log 0 = 0."""
    # Rounding, of single precision too, leaves some outside of [0, 1].
    return np.asarray(special.entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=-1))


CLASS_ENTROPY = Loss("entropy", _entropy, needs="probability", unit="nats", range=POSITIVE)
