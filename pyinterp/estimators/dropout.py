"""Monte Carlo dropout: units are left out at random in training, and in prediction too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import SHARE, Interval, check_number
from pyinterp.estimators.networks import (
    Layer,
    Network,
    NetworkClassifier,
    NetworkRegressor,
    Networks,
    Scale,
)
from pyinterp.estimators.training import (
    SingleArray,
    Tensor,
    check_trained,
    descent,
    forward,
    load_torch,
    start_weights,
    train,
)
from pyinterp.random import Seeds

RATE = Interval(0, 1, "low")
LEVELS = 2**16  # of the random numbers behind a mask: two bytes are quicker to draw than floats
LEAST_NOISE, MOST_NOISE = 1e-3, 1e1  # standard deviations, of a standardized response


@dataclass(frozen=True)
class DropoutNetworks(Networks):
    """One network, of which every draw leaves out other units.

    Attributes
    ----------
    parameters : tuple of arrays
        Weights and biases, layer by layer.
    rate : float
        Probability that a hidden unit is left out.
    feature_rate : float
        Probability that a feature is left out.
    """

    parameters: tuple[FloatArray, ...]
    rate: float
    feature_rate: float = 0.0

    def layers(self) -> list[Layer]:
        """Return weights that are 0 behind features and units that are left out."""
        rng = np.random.default_rng(self.seed)
        layers: list[Layer] = []
        for weights, biases in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            whole, rate = weights[None], self.rate if layers else self.feature_rate
            if layers or rate > 0:
                stays = rng.random((self.draws, len(weights))) >= rate
                whole = whole * (stays / (1.0 - rate))[:, :, None]
            layers.append((whole, biases[None, None]))
        return layers


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropout(Network):
    """A network whose units are left out at random."""

    dropout: float = 0.1
    feature_dropout: float = 0.0
    learning_rate: float = 0.1
    epochs: int = 5000

    def _networks(
        self, X: FloatArray, targets: Any, outputs: int, loss_name: str, seeds: Seeds
    ) -> DropoutNetworks:
        """Train a network by a loss that PyTorch has by this name."""
        self._check()
        check_number("dropout", self.dropout, RATE)
        check_number("feature_dropout", self.feature_dropout, RATE)
        name = type(self).__name__
        torch = load_torch(name)
        scale = Scale.of(X)
        rows = scale.standardize(X).astype(np.float32)
        widths = [X.shape[1], *self.hidden_layer_sizes]
        rates = [self.feature_dropout, *(self.dropout for _ in self.hidden_layer_sizes)]
        start = start_weights([*widths, outputs], seeds.stream("refits", name="start"))
        parameters = [torch.from_numpy(part).requires_grad_() for part in start]
        rng = seeds.stream("refits", name="dropout")
        loss_of = getattr(torch.nn.functional, loss_name)

        def loss(batch: IntArray) -> Tensor:
            masks = [_mask(len(batch), *w, rng) for w in zip(widths, rates, strict=True)]
            units = forward(torch, torch.from_numpy(rows[batch]), parameters, masks)
            return loss_of(units, torch.from_numpy(targets[batch]))

        order = seeds.stream("refits", name="order")
        train(torch, parameters, loss, len(X), descent(self.learning_rate), self, order)
        weights = tuple(part.detach().numpy().astype(np.float64) for part in parameters)
        check_trained(weights, name)
        seed = int(seeds.stream("draws").integers(2**63))
        return DropoutNetworks(scale, self.draws, seed, weights, self.dropout, self.feature_dropout)


def _mask(rows: int, width: int, rate: float, rng: np.random.Generator) -> SingleArray | None:
    """Return the mask of a layer, by which units that stay grow; None leaves nothing out."""
    if rate == 0:
        return None
    stays = rng.integers(LEVELS, size=(rows, width), dtype=np.uint16) >= round(rate * LEVELS)
    return stays * np.float32(1 / (1 - rate))


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropoutRegressor(MCDropout, NetworkRegressor):
    """Network of a number whose hidden units are left out at random, in prediction too.

    Every draw of units gives a normal distribution of a response: the network's mean, and the
    noise. The prediction is their mixture (Gal and Ghahramani 2016). Defaults are those of
    Wood et al. (2024), B.4.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    dropout : float
        Probability that a hidden unit is left out.
    feature_dropout : float
        Probability that a feature is left out, that is, has its mean.
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
    descends to the same maximum by gradients. Gal and Ghahramani leave out features too; Wood et
    al. do not say, and it makes predictions worse where a feature is needed. Fitting needs PyTorch
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

    reserved: float = 0.1

    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        check_number("reserved", self.reserved, SHARE)
        order = seeds.stream("splits").permutation(len(y))
        # At least one row on either side, however few there are.
        n = min(max(1, round(self.reserved * len(y))), len(y) - 1)
        rows, rest = order[n:], order[:n]
        self.response_scale_ = Scale.of(y[rows])
        response = self.response_scale_.standardize(y).astype(np.float32)
        self.networks_ = self._networks(X[rows], response[rows, None], 1, "mse_loss", seeds)
        means = np.concatenate([b[:, :, 0].T for b in self.networks_.outputs(X[rest])])
        noise = noise_of(response[rest].astype(np.float64), means)
        self.noise_ = float(self.response_scale_.spread) * noise


class MCDropoutClassifier(MCDropout, NetworkClassifier):
    """Network of classes whose hidden units are left out at random, in prediction too.

    Probabilities are means over draws of units (Gal and Ghahramani 2016). Defaults are those
    of Wood et al. (2024), B.4, who have a regressor; no rows are reserved, because classes have
    no noise to be told apart.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    dropout : float
        Probability that a hidden unit is left out.
    feature_dropout : float
        Probability that a feature is left out, that is, has its mean.
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

    def _learn(self, X: FloatArray, y: IntArray, seeds: Seeds) -> None:
        targets, classes = y.astype(np.int64), len(self.classes_)
        self.networks_ = self._networks(X, targets, classes, "cross_entropy", seeds)


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
