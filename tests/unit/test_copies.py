"""Copies of estimators: unfitted, with the same settings and seeds of their own."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor, StackingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import pyinterp as pi
from pyinterp.errors import RefitError
from pyinterp.models.copies import fresh, reseed

N = 30
RNG = np.random.default_rng(1)
X = pd.DataFrame({"a": RNG.normal(size=N), "g": RNG.choice(list("uv"), N)})
Y = X["a"] + (X["g"] == "v") + 0.1 * RNG.normal(size=N)
SPLITS = [(np.arange(20), np.arange(20, N)), (np.arange(10, N), np.arange(10))]
OPTIONS = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "cat_features": ["g"]}


class CopiesLists(RegressorMixin, BaseEstimator):
    """Changes a parameter, which scikit-learn's clone refuses."""

    def __init__(self, columns, random_state=None):
        self.columns = list(columns)
        self.random_state = random_state

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def fit_of(estimator, X=X, **options):
    return pi.Learner(Y, X, estimator).fit(pi.Splits(SPLITS), **{"seed": 1, **options})


def test_estimators_that_clone_refuses_are_copied_deeply():
    for estimator in (CopiesLists(["a"]), make_pipeline("passthrough", CopiesLists(["a"]))):
        copied = fresh(estimator)
        assert copied is not estimator
        assert fit_of(estimator).loss().nobs == N
        assert not hasattr(estimator, "mean_")


@pytest.mark.parametrize("where", ["alone", "in a pipeline"])
def test_catboost_is_copied_unfitted_with_lists_and_seeds(where):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(**OPTIONS).fit(X, Y)
    estimator = model if where == "alone" else make_pipeline("passthrough", model)
    copied = fresh(estimator)
    inside = copied if where == "alone" else copied[-1]
    assert not inside.is_fitted()
    assert inside.get_params() == {**OPTIONS, "loss_function": "RMSE", "random_seed": 0}
    assert "random_seed" not in model.get_params()  # the user's own is not touched
    reseed(copied, np.random.default_rng(0), keep_set=True)
    assert inside.get_params()["random_seed"] == 0  # CatBoost's default
    reseed(copied, np.random.default_rng(0))
    assert inside.get_params()["random_seed"] > 0

    named = fresh(catboost.CatBoostRegressor(random_state=3, **OPTIONS))
    reseed(named, np.random.default_rng(0))
    assert named.get_params()["random_state"] != 3
    assert "random_seed" not in named.get_params()


def test_refits_of_catboost_have_seeds_of_their_own_in_any_number_of_processes():
    catboost = pytest.importorskip("catboost")
    booster = catboost.CatBoostRegressor(thread_count=4, **OPTIONS)
    one, two = (fit_of(booster, n_jobs=n) for n in (1, 2))
    seeds = {r.predictor.estimator.get_params()["random_seed"] for r in one.refits}
    assert len(seeds) == 2
    assert_array_equal(one.pfi().params, two.pfi().params)
    kept = fit_of(booster, reseed=False)
    assert {r.predictor.estimator.get_params()["random_seed"] for r in kept.refits} == {0}
    own = catboost.CatBoostRegressor(**OPTIONS).fit(X, Y)
    model = pi.Learner(Y, X, booster).fit_model().analysis.problem.predictor
    assert_array_equal(model(X), own.predict(X))


def test_a_search_that_clones_catboost_says_what_to_do():
    catboost = pytest.importorskip("catboost")
    search = GridSearchCV(catboost.CatBoostRegressor(**OPTIONS), {"depth": [2, 3]}, cv=2)
    with pytest.raises(RefitError, match=r"lists among them as tuples.*cat_features=\('g',\)"):
        fit_of(search)
    search.estimator.set_params(cat_features=("g",))
    assert fit_of(search).loss().nobs == N


def test_a_stack_without_a_final_estimator_is_a_learner():
    """Unfitted, it shows no `predict`."""
    stack = StackingRegressor([("one", Ridge()), ("two", RandomForestRegressor(3))], cv=2)
    for estimator in (stack, make_pipeline("passthrough", stack)):
        results, again = (fit_of(estimator, X[["a"]]) for _ in range(2))
        assert_array_equal(results.pd("a").params, again.pd("a").params)


class SaysConfiguration(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.output_ = float(get_config()["transform_output"] == "pandas")
        return self

    def predict(self, X):
        return np.full(len(X), self.output_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_refits_have_the_callers_configuration(n_jobs):
    """Those in other processes had the default."""
    with config_context(transform_output="pandas"):
        results = fit_of(SaysConfiguration(), n_jobs=n_jobs)
    assert {r.predictor.estimator.output_ for r in results.refits} == {1.0}


@pytest.mark.parametrize("package", ["catboost", "sklearn"])
def test_loco_of_learners_that_name_categories(package):
    """Without a column that the learner names, it does not name it."""
    rows = X.assign(g=X["g"].astype("category"), h=RNG.choice(list("pq"), N), c=Y**2)
    rows["h"] = rows["h"].astype("category")
    if package == "catboost":
        module = pytest.importorskip("catboost")
        options = {**OPTIONS, "cat_features": ["g", "h"], "monotone_constraints": {"a": 1}}

        def make(names):
            named = {"monotone_constraints": {"a": 1} if "a" in names else {}}
            categories = [name for name in ("g", "h") if name in names]
            return module.CatBoostRegressor(**options | named | {"cat_features": categories})
    else:

        def make(names):
            return HistGradientBoostingRegressor(
                categorical_features=[name for name in ("g", "h") if name in names],
                monotonic_cst={"a": 1} if "a" in names else {},
                max_iter=5,
                min_samples_leaf=3,
            )

    def loss(names):
        """The mean loss over the splits of a model of these columns."""
        kept, total = rows[names], 0.0
        for train, test in SPLITS:
            model = make(names).fit(kept.iloc[train], Y[train])
            total += np.mean((model.predict(kept.iloc[test]) - Y[test]) ** 2) / len(SPLITS)
        return total

    loco = fit_of(make(list(rows)), rows, reseed=False).loco().params
    for name in rows:
        others = [other for other in rows if other != name]
        assert loco[name] == pytest.approx(loss(others) - loss(list(rows)), abs=1e-10)


def test_networks_of_skorch_draw_from_a_seed_per_refit(monkeypatch):
    """A stand-in for PyTorch: one global state, which refits leave as it was."""
    state = {"seed": -1}

    torch = ModuleType("torch")
    torch.get_rng_state = lambda: dict(state)
    torch.set_rng_state = state.update
    torch.manual_seed = lambda seed: state.update(seed=seed)
    monkeypatch.setitem(sys.modules, "torch", torch)
    base = type("NeuralNet", (RegressorMixin, BaseEstimator), {"__module__": "skorch.net"})

    class Network(base):
        def fit(self, X, y):
            self.seed_ = state["seed"]
            return self

        def predict(self, X):
            return np.zeros((len(X), 1))

    for estimator in (Network(), make_pipeline("passthrough", Network())):
        seen = []
        for options in ({"seed": 1}, {"seed": 1}, {"seed": 2}, {"seed": 1, "reseed": False}):
            refits = fit_of(estimator, **options).refits
            models = [refit.predictor.estimator for refit in refits]
            seen.append([getattr(model, "steps", [(0, model)])[-1][1].seed_ for model in models])
            assert state == {"seed": -1}
        assert seen[0] == seen[1]
        assert len({*seen[0], *seen[2]}) == 4
        assert seen[3] == seen[0]  # streams of the process are seeded all the same
