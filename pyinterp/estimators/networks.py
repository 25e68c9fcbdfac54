"""What networks with drawn weights predict, by NumPy: no PyTorch, no threads of its own.

The weights of every draw are set once per fitted model, by a seed. So a prediction is a function of
its row, whichever rows stand beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray

__all__ = ["Layer", "Networks", "Scale", "WeightDraws", "probabilities"]

ROWS = 512  # per block: its activations in one draw stay in a core's cache

# Weights of shape (draws or 1, inputs, outputs) and biases (draws or 1, 1, outputs).
Layer = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Scale:
    """Location and spread of columns, by which they are standardized.

    Attributes
    ----------
    center, spread : array
        Mean and standard deviation; of a constant column the spread is 1.
    """

    center: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Scale:
        """Return that of the rows of an array."""
        spread = columns.std(axis=0)
        # What rounding leaves of a constant is no spread.
        level = 1e-12 * np.abs(columns).max(axis=0)
        return cls(columns.mean(axis=0), np.where(spread > level, spread, 1.0))

    def standardize(self, columns: FloatArray) -> FloatArray:
        """Return columns with mean 0 and standard deviation 1 on the rows of the scale."""
        return (columns - self.center) / self.spread

    def restore(self, standardized: FloatArray) -> FloatArray:
        """Return the columns in their own units."""
        return self.center + self.spread * standardized


class WeightDraws(ABC):
    """A distribution of a network's weights, and a seed that sets the draws from it."""

    @abstractmethod
    def layers(self) -> list[Layer]:
        """Return the weights of every draw, the same at every call."""


@dataclass(frozen=True)
class Networks:
    """One network per draw of the weights.

    Attributes
    ----------
    scale : Scale
        Of the features.
    weights : WeightDraws
    """

    scale: Scale
    weights: WeightDraws

    def outputs(self, X: FloatArray) -> Iterator[FloatArray]:
        """Yield the outputs of blocks of rows in order, each of shape (draws, rows, outputs)."""
        layers = self.weights.layers()
        for start in range(0, len(X), ROWS):
            yield forward(self.scale.standardize(X[start : start + ROWS]), layers)


def forward(rows: FloatArray, layers: Sequence[Layer]) -> FloatArray:
    """Return outputs of shape (draws, rows, outputs); hidden units are rectified."""
    units = rows[None]
    for weights, biases in layers[:-1]:
        units = np.maximum(units @ weights + biases, 0.0)
    weights, biases = layers[-1]
    return np.asarray(units @ weights + biases)


def probabilities(outputs: FloatArray) -> FloatArray:
    """Return the softmax over the last axis."""
    powers = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
