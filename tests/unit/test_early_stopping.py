"""Boosters stop by some of the training rows alone: whole clusters, with weights and offsets."""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

N = 240
PLAN = pi.HalfSampling(3, pairs=5)
LIGHT = {"n_estimators": 400, "n_jobs": 1, "verbose": -1}
EXTREME = {"n_estimators": 400, "n_jobs": 1}


class Spy(lgb.LGBMRegressor):
    """A booster that notes what it is given: the first column names the row."""

    calls: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X, y, sample_weight=None, init_score=None, eval_X=None, eval_y=None, **options):
        train, held = (np.asarray(rows)[:, 0].astype(int) for rows in (X, eval_X))
        given = {"train": train, "held": held, "weights": sample_weight, "offset": init_score}
        self.calls.append({**given, **options})
        return super().fit(
            X, y, sample_weight=sample_weight, init_score=init_score, eval_X=eval_X, eval_y=eval_y,
            **options,
        )  # fmt: skip


Spy.__module__ = lgb.LGBMRegressor.__module__  # by which offsets are named


@pytest.fixture(scope="module")
def data():
    rng, frame = normal_rows(N, "a b c")
    frame.insert(0, "row", np.arange(N, dtype=float))
    frame["clinic"] = np.resize(np.arange(60), N)
    frame["e"] = rng.uniform(0.2, 3, N)
    frame["w"] = rng.uniform(0.5, 2, N)
    frame["y"] = frame["a"] + frame["b"] ** 2 + rng.normal(size=N)
    frame["high"] = np.where(frame["y"] > 1.5, "yes", "no")
    frame["count"] = rng.poisson(frame["e"] * np.exp(0.5 * frame["a"])).astype(float)
    return frame


BOOSTERS = {
    "lightgbm": ("y", lambda: lgb.LGBMRegressor(**LIGHT)),
    "xgboost": ("y", lambda: xgb.XGBRegressor(**EXTREME)),
    "lightgbm classes": ("high", lambda: lgb.LGBMClassifier(**LIGHT)),
    "xgboost classes": ("high", lambda: xgb.XGBClassifier(**EXTREME)),
}


def rounds_of(fit):
    boosters = [refit.predictor.estimator.best_estimator_ for refit in fit.refits]
    name = "best_iteration_" if hasattr(boosters[0], "best_iteration_") else "best_iteration"
    return [getattr(booster, name) for booster in boosters]


def calls_of(data, plan, booster=None, **options):
    """What a spy is given in every refit, and the fit."""
    Spy.calls.clear()
    booster = booster or pi.EarlyStopping(Spy(**LIGHT))
    y = data[options.pop("y", "y")]
    learner = pi.Learner(y, data[["row", "a", "b"]], booster, **options)
    fit = learner.fit(plan, seed=1)
    return list(Spy.calls), fit


@pytest.mark.parametrize("name", BOOSTERS)
def test_rounds_are_chosen_by_refit_and_engines_are_exact(name, data):
    response, make = BOOSTERS[name]

    def fit():
        learner = pi.EarlyStopping(make())
        return pi.Learner(data[response], data[["a", "b", "c"]], learner).fit(PLAN, seed=1)

    one, other = fit(), fit()
    assert one.pfi().engine.name == "trees, exact"
    assert one.pfi().tidy().equals(other.pfi().tidy())
    assert len(set(rounds_of(one))) > 1
    assert max(rounds_of(one)) < 380  # it stopped
    pfi = one.pfi().params
    assert pfi["b"] > 5 * abs(pfi["c"])


def test_no_evaluation_row_is_held_out(data):
    calls, fit = calls_of(data, PLAN)
    assert len(calls) == 13
    for call, refit in zip(calls, fit.analysis.refits, strict=True):
        given = [*call["train"], *call["held"]]
        assert sorted(given) == sorted(refit.train_rows)
        assert not set(given) & set(refit.evaluation.rows)
        assert len(call["held"]) == pytest.approx(0.2 * len(given), abs=1)


def test_whole_clusters_are_held_out(data):
    booster = make_pipeline("passthrough", pi.EarlyStopping(Spy(**LIGHT)))
    plan = pi.HalfSampling(2, pairs=5, cluster=data["clinic"])
    for call in calls_of(data, plan, booster)[0]:
        train, held = (set(data["clinic"].iloc[call[name]]) for name in ("train", "held"))
        assert held
        assert not train & held


def test_a_class_that_does_not_train_does_not_stop():
    """A cluster has all rows of one class: held out, LightGBM took them for another class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.resize(["a", "b", "c"], 90)
    groups = np.where(y == "c", 0, np.arange(90))
    for seed in range(8):
        booster = pi.EarlyStopping(lgb.LGBMClassifier(**LIGHT), share=0.3, random_state=seed)
        train, held = booster._split(y, groups)
        if "c" in y[held]:
            break
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        fit = lgb.LGBMClassifier.fit

        def spy(self, *arguments, **options):
            seen.append(options["eval_y"])
            return fit(self, *arguments, **options)

        spy.__signature__ = signature(fit)
        patch.setattr(lgb.LGBMClassifier, "fit", spy)
        booster.fit(X, y, groups=groups)
    assert "c" not in y[train]
    assert len(seen[0]) == (y[held] != "c").sum()


def test_repeats_of_a_row_stay_together(data):
    for call in calls_of(data, pi.Bootstrap(3))[0]:
        assert len(set(call["train"])) < len(call["train"])
        assert not set(call["train"]) & set(call["held"])


def test_weights_and_offsets_go_with_their_rows(data):
    booster = pi.EarlyStopping(Spy(objective="poisson", **LIGHT))
    options = {"weights": data["w"], "weights_type": "sampling", "exposure": data["e"]}
    calls, _ = calls_of(data, pi.Subsampling(3), booster, y="count", **options)
    w, e = data["w"].to_numpy(), np.log(data["e"].to_numpy())
    for call in calls:
        (weights,), (offset,) = call["eval_sample_weight"], call["eval_init_score"]
        both = np.concatenate([call["train"], call["held"]])
        scale = np.concatenate([call["weights"], weights]) / w[both]
        start = np.concatenate([call["offset"], offset]) - e[both]
        assert_allclose(scale, scale[0])
        assert_allclose(start, start[0])


@pytest.mark.parametrize(
    "booster",
    [
        lgb.LGBMRegressor(objective="poisson", **LIGHT),
        xgb.XGBRegressor(objective="count:poisson", **EXTREME),
    ],
    ids=["lightgbm", "xgboost"],
)
def test_the_unit_of_exposure_changes_nothing(booster, data):
    tables = []
    for unit in (1.0, 365.0):
        learner = pi.Learner.from_formula(
            "count ~ a + b", data, pi.EarlyStopping(booster), exposure=data["e"] * unit
        )
        tables.append(learner.fit(pi.Subsampling(3), seed=1).pfi().params)
    assert_allclose(tables[0], tables[1], rtol=1e-3)


def test_a_fitted_one_is_explained(data):
    X = data[["a", "b", "c"]]
    model = pi.EarlyStopping(lgb.LGBMClassifier(**LIGHT), random_state=1).fit(X, data["high"])
    assert list(model.classes_) == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}
    fitted = pi.FittedModel(model, X, data["high"])
    assert fitted.pfi().engine.name == "trees, exact"
    search = GridSearchCV(pi.EarlyStopping(lgb.LGBMRegressor(**LIGHT)), {"rounds": [5, 20]}, cv=2)
    learner = pi.Learner(data["y"], X, search)
    plan = pi.HalfSampling(2, pairs=5, cluster=data["clinic"])
    assert learner.fit(plan, seed=1).pfi().params["b"] > 0.5


def test_catboost_stops(data):
    catboost = pytest.importorskip("catboost")
    booster = catboost.CatBoostRegressor(
        n_estimators=400, thread_count=1, allow_writing_files=False, learning_rate=0.3
    )
    learner = pi.Learner(data["y"], data[["a", "b", "c"]], pi.EarlyStopping(booster, rounds=5))
    fit = learner.fit(pi.Subsampling(3), seed=1)
    assert max(refit.predictor.estimator.best_estimator_.tree_count_ for refit in fit.refits) < 300
    assert fit.pfi().params["b"] > 0.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pi.EarlyStopping(RandomForestRegressor()), "scikit-learn's boosters stop by"),
        (lambda: pi.EarlyStopping(lgb.LGBMRegressor(), share=1.5), "`share` must be"),
        (lambda: pi.EarlyStopping(lgb.LGBMRegressor(), rounds=0), "`rounds` must be"),
        (lambda: lgb.LGBMRegressor(early_stopping_round=5, verbose=-1), "`pi.EarlyStopping"),
        (lambda: xgb.XGBRegressor(early_stopping_rounds=5), "`pi.EarlyStopping"),
    ],
)
def test_refusals_say_what_to_write(make, words, data):
    learner = pi.Learner(data["y"], data[["a", "b"]], make_pipeline(StandardScaler(), make()))
    with pytest.raises((OptionError, RefitError), match=words):
        learner.fit(pi.Subsampling(2), seed=1)


def test_few_held_out_rows_need_not_have_every_class(data):
    booster = lgb.LGBMClassifier(**{**LIGHT, "n_estimators": 5})
    learner = pi.Learner(data["high"], data[["a", "b"]], pi.EarlyStopping(booster, share=0.005))
    assert learner.fit(pi.Subsampling(2), seed=1).pfi().params["a"] != 0
