"""A network with drawn weights: its settings and its predictions.

Prediction is by NumPy: no PyTorch, no threads. The weights of every draw are set once
per fitted model, by a seed. So a prediction is a function of its row, whichever rows stand near
it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pyinterp_papers.streams import stream

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
SingleArray: TypeAlias = npt.NDArray[np.float32]

ROWS = 512  # per block: its activations in one draw stay in a core's cache

# Weights of shape (draws or 1, inputs, outputs) and biases (draws or 1, 1, outputs).
Layer: TypeAlias = tuple[FloatArray, FloatArray]
Draw: TypeAlias = Callable[[np.random.Generator], list[Layer]]


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
        """Return the scale of the columns of an array."""
        spread = columns.std(axis=0)
        # Rounding of a constant is no spread.
        level = 1e-12 * np.abs(columns).max(axis=0)
        return cls(columns.mean(axis=0), np.where(spread > level, spread, 1.0))

    def standardize(self, columns: FloatArray) -> FloatArray:
        """Return columns with mean 0 and standard deviation 1 on the rows of the scale."""
        return (columns - self.center) / self.spread

    def restore(self, standardized: FloatArray) -> FloatArray:
        """Return the columns in their units."""
        return self.center + self.spread * standardized


def forward(rows: FloatArray, layers: Sequence[Layer]) -> FloatArray:
    """Return outputs of shape (draws, rows, outputs); hidden units are rectified."""
    units = rows[None]
    for weights, biases in layers[:-1]:
        units = np.maximum(units @ weights + biases, 0.0)
    weights, biases = layers[-1]
    return np.asarray(units @ weights + biases)


def start_weights(sizes: Sequence[int], rng: np.random.Generator) -> list[SingleArray]:
    """Return weights and biases, layer by layer, uniform as in ``torch.nn.Linear``."""
    start = []
    for inputs, outputs in pairwise(sizes):
        end = inputs**-0.5
        start += [rng.uniform(-end, end, (inputs, outputs)), rng.uniform(-end, end, (outputs,))]
    return [part.astype(np.float32) for part in start]


@dataclass(kw_only=True, eq=False, repr=False)
class Network(BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """An estimator that is a network; the classes that users make describe the parameters.

    Attributes
    ----------
    scale_ : Scale
        Of the features.
    draw_ : callable
        Of a random generator: the weights of every draw.
    draw_seed_ : int
    """

    hidden_layer_sizes: Sequence[int] = field(default=(100, 100), kw_only=False)
    learning_rate: float
    epochs: int
    batch_size: int = 200
    draws: int = 50
    random_state: Any = None

    def _seed(self) -> int:
        """Return the seed of all random streams of a fit."""
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn(self, X: FloatArray, targets: Any, outputs: int, seed: int) -> None:
        """Train a network with so many outputs."""
        self.scale_ = Scale.of(X)
        rows = self.scale_.standardize(X).astype(np.float32)
        sizes = X.shape[1], *self.hidden_layer_sizes, outputs
        start = start_weights(sizes, stream(seed, "refits", "start"))
        self.draw_ = self._train(rows, targets, start, seed)
        self.draw_seed_ = int(stream(seed, "draws").integers(2**63))

    @abstractmethod
    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seed: int
    ) -> Draw:
        """Return the draw of weights."""

    def _layers(self) -> list[Layer]:
        """Return the weights of every draw, the same at every call."""
        return self.draw_(np.random.default_rng(self.draw_seed_))

    def _outputs(self, X: FloatArray) -> Iterator[FloatArray]:
        """Yield the outputs of blocks of rows in order, each of shape (draws, rows, outputs)."""
        layers = self._layers()
        for start in range(0, len(X), ROWS):
            yield forward(self.scale_.standardize(X[start : start + ROWS]), layers)

    def _rows(self, X: npt.ArrayLike) -> FloatArray:
        """Return rows to predict, their columns compared with the fit."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))
