"""Training of networks by PyTorch, in one thread and without its global random state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import OptionError
from pyinterp.estimators.networks import Network
from pyinterp.parallel import go_on

INSTALL = 'pip install "pyinterp-stats[torch]"'
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma, Ba 2015)

Tensor: TypeAlias = Any  # torch.Tensor: PyTorch is imported when a network is trained
SingleArray: TypeAlias = npt.NDArray[np.float32]
Step: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], None]


def load_torch(who: str) -> Any:
    """Return the module of PyTorch.

    Raises
    ------
    OptionError
        If it is not installed; `who` needs it.
    """
    try:
        import torch  # noqa: PLC0415 - large, and needed for training alone
    except ModuleNotFoundError as error:
        raise OptionError(
            f"{who} needs PyTorch to be fitted, which is not installed; install it with {INSTALL}."
        ) from error
    return torch


def start_weights(sizes: Sequence[int], rng: np.random.Generator) -> list[SingleArray]:
    """Return weights and biases, layer by layer, uniform as in ``torch.nn.Linear``."""
    start = []
    for inputs, outputs in pairwise(sizes):
        end = inputs**-0.5
        start += [rng.uniform(-end, end, (inputs, outputs)), rng.uniform(-end, end, (outputs,))]
    return [part.astype(np.float32) for part in start]


def train(
    torch: Any,
    parameters: Sequence[Tensor],
    loss: Callable[[IntArray], Tensor],
    rows: int,
    step: Step,
    model: Network,
    rng: np.random.Generator,
) -> None:
    """Change parameters so that a loss becomes small, batch by batch in random order.

    Parameters
    ----------
    torch : module
    parameters : sequence of tensors
        They are changed in place.
    loss : callable
        Of positions of rows: a tensor without axes.
    rows : int
        Number of training rows.
    step : callable
        Takes parameters and gradients, and changes the parameters.
    model : Network
        Which says how many epochs there are, and of how many rows batches are.
    rng : Generator
        For the order of rows.
    """
    epochs: Iterable[int] = range(model.epochs)
    if model.progress:
        from tqdm.auto import tqdm  # noqa: PLC0415 - it warns in notebooks that can't show bars

        epochs = tqdm(epochs, unit="epoch")
    with one_thread(torch):
        for _ in epochs:
            go_on()  # Ctrl-C ends a training in another thread here
            order = rng.permutation(rows)
            for first in range(0, rows, model.batch_size):
                value = loss(order[first : first + model.batch_size])
                gradients = torch.autograd.grad(value, parameters)
                with torch.no_grad():
                    step(parameters, gradients)


@contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """Let PyTorch work in one thread: layers are too small for more, and sums keep their order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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


def descent(rate: float) -> Step:
    """Return the step of stochastic gradient descent."""

    def step(parameters: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.sub_(gradient, alpha=rate)

    return step


def adam(rate: float, parameters: Sequence[Tensor]) -> Step:
    """Return the step of Adam, which remembers means and squares of gradients."""
    means = [p.detach() * 0.0 for p in parameters]
    squares = [p.detach() * 0.0 for p in parameters]
    count = 0

    def step(parameters: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
        nonlocal count
        count += 1
        for p, g, mean, square in zip(parameters, gradients, means, squares, strict=True):
            mean.lerp_(g, 1 - BETA1)
            square.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
            spread = (square / (1 - BETA2**count)).sqrt_().add_(EPSILON)
            p.addcdiv_(mean, spread, value=-rate / (1 - BETA1**count))

    return step


def check_trained(parameters: Sequence[FloatArray], who: str) -> None:
    """Raise unless parameters are finite: steps that are too long end in infinite ones."""
    if not all(np.isfinite(part).all() for part in parameters):
        raise OptionError(
            f"Training of {who} must converge, but weights became infinite; a smaller "
            "`learning_rate` helps."
        )
