"""Bayes by backprop: the weights of a network have a normal distribution, learned by gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import POSITIVE, check_count, check_number
from pyinterp.estimators.network_estimators import NetworkClassifier, NetworkRegressor
from pyinterp.estimators.networks import Layer, Networks, Scale, WeightDraws
from pyinterp.estimators.training import (
    SingleArray,
    Tensor,
    Training,
    adam,
    check_trained,
    load_torch,
    start_weights,
    train,
)
from pyinterp.random import Seeds

__all__ = ["BayesByBackpropClassifier", "BayesByBackpropRegressor", "NormalDraws"]

START_SD = 0.005  # of the weights: a network that is sure of itself, and learns to be less so


@dataclass(frozen=True)
class NormalDraws(WeightDraws):
    """Independent normal distributions of all weights.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of units: features, hidden layers, outputs.
    means, sds : array
        Of weights and biases, layer by layer, in one row.
    draws, seed : int
    """

    sizes: tuple[int, ...]
    means: FloatArray
    sds: FloatArray
    draws: int
    seed: int

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


class BayesByBackpropRegressor(NetworkRegressor):
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

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (100, 100),
        *,
        prior_sd: float = 0.5,
        learning_rate: float = 0.01,
        epochs: int = 100,
        batch_size: int = 200,
        draws: int = 50,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.prior_sd = prior_sd
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.draws = draws
        self.random_state = random_state
        self.progress = progress

    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        self.response_scale_ = Scale.of(y)
        response = self.response_scale_.standardize(y).astype(np.float32)
        self.networks_, log_noise = _networks(self, X, response[:, None], 1, _normal_loss, seeds)
        self.noise_ = float(self.response_scale_.spread * np.exp(log_noise))


class BayesByBackpropClassifier(NetworkClassifier):
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

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (100, 100),
        *,
        prior_sd: float = 0.5,
        learning_rate: float = 0.01,
        epochs: int = 100,
        batch_size: int = 200,
        draws: int = 50,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.prior_sd = prior_sd
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.draws = draws
        self.random_state = random_state
        self.progress = progress

    def _learn(self, X: FloatArray, y: IntArray, seeds: Seeds) -> None:
        classes = len(self.classes_)
        self.networks_, _ = _networks(self, X, y.astype(np.int64), classes, _log_loss, seeds)


# Of PyTorch, outputs, targets and the logarithm of the noise.
LossOf = Callable[[Any, Tensor, Tensor, Tensor], Tensor]


def _networks(
    model: BayesByBackpropRegressor | BayesByBackpropClassifier,
    X: FloatArray,
    targets: Any,
    outputs: int,
    loss_of: LossOf,
    seeds: Seeds,
) -> tuple[Networks, float]:
    """Learn the weights' distribution, and the logarithm of the noise, of a network."""
    settings = Training(
        model.hidden_layer_sizes,
        model.learning_rate,
        model.epochs,
        model.batch_size,
        model.progress,
    )
    settings.check()
    check_number("prior_sd", model.prior_sd, POSITIVE)
    check_count("draws", model.draws)
    name = type(model).__name__
    torch = load_torch(name)
    scale = Scale.of(X)
    sizes = X.shape[1], *model.hidden_layer_sizes, outputs
    loss = _Loss(
        torch,
        torch.from_numpy(scale.standardize(X).astype(np.float32)),
        torch.from_numpy(targets),
        loss_of,
        model.prior_sd,
        start_weights(sizes, seeds.stream("refits", name="start")),
        seeds.stream("refits", name="weights"),
    )
    step = adam(model.learning_rate, loss.parameters)
    order = seeds.stream("refits", name="order")
    train(torch, loss.parameters, loss, len(X), step, settings, order)
    means, roots, log_noise = (p.detach().numpy().astype(float) for p in loss.parameters)
    check_trained((means, roots, log_noise), name)
    seed = int(seeds.stream("draws").integers(2**63))
    draws = NormalDraws(sizes, means, np.logaddexp(0.0, roots), model.draws, seed)
    return Networks(scale, draws), float(log_noise[0])


class _Loss:
    """The loss of a batch at one draw of the weights, as a function of their distribution.

    `parameters` are the means of all weights, the standard deviations before log(1 + exp(.))
    makes them positive, and the logarithm of the noise.
    """

    def __init__(
        self,
        torch: Any,
        rows: Tensor,
        targets: Tensor,
        loss_of: LossOf,
        prior_sd: float,
        start: Sequence[SingleArray],
        rng: np.random.Generator,
    ) -> None:
        self.torch, self.rows, self.targets, self.loss_of = torch, rows, targets, loss_of
        self.prior_sd, self.rng = prior_sd, rng
        self.shapes = [part.shape for part in start]
        means = np.concatenate([part.ravel() for part in start])
        roots = np.full_like(means, np.log(np.expm1(START_SD)))
        start_values = means, roots, np.zeros(1, dtype=np.float32)
        self.parameters = [torch.from_numpy(part).requires_grad_() for part in start_values]

    def __call__(self, batch: IntArray) -> Tensor:
        means, roots, log_noise = self.parameters
        sds = self.torch.nn.functional.softplus(roots)
        numbers = self.rng.standard_normal(len(means), dtype=np.float32)
        outputs = self._outputs(self.rows[batch], means + sds * self.torch.from_numpy(numbers))
        loss = self.loss_of(self.torch, outputs, self.targets[batch], log_noise)
        return loss + self._divergence(means, sds) / len(self.rows)

    def _outputs(self, units: Tensor, weights: Tensor) -> Tensor:
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        parts = [w.reshape(s) for w, s in zip(weights.split(sizes), self.shapes, strict=True)]
        for layer in range(0, len(parts) - 2, 2):
            units = self.torch.relu(self.torch.addmm(parts[layer + 1], units, parts[layer]))
        return self.torch.addmm(parts[-1], units, parts[-2])

    def _divergence(self, means: Tensor, sds: Tensor) -> Tensor:
        """Return the Kullback-Leibler divergence from the prior, less a constant."""
        return ((means**2 + sds**2) / (2 * self.prior_sd**2) - sds.log()).sum()


def _normal_loss(torch: Any, outputs: Tensor, targets: Tensor, log_noise: Tensor) -> Tensor:
    """Return the mean negative log-likelihood, less a constant."""
    return (log_noise + 0.5 * ((targets - outputs) * torch.exp(-log_noise)) ** 2).mean()


def _log_loss(torch: Any, outputs: Tensor, targets: Tensor, log_noise: Tensor) -> Tensor:
    # The noise has no part in it; PyTorch wants a gradient for every parameter.
    return torch.nn.functional.cross_entropy(outputs, targets) + 0.0 * log_noise.sum()
