"""Fits whose models are dropped: the numbers of the usual fit, of what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold

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
        pi.CrossValidation(3),
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


@pytest.fixture(scope="module")
def learner(data: pd.DataFrame) -> pi.Learner:
    return pi.Learner.from_formula("y ~ a + b", data, forest())


PLAN = pi.HalfSampling(refits=3, pairs=8)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_any_number_of_jobs_gives_the_same_numbers(learner: pi.Learner, backend: str) -> None:
    options: dict[str, Any] = {"seed": 1, "progress": False, "keep_models": False}
    one = learner.fit(PLAN, measure=lambda r: r.pfi(), **options)
    with parallel_config(backend):
        two = learner.fit(PLAN, measure=lambda r: r.pfi(), n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.pfi().tidy(), two.pfi().tidy(), check_exact=True)


def test_a_refit_without_variance_is_measured(data: pd.DataFrame) -> None:
    """One cluster evaluates each refit: it has a value, and no standard error."""
    learner = pi.Learner.from_formula("y ~ a + b", data, LinearRegression())
    plan = pi.Splits(GroupKFold(12), cluster="site")
    options: dict[str, Any] = {"seed": 1, "progress": False}
    usual = learner.fit(plan, **options)
    dropped = learner.fit(plan, **options, keep_models=False, measure=lambda r: r.pfi())
    pd.testing.assert_frame_equal(usual.pfi().tidy(), dropped.pfi().tidy(), check_exact=True)


def test_errors_say_what_was_measured(learner: pi.Learner) -> None:
    results = learner.fit(
        PLAN, seed=1, progress=False, keep_models=False, measure=lambda r: r.pd("a")
    )
    with pytest.raises(pi.errors.FileError, match=r"PFI .* was not measured.* Measured were .*PD"):
        results.pfi()
    with pytest.raises(pi.errors.FileError, match="needs models"):
        results.predict(pd.DataFrame({"a": [0.0], "b": [0.0]}))


def test_a_named_mean_may_be_of_a_lambda(learner: pi.Learner) -> None:
    bias = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias")
    options: dict[str, Any] = {"seed": 1, "progress": False}
    usual = learner.fit(PLAN, **options).estimate(bias)
    dropped = learner.fit(PLAN, **options, keep_models=False, measure=lambda r: r.estimate(bias))
    pd.testing.assert_frame_equal(dropped.estimate(bias).tidy(), usual.tidy(), check_exact=True)
    with pytest.raises(pi.errors.OptionError, match="must have a name of its own"):
        learner.fit(
            PLAN, **options, keep_models=False, measure=lambda r: r.loss(lambda y, f: abs(y - f))
        )


def test_options_go_together(learner: pi.Learner) -> None:
    with pytest.raises(pi.errors.OptionError, match="`keep_models=False` needs `measure`"):
        learner.fit(keep_models=False)
    with pytest.raises(pi.errors.OptionError, match="`measure` is for `keep_models=False`"):
        learner.fit(measure=lambda r: r.pfi())
    with pytest.raises(pi.errors.OptionError, match="Can't find feature 'z'"):
        learner.fit(PLAN, keep_models=False, measure=lambda r: r.pfi("z"), on_error="drop")
    with pytest.raises(pi.errors.OptionError, match="must be a function of results"):
        learner.fit(PLAN, keep_models=False, measure=lambda _: 1 / 0)


def test_every_refit_is_asked_the_same(learner: pi.Learner) -> None:
    questions = iter("ab" * 20)
    with pytest.raises(pi.errors.OptionError, match=r"same estimands.*asked refit 2 for"):
        learner.fit(
            PLAN, seed=1, progress=False, keep_models=False,
            measure=lambda r: r.pd(next(questions)),
        )  # fmt: skip


def test_a_checkpoint_keeps_what_was_measured(learner: pi.Learner, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seed": 1, "progress": False, "keep_models": False}
    options |= {"measure": lambda r: r.pfi(), "checkpoint": tmp_path}
    for part in (2, 1):
        learner.fit(PLAN, shard=(part, 2), **options)
    joined = pi.join(tmp_path, progress=False)
    usual = learner.fit(PLAN, seed=1, progress=False)
    pd.testing.assert_frame_equal(usual.pfi().tidy(), joined.pfi().tidy(), check_exact=True)
    with pytest.raises(pi.errors.OptionError, match="other names or shapes"):
        learner.fit(PLAN, **{**options, "measure": lambda r: r.pd("a")})
