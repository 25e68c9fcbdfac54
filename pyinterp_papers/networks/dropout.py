"""Monte Carlo dropout: units are left out at random in training, and in prediction too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from pyinterp_papers.networks.network import (
    Draw,
    FloatArray,
    IntArray,
    Layer,
    Network,
    Scale,
    SingleArray,
)
from pyinterp_papers.networks.training import Tensor, descent, forward, load_torch, train
from pyinterp_papers.streams import stream

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
class MCDropoutRegressor(RegressorMixin, Network):  # type: ignore[misc]  # untyped
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
    >>> from pyinterp_papers.networks import MCDropoutRegressor
    >>> MCDropoutRegressor(epochs=100, random_state=1)
    MCDropoutRegressor(epochs=100, random_state=1)
    """

    dropout: float = 0.1
    feature_dropout: float = 0.0
    learning_rate: float = 0.1
    epochs: int = 5000
    reserved: float = 0.1

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MCDropoutRegressor:
        """Train the networks; PyTorch is needed for this alone."""
        features, numbers = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        seed, total = self._seed(), len(numbers)
        order = stream(seed, "splits").permutation(total)
        # At least one row on either side, however few there are.
        n = min(max(1, round(self.reserved * total)), total - 1)
        rows, rest = order[n:], order[:n]
        self.response_scale_ = Scale.of(np.asarray(numbers[rows], dtype=np.float64))
        response = self.response_scale_.standardize(numbers).astype(np.float32)
        self._learn(features[rows], response[rows, None], 1, seed)
        noise = noise_of(response[rest].astype(np.float64), self._means(features[rest]))
        self.noise_ = float(self.response_scale_.spread) * noise
        return self

    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seed: int
    ) -> Draw:
        torch = load_torch(self)
        rates = [self.feature_dropout, *(self.dropout for _ in self.hidden_layer_sizes)]
        rng = stream(seed, "refits", "dropout")

        def loss(parameters: Sequence[Tensor], batch: IntArray) -> Tensor:
            widths = (len(weights) for weights in start[::2])
            masks = [_mask(len(batch), *w, rng) for w in zip(widths, rates, strict=True)]
            units = forward(torch, torch.from_numpy(rows[batch]), parameters, masks)
            return torch.nn.functional.mse_loss(units, torch.from_numpy(targets[batch]))

        order = stream(seed, "refits", "order")
        return partial(
            dropout_layers,
            draws=self.draws,
            parameters=train(self, torch, start, loss, descent, len(rows), order),
            rate=self.dropout,
            feature_rate=self.feature_dropout,
        )

    def _means(self, X: FloatArray) -> FloatArray:
        """Return the standardized mean of every draw, shape (n, draws)."""
        return np.concatenate([block[:, :, 0].T for block in self._outputs(X)])

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean of the mixture."""
        blocks = self._outputs(self._rows(X))
        center = np.concatenate([block.mean(axis=0) for block in blocks])[:, 0]
        return self.response_scale_.restore(center)

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
        means = self.response_scale_.restore(self._means(self._rows(X)))
        return means, np.full_like(means, self.noise_)


def _mask(rows: int, width: int, rate: float, rng: np.random.Generator) -> SingleArray | None:
    """Return the mask of a layer, by which units that stay grow; None leaves nothing out."""
    if rate == 0:
        return None
    stays = rng.integers(LEVELS, size=(rows, width), dtype=np.uint16) >= round(rate * LEVELS)
    return stays * np.float32(1 / (1 - rate))


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
