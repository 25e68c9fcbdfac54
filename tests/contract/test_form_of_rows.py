"""What a model predicts has the form of what it was trained on, which is the user's form."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracles import naive
from sklearn.base import BaseEstimator, RegressorMixin

import pyinterp as pi
from pyinterp.errors import OptionError

N = 48
RNG = np.random.default_rng(8)
A, B = RNG.normal(size=(2, N))
K = RNG.integers(0, 4, N)
G = RNG.choice(list("uvw"), N)
T = RNG.random(N) < 0.5
Y = A + K + 2.0 * (G == "v") + T + 0.3 * RNG.normal(size=N)
SEEN = []
FORM = pd.DataFrame({"a": A, "k": K, "g": G, "t": T})


def form(X):
    """Return container, names, order and types of rows."""
    if isinstance(X, np.ndarray):
        return ("array", X.shape[1], X.dtype.str)
    if isinstance(X, pd.DataFrame):
        return ("pandas", list(X.columns), [str(t) for t in X.dtypes])
    if hasattr(X, "column_names"):  # pyarrow
        return ("pyarrow", X.column_names, [str(t) for t in X.schema.types])
    return (type(X).__module__, list(X.columns), [str(t) for t in X.dtypes])


class Spy(RegressorMixin, BaseEstimator):
    """Adds up numbers, and the number of the letter of texts; records what it is given."""

    def fit(self, X, y):
        SEEN.append(("fit", form(X)))
        self.form_ = form(X)
        return self

    def predict(self, X):
        SEEN.append(("predict", form(X)))
        return numbers(X).sum(axis=1)


def numbers(X):
    if isinstance(X, np.ndarray):
        return X.astype(float)
    columns = X.to_pydict().values() if hasattr(X, "to_pydict") else [
        list(X[name]) for name in X.columns
    ]  # fmt: skip
    return np.array([[_number(value) for value in column] for column in columns], float).T


def _number(value):
    if value is None or pd.isna(value):
        return -1.0
    if isinstance(value, str):
        return float(ord(value[0]) % 7)
    if isinstance(value, dt.datetime | dt.date):
        return float(pd.Timestamp(value).day % 5)
    return float(value)


def nullable():
    return FORM.astype({"a": "Float64", "k": "Int64", "g": "string", "t": "boolean"})


def with_holes():
    frame = nullable()
    for j in range(4):
        frame.iloc[3 + j, j] = pd.NA
    return frame


def arrow_backed():
    pytest.importorskip("pyarrow")
    types = {"a": "double", "k": "int32", "g": "string", "t": "bool"}
    return FORM.astype({name: f"{kind}[pyarrow]" for name, kind in types.items()})


def objects():
    frame = FORM.astype({"g": object, "t": object})
    frame.loc[[2, 9], "t"] = None
    return frame


def small():
    return FORM.astype({"a": "float32", "k": "int8", "g": "category"})


def dates():
    return FORM.assign(d=pd.Timestamp("2024-03-01") + pd.to_timedelta(RNG.integers(0, 9, N), "D"))


def numbered():
    return FORM.set_axis([3, 0, "x y", 7], axis=1)


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(
        {
            "a": A,
            "k": pl.Series(K, dtype=pl.Int16),
            "g": pl.Series(G, dtype=pl.Enum(["w", "v", "u"])),
            "t": [None, *T[1:].tolist()],
            "s": G.tolist(),
            "d": [dt.date(2024, 3, 1 + int(k)) for k in K],
        }
    )


def arrow_table():
    pa = pytest.importorskip("pyarrow")
    return pa.table({"a": A, "k": pa.array(K, pa.int32()), "g": G.tolist(), "t": T})


CONTAINERS = [
    lambda: FORM, nullable, with_holes, arrow_backed, objects, small, dates, numbered,
    polars_frame, arrow_table,
    lambda: np.column_stack([A, B, K]),
    lambda: np.column_stack([K, K[::-1], T]),
    lambda: np.column_stack([A, B]).astype(np.float32),
]  # fmt: skip
NAMES = [
    "numpy", "nullable", "with_holes", "arrow_backed", "objects", "small", "dates", "numbered",
    "polars", "pyarrow", "array", "integers", "single",
]  # fmt: skip
PLANS = {"half": pi.HalfSampling(2, pairs=5), "bootstrap": pi.Bootstrap(2), "model": None}


EFFECTS = {"pd", "ale", "ame", "firm"}


def estimands(results):
    """Every estimand that serves any learner."""
    first = next(iter(results.analysis.problem.features))
    return {
        "conditional": lambda: results.pfi(sampler="conditional"),
        "metric of pfi": lambda: results.pfi(metric="rmse"),
        "metric": lambda: results.metric("rmse"),
        **{
            name: getattr(results, name)
            for name in ("pfi", "mvim", "cvim", "amvim", "loss", "vint")
        },
        **{name: partial(getattr(results, name), [first]) for name in EFFECTS},
        "importance": results.importance,
        "h": lambda: results.h_statistic([first]),
    }


def same_as_loops(model, X):
    """The importance of every column is that of a naive loop over the user's own rows."""
    original, columns = (Y - numbers(X).sum(axis=1)) ** 2, X if hasattr(X, "columns") else range(3)
    expected = []
    for name in list(columns)[: X.shape[1]]:
        predicted = naive.all_pairs(lambda rows: numbers(rows).sum(axis=1), X, [name])
        switched = (Y[:, None] - predicted) ** 2
        expected.append(naive.pfi(switched, original, "difference", "ustat", None)[0])
    found = model.pfi(permutations="all").params
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("container", CONTAINERS, ids=NAMES)
@pytest.mark.parametrize(
    "plan", [pytest.param("half", marks=pytest.mark.torture), "bootstrap", "model"]
)
def test_a_model_predicts_what_it_was_trained_on(container, plan):
    X = container()
    results: Any
    if plan == "model":
        results = pi.FittedModel(Spy().fit(X, Y), X, Y, missing="keep")
    else:
        results = pi.Learner(Y, X, Spy(), missing="keep").fit(PLANS[plan], seed=1)
        assert results.refits[0].predictor.estimator.form_ == form(X)
    assert results.analysis.problem.codes == frozenset()  # asks for fractions, which are doubles
    SEEN.clear()
    whole = isinstance(X, np.ndarray) and X.dtype.kind == "i"
    refused = 0
    for name, estimand in estimands(results).items():
        if whole and name in EFFECTS:  # they ask for fractions, which are doubles
            continue
        try:
            estimand()
        except OptionError:  # of missing values, and of levels
            refused += 1
    if plan == "model" and isinstance(X, pd.DataFrame | np.ndarray):
        same_as_loops(results, X)
    predicted = [seen for what, seen in SEEN if what == "predict"]
    assert len(predicted) > 10
    assert refused < 8
    assert [seen for seen in predicted if seen != form(X)] == []
