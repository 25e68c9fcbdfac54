"""SAGE: closed form, all subsets and naive loops over orderings agree; sums are falls of the loss.

Closed forms and sums hold to 1e-10.
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.importance import sage as module
from pyinterp.estimands.importance.sage import measure_shares, orderings, shapley_weights

CLOSE = 1e-10
TREE = DecisionTreeRegressor(min_samples_leaf=3, random_state=0)


class Lines(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are linear."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        indicators = (np.asarray(y)[:, None] == self.classes_) * 0.1 + 0.9 / 3
        self.lines_ = LinearRegression().fit(X, indicators)
        return self

    def predict_proba(self, X):
        return self.lines_.predict(X)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def draw(n, seed, columns="abc"):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    data = pd.DataFrame(common + rng.normal(size=(n, len(columns))), columns=list(columns))
    data["g"] = rng.choice(list("uvw"), n)
    return data.assign(
        y=data["a"] + data["a"] * data["b"] + (data["g"] == "u") + rng.normal(size=n)
    )


def fitted(estimator, data, formula="y ~ a + b + c + g", plan=None, **options):
    return fit_of(formula, data, estimator, plan or pi.Holdout(0.5), **options)


def case_of(res):
    return res.analysis.cases[0], dict(res.analysis.problem.features)


def test_weights_are_means_over_orderings():
    value = np.random.default_rng(1).normal(size=16)
    inside, (weights,) = shapley_weights(4)
    naive, every = np.zeros(4), list(permutations(range(4)))
    for order in every:
        before = 0
        for j in order:
            naive[j] += (value[before | 1 << j] - value[before]) / len(every)
            before |= 1 << j
    assert weights @ value == pytest.approx(naive, abs=1e-12)
    assert [sum(1 << j for j in np.flatnonzero(row)) for row in inside] == list(range(16))


def test_every_ordering_gives_all_there_is():
    inside, weights = orderings(12, np.random.default_rng(2))
    value = np.random.default_rng(3).normal(size=len(inside))
    whole = value[inside.all(axis=1)] - value[~inside.any(axis=1)]
    assert (weights @ value).sum(axis=1) == pytest.approx(np.full(len(weights), whole[0]))
    linear = inside @ np.arange(12.0)
    assert (weights @ linear) == pytest.approx(np.tile(np.arange(12.0), (len(weights), 1)))


def naive_loss(case, absent, y):
    """Return the mean over rows and pairs of different donors of the product of two errors."""
    sample, n = case.evaluation.variables, len(y)
    if not absent:
        return np.mean((y - case.whatif.factual) ** 2)
    total = 0.0
    for i in range(n):
        copies = pd.concat([sample.iloc[[i]]] * n, ignore_index=True)
        for name in absent:
            copies[name] = sample[name].to_numpy()
        away = np.delete(y[i] - case.whatif.predictor(case.whatif.design.encode(copies)), i)
        total += (away.sum() ** 2 - away @ away) / (len(away) * (len(away) - 1))
    return total / n


@pytest.mark.parametrize("estimator", [TREE, LinearRegression()], ids=["tree", "lm"])
def test_all_subsets_are_naive_loops_over_orderings(estimator, monkeypatch):
    monkeypatch.setattr(module, "DRAWS", 10**6)
    case, features = case_of(fitted(estimator, draw(40, 4)))
    naive, every, values = dict.fromkeys(features, 0.0), list(permutations(features)), {}

    def value(present):
        key = frozenset(present)
        if key not in values:
            absent = [name for name in features if name not in key]
            values[key] = naive_loss(case, absent, case.y)
        return values[key]

    for order in every:
        for k, name in enumerate(order):
            naive[name] += (value(order[:k]) - value(order[: k + 1])) / len(every)
    found = measure_shares(case, features=features)
    assert found["shares"].value == pytest.approx([*naive.values()], abs=CLOSE)
    assert found["nothing"].value[0] == pytest.approx(value(()), abs=CLOSE)
    assert found["shares"].value.sum() == pytest.approx(value(()) - value(features), abs=CLOSE)
    assert (found["shares"].mc_variance < 1e-20).all()


@pytest.mark.parametrize("classes", [False, True])
def test_the_closed_form_is_that_of_all_subsets(classes, monkeypatch):
    """Contributions as row and as donor add up to those of the covariance, to first order."""
    data = draw(400, 5)
    estimator = LinearRegression()
    if classes:
        data["y"] = pd.cut(data["y"], 3, labels=["low", "mid", "high"])
        estimator = Lines()
    case, features = case_of(fitted(estimator, data))
    closed = measure_shares(case, features=features)
    monkeypatch.setattr(module, "DRAWS", 10**6)
    monkeypatch.setattr(module, "additive_parts", lambda *_: None)
    monkeypatch.setattr(module, "PREDICTIONS", 10**9)
    every = measure_shares(case, features=features)
    for name, one in closed.items():
        other = every[name]
        assert one.value == pytest.approx(other.value, abs=CLOSE)
        rows, both = one.rows - one.value, other.rows - other.value + other.donors
        assert np.abs(rows - both).max() < 0.05 * np.abs(rows).max()


@pytest.mark.parametrize(
    ("options", "additive"), [({"max_depth": 1}, True), ({"max_depth": 3}, False)]
)
def test_sums_of_functions_are_seen(options, additive):
    boosting = HistGradientBoostingRegressor(max_iter=20, **options)
    case, features = case_of(fitted(boosting, draw(150, 6)))
    found = measure_shares(case, features=features)["shares"]
    assert (found.donors is None) == additive


def test_sorted_arms_hide_no_interaction():
    arms = pd.DataFrame(np.repeat([[0, 0], [1, 0], [0, 1]], 40, axis=0), columns=["a", "b"])
    arms["y"] = arms @ [2, 3] + np.random.default_rng(0).normal(size=120)
    case, features = case_of(fitted(TREE, arms, "y ~ a + b"))  # both at once: 3, not 5
    assert measure_shares(case, features=features)["shares"].donors is not None


def test_groups_unused_features_and_shares():
    data = draw(200, 7)
    res = fitted(LinearRegression(), data, plan=pi.HalfSampling(5, pairs=5))
    found, grouped = (
        res.sage(),
        fitted(
            LinearRegression(), data, plan=pi.HalfSampling(5, pairs=5), groups={"both": ["a", "b"]}
        ).sage(),
    )
    # Of a linear model the share of a group is the sum of its features' shares.
    assert grouped.params["both"] == pytest.approx(found.params[["a", "b"]].sum(), abs=CLOSE)
    assert grouped.params["c"] == pytest.approx(found.params["c"], abs=CLOSE)
    (share,) = found.diagnostics
    assert share.params.sum() == pytest.approx(
        res.loss(relation="explained").params.iloc[0], abs=0.1
    )


def test_a_feature_without_use_has_0_and_others_the_spread_of_evaluation_rows():
    fits, model = draw(500, 7).assign(c=0.0), DecisionTreeRegressor(max_leaf_nodes=12)
    model.fit(fits[["a", "b", "c"]], fits["y"])  # not additive
    sets = [draw(100, [7, k]) for k in range(150)]
    every = [
        pi.FittedModel(model, one[["a", "b", "c"]], one["y"], seed=k).sage()
        for k, one in enumerate(sets)
    ]
    spread = np.std([one.params for one in every], axis=0, ddof=1)
    said = np.sqrt(np.mean([one.bse**2 for one in every], axis=0))
    assert said[2] == spread[2] == 0
    assert said[:2] == pytest.approx(spread[:2], rel=0.15)  # 1.15: two and a half errors of spread


@pytest.mark.parametrize("draws", [3, 6])
def test_monte_carlo_errors_are_the_spread_over_draws(draws, monkeypatch):
    monkeypatch.setattr(module, "DRAWS", draws)
    X = draw(60, 10)[["a", "b", "y"]]
    model = TREE.fit(X[["a", "b"]], X["y"])
    every = [pi.FittedModel(model, X[["a", "b"]], X["y"], seed=k).sage() for k in range(100)]
    spread = np.std([one.params for one in every], axis=0, ddof=1)
    said = np.sqrt(np.mean([one.mcse**2 for one in every], axis=0))
    assert said == pytest.approx(spread, rel=0.3)


def test_many_features_have_orderings():
    data = draw(200, 8, "abcdefghijk")
    res = fitted(TREE, data, "y ~ .")
    case, features = case_of(res)
    measured = measure_shares(case, features=features)
    gain = measured["nothing"].value[0] - np.mean((case.y - case.whatif.factual) ** 2)
    assert measured["shares"].value.sum() == pytest.approx(gain, abs=CLOSE)
    found = fitted(TREE, data, "y ~ .", plan=pi.HalfSampling(3, pairs=5)).sage()
    assert found.params.idxmax() == "a"


def test_groups_of_rows_clusters_classes_and_files(tmp_path):
    data = draw(160, 9).assign(unit=np.arange(160) // 4)
    res = fitted(TREE, data, plan=pi.HalfSampling(3, pairs=5, cluster="unit"))
    found = res.sage(by="g")
    assert len(found.params) == 12
    res.sage().save(tmp_path / "a.pyinterp")
    assert pi.load(tmp_path / "a.pyinterp").params.equals(res.sage().params)
    data["big"] = data["y"] > 1
    classes = fitted(LogisticRegression(), data, "big ~ a + b + g").sage()
    assert classes.diagnostics[0].estimand.words.label == "D² share"
    assert classes.params.idxmax() == "a"
    model = pi.FittedModel(
        LinearRegression().fit(data[["a", "b"]], data["y"]), data[["a", "b"]], data["y"]
    )
    assert "SAGE" in str(model.sage().summary())
    assert model.sage().params["a"] > 0
