"""Monte Carlo dropout: units are left out at random in training, and in prediction too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import is_classifier

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import SHARE, Interval, check_number
from pyinterp.estimators.networks import (
    Draw,
    Layer,
    Network,
    NetworkClassifier,
    NetworkRegressor,
    Scale,
    SingleArray,
)
from pyinterp.estimators.training import Tensor, descent, forward, load_torch, train
from pyinterp.random import Seeds

RATE = Interval(0, 1, "low")
LEVELS = 2**16  # of the random numbers behind a mask: two bytes are quicker to draw than floats
LEAST_NOISE, MOST_NOISE = 1e-3, 1e1  # standard deviations, of a standardized response


def dropout_layers(
    rng: np.random.Generator,
    *,
    draws: int,
    parameters: Sequence[FloatArray],
    rate: float,
    feature_rate: float,
) -> list[Layer]:
    """Draw weights of a network that are 0 behind features and units that are left out.

    Parameters
    ----------
    rng : Generator
    draws : int
    parameters : sequence of arrays
        Weights and biases, layer by layer.
    rate, feature_rate : float
        Probabilities that a hidden unit and that a feature is left out.
    """
    layers: list[Layer] = []
    for weights, biases in zip(parameters[::2], parameters[1::2], strict=True):
        whole, share = weights[None], rate if layers else feature_rate
        if layers or share > 0:
            stays = rng.random((draws, len(weights))) >= share
            whole = whole * (stays / (1.0 - share))[:, :, None]
        layers.append((whole, biases[None, None]))
    return layers


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropout(Network):
    """A network whose units are left out at random."""

    dropout: float = 0.1
    feature_dropout: float = 0.0
    learning_rate: float = 0.1
    epochs: int = 5000

    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seeds: Seeds
    ) -> tuple[Draw, float]:
        check_number("dropout", self.dropout, RATE)
        check_number("feature_dropout", self.feature_dropout, RATE)
        torch = load_torch(self)
        rates = [self.feature_dropout, *(self.dropout for _ in self.hidden_layer_sizes)]
        rng = seeds.stream("refits", name="dropout")
        losses = torch.nn.functional
        loss_of = losses.cross_entropy if is_classifier(self) else losses.mse_loss

        def loss(parameters: Sequence[Tensor], batch: IntArray) -> Tensor:
            widths = (len(weights) for weights in start[::2])
            masks = [_mask(len(batch), *w, rng) for w in zip(widths, rates, strict=True)]
            units = forward(torch, torch.from_numpy(rows[batch]), parameters, masks)
            return loss_of(units, torch.from_numpy(targets[batch]))

        order = seeds.stream("refits", name="order")
        draw = partial(
            dropout_layers,
            draws=self.draws,
            parameters=train(self, torch, start, loss, descent, len(rows), order),
            rate=self.dropout,
            feature_rate=self.feature_dropout,
        )
        return draw, 0.0


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
    noise. The prediction is their mixture (Gal and Ghahramani 2016). Defaults are as in
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
        self.networks_ = self._networks(X[rows], response[rows, None], 1, seeds)
        means = np.concatenate([b[:, :, 0].T for b in self.networks_.outputs(X[rest])])
        noise = noise_of(response[rest].astype(np.float64), means)
        self.noise_ = float(self.response_scale_.spread) * noise


class MCDropoutClassifier(MCDropout, NetworkClassifier):
    """Network of classes whose hidden units are left out at random, in prediction too.

    Probabilities are means over draws of units (Gal and Ghahramani 2016). Defaults are those
    of Wood et al. (2024), B.4, who have a regressor; no rows are reserved, because classes have
    no noise.

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

    # The likelihood may have more than one maximum: the search starts near the largest on a grid.
    grid = np.linspace(np.log(LEAST_NOISE), np.log(MOST_NOISE), 93)
    best = int(np.argmin([loss(log_sd) for log_sd in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
