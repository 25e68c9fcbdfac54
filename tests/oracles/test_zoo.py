"""Estimators of other libraries, and objects around them: PFI and PD by plain loops over what they
themselves predict, for fitted models and for learners.

A case makes an estimator, which is given frames of the named columns. Packages that are no
dependencies are skipped by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracles import naive
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pyinterp as pi

N = 48
TOLERANCE = 1e-10  # of sums in another order
RNG = np.random.default_rng(5)
ROWS = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "g": RNG.choice(list("uvw"), N),
        "k": RNG.integers(0, 3, N),
        "b": RNG.normal(size=N),
        "t": RNG.choice(["red wine", "white wine", "beer"], N),
    }
)
NUMBER = ROWS["a"] + 2.0 * (ROWS["g"] == "v") + 0.5 * ROWS["k"] + 0.3 * RNG.normal(size=N)
RESPONSES = {
    "number": NUMBER,
    "positive": np.exp(NUMBER / 2),
    "count": np.round(np.exp(NUMBER / 2)),
    "two": pd.Series(np.where(NUMBER > 1, "yes", "no")),
    "booleans": NUMBER > 1,
    "codes": pd.Series(np.digitize(NUMBER, [0.3, 1.5])),
    "three": pd.Series(np.array(["low", "mid", "top"])[np.digitize(NUMBER, [0.3, 1.5])]),
}
NUMBERS = ["a", "k", "b"]
NUMERIC = ("number", "positive", "count")
MIXED = ["a", "g", "k", "b"]
SPLITS = [(np.arange(32), np.arange(32, N)), (np.arange(16, N), np.arange(16))]
# Predicts pairs of all rows, in Python or in single precision: as few rows as will do.
GRIDS = {"a": [-0.5, 1.0], "g": ["u", "w"], "k": [0, 2], "b": [0.2]}


@dataclass(frozen=True)
class Case:
    make: Callable[[], Any]
    columns: list[str]
    response: str = "number"
    category: bool = False  # texts are given as categories


def catboost(kind="Regressor", /, **options):
    def make():
        module = pytest.importorskip("catboost")
        settings = {"iterations": 8, "depth": 3, "verbose": 0, "allow_writing_files": False}
        settings |= {"thread_count": 1, **options}
        return getattr(module, f"CatBoost{kind}")(**settings) if kind else module.CatBoost(settings)

    return make


def ngboost(kind, distribution="", k=0):
    def make():
        module = pytest.importorskip("ngboost")
        families = pytest.importorskip("ngboost.distns")
        options = {"n_estimators": 6, "verbose": False, "random_state": 0}
        if distribution:
            options["Dist"] = getattr(families, distribution)
        if k:
            options["Dist"] = families.k_categorical(k)
        return getattr(module, kind)(**options)

    return make


def glum(**options):
    def make():
        module = pytest.importorskip("glum")
        return module.GeneralizedLinearRegressor(alpha=0.01, drop_first=True, **options)

    return make


def as_objects(X):
    return np.asarray(X, object)


def as_frame(X):
    return pd.DataFrame(X).assign(twice=lambda rows: 2 * rows.iloc[:, 0])


def pipe(*steps, output=""):
    def make():
        pipeline = make_pipeline(*steps)
        if output == "polars":
            pytest.importorskip("polars")
        return pipeline.set_output(transform=output) if output else pipeline

    return make


def one_hot(*, sparse):
    return make_column_transformer(
        (OneHotEncoder(sparse_output=sparse, handle_unknown="ignore"), ["g"]),
        (StandardScaler(), ["a", "b", "k"]),
        sparse_threshold=1.0 if sparse else 0.0,
        verbose_feature_names_out=False,
    )


ZOO = {
    "catboost": Case(catboost(), NUMBERS),
    "catboost, texts by name": Case(catboost(cat_features=["g"]), MIXED),
    "catboost, as categories": Case(
        catboost(cat_features=["g"]), MIXED, category=True
    ),
    "catboost, a tuple": Case(catboost(cat_features=("g",)), MIXED),
    "catboost, by position": Case(catboost(cat_features=[1, 2]), MIXED),
    "catboost, whole numbers": Case(catboost(cat_features=["k"]), NUMBERS),
    "catboost, text features": Case(
        catboost(cat_features=["g"], text_features=["t"]), ["a", "g", "t"]
    ),
    "catboost, counts": Case(
        catboost(loss_function="Poisson", cat_features=["g"]), MIXED, "count"
    ),
    **{
        f"catboost, {what}": Case(catboost("Classifier", cat_features=["g"]), MIXED, y)
        for what, y in (
            ("two classes", "two"), ("booleans", "booleans"), ("three classes", "three"),
            ("codes", "codes"),
        )
    },
    "catboost, general": Case(catboost("", cat_features=["g"]), MIXED),
    "catboost, in a pipeline": Case(
        lambda: make_pipeline("passthrough", catboost(cat_features=["g"])()), MIXED,
    ),
    "catboost, of a log response": Case(
        lambda: TransformedTargetRegressor(
            catboost(cat_features=("g",))(), func=np.log, inverse_func=np.exp
        ), MIXED, "positive",
    ),
    "ngboost": Case(ngboost("NGBRegressor"), NUMBERS),
    "ngboost, log-normal": Case(
        ngboost("NGBRegressor", "LogNormal"), NUMBERS, "positive"
    ),
    "ngboost, two classes": Case(ngboost("NGBClassifier"), NUMBERS, "two"),
    "ngboost, three classes": Case(ngboost("NGBClassifier", k=3), NUMBERS, "codes"),
    "glum": Case(glum(), NUMBERS),
    "glum, categories": Case(glum(), MIXED, category=True),
    "glum, a formula": Case(glum(formula="a + g:b + k"), MIXED, category=True),
    "glum, counts": Case(glum(family="poisson"), NUMBERS, "count"),
    "sparse matrices": Case(pipe(one_hot(sparse=True), Ridge()), MIXED),
    "sparse matrices, trees": Case(
        pipe(one_hot(sparse=True), DecisionTreeClassifier(max_depth=3, random_state=0)), MIXED,
        "three",
    ),
    "pandas frames": Case(pipe(one_hot(sparse=False), Ridge(), output="pandas"), MIXED),
    "polars frames": Case(pipe(one_hot(sparse=False), Ridge(), output="polars"), MIXED),
    "arrays of objects": Case(pipe(FunctionTransformer(as_objects), Ridge()), NUMBERS),
    "frames of a function": Case(pipe(FunctionTransformer(as_frame), Ridge()), NUMBERS),
}  # fmt: skip


def rows_of(case):
    rows = ROWS[case.columns]
    texts = {name: "category" for name in ("g",) if case.category and name in rows}
    return rows.astype(texts)


def fit(case, rows, y):
    """Fit an estimator as its user does; return it and what it predicts."""
    model = case.make()
    model.fit(rows, y)
    predicts = model.predict if case.response in NUMERIC else model.predict_proba
    return model, lambda X: np.asarray(predicts(X), float)


def naively(predict, rows, y, classes):
    """Return PFI by all pairs of different rows, and PD at the points of `GRIDS`."""
    loss = naive.LOSSES["squared" if classes is None else "brier"]
    y = np.asarray(y, float) if classes is None else np.searchsorted(classes, np.asarray(y))
    n, found = len(rows), {}
    for name in rows:
        predicted = naive.all_pairs(predict, rows, [name])
        losses = loss(np.repeat(y[:, None], n, axis=1), predicted)
        same = np.eye(n, dtype=bool)
        found[name] = losses[~same].mean() - losses[same].mean()
    for name in set(GRIDS) & set(rows):
        for value in GRIDS[name]:
            mean = predict(naive.set_to(rows, [name], [value])).mean(axis=0)
            shown = mean if classes is None or len(classes) > 2 else mean[1]
            found |= {f"{name}={value}, {j}": m for j, m in enumerate(np.atleast_1d(shown))}
    return found


def ours(results, case):
    """Return the same by the package."""
    loss = "squared" if case.response in NUMERIC else "brier"
    found = dict(results.pfi(loss=loss, permutations="all").params)
    for name in set(GRIDS) & set(case.columns):
        # In the order of classes, and of points in each class.
        frame = results.pd(name, grid=GRIDS[name]).summary_frame()
        for value in GRIDS[name]:
            part = frame[frame["value"] == value]["estimate"]
            found |= {f"{name}={value}, {j}": estimate for j, estimate in enumerate(part)}
    return found


def compare(found, right):
    assert found.keys() == right.keys()
    for name, value in right.items():
        assert found[name] == pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE), name


def classes_of(case, y):
    return None if case.response in NUMERIC else np.unique(np.asarray(y))


@pytest.fixture(autouse=True)
def warnings_of_libraries():
    """Ignore what libraries warn of that are not ready for the newest NumPy and pandas."""
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
            warnings.filterwarnings("ignore", category=kind)
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


@pytest.mark.parametrize("name", ZOO)
def test_a_fitted_model_of_the_zoo(name):
    case = ZOO[name]
    rows, y = rows_of(case), RESPONSES[case.response]
    model, predict = fit(case, rows, y)
    compare(
        ours(pi.FittedModel(model, rows, y), case), naively(predict, rows, y, classes_of(case, y))
    )


@pytest.mark.parametrize("name", ZOO)
def test_a_learner_of_the_zoo(name):
    case = ZOO[name]
    rows, y = rows_of(case), RESPONSES[case.response]
    learner = pi.Learner(y, rows, case.make())
    results = learner.fit(pi.Splits(SPLITS), seed=1, reseed=False, progress=False)
    right = []
    for train, test in SPLITS:
        _, predict = fit(case, rows.iloc[train], y.iloc[train])
        test_rows = rows.iloc[test].reset_index(drop=True)
        right.append(naively(predict, test_rows, y.iloc[test], classes_of(case, y)))
    mean = {key: float(np.mean([part[key] for part in right])) for key in right[0]}
    compare(ours(results, case), mean)
