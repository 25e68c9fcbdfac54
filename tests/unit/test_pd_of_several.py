"""PD of all variables, of three at once, and notes where a grid leaves the data."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from fits import model_of, words_of
from pandas.testing import assert_series_equal
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.uniform(size=(90, 2)), columns=["x", "z"])
    frame["g"] = rng.choice(["a", "b"], 90)
    frame["y"] = frame["x"] * frame["z"] * (1 + (frame["g"] == "b")) + rng.normal(size=90)
    return frame


@pytest.fixture(scope="module")
def model(data):
    return model_of("y ~ x * z * g", data, LinearRegression())


def tiles_of(plot):
    built = deepcopy(plot)
    built._build()
    return built.layers[0].data


def test_all_variables_have_their_curve(model):
    curves = model.pd(points=5, grid={"x": [0.1, 0.2]})
    assert isinstance(curves, pi.CurveResults)
    assert list(curves) == ["x", "z", "g"]
    for name, options in {"x": {"grid": [0.1, 0.2]}, "z": {"points": 5}, "g": {}}.items():
        alone = model.pd(name, **options)
        assert_series_equal(curves[name].params, alone.params)
        assert str(curves.summary()).count(f"{name}[") >= len(alone.params)
    assert list(curves.summary_frame()["variable"].unique()) == ["x", "z", "g"]
    assert len(curves.params) == len(curves.bse) == len(curves.to_r()) == 2 + 5 + 2
    copy = pickle.loads(pickle.dumps(curves))  # noqa: S301 - written here
    assert_series_equal(copy.params, curves.params)


def test_chosen_variables_have_their_curves(model):
    curves = model.pd(["g", "x"], together=False, points=4, grid={"x": [0.1, 0.2, 0.4]})
    assert isinstance(curves, pi.CurveResults)
    assert list(curves) == ["g", "x"]
    assert_series_equal(curves["x"].params, model.pd("x", grid=[0.1, 0.2, 0.4]).params)
    assert_series_equal(curves["g"].bse, model.pd("g").bse)
    assert list(curves.summary_frame()["variable"].unique()) == ["g", "x"]
    assert len(list(curves.plot())) == 2
    # More than three can't be set together, but each has a curve.
    assert len(model.pd(["x", "z", "g"], points=2).params) == 8
    assert len(model.pd(["x", "z", "g"], together=False, points=2).params) == 6


def test_three_variables_are_a_surface_per_value(data, model):
    result = model.pd(["x", "z", "g"], points=3)
    (refit,) = model.analysis.refits
    layout = result.estimand.terms.layout
    for k, (x, z, g) in enumerate(layout.itertuples(index=False)):
        rows = data[["x", "z", "g"]].assign(x=x, z=z, g=g)
        mean = refit.predictor(refit.design.encode(rows)).mean()
        assert result.params.iloc[k] == pytest.approx(mean, abs=1e-12)
    assert len(result.params) == 18
    tiles = tiles_of(result.plot())
    assert len(tiles) == 18
    assert tiles["PANEL"].nunique() == 2


@pytest.mark.parametrize(
    ("features", "grid", "words"),
    [
        ("x", [100, 200], "2 of 2 grid points are outside the observed range"),
        ("x", [0.5, 200], "1 of 2 grid points is outside the observed range"),
        (["x", "z"], {"x": [0.5, 2], "z": [0.5]}, "1 of 2 grid points is outside the observed"),
        (["x", "z"], {"x": [0.0, 0.5], "z": [0, 0.5]}, "outside the convex hull of `x` and `z`"),
    ],
)
def test_a_grid_that_leaves_the_data_is_noted(model, features, grid, words):
    assert words in words_of(model.pd(features, grid=grid))


def test_a_grid_within_the_data_is_not(model):
    inside = [model.pd("x"), model.pd("g"), model.pd(["x", "g"])]
    inside.append(model.pd(["x", "z"], grid={"x": [0.4, 0.6], "z": [0.4, 0.6]}))
    assert not any("outside" in words_of(result) for result in inside)


def test_what_is_refused(model):
    with pytest.raises(OptionError, match="for several variables must be a mapping"):
        model.pd(grid=[0, 1])
    with pytest.raises(OptionError, match="'w' of `grid`"):
        model.pd(grid={"w": [0, 1]})
    with pytest.raises(OptionError, match=r"Can't find variable `w`.*Variables: x, z, g"):
        model.pd(["x", "w"], together=False)
    with pytest.raises(OptionError, match="of one variable or of two or three different ones"):
        model.pd(["x", "z", "g", "x"])
