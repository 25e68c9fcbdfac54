"""Calibrated classifiers are read exactly: predictions in batches say the same."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import pyinterp as pi
from pyinterp.errors import OptionError

# Sums in another order; XGBoost computes in single precision.
ROUNDING, SINGLE = 1e-12, 1e-5

N = 48
RNG = np.random.default_rng(5)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N).round(1), "k": np.arange(N) % 4})
SCORE = (X["a"] + X["b"] ** 2 + 0.7 * RNG.normal(size=N)).to_numpy()
TWO = np.where(np.median(SCORE) < SCORE, "yes", "no")
THREE = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.6]))

FOREST = RandomForestClassifier(7, random_state=0)
BOOSTED = GradientBoostingClassifier(n_estimators=5, random_state=0)
HISTOGRAM = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)

INSIDE = {
    "forest": FOREST,
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "boosting": BOOSTED,
    "histogram boosting": HISTOGRAM,
    "LightGBM": LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1),
    "search of forests": GridSearchCV(FOREST, {"max_depth": [2, 4]}, cv=2),
}
MANNERS = {
    "sigmoid, folds": (TWO, {"method": "sigmoid", "cv": 3}),
    "isotonic, folds": (TWO, {"method": "isotonic", "cv": 2}),
    "sigmoid, one model": (TWO, {"method": "sigmoid", "cv": 2, "ensemble": False}),
    "isotonic, one model": (TWO, {"method": "isotonic", "cv": 2, "ensemble": False}),
    "sigmoid, three classes": (THREE, {"method": "sigmoid", "cv": 2}),
    "isotonic, three classes": (THREE, {"method": "isotonic", "cv": 2, "ensemble": False}),
}


def agree(exact, slow, tolerance=ROUNDING, loss="log"):
    for ask in (
        lambda m: m.pfi(loss=loss, permutations="all"),
        lambda m: m.entropy_pfi(permutations="all"),
        lambda m: m.pfi(["a", "k"], loss="brier", permutations=3),
        lambda m: m.pd("a", points=5, of="entropy"),
    ):
        one, other = ask(exact), ask(slow)
        assert other.engine.name == "batched"
        size = max(1.0, float(np.abs(other.params).max()))
        np.testing.assert_allclose(one.params, other.params, rtol=0, atol=tolerance * size)
        np.testing.assert_allclose(one.bse, other.bse, rtol=0, atol=tolerance * size)


def check(estimator, y, tolerance=ROUNDING, loss="log"):
    exact, slow = (pi.FittedModel(estimator, X, y, seed=1, engine=e) for e in ("auto", "batched"))
    assert exact.entropy_pfi().engine.name == "trees, exact"
    agree(exact, slow, tolerance, loss)


def every_pair():
    """Return all models and manners; two thirds are left to `make torture`."""
    return [
        pytest.param(name, manner, marks=[pytest.mark.torture] if (i + j) % 3 else [])
        for i, name in enumerate(INSIDE)
        for j, manner in enumerate(MANNERS)
    ]


@pytest.mark.parametrize(("name", "manner"), every_pair())
def test_predictions_are_those_of_the_classifier(name, manner):
    y, options = MANNERS[manner]
    # An isotonic probability may be 0, or rounding away from it: log loss tells these apart.
    loss = "brier" if options["method"] == "isotonic" else "log"
    check(CalibratedClassifierCV(INSIDE[name], **options).fit(X, y), y, loss=loss)


@pytest.mark.parametrize("y", [TWO, THREE])
def test_single_precision(y):
    inside = XGBClassifier(n_estimators=5, n_jobs=1)
    codes = np.unique(y, return_inverse=True)[1]
    check(CalibratedClassifierCV(inside, cv=2).fit(X, codes), codes, SINGLE)


WRAPPED = CalibratedClassifierCV(FOREST, cv=2)
ELSEWHERE = {
    "frozen": CalibratedClassifierCV(FrozenEstimator(FOREST.fit(X, TWO))),
    "in a pipeline": make_pipeline(StandardScaler(), WRAPPED),
    "in a search": GridSearchCV(WRAPPED, {"method": ["sigmoid"]}, cv=2),
    "the paper's": pi.estimators.calibrated_forest(1, n_estimators=20),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_calibrated_forests_inside_of_others(name):
    check(ELSEWHERE[name].fit(X, TWO), TWO)


def test_refits():
    estimator = pi.estimators.calibrated_forest(n_estimators=15)
    learner = pi.Learner.from_formula("y ~ a + b + k", X.assign(y=TWO), estimator)
    plan = pi.HalfSampling(2, pairs=5)
    exact, slow = (learner.fit(plan, seed=1, engine=e) for e in ("auto", "batched"))
    assert exact.entropy_pfi().engine.name.endswith("exact")
    agree(exact, slow)


class Sure(RandomForestClassifier):  # scikit-learn is untyped
    """A forest that changes what it predicts, far from the rows that it is checked on."""

    def predict_proba(self, X):
        """Predict no probability above 2."""
        return np.minimum(super().predict_proba(X), 2)


class Calibration(CalibratedClassifierCV):  # scikit-learn is untyped
    """A calibration that does the same."""

    def predict_proba(self, X):
        """Predict no probability above 2."""
        return np.minimum(super().predict_proba(X), 2)


IN_THEIR_OWN_WAY = {
    "model": CalibratedClassifierCV(Sure(5, random_state=0), cv=2),
    "calibration": Calibration(FOREST, cv=2),
}


@pytest.mark.parametrize("name", IN_THEIR_OWN_WAY)
def test_what_predicts_in_its_own_way_is_predicted_in_batches(name):
    model = IN_THEIR_OWN_WAY[name].fit(X, TWO)
    engine = pi.FittedModel(model, X, TWO).entropy_pfi(permutations=5).engine
    assert (engine.name, engine.reason) == ("batched", "its `predict` is its own")


IN_BATCHES = {
    "neighbors": KNeighborsClassifier(),
    "a linear model": LogisticRegression(),
    "a pipeline": make_pipeline(StandardScaler(), FOREST),
    "a calibration": CalibratedClassifierCV(FOREST, cv=2),
    "folds with other categories": HistGradientBoostingClassifier(
        max_iter=5, categorical_features=[2], min_samples_leaf=5
    ),
}


@pytest.mark.parametrize("name", IN_BATCHES)
def test_other_models_are_predicted_in_batches(name):
    data = X.assign(k=np.where(np.arange(N) == 3, 9, X["k"]))
    model = CalibratedClassifierCV(IN_BATCHES[name], cv=3).fit(data, TWO)
    assert pi.FittedModel(model, data, TWO).entropy_pfi(permutations=5).engine.name == "batched"
    with pytest.raises(OptionError, match='`engine="trees"` can\'t serve'):
        pi.FittedModel(model, data, TWO, engine="trees").pfi()


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8), reason="new in scikit-learn 1.8"
)
def test_calibration_by_temperature_is_predicted_in_batches():
    model = CalibratedClassifierCV(FOREST, method="temperature", cv=2).fit(X, TWO)
    assert pi.FittedModel(model, X, TWO).entropy_pfi(permutations=5).engine.name == "batched"
