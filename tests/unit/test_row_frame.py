"""Rows of results carry the data's index."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi

N = 42
INDEXES = {
    "shuffled": np.random.default_rng(0).permutation(N) + 100,
    "strings": [f"row {k}" for k in range(N)],
    "dates": pd.date_range("2020-01-01", periods=N)[::-1],
    "duplicates": np.repeat(np.arange(N // 2), 2),
    "several": pd.MultiIndex.from_product([list("abc"), range(N // 3)], names=["g", "k"]),
    "named": pd.Index(np.arange(N)[::-1], name="patient"),
}


def rows(index):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "z"], index=index)
    return frame.assign(y=frame["x"] * frame["z"] + rng.normal(size=N))


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("gap", [False, True])
def test_curves_of_a_model_are_joined_to_their_rows(name, gap):
    data = rows(INDEXES[name])
    if gap:
        data.iloc[[3, 7], 0] = np.nan
    kept = data.dropna()
    model = LinearRegression().fit(kept[["x", "z"]], kept["y"])
    curves = pi.FittedModel(model, data[["x", "z"]], data["y"]).pd("x", grid=[0.0, 1.0]).row_frame()
    assert curves.index.equals(kept.index)
    expected = model.predict(kept[["x", "z"]].assign(x=1.0))
    np.testing.assert_allclose(curves.iloc[:, 1], expected)


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize(
    "plan", [pi.CrossValidation(5), pi.Bootstrap(12), pi.HalfSampling(4, pairs=5)]
)
def test_rows_of_a_learner_are_joined_to_their_rows(name, plan):
    data = rows(INDEXES[name])
    plain = rows(None)
    by_label, by_place = (
        fit_of("y ~ x + z", d, LinearRegression(), plan).pfi().row_frame() for d in (data, plain)
    )
    np.testing.assert_array_equal(by_label, by_place)
    assert by_label.index.equals(data.index.take(by_place.index))
    assert by_label.index.names == data.index.names
    assert list(by_place.index) == sorted(by_place.index)


def test_rows_of_arrays_are_numbered():
    data = rows(None)
    learner = pi.Learner(data["y"].to_numpy(), data[["x", "z"]].to_numpy(), LinearRegression())
    frame = learner.fit(pi.CrossValidation(5), seed=1).pfi().row_frame()
    assert list(frame.index) == list(range(N))
    by_response = pi.Learner(
        rows(INDEXES["strings"])["y"], data[["x", "z"]].to_numpy(), LinearRegression()
    )
    named = by_response.fit(pi.CrossValidation(5), seed=1).pfi().row_frame()
    assert list(named.index) == INDEXES["strings"]


def test_curves_are_drawn_whatever_the_index():
    data = rows(INDEXES["several"])
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    built = deepcopy(pi.FittedModel(model, data[["x", "z"]]).pd("x", kind="ice", points=3).plot())
    built._build()
    assert built.layers[0].data["group"].nunique() == N
