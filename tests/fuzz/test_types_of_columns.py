"""Random types of columns: importances are those of a naive loop over the user's rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pyinterp as pi

N = 40
NUMBERS = ["float64", "float32", "int64", "int8", "Int64", "Float64", "float16"]
ARROW = ["double[pyarrow]", "int32[pyarrow]"]
LEVELS = ["str", "string", "object", "category", "boolean", "bool"]
ARROW_LEVELS = ["string[pyarrow]", "bool[pyarrow]"]


def has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def column(dtype: str, holes: bool, rng: np.random.Generator) -> pd.Series:
    values: Any
    if "int" in dtype.lower():
        values = rng.integers(0, 6, N)
    elif dtype in NUMBERS or dtype == "double[pyarrow]":
        values = np.round(rng.normal(size=N), 2)
    elif "bool" in dtype:
        values = rng.random(N) < 0.5
    else:
        values = rng.choice(list("uvw"), N)
    series = pd.Series(values).astype(dtype)
    plain = dtype in ("int64", "int8", "bool")
    return series if plain or not holes else series.mask(pd.Series(rng.random(N) < 0.1))


def rows(rng: np.random.Generator) -> pd.DataFrame:
    arrow = has_pyarrow()
    numbers = rng.choice(NUMBERS + (ARROW if arrow else []), 2)
    levels = rng.choice(LEVELS + (ARROW_LEVELS if arrow else []), 2)
    frame = pd.DataFrame(
        {f"{kind}{k}": column(str(dtype), rng.random() < 0.4, rng)
         for kind, types in (("n", numbers), ("g", levels)) for k, dtype in enumerate(types)}
    )  # fmt: skip
    if rng.random() < 0.2:
        frame = frame.set_axis(range(4), axis=1)
    if rng.random() < 0.4:
        frame.index = pd.Index(rng.permutation(N) * 3)
    return frame


def encoders(frame: pd.DataFrame) -> Any:
    """Return a step that makes numbers of columns, found by their types."""
    numeric = make_column_selector(dtype_include=["number"])
    others = make_column_selector(dtype_exclude=["number"])
    encode = OneHotEncoder(handle_unknown="ignore")
    fill = SimpleImputer(strategy="most_frequent", missing_values=np.nan)
    return ColumnTransformer(
        [("n", SimpleImputer(), numeric), ("g", make_pipeline(AsObjects(), fill, encode), others)]
    )


class AsObjects(OneHotEncoder):
    """Texts of all levels; missing ones are NaN."""

    def fit(self, X: Any, y: Any = None) -> AsObjects:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        frame = pd.DataFrame(X).astype(object)
        return frame.map(lambda v: np.nan if pd.isna(v) else str(v)).to_numpy()

    def get_feature_names_out(self, names: Any = None) -> Any:
        return names


MODELS = [
    Ridge(),
    RandomForestRegressor(5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5),
]


def predict_naive(model: Any, X: pd.DataFrame, y: np.ndarray, name: Any) -> float:
    base = np.mean((y - model.predict(X)) ** 2)
    total = 0.0
    for shift in range(1, N):
        moved = X.copy()
        moved[name] = X[name].take((np.arange(N) + shift) % N).array
        total += np.mean((y - model.predict(moved)) ** 2)
    return float(total / (N - 1) - base)


def check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rows(rng)
    y = rng.normal(size=N) + X.iloc[:, 0].fillna(0).to_numpy(dtype=float)
    y = y + (X.iloc[:, 2].astype(str) == str(X.iloc[0, 2])).to_numpy(dtype=float)
    model = make_pipeline(encoders(X), clone(MODELS[seed % 3])).fit(X, y)
    results = pi.FittedModel(model, X, y, missing="keep")
    name = X.columns[int(rng.integers(4))]
    found = results.pfi([str(name)], permutations="all").params.iloc[0]
    expected = predict_naive(model, X, y, name)
    assert abs(found - expected) < 1e-8 * (1 + abs(expected)), (seed, X.dtypes.to_dict())


@pytest.mark.parametrize("seed", range(12))
def test_importances_are_those_of_a_naive_loop(seed: int) -> None:
    with warnings.catch_warnings(action="ignore"):
        check(seed)


@pytest.mark.torture
@pytest.mark.parametrize("start", range(12, 612, 50))
def test_importances_of_many_types_are_those_of_a_naive_loop(start: int) -> None:
    with warnings.catch_warnings(action="ignore"):
        for seed in range(start, start + 50):
            check(seed)
