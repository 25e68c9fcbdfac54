"""Training of networks by PyTorch, in one thread and without its global random state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from pyinterp.errors import OptionError
from pyinterp_papers.networks.network import FloatArray, IntArray, Network, SingleArray

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma, Ba 2015)

Tensor: TypeAlias = Any  # torch.Tensor: PyTorch is imported when a network is trained
Step: TypeAlias = Callable[[Sequence[Tensor]], None]


def load_torch(model: Network) -> Any:
    """Return the module of PyTorch.

    Raises
    ------
    OptionError
        If it is not installed.
    """
    try:
        import torch  # noqa: PLC0415 - large, and needed for training alone
    except ModuleNotFoundError as error:
        raise OptionError(
            f"{type(model).__name__} needs PyTorch to be fitted, which is not installed; install "
            'it with pip install "pyinterp-stats[torch]".'
        ) from error
    return torch


def train(
    model: Network,
    torch: Any,
    start: Sequence[SingleArray],
    loss: Callable[[Sequence[Tensor], IntArray], Tensor],
    optimizer: Callable[[Sequence[Tensor], float], Step],
    rows: int,
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Return parameters for which a loss is small, reached batch by batch in random order.

    PyTorch works in one thread: layers are too small for more, and sums keep their order.

    Parameters
    ----------
    model : Network
        Which says how many epochs there are, of how many rows batches are, and how long steps are.
    torch : module
    start : sequence of arrays
        The parameters before training.
    loss : callable
        Of parameters and positions of rows: a tensor without axes.
    optimizer : callable
        Of parameters and the learning rate: the step that takes gradients and changes parameters.
    rows : int
        Number of training rows.
    rng : Generator
        For the order of rows.
    """
    parameters = [torch.from_numpy(part).requires_grad_() for part in start]
    step = optimizer(parameters, model.learning_rate)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(model.epochs):
            order = rng.permutation(rows)
            for first in range(0, rows, model.batch_size):
                value = loss(parameters, order[first : first + model.batch_size])
                gradients = torch.autograd.grad(value, parameters)
                with torch.no_grad():
                    step(gradients)
    finally:
        torch.set_num_threads(threads)
    end = [part.detach().numpy().astype(np.float64) for part in parameters]
    if not all(np.isfinite(part).all() for part in end):
        raise OptionError(
            f"Training of {type(model).__name__} must converge, but weights became infinite; a "
            "smaller `learning_rate` helps."
        )
    return end


def forward(
    torch: Any,
    units: Tensor,
    parameters: Sequence[Tensor],
    masks: Iterable[SingleArray | None] = repeat(None),
) -> Tensor:
    """Return outputs of rows: layers of weights and biases, whose hidden units are rectified.

    Inputs of a layer are multiplied by its mask.
    """
    layers = zip(parameters[::2], parameters[1::2], masks, strict=False)
    for number, (weights, biases, mask) in enumerate(layers):
        inputs = torch.relu(units) if number else units
        masked = inputs if mask is None else inputs * torch.from_numpy(mask)
        units = torch.addmm(biases, masked, weights)
    return units


# The steps are written out: `torch.optim` imports PyTorch's compiler, which takes seconds.


def descent(parameters: Sequence[Tensor], rate: float) -> Step:
    """Return the step of stochastic gradient descent."""

    def step(gradients: Sequence[Tensor]) -> None:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.sub_(gradient, alpha=rate)

    return step


def adam(parameters: Sequence[Tensor], rate: float) -> Step:
    """Return the step of Adam, which remembers means and squares of gradients."""
    means = [p.detach() * 0.0 for p in parameters]
    squares = [p.detach() * 0.0 for p in parameters]
    count = 0

    def step(gradients: Sequence[Tensor]) -> None:
        nonlocal count
        count += 1
        for p, g, mean, square in zip(parameters, gradients, means, squares, strict=True):
            mean.lerp_(g, 1 - BETA1)
            square.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
            spread = (square / (1 - BETA2**count)).sqrt_().add_(EPSILON)
            p.addcdiv_(mean, spread, value=-rate / (1 - BETA1**count))

    return step
