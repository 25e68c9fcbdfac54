"""Unfitted copies of estimators of any library, and their seeds."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

from pyinterp.models.libraries import library_of

# What libraries call the seed of an estimator.
SEEDS = ("random_state", "random_seed")
LARGEST_SEED = 2**31 - 1
_STREAMS = threading.RLock()  # of a fit, and of fits inside it
# The streams before the calls that are under way, once for each.
_BEFORE: list[tuple[tuple[Callable[[Any], None], Any], ...]] = []


def fresh(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator, its settings copied too.

    It is scikit-learn's clone, or a deep copy where that is refused: some libraries, such as
    CatBoost, hand out copies of lists among their parameters, which `clone` takes for changed ones.
    """
    try:
        copied = clone(estimator)
    except (RuntimeError, TypeError):
        likes = {
            id(model): type(model)().set_params(**deepcopy(model.get_params()))
            for model in _parts(estimator)
            if library_of(model).defaults
        }
        copied = deepcopy(estimator, likes)
    for model in _parts(copied):
        defaults = library_of(model).defaults
        if defaults and model.get_params().keys().isdisjoint(SEEDS) and not model.is_fitted():
            model.set_params(random_seed=defaults["random_seed"])
    return copied


def reseed(model: Any, rng: np.random.Generator, *, keep_set: bool = False) -> None:
    """Give every seed inside an estimator, of a pipeline's steps too, a value of `rng`.

    Parameters
    ----------
    model : estimator
        Unfitted; its parameters are changed.
    rng : Generator
    keep_set : bool
        Change only seeds that are None.
    """
    for name, former in sorted(model.get_params(deep=True).items()):
        if name.split("__")[-1] in SEEDS:
            seed = int(rng.integers(LARGEST_SEED))
            if former is None or not keep_set:
                model.set_params(**{name: seed})


@contextmanager
def seeded_streams(rng: np.random.Generator) -> Iterator[None]:
    """Seed the streams of Python, NumPy and PyTorch by `rng`.

    Threads of a process share them, so that they train one model at a time.
    """
    seed, torch = int(rng.integers(LARGEST_SEED)), sys.modules.get("torch")
    with _STREAMS:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - what learners use
        if torch is not None:
            torch.manual_seed(seed)
        yield


@contextmanager
def kept_streams() -> Iterator[None]:
    """Let the streams of the process go on as before, after the last of the calls at a time."""
    torch = sys.modules.get("torch")
    with _STREAMS:
        _BEFORE.append(
            _BEFORE[0]
            if _BEFORE
            else (
                (random.setstate, random.getstate()),
                (np.random.set_state, np.random.get_state()),  # noqa: NPY002
                *([] if torch is None else [(torch.set_rng_state, torch.get_rng_state())]),
            )
        )
    try:
        yield
    finally:
        with _STREAMS:
            streams = _BEFORE.pop()
            for restore, state in () if _BEFORE else streams:
                restore(state)


def _parts(estimator: Any) -> list[Any]:
    """Return an estimator and its parameters."""
    inside = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return [estimator, *inside.values()]
