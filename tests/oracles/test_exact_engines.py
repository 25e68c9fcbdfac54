"""Models that have exact engines, in the forms in which practice hands them over.

A response whose classes are in the data's own order, levels as texts, and searches: each is exact,
with the numbers of the batched engine. Formulas of formulaic are in ``tests/unit/test_linear.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import pyinterp as pi

N = 120
PLAN = pi.Subsampling(2, strata="c")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abd"))
    frame["g"] = pd.Categorical(
        rng.choice(["north", "east", "south"], N), ["south", "north", "east"]
    )
    score = frame["a"] + 2 * (frame["g"] == "east") + rng.normal(size=N) / 2
    frame["y"] = score
    frame["c"] = pd.Categorical(np.where(score > 0.3, "yes", "no"), ["yes", "no"])
    frame["three"] = pd.cut(score, [-99, -0.2, 0.7, 99], labels=["low", "mid", "high"])
    return frame


CLASSIFIERS: dict[str, tuple[Callable[[], Any], str]] = {
    "forest": (lambda: RandomForestClassifier(5), "trees, exact"),
    "histogram": (lambda: HistGradientBoostingClassifier(max_iter=5), "trees, exact"),
    "xgboost": (lambda: xgboost.XGBClassifier(n_estimators=5, n_jobs=1), "trees, exact"),
    "lightgbm": (
        lambda: lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
        "trees, exact",
    ),
    "logistic": (LogisticRegression, "linear, exact"),
    "ridge": (RidgeClassifier, "linear, exact"),
    "vectors": (SVC, "kernel, exact"),
    "calibrated": (
        lambda: CalibratedClassifierCV(RandomForestClassifier(5), ensemble=False, cv=2),
        "trees, exact",
    ),
    "calibrated line": (
        lambda: CalibratedClassifierCV(LogisticRegression(), cv=2),
        "linear, exact",
    ),
    "search": (lambda: GridSearchCV(RandomForestClassifier(5), {}, cv=2), "trees, exact"),
}


@pytest.mark.parametrize("response", ["c", "three"])  # neither is in alphabetical order
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_in_any_order(name: str, response: str) -> None:
    make, engine = CLASSIFIERS[name]
    learner = pi.Learner.from_formula(f"{response} ~ a + b + d + g", data(), make())
    exact = learner.fit(PLAN, seed=1, progress=False)
    batched = learner.fit(PLAN, seed=1, progress=False, engine="batched")
    loss = "zero_one" if name in ("ridge", "vectors") else "log"
    here, there = (r.pfi(loss=loss, permutations="all") for r in (exact, batched))
    assert here.context.engine.name == engine
    np.testing.assert_allclose(here.params, there.params, atol=1e-5 if name == "xgboost" else 1e-9)
    curve = exact.pd("a", points=3)
    np.testing.assert_allclose(curve.params, batched.pd("a", points=3).params, atol=1e-6)
    labels = list(data()[response].cat.categories)
    if response == "three":
        assert list(dict.fromkeys(curve.estimand.terms.layout["class"])) == labels


@pytest.mark.parametrize(
    ("estimator", "design"),
    [
        (
            HistGradientBoostingRegressor(
                max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
            ),
            "frame",
        ),
        (
            HistGradientBoostingRegressor(
                max_iter=5, min_samples_leaf=5, categorical_features=["g"]
            ),
            "frame",
        ),
        (xgboost.XGBRegressor(n_estimators=5, n_jobs=1, enable_categorical=True), "frame"),
        (
            xgboost.XGBRegressor(
                n_estimators=5, n_jobs=1, enable_categorical=True, booster="dart", rate_drop=0.3
            ),
            "frame",
        ),
        (
            lightgbm.LGBMRegressor(n_estimators=5, min_child_samples=5, n_jobs=1, verbose=-1),
            "frame",
        ),
        (GridSearchCV(RandomForestRegressor(5), {"max_depth": [2, 4]}, cv=2), "matrix"),
        (
            GridSearchCV(
                HistGradientBoostingRegressor(
                    max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
                ),
                {},
                cv=2,
            ),
            "frame",
        ),
    ],
    ids=str,
)
def test_texts_as_levels_and_searches(estimator: Any, design: Any) -> None:
    learner = pi.Learner.from_formula("y ~ a + b + d + g", data(), estimator, design=design)
    exact = learner.fit(PLAN, seed=1, progress=False)
    batched = learner.fit(PLAN, seed=1, progress=False, engine="batched")
    here, there = (r.pfi(permutations="all") for r in (exact, batched))
    assert here.context.engine.name == "trees, exact"
    np.testing.assert_allclose(here.params, there.params, atol=1e-6)
    assert here.params["g"] > 0
