"""A script with classes of its own, whose tables must not depend on where refits are made.

``python own_classes.py FOLDER`` prints, by class and way, a digest of the table and the engine.
Refits that FOLDER holds are resumed; a first run leaves some of them there.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import pyinterp as pi

PLAN = pi.Subsampling(4)
KEPT = 2  # refits that a first run leaves


def trained(kind: type, **settings: Any) -> Any:
    """Return an estimator of a class made by a function, which only trains in a way of its own."""

    class Own(kind):  # type: ignore[misc, valid-type]
        def fit(self, X: Any, y: Any, **options: Any) -> Any:
            return super().fit(X, y, **options)

        def report(self) -> str:
            return "own"

    return Own(**settings)


class Tree(DecisionTreeRegressor):
    def fit(self, X: Any, y: Any, **options: Any) -> Any:
        return super().fit(X, y, **options)


class Outer:
    class Line(LinearRegression):
        note = "nested"


class Shifted(LinearRegression):
    def predict(self, X: Any) -> Any:
        return super().predict(X) + 1


class Clipped(RandomForestRegressor):
    def _validate_X_predict(self, X: Any) -> Any:  # noqa: N802 - scikit-learn's name
        return np.maximum(super()._validate_X_predict(X), 0)


ESTIMATORS: dict[str, Any] = {
    "module": Tree(max_depth=3),
    "nested": Outer.Line(),
    "own predict": Shifted(),
    "own private step": Clipped(5, max_depth=3),
    "forest": trained(RandomForestRegressor, n_estimators=5, max_depth=3),
    "boosting": trained(GradientBoostingRegressor, n_estimators=5),
    "histogram": trained(HistGradientBoostingRegressor, max_iter=5),
    "lightgbm": trained(LGBMRegressor, n_estimators=5, verbose=-1),
    "xgboost": trained(XGBRegressor, n_estimators=5),
    "catboost": trained(CatBoostRegressor, iterations=5, verbose=0, allow_writing_files=False),
    "ridge": trained(Ridge),
    "kernel": trained(SVR),
}


def shown(results: Any) -> list[str]:
    table = results.pfi(permutations=3 if "batched" in results.pfi().engine.name else "auto")
    numbers = table.tidy().to_csv(float_format=float.hex)
    return [hashlib.sha256(numbers.encode()).hexdigest(), table.engine.name]


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 3)), columns=["y", "x", "z"])
    data["y"] += data["x"] + data["z"] ** 2
    found: dict[str, dict[str, list[str]]] = {}
    for name, estimator in ESTIMATORS.items():
        learner = pi.Learner.from_formula("y ~ x + z", data, estimator)

        def fit(learner: Any = learner, **options: Any) -> Any:
            return learner.fit(PLAN, seed=1, progress=False, **options)

        ways = {"one process": shown(fit()), "two": shown(fit(n_jobs=2))}
        with joblib.parallel_config("threading"):
            ways["threads"] = shown(fit(n_jobs=2))
        ways["pickled"] = shown(pickle.loads(cloudpickle.dumps(fit())))  # noqa: S301
        ways["afterwards"] = shown(fit())
        place = folder / name
        resumed = place.exists()
        ways["resumed" if resumed else "kept"] = shown(fit(checkpoint=place))
        if not resumed:
            for refit in sorted((place / "refits").glob("*.pickle"))[KEPT:]:
                refit.unlink()
        found[name] = ways
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
