"""The table of libraries in "What works with what" is what happens: every cell is called."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import Ridge

import pyinterp as pi
from pyinterp.errors import PyinterpError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "what_works.md"
MARKS = ("<!-- libraries: held by tests/docs/test_libraries.py -->", "<!-- end of libraries -->")
N = 40
RNG = np.random.default_rng(6)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = X["a"] + 0.5 * X["b"] + 0.1 * RNG.normal(size=N)
W = RNG.uniform(0.5, 2.0, N)
FEW = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
CATBOOST = {"iterations": 3, "verbose": 0, "allow_writing_files": False}


def xgboost_native(module):
    return module.train({"nthread": 1}, module.DMatrix(X, Y), 3)


def lightgbm_native(module):
    return module.train({"num_threads": 1, "verbose": -1}, module.Dataset(X, Y), 3)


# By row of the table: packages with what makes a learner, and what fits it if `fit(X, Y)` does not.
LIBRARIES = {
    "scikit-learn": [("sklearn", lambda _: Ridge())],
    "XGBoost, LightGBM: classes of scikit-learn's kind": [
        ("xgboost", lambda m: m.XGBRegressor(**FEW)),
        ("lightgbm", lambda m: m.LGBMRegressor(verbose=-1, **FEW)),
    ],
    "XGBoost, LightGBM: native `Booster`": [
        ("xgboost", xgboost_native, xgboost_native),
        ("lightgbm", lightgbm_native, lightgbm_native),
    ],
    "CatBoost: `CatBoostRegressor`, `CatBoostClassifier`": [
        ("catboost", lambda m: m.CatBoostRegressor(**CATBOOST))
    ],
    "CatBoost: general `CatBoost`": [("catboost", lambda m: m.CatBoost(CATBOOST))],
    "NGBoost": [("ngboost", lambda m: m.NGBRegressor(n_estimators=3, verbose=False))],
    "statsmodels: `pi.statsmodels_learner`, results": [
        ("statsmodels", lambda _: pi.statsmodels_learner(sm.OLS), lambda _: sm.OLS(Y, X).fit())
    ],
    "glum": [
        (
            "glum",
            lambda m: m.GeneralizedLinearRegressor(alpha=0),
            lambda m: m.GeneralizedLinearRegressor(alpha=0).fit(X, Y, store_covariance_matrix=True),
        )
    ],
}


def table():
    text = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    rows = [re.findall(r"[^|]+", line) for line in text.strip().splitlines()[2:]]
    return {
        name.strip(): [re.sub(r" \(\d\)", "", c).strip() for c in cells] for name, *cells in rows
    }


def works(call):
    try:
        call()
    except PyinterpError:
        return "no"
    return "yes"


@pytest.fixture(autouse=True)
def warnings_of_libraries():
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=kind)
        yield


def test_the_table_has_these_rows():
    assert list(table()) == list(LIBRARIES)


@pytest.mark.parametrize(
    ("row", "k"), [(row, k) for row, cases in LIBRARIES.items() for k in range(len(cases))]
)
def test_a_library(row, k):
    package, make, *fits = LIBRARIES[row][k]
    module = pytest.importorskip(package)
    plan = pi.Holdout(0.5)

    def learner(**options):
        return lambda: pi.Learner(Y, X, make(module), **options).fit(plan, seed=1).pfi()

    model = fits[0](module) if fits else make(module).fit(X, Y)
    fitted = pi.FittedModel(model, X, Y)
    intervals = {"rows": "new rows", "delta": "delta method"}[fitted.pd("a").cov_type]
    weighted = learner(weights=W, weights_type="sampling")
    assert [works(learner()), works(fitted.pfi), works(weighted), intervals] == table()[row]


def test_a_response_of_one_dimension_has_its_remedy():
    """The words are those of skorch, which needs PyTorch."""

    class Net(Ridge):
        def fit(self, X, y):
            if np.ndim(y) == 1:
                raise ValueError(
                    "The target data shouldn't be 1-dimensional but instead have 2 dimensions"
                )
            return super().fit(X, y)

    with pytest.raises(PyinterpError, match=r"`np.asarray\(y, 'float32'\).reshape\(-1, 1\)`"):
        pi.Learner(Y, X, Net()).fit(pi.Holdout(0.5), seed=1)
