"""Networks with drawn weights: their settings, their fit and their predictions.

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
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pyinterp._typing import FloatArray
from pyinterp.checks import POSITIVE, check_count, check_flag, check_number, is_list
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.random import Seeds

ROWS = 512  # per block: its activations in one draw stay in a core's cache

# Weights of shape (draws or 1, inputs, outputs) and biases (draws or 1, 1, outputs).
Layer: TypeAlias = tuple[FloatArray, FloatArray]
Draw: TypeAlias = Callable[[np.random.Generator], list[Layer]]
SingleArray: TypeAlias = npt.NDArray[np.float32]


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


@dataclass(frozen=True)
class Networks:
    """One network per draw of the weights.

    Attributes
    ----------
    scale : Scale
        Of the features.
    draw : callable
        Of a random generator: the weights of every draw.
    seed : int
    log_noise : float
        Logarithm of the standard deviation of a standardized response, if it is learned with the
        weights.
    """

    scale: Scale
    draw: Draw
    seed: int
    log_noise: float = 0.0

    def layers(self) -> list[Layer]:
        """Return the weights of every draw, the same at every call."""
        return self.draw(np.random.default_rng(self.seed))

    def outputs(self, X: FloatArray) -> Iterator[FloatArray]:
        """Yield the outputs of blocks of rows in order, each of shape (draws, rows, outputs)."""
        layers = self.layers()
        for start in range(0, len(X), ROWS):
            yield forward(self.scale.standardize(X[start : start + ROWS]), layers)


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
    """An estimator that is a network; the classes that users make describe the parameters."""

    hidden_layer_sizes: Sequence[int] = field(default=(100, 100), kw_only=False)
    learning_rate: float
    epochs: int
    batch_size: int = 200
    draws: int = 50
    random_state: Any = None
    progress: bool = False

    def _check(self) -> None:
        """Raise `OptionError` unless every setting is allowed."""
        if not is_list(self.hidden_layer_sizes):
            raise OptionError(
                "`hidden_layer_sizes` must be a list such as (100, 100), not "
                f"{quote(self.hidden_layer_sizes)}."
            )
        for units in self.hidden_layer_sizes:
            check_count("hidden_layer_sizes", units)
        check_number("learning_rate", self.learning_rate, POSITIVE)
        check_count("epochs", self.epochs)
        check_count("batch_size", self.batch_size)
        check_count("draws", self.draws)
        check_flag("progress", self.progress)

    def _networks(self, X: FloatArray, targets: Any, outputs: int, seeds: Seeds) -> Networks:
        """Train networks with so many outputs; targets of a classifier are positions of classes."""
        self._check()
        scale = Scale.of(X)
        rows = scale.standardize(X).astype(np.float32)
        sizes = X.shape[1], *self.hidden_layer_sizes, outputs
        start = start_weights(sizes, seeds.stream("refits", name="start"))
        draw, log_noise = self._train(rows, targets, start, seeds)
        return Networks(scale, draw, int(seeds.stream("draws").integers(2**63)), log_noise)

    @abstractmethod
    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seeds: Seeds
    ) -> tuple[Draw, float]:
        """Return the draw of weights, and the logarithm of the noise, 0 if it is not learned."""

    def _seeds(self) -> Seeds:
        """Return the root of a fit's random streams."""
        random = check_random_state(self.random_state)
        return Seeds(int(random.randint(np.iinfo(np.int32).max)))

    def _outputs(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
        """Yield the outputs for the rows, their columns compared with the fit."""
        check_is_fitted(self)
        networks: Networks = self.networks_
        return networks.outputs(np.asarray(validate_data(self, X, reset=False, dtype=np.float64)))


class NetworkRegressor(RegressorMixin, Network):  # type: ignore[misc]  # untyped
    """A regressor whose prediction is a mixture of normal distributions, one per draw of weights.

    Attributes
    ----------
    networks_ : Networks
    response_scale_ : Scale
        Of the response: networks predict it standardized.
    noise_ : float
        Standard deviation of a response around a network's mean.
    """

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NetworkRegressor:
        """Train the networks; PyTorch is needed for this alone."""
        rows, response = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        self._learn(rows, np.asarray(response, dtype=np.float64), self._seeds())
        return self

    @abstractmethod
    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        """Set `networks_`, `response_scale_` and `noise_`."""

    networks_: Networks
    response_scale_: Scale
    noise_: float

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the mean of the mixture, and its standard deviation if asked for.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        return_std : bool
            Whether the standard deviation, noise included, is returned too.

        Returns
        -------
        array of shape (n,), or two of them
        """
        parts = [(block.mean(axis=0), block.std(axis=0)) for block in self._outputs(X)]
        center, spread = (np.concatenate(part)[:, 0] for part in zip(*parts, strict=True))
        mean = self.response_scale_.restore(center)
        if not return_std:
            return mean
        return mean, np.hypot(self.response_scale_.spread * spread, self.noise_)

    def predict_components(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the mixture: means and standard deviations of its equally likely parts.

        Parameters
        ----------
        X : array or frame of shape (n, features)

        Returns
        -------
        means, sds : arrays of shape (n, draws)
            Of normal distributions. The sds include the noise of an observation.
        """
        outputs = np.concatenate([block[:, :, 0].T for block in self._outputs(X)])
        means = self.response_scale_.restore(outputs)
        return means, np.full_like(means, self.noise_)


class NetworkClassifier(ClassifierMixin, Network):  # type: ignore[misc]  # untyped
    """A classifier whose probabilities are means over draws of a network's weights.

    Attributes
    ----------
    networks_ : Networks
    classes_ : array of shape (classes,)
    """

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NetworkClassifier:
        """Train the networks; PyTorch is needed for this alone."""
        rows, response = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(response)
        self.classes_, codes = np.unique(response, return_inverse=True)
        if len(self.classes_) == 1:
            raise DataError(
                f"{type(self).__name__} needs at least two classes, but the response has one class."
            )
        classes = len(self.classes_)
        self.networks_ = self._networks(rows, codes.astype(np.int64), classes, self._seeds())
        return self

    networks_: Networks

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """Return class probabilities, means over the draws, shape (n, classes)."""
        blocks = [softmax(block, axis=-1).mean(axis=0) for block in self._outputs(X)]
        return np.concatenate(blocks)

    def predict_proba_draws(self, X: npt.ArrayLike) -> FloatArray:
        """Return the class probabilities of every draw, shape (draws, n, classes)."""
        blocks = [softmax(block, axis=-1) for block in self._outputs(X)]
        return np.concatenate(blocks, axis=1)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable classes."""
        best = np.argmax(self.predict_proba(X), axis=1)
        classes: npt.NDArray[Any] = self.classes_[best]
        return classes
