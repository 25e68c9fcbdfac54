"""Bayes by backprop: the weights of a network have a normal distribution, learned by gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pyinterp_papers.networks.network import Draw, FloatArray, IntArray, Layer, Network, SingleArray
from pyinterp_papers.networks.training import Tensor, adam, forward, load_torch, train
from pyinterp_papers.streams import stream

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
class BayesByBackpropClassifier(ClassifierMixin, Network):  # type: ignore[misc]  # untyped
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

    Notes
    -----
    Training makes small the expected negative log-likelihood of the rows plus the
    Kullback-Leibler divergence of the weights' distribution, independent normal ones, from the
    prior, in closed form. Features are standardized. The paper names neither optimizer nor batch
    size; here they are Adam and the size of B.4. After 100 epochs the sum still falls: it is part
    of the method that training ends there, and far more epochs bring weights, and predictions,
    nearer to the prior. Fitting needs PyTorch (``pip install "pyinterp-stats[torch]"``),
    prediction does not.

    References
    ----------
    Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks.
    *ICML*, 1613-1622, equations 1 and 2.

    Wood, Papamarkou, Benatan, Allmendinger (2024). Model-agnostic variable importance for
    predictive uncertainty: an entropy-based approach. Appendix B.3.

    Examples
    --------
    >>> from pyinterp_papers.networks import BayesByBackpropClassifier
    >>> BayesByBackpropClassifier(epochs=10, random_state=1)
    BayesByBackpropClassifier(epochs=10, random_state=1)
    """

    prior_sd: float = 0.5
    learning_rate: float = 0.01
    epochs: int = 100

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> BayesByBackpropClassifier:
        """Train the networks; PyTorch is needed for this alone."""
        rows, response = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(response)
        self.classes_, codes = np.unique(response, return_inverse=True)
        self._learn(rows, codes.astype(np.int64), len(self.classes_), self._seed())
        return self

    def _train(
        self, rows: SingleArray, targets: Any, start: Sequence[SingleArray], seed: int
    ) -> Draw:
        """Learn the distribution of the weights.

        Parameters are the means of all weights, and their standard deviations before
        log(1 + exp(.)) makes them positive.
        """
        torch = load_torch(self)
        inputs, responses = torch.from_numpy(rows), torch.from_numpy(targets)
        flat = np.concatenate([part.ravel() for part in start])
        sure = np.full_like(flat, np.log(np.expm1(START_SD)))
        rng = stream(seed, "refits", "weights")

        def loss(parameters: Sequence[Tensor], batch: IntArray) -> Tensor:
            """Return the loss at one draw of the weights."""
            means, roots = parameters
            sds = torch.nn.functional.softplus(roots)
            numbers = rng.standard_normal(len(means), dtype=np.float32)
            weights = (means + sds * torch.from_numpy(numbers)).split([part.size for part in start])
            layers = [w.reshape(part.shape) for w, part in zip(weights, start, strict=True)]
            units = forward(torch, inputs[batch], layers)
            fit = torch.nn.functional.cross_entropy(units, responses[batch])
            # The Kullback-Leibler divergence from the prior, less a constant.
            divergence = ((means**2 + sds**2) / (2 * self.prior_sd**2) - sds.log()).sum()
            return fit + divergence / len(rows)

        order = stream(seed, "refits", "order")
        means, roots = train(self, torch, [flat, sure], loss, adam, len(rows), order)
        return partial(
            normal_layers,
            draws=self.draws,
            shapes=[part.shape for part in start],
            means=means,
            sds=np.logaddexp(0.0, roots),
        )

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """Return class probabilities, means over the draws, shape (n, classes)."""
        blocks = [softmax(block, axis=-1).mean(axis=0) for block in self._outputs(self._rows(X))]
        return np.concatenate(blocks)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable classes."""
        best = np.argmax(self.predict_proba(X), axis=1)
        classes: npt.NDArray[Any] = self.classes_[best]
        return classes
