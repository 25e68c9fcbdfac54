"""Bayes by backprop: the weights of a network have a normal distribution, learned by gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import POSITIVE, check_number
from pyinterp.estimators.networks import (
    Draw,
    Layer,
    Network,
    NetworkClassifier,
    NetworkRegressor,
    Scale,
    SingleArray,
)
from pyinterp.estimators.training import Tensor, adam, forward, load_torch, train
from pyinterp.random import Seeds

START_SD = 0.005  # of the weights: a network that is sure of itself, and learns to be less so


def normal_layers(
    rng: np.random.Generator,
    *,
    draws: int,
    shapes: Sequence[tuple[int, ...]],
    means: FloatArray,
    sds: FloatArray,
) -> list[Layer]:
    """Draw all weights and biases, which have independent normal distributions.

    Parameters
    ----------
    rng : Generator
    draws : int
    shapes : sequence of tuple of int
        Of weights and biases, layer by layer.
    means, sds : array
        Of all of them, in one row.
    """
    flat = means + sds * rng.standard_normal((draws, len(means)))
    pieces = np.split(flat, np.cumsum([np.prod(shape) for shape in shapes])[:-1], axis=1)
    parts = [
        piece.reshape(draws, -1, shape[-1]) for piece, shape in zip(pieces, shapes, strict=True)
    ]
    return list(zip(parts[::2], parts[1::2], strict=True))


@dataclass(kw_only=True, eq=False, repr=False)
class BayesByBackprop(Network):
    """A network whose weights have a posterior distribution."""

    prior_sd: float = 0.5
    learning_rate: float = 0.01
    epochs: int = 100

    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seeds: Seeds
    ) -> tuple[Draw, float]:
        """Learn the distribution of the weights and, of numbers, the logarithm of the noise.

        Parameters are the means of all weights, the standard deviations before log(1 + exp(.))
        makes them positive, and the logarithm of the noise.
        """
        check_number("prior_sd", self.prior_sd, POSITIVE)
        torch = load_torch(self)
        inputs, responses = torch.from_numpy(rows), torch.from_numpy(targets)
        flat = np.concatenate([part.ravel() for part in start])
        sure = np.full_like(flat, np.log(np.expm1(START_SD)))
        noise = [] if is_classifier(self) else [np.zeros(1, dtype=np.float32)]
        rng = seeds.stream("refits", name="weights")

        def loss(parameters: Sequence[Tensor], batch: IntArray) -> Tensor:
            """Return the loss at one draw of the weights."""
            means, roots, *log_noise = parameters
            sds = torch.nn.functional.softplus(roots)
            numbers = rng.standard_normal(len(means), dtype=np.float32)
            weights = (means + sds * torch.from_numpy(numbers)).split([part.size for part in start])
            layers = [w.reshape(part.shape) for w, part in zip(weights, start, strict=True)]
            units = forward(torch, inputs[batch], layers)
            if log_noise:
                distance = (responses[batch] - units) * torch.exp(-log_noise[0])
                fit = (log_noise[0] + 0.5 * distance**2).mean()
            else:
                fit = torch.nn.functional.cross_entropy(units, responses[batch])
            # The Kullback-Leibler divergence from the prior, less a constant.
            divergence = ((means**2 + sds**2) / (2 * self.prior_sd**2) - sds.log()).sum()
            return fit + divergence / len(rows)

        order = seeds.stream("refits", name="order")
        values = [flat, sure, *noise]
        means, roots, *learned = train(self, torch, values, loss, adam, len(rows), order)
        sds, shapes = np.logaddexp(0.0, roots), [part.shape for part in start]
        draw = partial(normal_layers, draws=self.draws, shapes=shapes, means=means, sds=sds)
        return draw, float(learned[0][0]) if learned else 0.0


class BayesByBackpropRegressor(BayesByBackprop, NetworkRegressor):
    """Network of a number whose weights have a posterior distribution.

    Every draw of the weights gives a normal distribution of a response: the network's mean,
    and the noise. The prediction is their mixture (Blundell et al. 2015). Layers, prior, epochs
    and learning rate are as in Wood et al. (2024), B.3.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    prior_sd : float
        Standard deviation of weights and biases a priori; their mean is 0.
    learning_rate : float
        Of Adam.
    epochs : int
        How often the training rows are gone through.
    batch_size : int
        Rows per step; one draw of the weights serves a step.
    draws : int
        Number of draws that predict; they are the same for all rows and calls.
    random_state : int, RandomState or None
        Seed of start, order of rows and weights. The same one gives the same model on the
        same machine.
    progress : bool
        Whether epochs are counted on a progress bar.

    Notes
    -----
    Training makes small the expected negative log-likelihood of the rows plus the
    Kullback-Leibler divergence of the weights' distribution, independent normal ones, from the
    prior, in closed form. The standard deviation of the noise is a parameter too. Features and
    response are standardized. The paper names neither optimizer nor batch size; here they are
    Adam and the size of B.4. After 100 epochs the sum still falls: it is part of the method that
    training ends there, and far more epochs bring weights, and predictions, nearer to the
    prior. Fitting needs PyTorch (``pip install "pyinterp-stats[torch]"``), prediction does not.

    References
    ----------
    Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks.
    *ICML*, 1613-1622, equations 1 and 2.

    Wood, Papamarkou, Benatan, Allmendinger (2024). Model-agnostic variable importance for
    predictive uncertainty: an entropy-based approach. Appendix B.3.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.estimators.BayesByBackpropRegressor(epochs=10, random_state=1)
    BayesByBackpropRegressor(epochs=10, random_state=1)
    """

    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        self.response_scale_ = Scale.of(y)
        response = self.response_scale_.standardize(y).astype(np.float32)
        self.networks_ = self._networks(X, response[:, None], 1, seeds)
        self.noise_ = float(self.response_scale_.spread * np.exp(self.networks_.log_noise))


class BayesByBackpropClassifier(BayesByBackprop, NetworkClassifier):
    """Network of classes whose weights have a posterior distribution.

    Probabilities are means over draws of the weights (Blundell et al. 2015). Layers, prior,
    epochs and learning rate are as in Wood et al. (2024), B.3.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Numbers of units of the hidden layers.
    prior_sd : float
        Standard deviation of weights and biases a priori; their mean is 0.
    learning_rate : float
        Of Adam.
    epochs : int
        How often the training rows are gone through.
    batch_size : int
        Rows per step; one draw of the weights serves a step.
    draws : int
        Number of draws that predict; they are the same for all rows and calls.
    random_state : int, RandomState or None
        Seed of start, order of rows and weights. The same one gives the same model on the
        same machine.
    progress : bool
        Whether epochs are counted on a progress bar.

    Notes
    -----
    As for `BayesByBackpropRegressor`, with the log-likelihood of classes. Features are
    standardized. Fitting needs PyTorch (``pip install "pyinterp-stats[torch]"``), prediction
    does not.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.estimators.BayesByBackpropClassifier(epochs=10, random_state=1)
    BayesByBackpropClassifier(epochs=10, random_state=1)
    """
