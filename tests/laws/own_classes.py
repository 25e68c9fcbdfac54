"""A script with classes of its own, whose tables must not depend on where refits are made.

``python own_classes.py FOLDER`` prints, by class and way, a digest of the table and the engine, and
leaves some refits in FOLDER. A second run resumes them, and prints both and what was resumed.
``own_classes.py FOLDER SEED KILLS`` kills so many fits in FOLDER at random, one class after
another, and prints how many refits it holds of each.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import pickle
import signal
import sys
import warnings
from functools import partial
from itertools import cycle
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
MOST_TOUCHES = 25  # of files of a folder, before a kill


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
    table = results.pfi()
    if "batched" in table.engine.name:
        table = results.pfi(permutations=3)
    numbers = table.tidy().to_csv(float_format=float.hex)
    return [hashlib.sha256(numbers.encode()).hexdigest(), table.engine.name]


def fit_of(name: str) -> Any:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 3)), columns=["y", "x", "z"])
    data["y"] += data["x"] + data["z"] ** 2
    learner = pi.Learner.from_formula("y ~ x + z", data, ESTIMATORS[name])
    return partial(learner.fit, PLAN, seed=1)


def main(folder: Path, client: Any) -> None:
    found: dict[str, dict[str, list[str]]] = {}
    for name in ESTIMATORS:
        fit = fit_of(name)
        ways = {"one process": shown(fit()), "two": shown(fit(n_jobs=2))}
        with joblib.parallel_config("threading"):
            ways["threads"] = shown(fit(n_jobs=2))
        if client is not None:
            with joblib.parallel_config("dask"):
                ways["Dask"] = shown(fit(n_jobs=2))
        ways["pickled"] = shown(pickle.loads(cloudpickle.dumps(fit())))  # noqa: S301
        ways["afterwards"] = shown(fit())
        ways["kept"] = shown(fit(checkpoint=folder / name))
        for refit in sorted((folder / name / "refits").glob("*.pickle"))[KEPT:]:
            refit.unlink()
        found[name] = ways
    print(json.dumps(found))


def resume(folder: Path) -> None:
    found = {}
    for name in ESTIMATORS:
        fit = fit_of(name)
        resumed = fit(checkpoint=folder / name)
        found[name] = [[shown(fit()), shown(resumed)], resumed.pfi().context.folder]
    print(json.dumps(found))


def killed(fit: Any, place: Path, touches: int) -> bool:
    """Fit in a copy of this process; whether it was killed at a touch of a file in the folder."""
    if child := os.fork():
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = touches

    def look(event: str, arguments: Any) -> None:
        nonlocal left
        if event in ("open", "os.rename") and str(place) in str(arguments[0]):
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)
    try:
        fit(checkpoint=place)
    finally:
        os._exit(0)


def kill(folder: Path, seed: int, kills: int) -> None:
    rng, done = np.random.default_rng(seed), 0
    for name in cycle(rng.permutation(list(ESTIMATORS))):
        done += killed(fit_of(name), folder / name, int(rng.integers(1, MOST_TOUCHES)))
        if done == kills:
            break
    kept = {name: len([*(folder / name).glob("refits/[!.]*.pickle")]) for name in ESTIMATORS}
    print(json.dumps([done, kept]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    place = Path(sys.argv[1])
    if sys.argv[2:]:
        kill(place, *map(int, sys.argv[2:]))
    elif any(place.iterdir()):
        resume(place)
    elif importlib.util.find_spec("distributed") is None:
        main(place, None)
    else:
        from distributed import Client, LocalCluster

        options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
            main(place, client)
