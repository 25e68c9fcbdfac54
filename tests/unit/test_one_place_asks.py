"""One place asks a user's model: `Predictor`, for every estimand, engine and method of a fit."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.models.predictor import Predictor

PACKAGE = Path(str(pi.__file__)).parent
ANSWERS = {"predict", "predict_proba", "decision_function"}
# Files that call such a method, and whose.
CALLERS = {
    "models/statsmodels_learner.py": "results of statsmodels, for the learner that they are made",
    "models/distributional.py": "the estimator inside, for the one that states its distribution",
    "models/scikit_learn.py": "a process, for its predictive distribution",
    "models/early_stopping.py": "the booster inside, as scikit-learn's wrappers do",
    "models/offset_model.py": "the estimator inside, for the one with an offset",
    "models/statsmodels.py": "results, for distributions, and to see that a design is right",
    "models/xgboost.py": "a native booster, for the function that it is made",
    "samplers/learners.py": "models of features, which samplers learn",
    "samplers/regressions.py": "a ridge regression inside one of its terms, which samplers learn",
    "samplers/subgroup.py": "a tree of a feature, which the sampler learns",
    "whatif/read_forest.py": "calibrators of forests, which the exact engine reads",
}


def calls(path):
    """Whether code calls a method that predicts."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    return any(isinstance(f, ast.Attribute) and f.attr in ANSWERS for f in functions)


def test_no_other_file_predicts():
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    assert {name for name, path in files.items() if calls(path)} == set(CALLERS)


def asker():
    """Return the code that called the method that calls this."""
    return sys._getframe(2).f_code


class Mean(LinearRegression):
    asked_by: set[Any] = set()  # noqa: RUF012 - of all copies

    def predict(self, X):
        self.asked_by.add(asker())
        return super().predict(X)


class Classes(LogisticRegression):
    asked_by: set[Any] = set()  # noqa: RUF012 - of all copies

    def predict(self, X):
        self.asked_by.add(asker())
        return self.classes_[(self.coef_ @ np.asarray(X).T > 0)[0].astype(int)]

    def predict_proba(self, X):
        self.asked_by.add(asker())
        p = 1 / (1 + np.exp(-(self.coef_ @ np.asarray(X).T)[0]))
        return np.column_stack([1 - p, p])

    def decision_function(self, X):
        self.asked_by.add(asker())
        return (self.coef_ @ np.asarray(X).T)[0]


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "y"])
    return frame.assign(y=frame["y"] + frame["a"])


@pytest.mark.parametrize("kind", [Mean, Classes])
def test_every_answer_is_given_to_the_predictor(kind, data):
    if kind is Classes:
        data = data.assign(y=np.where(data["y"] > 0, "yes", "no"))
    kind.asked_by.clear()
    learner = pi.Learner.from_formula("y ~ a + b", data, kind())
    plan = pi.HalfSampling(2, pairs=5)
    for results in (learner.fit(plan, seed=1), learner.fit_model(seed=1)):
        results.pfi()
        results.cvim("a", sampler="residual", permutations=10)
        results.pd("a", points=3)
        results.ame()
        results.ale("a", points=3)
        results.h_statistic(most_rows=10)
        if isinstance(results, pi.LearnerResults):
            results.loco("a")
            results.predict(data[["a", "b"]])
        if kind is Classes:
            results.pfi(loss="zero_one")
            results.metric("accuracy")
            results.metric("roc_auc")
            results.likelihood_pfi()
    assert kind.asked_by == {Predictor._ask.__code__}
