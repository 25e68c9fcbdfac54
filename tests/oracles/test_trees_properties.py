"""The exact engine on random trees and data, against naive loops over the model's predictions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.testing import assert_allclose
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

import pyinterp as pi
from pyinterp.data.design import ArrayDesign
from pyinterp.data.row_data import read_rows
from pyinterp.data.sample import Response, Sample
from pyinterp.models.predictor import Predictor
from pyinterp.whatif.dispatch import dispatch

# Relative to the largest prediction, and to the mean loss: the bars of the exact engine.
PREDICTIONS = {"xgb": 1e-5}  # XGBoost sums in single precision
IMPORTANCES = {"xgb": 1e-4}

NAMES = ["x1", "x2", "x3", "x4"]  # x2 has the integers 0 to 4, categories for some
CATEGORY = 1
CLASSES = {"regression": 0, "two classes": 2, "three classes": 3}
ESTIMATORS = {
    "tree": (DecisionTreeRegressor, DecisionTreeClassifier),
    "forest": (RandomForestRegressor, RandomForestClassifier),
    "extra": (ExtraTreesRegressor, ExtraTreesClassifier),
    "gb": (GradientBoostingRegressor, GradientBoostingClassifier),
    "hist": (HistGradientBoostingRegressor, HistGradientBoostingClassifier),
    "xgb": (XGBRegressor, XGBClassifier),
    "lgb": (LGBMRegressor, LGBMClassifier),
}
JOINT = [[], ["x1", "x3"], ["x2", "x3", "x1"]]
MANY = 10_000  # more rows than there are: no split is allowed

every_family = pytest.mark.parametrize("family", ESTIMATORS)
every_kind = pytest.mark.parametrize("kind", CLASSES)
# Walks carry groups of 64 rows.
situations = {
    "seed": st.integers(0, 10_000),
    "n": st.sampled_from([130, 65, 64, 63, 5]),
    "size": st.sampled_from(["deep", "deep", "deep", "stumps", "one node"]),
    "decimals": st.sampled_from([0, 1, 2, 16]),
    "missing": st.booleans(),
    "categories": st.booleans(),
    "edges": st.booleans(),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Histogram boosting of few rows is many times slower with threads that wait for a core."""
    with threadpool_limits(1):
        yield


# What must be among the examples: all difficulties at once, and at whole numbers.
ALL = {"n": 130, "size": "deep", "missing": True, "categories": True, "edges": True}
ALL_WHOLE = ALL | {"n": 65, "decimals": 0, "seed": 1}
ALL_DOUBLE = ALL | {"decimals": 16, "seed": 2}
WHOLE_NUMBERS = {"n": 64, "size": "deep", "decimals": 0, "seed": 3, "edges": True} | dict.fromkeys(
    ("missing", "categories"), False
)


@dataclass
class Situation:
    """A fitted model and evaluation rows, with their responses or codes of classes."""

    family: str
    classes: int
    categories: bool
    model: Any
    X: np.ndarray
    y: np.ndarray
    edges: list[np.ndarray]  # per column: thresholds of the model, and numbers next to them

    def predict(self, X):
        call = self.model.predict_proba if self.classes else self.model.predict
        return np.asarray(call(X), np.float64)

    @property
    def sample(self):
        return Sample(
            variables=pd.DataFrame(self.X, columns=NAMES),
            y=self.y,
            response=Response(name="y", classes=tuple(range(self.classes)) or None),
            rows=np.arange(len(self.X)),
        )

    def fitted(self, features):
        """The model on rows that may have missing values, which `pi.FittedModel` drops."""
        groups = {name: list(them) for name, them in features.items() if len(them) > 1}
        model = pi.FittedModel.__new__(pi.FittedModel)
        model._assemble(
            Predictor.of(self.model), ArrayDesign(NAMES), self.sample, read_rows(self.X),
            groups=groups, dropped_rows=0, where="", seed=0, engine="trees",
        )  # fmt: skip
        return model


def situation(
    family, kind, *, seed, n, size="deep", decimals=16, missing=False, categories=False, edges=False
):
    rng = np.random.default_rng([seed, CLASSES[kind], *family.encode()])
    classes = CLASSES[kind]
    m = 70
    X = rng.normal(size=(m + n, 4)).round(decimals)
    X[:, CATEGORY] = rng.integers(0, 5, m + n)
    X[:, 3] = 0.1  # constant, and no number of single precision
    score = X[:, 0] * X[:, 2] + (X[:, CATEGORY] % 2) + rng.normal(size=m + n) / 2
    y = score if not classes else np.argsort(np.argsort(score)) * classes // (m + n)
    y[:3] = np.arange(3) % classes if classes else y[:3]
    categories = categories and family in ("hist", "lgb")
    takes_missing = family != "gb"
    if missing and takes_missing:
        X[rng.random(m + n) < 0.2, 0] = np.nan
        X[m:][rng.random(n) < 0.2, 2] = np.nan  # in rows that are predicted only
    model = estimator(family, bool(classes), size, categories, rng)
    if family == "lgb" and categories:
        model.fit(X[:m], y[:m], categorical_feature=[CATEGORY])
    else:
        model.fit(X[:m], y[:m])
    near = [
        np.unique(np.concatenate([neighbors(t) for t in found])) if found else np.zeros(0)
        for found in thresholds(model, categories)
    ]
    if edges:  # rows at thresholds, and next to them
        for column, values in enumerate(near):
            if len(values) and not (categories and column == CATEGORY):
                moved = rng.random(n) < 0.4
                X[m:][moved, column] = rng.choice(values, moved.sum())
    if missing and takes_missing and not (family == "hist" and categories):
        X[m:][rng.random(n) < 0.1, CATEGORY] = np.nan
    return Situation(family, classes, categories, model, X[m:], y[m:].astype(np.float64), near)


QUIET = {
    "lgb": {
        "min_child_weight": 0, "min_data_in_bin": 1, "min_data_per_group": 1, "cat_smooth": 1,
        "verbose": -1, "n_jobs": 1,
    },
    "xgb": {"n_jobs": 1},
}  # fmt: skip


def estimator(family, classifier, size, categories, rng):
    trees, seed = int(rng.integers(1, 6)), int(rng.integers(1000))
    options = {"max_depth": 1 if size == "stumps" else 5, **QUIET.get(family, {})}
    if family in ("hist", "xgb", "lgb"):
        name, least = {
            "hist": ("min_samples_leaf", 2),
            "xgb": ("min_child_weight", 0.1),
            "lgb": ("min_child_samples", 2),
        }[family]
    else:
        name, least = "min_samples_leaf", 0 if size == "one node" else int(rng.integers(1, 4))
        options["random_state"] = seed
    options[name] = MANY if size == "one node" else least
    if family != "tree":
        options["max_iter" if family == "hist" else "n_estimators"] = trees
    if family == "hist":
        options["categorical_features"] = [CATEGORY] if categories else None
    return ESTIMATORS[family][classifier](**options)


def thresholds(model, categories):
    """The thresholds of a fitted model by column, from its own tables."""
    splits = _sklearn_splits
    for attribute, other in OWN_TABLES.items():
        splits = other if hasattr(model, attribute) else splits
    # Histogram boosting puts categories first.
    order = [CATEGORY, 0, 2, 3] if categories and splits is _histogram_splits else range(4)
    found = [[] for _ in NAMES]
    for column, threshold in splits(model):
        # Missing values are split off at 1e300. LightGBM takes |x| <= 1e-35, one of its
        # thresholds, for 0.
        if threshold == 0 or 1e-30 < abs(threshold) < 1e30:
            found[order[column]].append(float(threshold))
    return found


def _sklearn_splits(model):
    for member in np.ravel(getattr(model, "estimators_", model)):
        inner = member.tree_.feature >= 0
        yield from zip(member.tree_.feature[inner], member.tree_.threshold[inner], strict=True)


def _histogram_splits(model):
    for tree in np.ravel(model._predictors):
        nodes = tree.nodes[(tree.nodes["is_leaf"] == 0) & (tree.nodes["is_categorical"] == 0)]
        yield from zip(nodes["feature_idx"], nodes["num_threshold"], strict=True)


def _xgboost_splits(model):
    whole = json.loads(model.get_booster().save_raw("json").decode())
    for tree in whole["learner"]["gradient_booster"]["model"]["trees"]:
        parts = (tree[part] for part in ("left_children", "split_indices", "split_conditions"))
        for left, column, threshold in zip(*parts, strict=True):
            if left >= 0:
                yield column, np.float32(threshold)


def _lightgbm_splits(model):
    stack = [tree["tree_structure"] for tree in model.booster_.dump_model()["tree_info"]]
    while stack:
        node = stack.pop()
        if "left_child" in node:
            stack += [node["left_child"], node["right_child"]]
            if node["decision_type"] == "<=":
                yield node["split_feature"], node["threshold"]


OWN_TABLES = {
    "_predictors": _histogram_splits,
    "get_booster": _xgboost_splits,
    "booster_": _lightgbm_splits,
}


def neighbors(threshold):
    """A threshold and the numbers next to it, in double and in single precision."""
    single = np.float32(threshold)
    return np.array(
        [threshold, single]
        + [np.nextafter(threshold, side) for side in (-np.inf, np.inf)]
        + [np.nextafter(single, np.float32(side)) for side in (-np.inf, np.inf)],
        np.float64,
    )


def engine_of(case):
    whatif = dispatch(Predictor.of(case.model), ArrayDesign(NAMES), case.sample)
    assert whatif.engine.name == "trees, exact"
    return whatif


def same_predictions(case, variables, donors):
    """The engine's predictions of all rows x donors equal the model's own of copies."""
    whatif = engine_of(case)
    n, d = len(case.X), len(donors)
    columns = [NAMES.index(v) for v in variables]
    copies = np.repeat(case.X, d, axis=0)
    copies[:, columns] = np.tile(donors, (n, 1))
    expected = case.predict(copies)
    expected = expected.reshape(n, d, *expected.shape[1:])
    found = np.full(expected.shape, np.nan)
    for rows, predictions in whatif.of(variables).cross(pd.DataFrame(donors, columns=variables)):
        found[rows] = predictions
    tolerance = PREDICTIONS.get(case.family, 1e-12) * np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=tolerance)


@every_kind
@every_family
@settings(deadline=None, max_examples=4, derandomize=True)
@given(**situations)
@example(**ALL_WHOLE)
@example(**ALL_DOUBLE)
@example(**WHOLE_NUMBERS)
def test_all_rows_with_all_donors_are_predicted_as_the_model_predicts_them(family, kind, **options):
    case = situation(family, kind, **options)
    for j, name in enumerate(NAMES):
        others = case.edges[j]
        if case.categories and j == CATEGORY:  # never seen in training
            others = np.array([7.0, 100.0, -1.0]) if family == "lgb" else np.zeros(0)
        donors = np.concatenate([case.X[:, j], others])
        same_predictions(case, [name], donors[:, None])
    same_predictions(case, ["x1", "x3"], case.X[:, [0, 2]])
    same_predictions(case, ["x3", "x2", "x1"], case.X[:40, [2, 1, 0]])


class Refusal:
    """In place of a predictor: whoever predicts copies of rows fails."""

    def __init__(self, predictor):
        self.estimator, self.name = predictor.estimator, predictor.name
        self.in_order, self.width = predictor.in_order, predictor.width

    def __call__(self, matrix):
        raise AssertionError("rows were copied")


def same_pairs(case, whatif, rows, variables, donors, *, walked):
    """Predictions of rows with donors of their own, (b, k, variables), equal those of copies."""
    b, k, _ = donors.shape
    flat = donors.reshape(b * k, -1)
    copies = np.repeat(case.X[rows], k, axis=0)
    copies[:, [NAMES.index(v) for v in variables]] = flat
    expected = case.predict(copies)
    predictor = whatif.predictor
    if walked:
        whatif.predictor = Refusal(predictor)
    given = pd.DataFrame(flat, columns=variables)
    found = whatif.of(variables).pairs(rows, np.arange(b * k).reshape(b, k), given)
    whatif.predictor = predictor
    assert found.shape == (b, k, *expected.shape[1:])
    tolerance = PREDICTIONS.get(case.family, 1e-12) * np.abs(expected).max()
    assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=tolerance)


@every_kind
@every_family
@settings(deadline=None, max_examples=5, derandomize=True)
@given(
    b=st.sampled_from([1, 2, 63, 64, 65, 130]),
    k=st.sampled_from([1, 2, 7, 40]),
    in_order=st.booleans(),
    **situations,
)
@example(b=130, k=40, in_order=True, **ALL_WHOLE)
@example(b=130, k=40, in_order=False, **ALL_DOUBLE)
@example(b=65, k=7, in_order=True, **WHOLE_NUMBERS)
def test_rows_with_donors_of_their_own_are_predicted_as_the_model_predicts_them(
    family, kind, b, k, in_order, **options
):
    case = situation(family, kind, **options)
    whatif = engine_of(case)
    rng = np.random.default_rng(options["seed"])
    rows = rng.integers(len(case.X), size=b)
    for j, name in enumerate(NAMES):
        numbers = not (case.categories and j == CATEGORY)
        seen = case.X[~np.isnan(case.X[:, j]), j]
        # Ties, thresholds and their neighbors, and numbers around the row's own, as residuals give.
        pool = np.concatenate([seen, case.edges[j]]) if numbers else seen
        donors = rng.choice(pool, size=(b, k))
        if numbers:
            own = np.nan_to_num(case.X[rows, j])
            around = own[:, None] + rng.normal(size=k)
            donors = np.where(rng.random((b, k)) < 0.5, donors, around)
        if in_order:
            donors.sort(axis=1)
        same_pairs(case, whatif, rows, [name], donors[..., None], walked=numbers)
    missing = case.X[rng.integers(len(case.X), size=(b, k)), 0]
    same_pairs(case, whatif, rows, ["x1"], missing[..., None], walked=not np.isnan(missing).any())
    both = case.X[rng.integers(len(case.X), size=(b, k))][..., [2, 0]]
    same_pairs(case, whatif, rows, ["x3", "x1"], both, walked=False)


@pytest.mark.parametrize("family", ["tree", "forest", "extra"])
def test_splits_beyond_those_above_them_part_no_donors(family):
    # As where only missing values are left to part.
    for seed in range(5):
        case = situation(family, "regression", seed=seed, n=130)
        rng = np.random.default_rng(seed)
        for member in np.ravel(getattr(case.model, "estimators_", case.model)):
            inner = member.tree_.feature >= 0
            member.tree_.threshold[inner] = rng.normal(size=inner.sum()).round(1)
        whatif = engine_of(case)
        for j, name in enumerate(NAMES):
            donors = np.sort(rng.normal(size=(130, 30)).round(1), axis=1)
            same_pairs(case, whatif, np.arange(130), [name], donors[..., None], walked=True)
            same_predictions(case, [name], case.X[:, [j]])


@pytest.mark.parametrize("family", ["hist", "lgb"])
def test_donors_of_any_magnitude_find_their_place(family):
    # Their span overflows, or its inverse does.
    case = situation(family, "regression", seed=0, n=130, edges=True)
    case.model.fit(case.X * [1e-320, 1, 1, 1], case.y)
    case.X[:, 0] *= 1e-320
    tiny = 1e-320 * np.linspace(-3, 3, 41)
    huge = np.concatenate([[-1e308, -1e-300, 1e-300, 1e308], tiny])
    one_far = np.concatenate([case.X[:40, 2], [1e300]])  # all others near each other
    rows, whatif = np.arange(130), engine_of(case)
    for variables, donors in (("x1", tiny), ("x1", huge), ("x3", one_far), ("x3", huge)):
        given = np.broadcast_to(donors, (130, len(donors)))
        same_pairs(case, whatif, rows, [variables], given[..., None], walked=True)


def same_importances(case, loss, features):
    result = case.fitted(features).pfi(list(features), loss=loss, permutations="all")
    assert result.engine.name == "trees, exact"
    assert (result.mcse == 0).all()
    for name, variables in features.items():
        predicted = naive.all_pairs(case.predict, case.X, [NAMES.index(v) for v in variables])
        y = case.y.astype(int) if case.classes else case.y
        switched = naive.LOSSES[loss](np.broadcast_to(y[:, None], predicted.shape[:2]), predicted)
        pfi, variance = naive.pfi(switched, np.diagonal(switched), "difference", "ustat", None)
        tolerance = IMPORTANCES.get(case.family, 1e-10) * switched.mean()
        assert result.params[name] == pytest.approx(pfi, rel=0, abs=tolerance)
        assert result.bse[name] == pytest.approx(np.sqrt(variance), rel=0, abs=tolerance)


@every_kind
@every_family
@settings(deadline=None, max_examples=4, derandomize=True)
@given(proper=st.booleans(), joint=st.sampled_from(JOINT), **situations)
@example(proper=False, joint=[], **ALL_WHOLE)
@example(proper=True, joint=["x2", "x3", "x1"], **ALL_WHOLE)
@example(proper=False, joint=[], **ALL_DOUBLE)
@example(proper=True, joint=["x1", "x3"], **ALL_DOUBLE)
@example(proper=False, joint=[], **WHOLE_NUMBERS)
def test_exact_pfi_and_its_variance_are_those_of_all_pairs(family, kind, proper, joint, **options):
    case = situation(family, kind, **options)
    loss = ("brier", "log")[proper] if case.classes else ("squared", "absolute")[proper]
    features = {"joint": joint} if joint else {}
    same_importances(case, loss, features | {v: [v] for v in NAMES if v not in joint})


@pytest.mark.parametrize("classes", [2, 3])
def test_votes_of_pure_leaves_that_tie_count_as_the_model_counts_them(classes):
    for seed in range(4):
        case = refitted(classes, seed, ExtraTreesClassifier(4, random_state=seed))
        same_importances(case, "zero_one", {"x1": ["x1"], "x3": ["x3"]})


def test_leaves_with_as_many_rows_of_either_class_count_as_the_model_counts_them():
    # The model predicts the first of two classes with equal probabilities: a sum that is one half
    # up to rounding would predict either. Leaves of one class mostly, of the other, of both:
    shares = [(12, 14), (1, 6), (3, 6), (4, 8), (5, 10), (1, 5), (1, 11), (10, 13), (6, 12)]
    at = np.repeat(np.arange(len(shares)), [size for _, size in shares])
    case = situation("tree", "two classes", seed=0, n=len(at))
    case.X[:] = at[:, None] * [1.0, 0.0, 0.0, 0.0]
    case.y = np.concatenate([np.arange(size) < ones for ones, size in shares]).astype(np.float64)
    case.model = DecisionTreeClassifier(random_state=0).fit(case.X, case.y)
    assert (case.predict(case.X) == 0.5).all(axis=1).sum() == 6 + 8 + 10 + 12
    same_importances(case, "zero_one", {"x1": ["x1"]})


def refitted(classes, seed, model):
    kind = {2: "two classes", 3: "three classes"}[classes]
    case = situation("tree", kind, seed=seed, n=130)
    case.model = model.fit(case.X, case.y)
    return case


def certain_in_part(seed):
    """Every tree is certain where x1 is large; elsewhere leaves are mixed."""
    rng = np.random.default_rng(seed)
    case = situation("forest", "three classes", seed=seed, n=130)
    case.y = np.where(case.X[:, 0] > 1, 0, rng.integers(0, 3, 130)).astype(np.float64)
    forest = RandomForestClassifier(20, min_samples_leaf=3, max_features=None, random_state=seed)
    case.model = forest.fit(case.X, case.y)
    return case


def test_the_log_loss_of_probability_0_is_that_of_the_model():
    # It clips at the rounding unit: what is left over of a sum that should be 0 changes it.
    for seed in range(4):
        same_importances(certain_in_part(seed), "log", {"x1": ["x1"], "x3": ["x3"]})


def test_probabilities_are_never_negative():
    # A user's loss may take their logarithm.
    for seed in range(4):
        case = certain_in_part(seed)
        whatif = dispatch(Predictor.of(case.model), ArrayDesign(NAMES), case.sample)
        assert whatif.engine.name == "trees, exact"
        for _, predictions in whatif.of(["x1"]).cross(case.sample.variables):
            assert predictions.min() >= 0


def test_categories_that_training_had_not_go_where_histogram_boosting_sends_them():
    for seed in range(4):
        for kind in CLASSES:
            case = situation("hist", kind, seed=seed, n=130, categories=True)
            same_predictions(case, ["x2"], np.array([[5.0], [100.0], [-1.0], [np.nan]]))


def test_histogram_boosting_of_missing_categories_warns_of_nothing():
    # Warnings are errors here.
    case = situation("hist", "regression", seed=0, n=130, categories=True)
    case.X[::7, CATEGORY] = np.nan
    case.model.fit(case.X, case.y)
    same_predictions(case, ["x2"], np.array([[0.0], [1.0], [np.nan]]))
