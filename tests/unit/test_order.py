"""Lines of tables are in an order that no machine's rounding decides."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.results.summary import largest_first


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300])
def test_equal_but_for_rounding_stays_in_order(scale):
    exact = np.array([2.0, 3.0, -1.0, np.nan, 2.0, 0.0, -1.0])
    for sign in (-1, 1):
        noise = 1 + sign * np.array([1, 0, 1, 0, -1, 0, -1]) * 4e-16
        found = largest_first(pd.DataFrame({"estimate": exact * scale * noise}))
        assert found.index.tolist() == [1, 0, 4, 5, 2, 6, 3]


def test_what_differs_is_sorted_and_infinite_values_are_ends():
    values = [1.0, 1.0 + 1e-7, np.inf, -np.inf, 5e-324, 0.0]
    found = largest_first(pd.DataFrame({"estimate": values}))
    assert found.index.tolist() == [2, 1, 0, 4, 5, 3]


@pytest.fixture(scope="module")
def signed():
    """Differences and effects: the largest is negative, and so is the second largest."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["small", "up", "down", "most"])
    frame["y"] = frame @ [0.1, 1.0, -2.0, -4.0] + rng.normal(size=120)
    full, part = (
        fit_of(formula, frame, LinearRegression())
        for formula in ("y ~ .", "y ~ . - most + I(most > 0) + I(down > 0)")
    )
    names = list(frame)[:4]
    return {"difference": pi.compare(part.pfi(names), full.pfi(names)), "effect": full.ame()}


@pytest.mark.parametrize("kind", ["difference", "effect"])
def test_differences_and_effects_are_ordered_by_size(kind, signed):
    results = signed[kind]
    by_size = list(results.params.abs().sort_values(ascending=False).index)
    assert by_size != list(results.params.sort_values(ascending=False).index)
    assert (results.params[by_size[:1]] < 0).all()
    for top in (1, 2, None):
        table = results.summary(top=top).tables[0]
        assert [row[0].data.split(" ")[0] for row in table[1:]] == by_size[:top]
        for look in ("dots", "bars", "forest"):
            assert results.plot(geom=look, top=top).data["term"].tolist() == by_size[:top]
        both = pi.plot({"one": results, "again": results}, top=top).data["term"]
        assert list(both.cat.categories) == by_size[:top][::-1]
    assert results.summary(sort=False).tables[0][1][0].data == results.params.index[0]
    assert list(results.tidy()["term"]) == list(results.params.index)


def test_importances_are_ordered_with_their_sign():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["y"] = rng.normal(size=60)
    tree = DecisionTreeRegressor(random_state=0)
    pfi = fit_of("y ~ .", frame, tree).pfi()
    order = list(pfi.params.sort_values(ascending=False).index)
    assert order != list(pfi.params.abs().sort_values(ascending=False).index)
    assert [row[0].data for row in pfi.summary().tables[0][1:]] == order
    assert pfi.plot().data["term"].tolist() == order
