"""The grids of R's pdp, and points given by users; R's own numbers are in tests/reference."""

import numpy as np
import pandas as pd
import pytest
from fits import model_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import RGrid, grid_values, points_of

RNG = np.random.default_rng(2)
DATA = pd.DataFrame(
    {
        "x": RNG.exponential(size=80),
        "z": RNG.normal(size=80),
        "k": RNG.integers(0, 7, size=80),
        "f": pd.Categorical(RNG.choice(["b", "a"], size=80), categories=["b", "a", "never"]),
        "s": RNG.choice(["u", "v"], size=80),
        "t": RNG.random(80) < 0.5,
    }
)


class TestOfOneVariable:
    x = pd.Series(np.r_[np.arange(100.0), 50.0], name="x")

    def test_quantiles_are_type_7_with_the_observed_ends(self):
        grid = grid_values(self.x, "quantile", 5)
        np.testing.assert_allclose(grid, np.quantile(self.x, [0, 0.25, 0.5, 0.75, 1]))

    def test_few_distinct_values_are_taken_as_they_are(self):
        assert grid_values(pd.Series([3, 1, 2, 2]), "quantile", 5) == (1.0, 2.0, 3.0)

    def test_equidistant_and_unique(self):
        assert grid_values(self.x, "equidistant", 4) == (0.0, 33.0, 66.0, 99.0)
        assert grid_values(self.x, "unique", 4) == tuple(np.arange(100.0))

    def test_levels_keep_their_order_and_unused_ones_are_left_out(self):
        column = pd.Series(pd.Categorical(["b", "a"], ["c", "b", "a"]))
        assert grid_values(column) == ("b", "a")
        assert grid_values(pd.Series([True, False, True])) == (False, True)
        assert grid_values(pd.Series(["v", "u"])) == ("u", "v")

    def test_given_values_are_sorted(self):
        assert grid_values(self.x, [3, 1, 1]) == (1.0, 3.0)


def test_levels_keep_their_order_and_unused_ones():
    assert grid_values(DATA["f"], "r") == ("b", "a", "never")
    assert grid_values(DATA["s"], "r") == ("u", "v")
    assert grid_values(DATA["t"], "r") == (False, True)
    assert RGrid(cats=("k",)).values(DATA["k"]) == tuple(sorted(DATA["k"].unique()))


def test_logicals_are_numbers_between_0_and_1():
    assert RGrid(grid_resolution=5).values(DATA["t"]) == (False, True, True, True, True)
    assert len(RGrid(quantiles=True).values(DATA["t"])) == 9


def test_formulas_do_not_hide_unused_levels():
    fitted = model_of("y ~ x + f + C(k)", DATA.assign(y=DATA["x"]), LinearRegression())
    assert fitted.pd("f", grid="r").summary_frame()["value"].tolist() == ["b", "a", "never"]
    assert len(fitted.pd("k", grid="r").params) == DATA["k"].nunique()


@pytest.mark.parametrize("n", [5, 8, 9, 20, 80])
def test_trimmed_ranges_follow_tukeys_hinges(n):
    """Hinges are medians of the halves, the middle value in both if n is odd."""
    x = DATA["x"].iloc[:n]
    ordered = np.sort(x)
    half = (n + 1) // 2
    low, high = np.median(ordered[:half]), np.median(ordered[-half:])
    inside = ordered[(ordered >= low - 1.5 * (high - low)) & (ordered <= high + 1.5 * (high - low))]
    values = RGrid(trim_outliers=True, grid_resolution=3).values(x)
    assert (values[0], values[-1]) == (inside[0], inside[-1])


def test_equal_quantiles_are_all_kept_and_named_apart():
    few = DATA.assign(k=(DATA["k"] > 3).astype(int))
    model = pi.FittedModel(lambda d: d["k"].to_numpy(float), few[["k"]])
    found = model.pd("k", grid=RGrid(quantiles=True))
    assert len(found.params) == 9
    assert found.params.index.is_unique
    assert list(found.params.index[:2]) == ["k[0]", "k[0] (2)"]


def test_points_of_a_frame_are_its_rows():
    given = pd.DataFrame({"x": [2.0, 1.0, 1.0], "f": ["b", "a", "b"]}, index=[0, 0, 1])
    assert points_of(DATA, ("x", "f"), given).cells == ((2.0, "b"), (1.0, "a"), (1.0, "b"))
    assert points_of(DATA, ("x",), given[["x"]]).cells == ((1.0,), (2.0,))
    assert points_of(DATA, ("f",), ["a", "b"]).cells == (("a",), ("b",))


@pytest.mark.parametrize(
    ("names", "grid", "points", "said"),
    [
        (("x",), "r", 5, "RGrid"),
        (("x",), "q", None, '"r"'),
        (("x", "f"), RGrid(chull=True), None, "two numeric"),
        (("x", "z"), pd.DataFrame({"x": [1.0]}), None, "a column for each"),
        (("f",), pd.DataFrame({"f": ["c"]}), None, "not a level"),
        (("x", "line"), RGrid(chull=True), None, "on a line"),
    ],
)
def test_mistakes(names, grid, points, said):
    with pytest.raises(OptionError, match=said):
        points_of(DATA.assign(line=2 * DATA["x"]), names, grid, points)


@pytest.mark.parametrize("options", [{"grid_resolution": 5}, {"trim_outliers": True}])
def test_quantiles_place_the_points_themselves(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        RGrid(quantiles=True, **options)


@pytest.mark.parametrize("rule", ["quantile", "equidistant", "unique", "r"])
def test_grid_values_of_numbers_are_floats(rule):
    """Of whole numbers and small types too: what is predicted must not depend on the type."""
    for column in (pd.Series([3, 1, 2, 2]), pd.Series([3, 1, 2], dtype="uint8")):
        found = grid_values(column, rule)
        assert (found[0], found[-1]) == (1.0, 3.0)
        assert {type(value) for value in found} == {float}


def test_quantiles_of_whole_numbers_are_observed():
    """They may be codes: R's type 1, by its definition."""
    column = pd.Series(np.random.default_rng(0).choice(1000, size=47, replace=False))
    ordered = np.sort(column.to_numpy())
    at = [max(int(np.ceil(47 * k / 10 - 1e-9)), 1) for k in range(11)]
    assert grid_values(column, points=11) == tuple(float(ordered[k - 1]) for k in at)
    found = grid_values(column.astype(float), points=11)  # type 7
    assert found == tuple(np.quantile(column, np.linspace(0, 1, 11)).tolist())


def test_grids_of_r_can_be_looked_up_whatever_their_categories_are_in():
    assert hash(pi.r_style.RGrid(cats=["x"])) == hash(pi.r_style.RGrid(cats=("x",)))
