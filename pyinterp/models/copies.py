"""Unfitted copies of estimators of any library, and their seeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

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
        likes = {
            id(model): type(model)().set_params(**deepcopy(model.get_params()))
            for model in _parts(estimator, "catboost")
        }
        copied = deepcopy(estimator, likes)
    for model in _parts(copied, "catboost"):
        if model.get_params().keys().isdisjoint(SEEDS) and not model.is_fitted():
            model.set_params(random_seed=CATBOOST_SEED)
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
    params = model.get_params(deep=True)
    names = [name for name in sorted(params) if name.split("__")[-1] in SEEDS]
    seeds = rng.integers(LARGEST_SEED, size=len(names)).tolist()
    for name, seed in zip(names, seeds, strict=True):
        if params[name] is None or not keep_set:
            model.set_params(**{name: seed})


@contextmanager
def seed_networks(model: Any, rng: np.random.Generator | None) -> Iterator[None]:
    """Seed PyTorch while networks of skorch are trained, which have no seeds of their own.

    PyTorch's random numbers then go on as before. Nothing is done for other models, or without
    `rng`.
    """
    if rng is None or not _parts(model, "skorch"):
        yield
        return
    import torch  # noqa: PLC0415 - what skorch needs, and nothing else here

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(LARGEST_SEED)))
        yield


def _parts(estimator: Any, package: str) -> list[Any]:
    """Return an estimator and those inside of it whose class, or a base of it, is of a package."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        parts += estimator.get_params(deep=True).values()
    chosen = []
    for part in parts:
        for kind in type(part).__mro__:
            if kind.__module__.partition(".")[0] == package:
                chosen.append(part)
                break
    return chosen
