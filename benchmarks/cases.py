"""Data and models that the sections share."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from xgboost import XGBRegressor

__all__ = [
    "EVALUATE", "FEATURES", "FEW", "FOREST", "NAMES", "TRAIN", "Case", "column_pipeline", "draw",
    "forest", "linear", "others", "trees", "wine",
]  # fmt: skip

TRAIN, EVALUATE, FEATURES = 2_000, 1_000, 10
FEW = 300  # evaluation rows of learners that predict slowly
NAMES = [f"x{j + 1}" for j in range(FEATURES)]
FOREST = "forest of 100"


class Case(NamedTuple):
    """A fitted model with its evaluation rows."""

    model: Any
    X: Any
    y: np.ndarray


def draw(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose numbers are of single precision, as scikit-learn's trees compare them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=rows)


def forest(rows: int = EVALUATE) -> Case:
    return Case(_forest(), *draw(rows, seed=1))


@cache
def _forest() -> Any:
    return RandomForestRegressor(100, random_state=0, n_jobs=1).fit(*draw(TRAIN))


@cache
def trees() -> dict[str, Case]:
    X, y = draw(TRAIN)
    boosted = {
        "histogram boosting": HistGradientBoostingRegressor(random_state=0),
        "XGBoost": XGBRegressor(random_state=0, n_jobs=1),
        "LightGBM": LGBMRegressor(random_state=0, n_jobs=1, verbose=-1),
    }
    rest = draw(EVALUATE, seed=1)
    fitted = {name: Case(model.fit(X, y), *rest) for name, model in boosted.items()}
    return {FOREST: forest(), **fitted}


def others() -> dict[str, Case]:
    """Return models that have no exact engine."""
    X, y = draw(500)
    models = {
        "support vector machine": SVR(),
        "neural network": MLPRegressor(hidden_layer_sizes=(50,), max_iter=10_000, random_state=0),
        "10 nearest neighbors": KNeighborsRegressor(10),
    }
    rest = draw(FEW, seed=1)
    return {name: Case(model.fit(X, y), *rest) for name, model in models.items()}


def linear() -> Case:
    return Case(LinearRegression().fit(*draw(TRAIN)), *draw(EVALUATE, seed=1))


def column_pipeline() -> Case:
    """Return a pipeline that spends its time on every call of predict, not on every row."""
    rng = np.random.default_rng(2)
    X, y = draw(500 + FEW)
    frame = pd.DataFrame(X[:, :5], columns=NAMES[:5]).assign(
        group=rng.choice(["north", "east", "south", "west"], size=len(X))
    )
    y = y + (frame["group"] == "north").to_numpy()
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), NAMES[:5]), ("groups", OneHotEncoder(), ["group"])]
    )
    model = make_pipeline(
        columns, MLPRegressor(hidden_layer_sizes=(20,), max_iter=10_000, random_state=0)
    )
    return Case(model.fit(frame[:500], y[:500]), frame[500:].reset_index(drop=True), y[500:])


def wine() -> tuple[pd.DataFrame, np.ndarray]:
    """Draw data of the red wine data's size: 1,599 grades of 3 to 8, numbers with few values."""
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(1_599, 1))
    ranks = stats.norm.cdf(0.5 * shared + np.sqrt(0.75) * rng.normal(size=(1_599, 11)))
    values = np.linspace(80, 150, 11).round()
    X = np.floor(ranks * values) / 10
    signal = 2 * ranks[:, 10] - 1.5 * ranks[:, 1] + ranks[:, 9] * ranks[:, 6]
    y = (5.2 + signal + 0.6 * rng.normal(size=len(X))).round().clip(3, 8)
    return pd.DataFrame(X, columns=[f"w{j + 1}" for j in range(11)]), y
