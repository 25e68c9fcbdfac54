"""What skorch needs: its networks draw from PyTorch's random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyinterp.models.library import Library


@contextmanager
def _seeds(seed: int) -> Iterator[None]:
    """Seed PyTorch, whose random numbers then go on as before."""
    import torch  # noqa: PLC0415 - what skorch needs, and nothing else here

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


SKORCH = Library(
    package="skorch",
    regular=False,
    seeds=_seeds,
    remedies={
        "target data shouldn't be 1-dimensional": (
            "write a class of your own, whose `fit` passes "
            "`np.asarray(y, 'float32').reshape(-1, 1)`."
        )
    },
)
