"""What a family of predictive distributions is."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray
from pyinterp.errors import LossError, PredictionError

__all__ = ["Distribution"]


class Distribution(ABC):
    """A family of densities q(y), or of probabilities of counts, with P parameters.

    Arrays of parameters have shape (..., P). A subclass is a frozen dataclass, so that what is
    computed with equal families is shared.

    Attributes
    ----------
    name : str
        What messages and tables call it.
    discrete : bool
        Whether y is a count: then the entropy is not negative.
    support : str
        What y can be.
    positive : tuple of int
        Positions of the parameters that must be larger than 0.
    """

    name: str
    discrete: bool = False
    support: str = "numbers"
    positive: tuple[int, ...] = ()

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the P parameters, in order."""

    @abstractmethod
    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log q(y), shape (...); `y` broadcasts against it."""

    @abstractmethod
    def entropy(self, parameters: FloatArray) -> FloatArray:
        r"""Return :math:`-\int q \log q`, for counts the sum, in nats; shape (...)."""

    @abstractmethod
    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return E(y), shape (...)."""

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise `PredictionError` unless parameters, shape (n, P), are those of a distribution."""
        for place in self.positive:
            smallest = parameters[..., place].min(initial=np.inf)
            if not smallest > 0:
                raise PredictionError(
                    f"The {self.parameters[place]} of a predictive distribution must be larger "
                    f"than 0, but {who} predicts {smallest:.6g} for some row; use a learner whose "
                    "predictions stay above 0, such as one with a log link."
                )

    def covers(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether each of the responses is possible, shape that of `y`."""
        return np.ones(y.shape, dtype=bool)

    def check_response(self, y: FloatArray) -> None:
        """Raise `LossError` if some response is impossible."""
        impossible = y[~self.covers(y)]
        if impossible.size:
            raise LossError(
                f"The likelihood of a {self.name} distribution is that of {self.support}, but the "
                f"response has {impossible[0]:.6g}; use a learner that states a distribution of "
                "such numbers."
            )
