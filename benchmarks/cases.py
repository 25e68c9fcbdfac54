"""Data and models that the sections share."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

TRAIN, EVALUATE = 2_000, 1_000
FOREST = RandomForestRegressor(100, random_state=0, n_jobs=1)
BOOSTING = HistGradientBoostingRegressor(random_state=0)


class Case(NamedTuple):
    """A fitted model with its evaluation rows."""

    model: Any
    X: Any
    y: np.ndarray


def case(
    model: Any, train: int = TRAIN, evaluate: int = EVALUATE, features: int = 10, classes: int = 0
) -> Case:
    """Return a model with other rows than it learned, or with its own if `evaluate` is 0."""
    X, y = draw(train + evaluate, features)
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
    return Case(clone(model).fit(X[:train], y[:train]), X[-evaluate:], y[-evaluate:])


def draw(rows: int, features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose numbers are of single precision, as scikit-learn's trees compare them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=rows)


@cache
def ensembles() -> dict[str, Case]:
    """Return tree models of ten features."""
    models = {
        "forest of 100": FOREST,
        "histogram boosting": BOOSTING,
        "XGBoost": XGBRegressor(random_state=0, n_jobs=1),
        "LightGBM": LGBMRegressor(random_state=0, n_jobs=1, verbose=-1),
        "CatBoost": import_module("catboost").CatBoostRegressor(
            verbose=0, thread_count=1, random_state=0, allow_writing_files=False
        ),
        "single tree": DecisionTreeRegressor(random_state=0),
    }
    return {name: case(model) for name, model in models.items()}


def wine() -> tuple[pd.DataFrame, np.ndarray]:
    """Draw data of the red wine data's size: 1,599 grades of 3 to 8, numbers with few values."""
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(1_599, 1))
    ranks = stats.norm.cdf(0.5 * shared + np.sqrt(0.75) * rng.normal(size=(1_599, 11)))
    X = np.floor(ranks * np.linspace(80, 150, 11).round()) / 10
    signal = 2 * ranks[:, 10] - 1.5 * ranks[:, 1] + ranks[:, 9] * ranks[:, 6]
    y = (5.2 + signal + 0.6 * rng.normal(size=len(X))).round().clip(3, 8)
    return pd.DataFrame(X, columns=[f"w{j + 1}" for j in range(11)]), y
