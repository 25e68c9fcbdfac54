"""The processes of the battery: functions of a generator and n that return a frame with y."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

import pyinterp as pi
from pyinterp import simulation
from pyinterp_papers.processes import friedman1, molnar_linear, molnar_nonlinear

Draw = Callable[[np.random.Generator, int], pd.DataFrame]


def known(process: simulation.Process) -> Draw:
    """Return the draws of a process of the package."""
    return lambda rng, n: process.draw(n, rng)


def normal(
    rng: np.random.Generator,
    n: int,
    *,
    p: int = 4,
    copies: float = 0.0,
    correlation: float = 0.0,
    effect: str = "linear",
    features: str = "normal",
    noise: str = "normal",
) -> pd.DataFrame:
    """Draw y = x1 + x2 / 2 + noise, with p features.

    x2 is near x1 if `copies` is above 0, and correlates with it by `correlation`. The effect
    "first" is x1, "interaction" 2 x1 x2.
    """
    X = rng.normal(size=(n, p))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    if features == "lognormal":
        X = np.exp(X)
    elif features == "dummy":
        X[:, 0] = 2 * (rng.random(n) < 0.05)
    if copies:
        X[:, 1] = X[:, 0] + copies * rng.normal(size=n)
    e = rng.normal(size=n)
    if noise in ("t3", "t4"):
        e = rng.standard_t(int(noise[1]), size=n)
    elif noise == "lognormal":
        e = np.exp(rng.normal(size=n)) - np.exp(0.5)
    elif noise == "heteroscedastic":
        e *= 0.5 + np.abs(X[:, 0])
    signal = {
        "linear": X[:, 0] + X[:, 1] / 2,
        "first": X[:, 0],
        "interaction": 2 * X[:, 0] * X[:, 1],
    }[effect]
    return _frame(X).assign(y=signal + e)


def copies_of_one(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw two classes by a logistic model of z, and five noisy copies of z, without z."""
    z = rng.normal(size=n)
    event = rng.random(n) < 1 / (1 + np.exp(-1.5 * z))
    X = z[:, None] + 0.25 * rng.normal(size=(n, 5))
    return _frame(X).assign(y=np.where(event, "yes", "no"))


def classes(
    rng: np.random.Generator, n: int, *, intercept: float, p: int = 4, correlation: float = 0.0
) -> pd.DataFrame:
    """Draw two classes by a logistic model of x1 and x2; p - 2 features do not matter."""
    X = rng.normal(size=(n, p))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    odds = intercept + X[:, 0] + X[:, 1] / 2
    event = rng.random(n) < 1 / (1 + np.exp(-odds))
    return _frame(X).assign(y=np.where(event, "yes", "no"))


def counts(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw Poisson counts whose log mean is linear in x1 and x2."""
    X = rng.normal(size=(n, 4))
    return _frame(X).assign(y=rng.poisson(np.exp(0.3 + 0.6 * X[:, 0] + 0.3 * X[:, 1])))


def clusters(rng: np.random.Generator, n: int, *, number: int) -> pd.DataFrame:
    """Draw clusters of unequal sizes, about n rows in all, with a random intercept."""
    weight = rng.lognormal(0, 0.7, size=number)
    sizes = np.maximum(1, np.round(n * weight / weight.sum()).astype(int))
    cluster = np.repeat(np.arange(number), sizes)
    frame = normal(rng, len(cluster), p=3)
    return frame.assign(y=frame["y"] + rng.normal(size=number)[cluster], id=cluster)


def sampled(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw from `normal` with correlation .5, rows with a large x2 rarely: w is 1 / probability."""
    frame = normal(rng, 12 * n, correlation=0.5)
    chance = 1 / (1 + np.exp(frame["x2"] + 1.0))
    frame = frame.assign(w=1 / chance)[rng.random(len(frame)) < chance]
    return frame.iloc[:n].reset_index(drop=True)


def plasmode(load: Callable[[], pd.DataFrame], response: str) -> Draw:
    """Return draws, with replacement, of the rows of a data set, as a population."""
    kept: list[pd.DataFrame] = []

    def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
        if not kept:
            kept.append(load().rename(columns={response: "y"}))
        return kept[0].iloc[rng.integers(len(kept[0]), size=n)].reset_index(drop=True)

    return draw


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])


LINEAR = known(molnar_linear())
NON_LINEAR = known(molnar_nonlinear())
FRIEDMAN_10 = known(friedman1(noise_features=5))
FRIEDMAN_20 = known(friedman1(noise_features=15))
WINE = plasmode(partial(pi.datasets.load_wine_quality, "white"), "quality")
CONCRETE = plasmode(pi.datasets.load_concrete, "compressive_strength")
