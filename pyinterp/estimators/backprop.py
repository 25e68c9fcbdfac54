"""Bayes by backprop: the weights of a network have a normal distribution, learned by gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import POSITIVE, check_number
from pyinterp.estimators.networks import (
    Layer,
    Network,
    NetworkClassifier,
    NetworkRegressor,
    Networks,
    Scale,
)
from pyinterp.estimators.training import (
    Tensor,
    adam,
    check_trained,
    forward,
    load_torch,
    start_weights,
    train,
)
from pyinterp.random import Seeds

START_SD = 0.005  # of the weights: a network that is sure of itself, and learns to be less so

# Of PyTorch, outputs, targets and the logarithm of the noise.
LossOf: TypeAlias = Callable[[Any, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class NormalNetworks(Networks):
    """Networks whose weights have independent normal distributions.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of units: features, hidden layers, outputs.
    means, sds : array
        Of weights and biases, layer by layer, in one row.
    """

    sizes: tuple[int, ...]
    means: FloatArray
    sds: FloatArray

    def layers(self) -> list[Layer]:
        """Return all weights and biases of every draw."""
        rng = np.random.default_rng(self.seed)
        weights = self.means + self.sds * rng.standard_normal((self.draws, len(self.means)))
        layers: list[Layer] = []
        first = 0
        for inputs, outputs in pairwise(self.sizes):
            middle, last = first + inputs * outputs, first + (inputs + 1) * outputs
            shape = self.draws, inputs, outputs
            layers.append((weights[:, first:middle].reshape(shape), weights[:, None, middle:last]))
            first = last
        return layers


@dataclass(kw_only=True, eq=False, repr=False)
class BayesByBackprop(Network):
    """A network whose weights have a posterior distribution."""

    prior_sd: float = 0.5
    learning_rate: float = 0.01
    epochs: int = 100

    def _networks(
        self, X: FloatArray, targets: Any, outputs: int, loss_of: LossOf, seeds: Seeds
    ) -> tuple[NormalNetworks, float]:
        """Learn the distribution of the weights, and the logarithm of the noise.

        Parameters are the means of all weights, the standard deviations before log(1 + exp(.))
        makes them positive, and the logarithm of the noise.
        """
        self._check()
        check_number("prior_sd", self.prior_sd, POSITIVE)
        name = type(self).__name__
        torch = load_torch(name)
        scale = Scale.of(X)
        rows = torch.from_numpy(scale.standardize(X).astype(np.float32))
        responses = torch.from_numpy(targets)
        sizes = X.shape[1], *self.hidden_layer_sizes, outputs
        start = start_weights(sizes, seeds.stream("refits", name="start"))
        flat = np.concatenate([part.ravel() for part in start])
        sure = np.full_like(flat, np.log(np.expm1(START_SD)))
        values = flat, sure, np.zeros(1, dtype=np.float32)
        parameters = [torch.from_numpy(part).requires_grad_() for part in values]
        rng = seeds.stream("refits", name="weights")

        def loss(batch: IntArray) -> Tensor:
            """Return the loss at one draw of the weights."""
            means, roots, log_noise = parameters
            sds = torch.nn.functional.softplus(roots)
            numbers = rng.standard_normal(len(means), dtype=np.float32)
            weights = (means + sds * torch.from_numpy(numbers)).split([part.size for part in start])
            layers = [w.reshape(part.shape) for w, part in zip(weights, start, strict=True)]
            fit = loss_of(torch, forward(torch, rows[batch], layers), responses[batch], log_noise)
            # The Kullback-Leibler divergence from the prior, less a constant.
            divergence = ((means**2 + sds**2) / (2 * self.prior_sd**2) - sds.log()).sum()
            return fit + divergence / len(rows)

        step = adam(self.learning_rate, parameters)
        train(torch, parameters, loss, len(X), step, self, seeds.stream("refits", name="order"))
        means, roots, log_noise = (p.detach().numpy().astype(float) for p in parameters)
        check_trained((means, roots, log_noise), name)
        seed = int(seeds.stream("draws").integers(2**63))
        sds = np.logaddexp(0.0, roots)
        return NormalNetworks(scale, self.draws, seed, sizes, means, sds), float(log_noise[0])


class BayesByBackpropRegressor(BayesByBackprop, NetworkRegressor):
    """Network of a number whose weights have a posterior distribution.

    Every draw of the weights gives a normal distribution of a response: the network's mean,
    and the noise. The prediction is their mixture (Blundell et al. 2015). Layers, prior, epochs
    and learning rate are those of Wood et al. (2024), B.3.

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
    What is made small is the expected negative log-likelihood of the rows plus the
    Kullback-Leibler divergence of the weights' distribution, independent normal ones, from the
    prior, in closed form. The standard deviation of the noise is a parameter too. Features and
    response are standardized. The paper names neither optimizer nor batch size; here they are
    Adam and that of B.4. After 100 epochs the sum still falls: it is part of the method that
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
        self.networks_, log_noise = self._networks(X, response[:, None], 1, _normal_loss, seeds)
        self.noise_ = float(self.response_scale_.spread * np.exp(log_noise))


class BayesByBackpropClassifier(BayesByBackprop, NetworkClassifier):
    """Network of classes whose weights have a posterior distribution.

    Probabilities are means over draws of the weights (Blundell et al. 2015). Layers, prior,
    epochs and learning rate are those of Wood et al. (2024), B.3.

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

    def _learn(self, X: FloatArray, y: IntArray, seeds: Seeds) -> None:
        targets, classes = y.astype(np.int64), len(self.classes_)
        self.networks_, _ = self._networks(X, targets, classes, _log_loss, seeds)


def _normal_loss(torch: Any, outputs: Tensor, targets: Tensor, log_noise: Tensor) -> Tensor:
    """Return the mean negative log-likelihood, less a constant."""
    return (log_noise + 0.5 * ((targets - outputs) * torch.exp(-log_noise)) ** 2).mean()


def _log_loss(torch: Any, outputs: Tensor, targets: Tensor, log_noise: Tensor) -> Tensor:
    # The noise has no part in it; PyTorch wants a gradient for every parameter.
    return torch.nn.functional.cross_entropy(outputs, targets) + 0.0 * log_noise.sum()
