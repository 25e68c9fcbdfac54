"""Columns of evaluation rows against those of the fit: matched by name, or refused.

A model that was fitted to named columns never sees a column under another one's name, whatever the
order of the frame and whatever the model's library makes of names.
"""

from collections.abc import Callable
from typing import Any

import lightgbm
import naive
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xgboost
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from model_situations import ONCE
from sklearn import ensemble, linear_model, neighbors, tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import PyinterpError

NAMES = st.lists(
    st.sampled_from(["a", "b", "a b", "a_b", "a.b", "x1", "x2", "0", "é", "年", "b "]),
    min_size=3,
    max_size=3,
    unique=True,
)
QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 3, "n_estimators": 5}

Fit = Callable[[pd.DataFrame, np.ndarray], Any]


FITS = {
    "LinearRegression": linear_model.LinearRegression().fit,
    "pipeline": make_pipeline(StandardScaler(), linear_model.Ridge()).fit,
    "DecisionTreeRegressor": tree.DecisionTreeRegressor(random_state=0).fit,
    "KNeighborsRegressor": neighbors.KNeighborsRegressor(3).fit,
    "HistGradientBoostingRegressor": ensemble.HistGradientBoostingRegressor(
        max_iter=5, min_samples_leaf=3
    ).fit,
    "XGBRegressor": xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit,
    "LGBMRegressor": lightgbm.LGBMRegressor(**QUIET).fit,
    "OLS": lambda X, y: sm.OLS(y, X).fit(),
    "GLM": lambda X, y: sm.GLM(y, X).fit(),
    "RLM": lambda X, y: sm.RLM(y, X).fit(),
}


def rows(names, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=names)
    return X, X.to_numpy() @ [3.0, 1.0, 0.2] + rng.normal(size=40)


def pfi_of(model, X, y):
    """PFI under squared error of every column, in the order of the fit."""

    def predict(rows):
        return np.asarray(model.predict(rows), float)

    original, values = (y - predict(X)) ** 2, {}
    for name in X:
        switched = (y[:, None] - naive.all_pairs(predict, X, [name])) ** 2
        values[name] = naive.pfi(switched, original, "difference", "ustat", None)[0]
    return values


def fitted(fit, X, y):
    try:
        return fit(X, y)
    except lightgbm.basic.LightGBMError:  # it makes one name of `a b` and `a_b`
        reject()


def right_or_refused(fit, X, y, given_):
    """Compare by name; a column that the model does not know has importance 0."""
    model = fitted(fit, X, y)
    expected = pfi_of(model, X, y)
    try:
        got = pi.FittedModel(model, given_, y).pfi(permutations="all").params
    except PyinterpError:
        return
    for name, value in got.items():
        assert value == pytest.approx(expected.get(name, 0.0), rel=1e-5, abs=1e-5)
    assert set(expected) <= set(got.index)


few = settings(max_examples=4, derandomize=True, deadline=None, database=None, phases=ONCE)


@pytest.mark.parametrize("kind", FITS)
@few
@given(
    names=NAMES,
    order=st.permutations(range(3)),
    at=st.none() | st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_another_order_and_an_extra_column(kind, names, order, at, seed):
    X, y = rows(names, seed)
    other = X.iloc[:, order].copy()
    if at is not None:
        other.insert(at, "extra", np.random.default_rng(seed).normal(size=40))
    right_or_refused(FITS[kind], X, y, other)


@pytest.mark.parametrize("kind", FITS)
@few
@given(
    names=NAMES,
    which=st.sets(st.integers(0, 2), min_size=1),
    order=st.permutations(range(3)),
    seed=st.integers(0, 99),
)
def test_other_columns_are_refused(kind, names, which, order, seed):
    """Renamed ones, and one in another's place."""
    X, y = rows(names, seed)
    model = fitted(FITS[kind], X, y)
    renamed = X.set_axis([f"new {i}" if i in which else n for i, n in enumerate(names)], axis=1)
    for other in (renamed, X.iloc[:, order[:2]].assign(other=1.0)):
        with pytest.raises(PyinterpError):
            pi.FittedModel(model, other, y).pfi()


@pytest.mark.parametrize("kind", FITS)
@few
@given(names=NAMES, seed=st.integers(0, 99))
def test_names_do_not_matter(kind, names, seed):
    X, y = rows(names, seed)
    got = pi.FittedModel(FITS[kind](X, y), X, y).pfi(permutations="all").params
    expected = pfi_of(FITS[kind](X, y), X, y)
    assert list(got.index) == names
    assert got.to_dict() == pytest.approx(expected, rel=1e-5, abs=1e-6)
