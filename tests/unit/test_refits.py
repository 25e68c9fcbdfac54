"""Refits: seeds, jobs, failures and progress."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError, RefitWarning

PLAN = pi.Bootstrap(4)


def learner(data, estimator, formula="y ~ x + z"):
    return pi.Learner.from_formula(formula, data, estimator)


def random_states(estimator):
    params = estimator.get_params(deep=True)
    return {k: v for k, v in params.items() if k.split("__")[-1] == "random_state"}


NESTED = [
    RandomForestRegressor(3, random_state=5),
    make_pipeline(
        QuantileTransformer(n_quantiles=10, random_state=5), DecisionTreeRegressor(random_state=5)
    ),
    make_pipeline(
        make_column_transformer(
            (QuantileTransformer(n_quantiles=10), [0]), remainder="passthrough"
        ),
        DecisionTreeRegressor(),
    ),
    BaggingRegressor(DecisionTreeRegressor(random_state=5), 3, random_state=5),
    StackingRegressor(
        [("tree", DecisionTreeRegressor()), ("forest", RandomForestRegressor(3))],
        LinearRegression(),
    ),
    GridSearchCV(DecisionTreeRegressor(random_state=5), {"max_depth": [1, 2]}, cv=2),
]


@pytest.mark.parametrize("estimator", NESTED, ids=lambda e: type(e).__name__)
def test_every_random_state_inside_gets_its_own_seed_in_every_refit(data, estimator):
    before = random_states(estimator)
    assert before
    results = learner(data, estimator).fit(PLAN, seed=1)
    fitted = [random_states(r.predictor.estimator) for r in results.refits]
    seeds = [seed for states in fitted for seed in states.values()]
    assert all(isinstance(seed, int) for seed in seeds)
    assert len(set(seeds)) == PLAN.refits * len(before)
    assert random_states(estimator) == before  # the user's estimator is left alone
    again = learner(data, estimator).fit(PLAN, seed=1)
    assert [random_states(r.predictor.estimator) for r in again.refits] == fitted
    other = learner(data, estimator).fit(PLAN, seed=2)
    assert [random_states(r.predictor.estimator) for r in other.refits] != fitted


def test_reseed_false_keeps_every_random_state(data):
    estimator = BaggingRegressor(DecisionTreeRegressor(random_state=5), 3, random_state=7)
    results = learner(data, estimator).fit(PLAN, seed=1, reseed=False)
    for refit in results.refits:
        assert random_states(refit.predictor.estimator) == random_states(estimator)


def tables(data, estimator, n_jobs, **options):
    return tables_of(learner(data, estimator).fit(PLAN, n_jobs=n_jobs, **options))


def tables_of(results):
    return [
        str(results.summary()),
        str(results.pfi(permutations=3).summary()),
        str(results.pd("x").summary()),
        results.pfi().summary_frame().to_json(double_precision=15),
        results.pd(["x", "z"], points=3).summary_frame().to_json(double_precision=15),
    ]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_results_do_not_depend_on_jobs_or_backend(data, backend):
    forest = RandomForestRegressor(5)
    expected = tables(data, forest, None, seed=3)
    with parallel_config(backend=backend):
        results = learner(data, forest).fit(PLAN, seed=3, n_jobs=2)
        found = results.pfi()  # inside the context too
    assert tables_of(results) == expected
    assert str(found.summary()) == str(results.pfi().summary())
    assert tables(data, forest, 1, seed=3) == expected


@pytest.mark.parametrize("estimator", [RandomForestClassifier(5), DecisionTreeClassifier()])
def test_classifiers_come_back_from_worker_processes(data, estimator):
    model = learner(data, estimator, "g ~ x + z")
    with parallel_config(backend="loky"):
        results = model.fit(PLAN, seed=3, n_jobs=2)
    found = results.pfi(loss="brier")
    expected = model.fit(PLAN, seed=3).pfi(loss="brier")
    pd.testing.assert_frame_equal(found.summary_frame(), expected.summary_frame())


def test_the_same_seed_gives_the_same_tables_and_another_seed_others(data):
    forest = RandomForestRegressor(5, random_state=0)
    assert tables(data, forest, None, seed=3) == tables(data, forest, None, seed=3)
    assert tables(data, forest, None, seed=3) != tables(data, forest, None, seed=4)
    first = tables(data, forest, None, seed=np.random.default_rng(3))
    assert tables(data, forest, None, seed=np.random.default_rng(3)) == first


def test_results_ignore_and_leave_the_global_random_state(data):
    np.random.seed(1)  # noqa: NPY002 - the global state is what is tested
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = tables(data, RandomForestRegressor(5), None, seed=3)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert tables(data, RandomForestRegressor(5), None, seed=3) == first


def test_a_drawn_seed_is_shown_and_repeats_the_results(data):
    drawn = learner(data, RandomForestRegressor(5)).fit(PLAN)
    assert str(drawn.seed) in str(drawn.summary())
    again = learner(data, RandomForestRegressor(5)).fit(PLAN, seed=drawn.seed)
    assert str(again.summary()) == str(drawn.summary())


class Fragile(RegressorMixin, BaseEstimator):
    """Refuses training rows that hold a given response value."""

    def __init__(self, poison=np.nan):
        self.poison = poison

    def fit(self, X, y):
        if self.poison in y:
            raise RuntimeError("poison found")
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def poisoned(data, plan, seed):
    """Return a learner that fails where row 0 trains, and where that is."""
    clean = learner(data, Fragile()).fit(plan, seed=seed)
    return learner(data, Fragile(data.y[0])), [0 in r.train_rows for r in clean.refits]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_failing_refit_is_an_error_that_names_refit_and_cause(data, n_jobs):
    model, fails = poisoned(data, PLAN, 1)
    first = fails.index(True) + 1
    with pytest.raises(RefitError) as caught:
        model.fit(PLAN, seed=1, n_jobs=n_jobs)
    assert str(caught.value) == f"Refit {first} of 4 failed: RuntimeError: poison found"
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_failing_refits_may_be_dropped_with_a_warning_and_a_count(data, n_jobs):
    plan = pi.Bootstrap(8)
    model, fails = poisoned(data, plan, 1)
    assert 2 <= 8 - sum(fails) < 8
    message = rf"{sum(fails)} of 8 refits failed and were left out. Refit \d of 8 failed: Runtime"
    with parallel_config(backend="threading"), pytest.warns(RefitWarning, match=message) as caught:
        results = model.fit(plan, seed=1, on_error="drop", n_jobs=n_jobs)
    assert caught[0].filename == __file__
    kept = [k for k, failed in enumerate(fails, start=1) if not failed]
    assert [r.number for r in results.refits] == kept
    assert f"{len(kept)} ({sum(fails)} failed)" in str(results.summary())
    assert results.loss().df_resid == len(kept) - 1


def test_fewer_than_two_refits_left_is_an_error(data):
    # Row 0 trains in two of three folds' refits.
    model = learner(data, Fragile(data.y[0]))
    with pytest.raises(RefitError, match=r"At least 2 refits must succeed, but 1 of 3 did\. Refit"):
        model.fit(pi.CrossValidation(3), seed=1, on_error="drop")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"on_error": "ignore"}, '`on_error` must be one of "raise", "drop", not \'ignore\''),
        ({"design_state": "each"}, "`design_state` must be one of"),
        ({"unseen_levels": "ignore"}, "`unseen_levels` must be one of"),
    ],
)
def test_options_are_checked(data, option, message):
    with pytest.raises(OptionError, match=message):
        fit_of("y ~ x + z", data, LinearRegression(), PLAN, **option)


def test_a_fitted_estimator_is_not_changed(data):
    tree = DecisionTreeRegressor(max_depth=1, random_state=0).fit(data[["x"]].to_numpy(), data["y"])
    before = tree.tree_.threshold.copy()
    learner(data, tree).fit(PLAN, seed=1)
    assert_array_equal(tree.tree_.threshold, before)


def test_refits_train_on_the_rows_they_report(data):
    for refit in learner(data, LinearRegression()).fit(PLAN, seed=1).refits:
        train = data.iloc[refit.train_rows]
        expected = LinearRegression().fit(train[["x", "z"]].to_numpy(), train["y"])
        assert_allclose(refit.predictor.estimator.coef_, expected.coef_, rtol=1e-10)
        assert_array_equal(refit.train.y, train["y"])
        assert_array_equal(refit.evaluation.y, data["y"].iloc[refit.evaluation.rows])
