"""Fits whose models are dropped: the numbers of the usual fit, of what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut

import pyinterp as pi

N = 120


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame["g"] = pd.Categorical(rng.choice(["u", "v"], N))
    frame["y"] = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=N)
    return frame.assign(
        k=np.where(frame["y"] > 0, "high", "low"), site=np.repeat(np.arange(12), 10)
    )


def forest(**options: Any) -> Any:
    return RandomForestRegressor(10, n_jobs=1, **options)


Question = Callable[[Any], Any]
CASES: dict[str, tuple[str, Any, Any, list[Question]]] = {
    "halves": (
        "y ~ a + b + c + g",
        forest(),
        pi.HalfSampling(refits=4, pairs=8),
        [
            lambda r: r.pfi(),
            lambda r: r.pfi(relation="ratio"),
            lambda r: r.pd("a"),
            lambda r: r.pd("b", by="g"),
            lambda r: r.ale("c"),
            lambda r: r.pfi("a", rows="site > 3"),  # a column that is no variable
            lambda r: r.cvim("b"),
            lambda r: r.loco("c"),
            lambda r: r.metric("rsq"),
            lambda r: r.loss(relation="explained"),
        ],
    ),
    "classes": (
        "k ~ a + b + c",
        RandomForestClassifier(10, n_jobs=1),
        pi.HalfSampling(refits=4, pairs=8),
        [lambda r: r.pfi(), lambda r: r.pd("a"), lambda r: r.pfi("a", metric="roc_auc")],
    ),
    "folds": (
        "y ~ a + b + c",
        HistGradientBoostingRegressor(max_iter=5),
        pi.NestedCrossValidation(3),
        [lambda r: r.pfi(), lambda r: r.loss()],
    ),
    "one model": (
        "y ~ a + b",
        LinearRegression(),
        pi.Holdout(0.5),
        [lambda r: r.pfi(), lambda r: r.pd("a"), lambda r: r.slopes("a", step=0.1)],
    ),
    "clusters": (
        "y ~ a + b",
        LinearRegression(),
        pi.Bootstrap(4, cluster="site"),
        [lambda r: r.pfi(), lambda r: r.ame()],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_of_the_usual_fit(data: pd.DataFrame, tmp_path: Path, name: str) -> None:
    formula, estimator, plan, questions = CASES[name]
    learner = pi.Learner.from_formula(formula, data, estimator)

    def measure(results: Any) -> None:
        for ask in questions:
            ask(results)

    usual = learner.fit(plan, seed=1, progress=False)
    dropped = learner.fit(plan, seed=1, progress=False, keep_models=False, measure=measure)
    dropped.save(tmp_path / "all.pyinterp")
    for results in (dropped, pi.load(tmp_path / "all.pyinterp")):
        for ask in questions if results is dropped else questions[:1]:
            one, other = ask(usual), ask(results)
            pd.testing.assert_frame_equal(one.tidy(), other.tidy(), check_exact=True)
            assert str(one.summary()) == str(other.summary())
            assert one.context.resamples == other.context.resamples
