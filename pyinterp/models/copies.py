"""Unfitted copies of estimators of any library, and their seeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

__all__ = ["fresh", "reseed", "seed_networks"]

# What libraries call the seed of an estimator.
SEEDS = ("random_state", "random_seed")
LARGEST_SEED = 2**31 - 1
# CatBoost's default, which it does not list among its parameters.
CATBOOST_SEED = 0


def fresh(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator, its settings copied too.

    It is scikit-learn's clone, or a deep copy where that is refused: some libraries, such as
    CatBoost, hand out copies of lists among their parameters, which `clone` takes for changed ones.
    """
    try:
        copied = clone(estimator)
    except (RuntimeError, TypeError):
        copied = deepcopy(estimator, {id(m): _like(m) for m in _of_catboost(estimator)})
    for model in _of_catboost(copied):
        if model.get_params().keys().isdisjoint(SEEDS) and not model.is_fitted():
            model.set_params(random_seed=CATBOOST_SEED)
    return copied


def reseed(model: Any, rng: np.random.Generator, *, keep_set: bool = False) -> None:
    """Give every seed inside an estimator, those of a pipeline's steps included, a value of `rng`.

    Parameters
    ----------
    model : estimator
        Unfitted; its parameters are changed.
    rng : Generator
    keep_set : bool
        Change only seeds that are None.
    """
    params = model.get_params(deep=True)
    names = sorted(name for name in params if name.split("__")[-1] in SEEDS)
    seeds = rng.integers(LARGEST_SEED, size=len(names)).tolist()
    chosen = dict(zip(names, seeds, strict=True))
    model.set_params(**{n: s for n, s in chosen.items() if params[n] is None or not keep_set})


@contextmanager
def seed_networks(model: Any, rng: np.random.Generator | None) -> Iterator[None]:
    """Seed PyTorch while networks of skorch are trained, which have no seeds of their own.

    PyTorch's random numbers then go on as before. Nothing is done for other models, or without
    `rng`.
    """
    bases = (base.__module__ for part in _parts(model) for base in type(part).__mro__)
    if rng is None or not any(module.partition(".")[0] == "skorch" for module in bases):
        yield
        return
    import torch  # noqa: PLC0415 - what skorch needs, and nothing else here

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(LARGEST_SEED)))
        yield


def _like(model: Any) -> Any:
    """Return an unfitted model of CatBoost with the same parameters."""
    return type(model)().set_params(**deepcopy(model.get_params()))


def _of_catboost(estimator: Any) -> Iterator[Any]:
    """Yield the models of CatBoost among an estimator and those inside of it."""
    for model in _parts(estimator):
        if type(model).__module__.partition(".")[0] == "catboost":
            yield model


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the parameters of it and of those inside of it."""
    yield estimator
    if hasattr(estimator, "get_params"):
        yield from estimator.get_params(deep=True).values()
