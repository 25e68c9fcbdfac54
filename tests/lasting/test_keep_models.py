"""Fits whose models are dropped: the numbers of the usual fit, of what was asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold

import pyinterp as pi
from pyinterp.estimands.questions import methods

N = 120
PLAN = pi.HalfSampling(refits=3, pairs=8)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame["g"] = pd.Categorical(rng.choice(["u", "v"], N))
    frame["y"] = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=N)
    return frame.assign(
        k=np.where(frame["y"] > 0, "high", "low"), site=np.repeat(np.arange(12), 10)
    )


def forest():
    return RandomForestRegressor(4, n_jobs=1)


class Case(NamedTuple):
    """A fit, and what is asked of it."""

    formula: str
    estimator: Any
    plan: Any
    questions: list[pi.Question]


MEAN = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias")
HALVES = [
    pi.ask("pfi"),
    pi.ask("pfi", relation="ratio"),
    pi.ask("pfi", "a", rows="site > 3"),  # a column that is no variable
    pi.ask("pfi", "a", metric="rmse"),
    pi.ask("pd", "a"),
    pi.ask("pd", "b", by="g"),
    pi.ask("pd", ["a", "b"], together=False, points=3),
    pi.ask("ale", "c"),
    pi.ask("ame", step="sd"),
    pi.ask("firm", points=3),
    pi.ask("vint", ["a", "b"], points=3),
    pi.ask("h_statistic", most_rows=20),
    pi.ask("mvim"),
    pi.ask("cvim", "b"),
    pi.ask("amvim", "b"),
    pi.ask("loco", "c"),
    pi.ask("sage"),
    pi.ask("redundancy", "b"),
    pi.ask("positivity", "b"),
    pi.ask("importance", ["pfi", "firm", "native", "rmse"]),
    pi.ask("causal", "a", points=2),
    pi.ask("native_importance"),
    pi.ask("metric", "rsq"),
    pi.ask("loss", relation="explained"),
    pi.ask("estimate", MEAN),
]
CASES = {
    "halves": Case("y ~ a + b + c + g", forest(), pi.HalfSampling(refits=2, pairs=5), HALVES),
    "classes": Case(
        "k ~ a + b + c",
        LogisticRegression(),
        pi.HalfSampling(refits=2, pairs=6),
        [
            pi.ask("likelihood_pfi"),
            pi.ask("entropy_pfi"),
            pi.ask("uncertainty", "a"),
            pi.ask("pd", "a", of="entropy", points=3),
            pi.ask("pfi", "a", metric="roc_auc"),
            pi.ask("population", "a"),
        ],
    ),
    "distributions": Case(
        "y ~ a + b",
        BayesianRidge(),
        pi.CrossValidation(3),
        [
            pi.ask("uncertainty", "a"),
            pi.ask("population"),
            pi.ask("compare_targets", "a"),
            pi.ask("interactions", "a"),
            pi.ask("products", "a"),
        ],
    ),
    "trees of the population": Case(
        "y ~ a + g", forest(), pi.HalfSampling(2, pairs=6), [pi.ask("population", "g")]
    ),
    "folds": Case(
        "y ~ a + b + c",
        HistGradientBoostingRegressor(max_iter=5),
        pi.CrossValidation(3),
        [pi.ask("pfi"), pi.ask("loss")],
    ),
    "one model": Case(
        "y ~ a + b",
        LinearRegression(),
        pi.Holdout(0.5),
        [pi.ask("pfi"), pi.ask("pd", "a"), pi.ask("ame", "a", step=0.1)],
    ),
    "clusters": Case(
        "y ~ a + b",
        LinearRegression(),
        pi.Bootstrap(4, cluster="site"),
        [pi.ask("pfi"), pi.ask("ame")],
    ),
    # One cluster evaluates each refit: it has a value, and no standard error.
    "one cluster": Case(
        "y ~ a + b", LinearRegression(), pi.Splits(GroupKFold(12), cluster="site"), [pi.ask("pfi")]
    ),
}


def test_every_method_is_asked():
    asked = {one.name for case in CASES.values() for one in case.questions}
    assert asked == methods().keys()


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_of_the_usual_fit(data, tmp_path, name):
    formula, estimator, plan, questions = CASES[name]
    learner = pi.Learner.from_formula(formula, data, estimator)
    usual = learner.fit(plan, seed=1)
    dropped = learner.fit(plan, seed=1, keep_models=False, measure=questions)
    assert all(refit.record is None for refit in dropped.analysis.refits)
    dropped.save(tmp_path / "all.pyinterp")
    for results in (dropped, pi.load(tmp_path / "all.pyinterp")):
        for question in questions:
            if results is not dropped and "site" in str(question.rows):
                continue  # files keep variables alone
            one, other = usual.answer(question), results.answer(question)
            pd.testing.assert_frame_equal(tidy(one), tidy(other), check_exact=True)
            assert str(one.summary()) == str(other.summary())


def tidy(results):
    return results.tidy() if hasattr(results, "tidy") else results.summary_frame()


def test_a_question_is_the_method(data):
    res = pi.Learner.from_formula("y ~ a + g", data, forest()).fit(PLAN, seed=1)
    some = {"cov_type": "half-sample", "p_adjust": "holm"}
    question = pi.ask("pfi", ["a"], permutations=3, by="g")
    assert repr(question) == "pfi(features=['a'], permutations=3, by='g')"
    alone = res.pfi(["a"], permutations=3, by="g", **some)
    pd.testing.assert_frame_equal(res.answer(question, **some).tidy(), alone.tidy())
    importance = res.importance(["mvim", pi.ask("pfi", loss="absolute")])
    pd.testing.assert_series_equal(
        importance.params["pfi(loss='absolute')"],
        res.pfi(loss="absolute").params,
        check_names=False,
    )


@pytest.fixture(scope="module")
def learner(data):
    return pi.Learner.from_formula("y ~ a + b", data, forest())


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_any_number_of_jobs_gives_the_same_numbers(learner, backend):
    options = {"seed": 1, "progress": False, "keep_models": False}
    one = learner.fit(PLAN, measure="pfi", **options)
    with parallel_config(backend):
        two = learner.fit(PLAN, measure="pfi", n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.pfi().tidy(), two.pfi().tidy(), check_exact=True)


def test_errors_say_what_was_measured(learner):
    results = learner.fit(PLAN, seed=1, keep_models=False, measure=pi.ask("pd", "a"))
    with pytest.raises(pi.errors.FileError, match=r"PFI .* was not measured.* Measured: .*PD"):
        results.pfi()
    with pytest.raises(pi.errors.FileError, match="needs models"):
        results.predict(pd.DataFrame({"a": [0.0], "b": [0.0]}))


def test_questions_are_refused(learner):
    options = {"seed": 1, "progress": False, "keep_models": False}
    for measure, words in {
        (): r"`measure` must be names and questions",
        (lambda res: res.pfi()): r"`measure` must be names and questions .*pi\.ask",
        ("pfi", lambda res: res.pfi()): r"needs no `lambda`",
        "pfy": r"no estimand 'pfy'.* Did you mean `pfi`",
        pi.ask("pfi", "z"): "Can't find feature 'z'",
        pi.ask("loss", lambda y, f: abs(y - f)): "must have a name of its own",
    }.items():
        with pytest.raises(pi.errors.OptionError, match=words):
            learner.fit(PLAN, measure=measure, on_error="drop", **options)
    with pytest.raises(pi.errors.OptionError, match="`keep_models=False` needs `measure`"):
        learner.fit(keep_models=False)
    with pytest.raises(pi.errors.OptionError, match="`measure` is for `keep_models=False`"):
        learner.fit(measure="pfi")
    with pytest.raises(TypeError, match=r"no keyword argument `featuers`.* Did you mean"):
        pi.ask("pfi", featuers="a")
    with pytest.raises(TypeError, match="several estimands side by side"):
        pi.ask("importance", by="g")
    with pytest.raises(TypeError, match=r"ale\(\): missing a required argument"):
        pi.ask("ale")


def test_every_refit_is_asked_the_same(learner):
    class Changing:
        """A setting whose text is another one in every refit."""

        count = itertools.count()

        @property
        def key(self):
            return str(next(self.count))

    odd = replace(MEAN, key=("odd", Changing()))
    with pytest.raises(pi.errors.OptionError, match="same estimand for every refit"):
        learner.fit(PLAN, seed=1, keep_models=False, measure=odd)


def test_a_checkpoint_keeps_what_was_measured(learner, tmp_path):
    options = {"seed": 1, "progress": False, "keep_models": False}
    options |= {"measure": "pfi", "checkpoint": tmp_path}
    for part in (2, 1):
        learner.fit(PLAN, shard=(part, 2), **options)
    joined = pi.join(tmp_path)
    usual = learner.fit(PLAN, seed=1)
    pd.testing.assert_frame_equal(usual.pfi().tidy(), joined.pfi().tidy(), check_exact=True)
    with pytest.raises(pi.errors.OptionError, match=r"other names or shapes.*what `measure` asks"):
        learner.fit(PLAN, **{**options, "measure": pi.ask("pd", "a")})
