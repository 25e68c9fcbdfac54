"""Monte Carlo dropout: units are left out at random in training, and in prediction too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import SHARE, Interval, check_count, check_number
from pyinterp.estimators.network_estimators import NetworkClassifier, NetworkRegressor
from pyinterp.estimators.networks import Layer, Networks, Scale, WeightDraws
from pyinterp.estimators.training import (
    SingleArray,
    Tensor,
    Training,
    check_trained,
    descent,
    load_torch,
    start_weights,
    train,
)
from pyinterp.random import Seeds

__all__ = ["DropoutDraws", "MCDropoutClassifier", "MCDropoutRegressor", "noise_of"]

RATE = Interval(0, 1, "low")
LEVELS = 2**16  # of the random numbers behind a mask: two bytes are quicker to draw than floats
LEAST_NOISE, MOST_NOISE = 1e-3, 1e1  # standard deviations, of a standardized response


@dataclass(frozen=True)
class DropoutDraws(WeightDraws):
    """One network, of which every draw leaves out other units.

    Attributes
    ----------
    parameters : tuple of arrays
        Weights and biases, layer by layer.
    rate : float
        Probability that a hidden unit is left out.
    draws, seed : int
    """

    parameters: tuple[FloatArray, ...]
    rate: float
    draws: int
    seed: int

    def layers(self) -> list[Layer]:
        """Return weights that are 0 behind units that are left out; the first layer has none."""
        rng = np.random.default_rng(self.seed)
        layers: list[Layer] = []
        for weights, biases in _pairs(self.parameters):
            whole = weights[None]
            if layers:
                stays = rng.random((self.draws, len(weights))) >= self.rate
                whole = whole * (stays / (1.0 - self.rate))[:, :, None]
            layers.append((whole, biases[None, None]))
        return layers


class MCDropoutRegressor(NetworkRegressor):
    """Network of a number whose hidden units are left out at random, in prediction too.

    Every draw of units gives a normal distribution of a response: the network's mean, and the
    noise. The prediction is their mixture (Gal and Ghahramani 2016). Defaults are those of
    Wood et al. (2024), B.4.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    dropout : float
        Probability that a hidden unit is left out. Features are never left out.
    learning_rate : float
        Of stochastic gradient descent on the mean squared error.
    epochs : int
        How often the training rows are gone through.
    batch_size : int
        Rows per step.
    reserved : float
        Share of the rows that do not train the network, but tell the noise.
    draws : int
        Number of draws that predict; they are the same for all rows and calls.
    random_state : int, RandomState or None
        Seed of start, order of rows, units left out and reserved rows. The same one gives the
        same model on the same machine.
    progress : bool
        Whether epochs are counted on a progress bar.

    Notes
    -----
    Features and response are standardized by the rows that train the network. The variance
    1/τ of the noise has the largest likelihood of the mixture on the reserved rows; the paper
    descends to the same maximum by gradients. Fitting needs PyTorch
    (``pip install "pyinterp-stats[torch]"``), prediction does not.

    References
    ----------
    Gal, Ghahramani (2016). Dropout as a Bayesian approximation. *ICML*, 1050-1059.

    Wood, Papamarkou, Benatan, Allmendinger (2024). Model-agnostic variable importance for
    predictive uncertainty: an entropy-based approach. Appendix B.4.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.estimators.MCDropoutRegressor(epochs=100, random_state=1)
    MCDropoutRegressor(epochs=100, random_state=1)
    """

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (100, 100),
        *,
        dropout: float = 0.1,
        learning_rate: float = 0.1,
        epochs: int = 5000,
        batch_size: int = 200,
        reserved: float = 0.1,
        draws: int = 50,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.reserved = reserved
        self.draws = draws
        self.random_state = random_state
        self.progress = progress

    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        check_number("reserved", self.reserved, SHARE)
        order = seeds.stream("splits").permutation(len(y))
        # At least one row on either side, however few there are.
        n = min(max(1, round(self.reserved * len(y))), len(y) - 1)
        rows, rest = order[n:], order[:n]
        self.response_scale_ = Scale.of(y[rows])
        response = self.response_scale_.standardize(y).astype(np.float32)
        self.networks_ = _networks(self, X[rows], response[rows, None], 1, _square, seeds)
        means = np.concatenate([b[:, :, 0].T for b in self.networks_.outputs(X[rest])])
        noise = noise_of(response[rest].astype(np.float64), means)
        self.noise_ = float(self.response_scale_.spread) * noise


class MCDropoutClassifier(NetworkClassifier):
    """Network of classes whose hidden units are left out at random, in prediction too.

    Probabilities are means over draws of units (Gal and Ghahramani 2016). Defaults are those
    of Wood et al. (2024), B.4, who have a regressor; no rows are reserved, because classes have
    no noise to be told apart.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    dropout : float
        Probability that a hidden unit is left out. Features are never left out.
    learning_rate : float
        Of stochastic gradient descent on the log loss.
    epochs : int
        How often the training rows are gone through.
    batch_size : int
        Rows per step.
    draws : int
        Number of draws that predict; they are the same for all rows and calls.
    random_state : int, RandomState or None
        Seed of start, order of rows and units left out. The same one gives the same model on
        the same machine.
    progress : bool
        Whether epochs are counted on a progress bar.

    Notes
    -----
    Features are standardized. Fitting needs PyTorch (``pip install "pyinterp-stats[torch]"``),
    prediction does not.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.estimators.MCDropoutClassifier(epochs=100, random_state=1)
    MCDropoutClassifier(epochs=100, random_state=1)
    """

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (100, 100),
        *,
        dropout: float = 0.1,
        learning_rate: float = 0.1,
        epochs: int = 5000,
        batch_size: int = 200,
        draws: int = 50,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.draws = draws
        self.random_state = random_state
        self.progress = progress

    def _learn(self, X: FloatArray, y: IntArray, seeds: Seeds) -> None:
        classes = len(self.classes_)
        self.networks_ = _networks(self, X, y.astype(np.int64), classes, _log_loss, seeds)


def noise_of(response: FloatArray, means: FloatArray) -> float:
    """Return the standard deviation of normal noise with the largest likelihood of a mixture.

    Parameters
    ----------
    response : array of shape (n,)
        Standardized.
    means : array of shape (n, draws)
        Of the parts of each row's mixture.
    """
    squares = (response[:, None] - means) ** 2

    def loss(log_sd: float) -> float:
        rows = logsumexp(-0.5 * squares * np.exp(-2 * log_sd), axis=1) - log_sd
        return -float(np.mean(rows))

    # The likelihood may have more than one maximum: the search starts beside the largest on a grid.
    grid = np.linspace(np.log(LEAST_NOISE), np.log(MOST_NOISE), 93)
    best = int(np.argmin([loss(log_sd) for log_sd in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def _networks(
    model: MCDropoutRegressor | MCDropoutClassifier,
    X: FloatArray,
    targets: Any,
    outputs: int,
    loss_of: Callable[[Any, Tensor, Tensor], Tensor],
    seeds: Seeds,
) -> Networks:
    """Train a network with the settings of an estimator."""
    settings = Training(
        model.hidden_layer_sizes,
        model.learning_rate,
        model.epochs,
        model.batch_size,
        model.progress,
    )
    settings.check()
    check_number("dropout", model.dropout, RATE)
    check_count("draws", model.draws)
    name = type(model).__name__
    torch = load_torch(name)
    scale = Scale.of(X)
    rows = scale.standardize(X).astype(np.float32)
    start = start_weights(
        [X.shape[1], *model.hidden_layer_sizes, outputs], seeds.stream("refits", name="start")
    )
    parameters = [torch.from_numpy(part).requires_grad_() for part in start]
    masks = _masks(model.hidden_layer_sizes, model.dropout, seeds.stream("refits", name="dropout"))

    def loss(batch: IntArray) -> Tensor:
        units = _forward(torch, torch.from_numpy(rows[batch]), parameters, masks)
        return loss_of(torch, units, torch.from_numpy(targets[batch]))

    order = seeds.stream("refits", name="order")
    train(torch, parameters, loss, len(X), descent(model.learning_rate), settings, order)
    weights = tuple(part.detach().numpy().astype(np.float64) for part in parameters)
    check_trained(weights, name)
    seed = int(seeds.stream("draws").integers(2**63))
    return Networks(scale, DropoutDraws(weights, model.dropout, model.draws, seed))


def _forward(
    torch: Any,
    units: Tensor,
    parameters: Sequence[Tensor],
    masks: Callable[[int], list[SingleArray]],
) -> Tensor:
    """Return outputs of rows, each with masks of its own on its hidden units."""
    (*hidden, (weights, biases)) = _pairs(parameters)
    for (w, b), mask in zip(hidden, masks(len(units)), strict=True):
        units = torch.relu(torch.addmm(b, units, w)) * torch.from_numpy(mask)
    return torch.addmm(biases, units, weights)


def _masks(
    hidden_layer_sizes: Sequence[int], rate: float, rng: np.random.Generator
) -> Callable[[int], list[SingleArray]]:
    """Return a function that draws masks for so many rows: 0, or the reciprocal of what stays."""
    out = round(rate * LEVELS)
    factor = np.float32(1 / (1 - rate))

    def masks(rows: int) -> list[SingleArray]:
        numbers = (
            rng.integers(LEVELS, size=(rows, k), dtype=np.uint16) for k in hidden_layer_sizes
        )
        return [(number >= out) * factor for number in numbers]

    return masks


def _square(torch: Any, outputs: Tensor, targets: Tensor) -> Tensor:
    return torch.nn.functional.mse_loss(outputs, targets)


def _log_loss(torch: Any, outputs: Tensor, targets: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(outputs, targets)


def _pairs(parameters: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield weights and biases of each layer."""
    return zip(parameters[::2], parameters[1::2], strict=True)
