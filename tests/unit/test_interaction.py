"""vint: closed forms, contributions by perturbed weights, what it can't see.

Numbers of R's vip are in tests/reference.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from derivatives import derivatives
from fits import model_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.estimands.interaction.vint import surface_interaction
from pyinterp_papers.processes import friedman1

DATA = Path(__file__).parents[1] / "reference" / "data"
LM_FRIEDMAN = "y ~ x1*x2 + x3 + I(x3**2) + x4 + x5 + I(x1**2) + x6 + x7 + x8 + x9 + x10"
EXACT = 1e-12
FIVE = [f"x{j}" for j in range(1, 6)]


def test_vint_of_a_product_is_the_product_of_the_sds():
    """sd over b of a b is |a| sd(b): with a > 0 its sd over a is sd(a) sd(b), both ways round."""
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(20, 3)), columns=["a", "b", "c"])
    model = pi.FittedModel(lambda rows: rows["a"] * rows["b"] + np.sin(rows["c"]), X)
    grid = {"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 5.0, 6.0], "c": [0.0, 1.0]}
    found = model.vint(grid=grid)
    assert found.exog_names == ["a:b", "a:c", "b:c"]
    sd = {name: np.std(values, ddof=1) for name, values in grid.items()}
    assert found.params["a:b"] == pytest.approx(sd["a"] * sd["b"], rel=EXACT)
    assert (found.params[["a:c", "b:c"]] == 0).all()
    assert "No interval for a:b, a:c, b:c: every row contributes the same." in words_of(found)


def test_greenwells_function_interacts_in_x1_and_x2_only():
    """Section 4: f(x1, x2) = 10 sin(pi x1 x2) + 55/6; the others are additive."""
    process, at = friedman1(), np.linspace(0, 1, 6)
    model = pi.FittedModel(process.f, process.draw(30, 1)[list(process.features)])
    found = model.vint(FIVE, grid=dict.fromkeys(FIVE, at)).params
    table = 10 * np.sin(np.pi * np.outer(at, at))
    expected = table.std(axis=1, ddof=1).std(ddof=1)  # symmetric: both directions alike
    assert found["x1:x2"] == pytest.approx(expected, rel=EXACT)
    assert (found.drop("x1:x2") == 0).all()


def crossing():
    """A 2 x 2 table whose effect changes sign, balanced."""
    X = pd.DataFrame({"g": list("uuvv") * 10, "h": list("stst") * 10, "x": np.arange(40.0)})
    return pi.FittedModel(
        lambda rows: np.where((rows["g"] == "u") == (rows["h"] == "s"), 1.0, -1.0), X
    ), X


def test_vint_is_blind_to_a_crossing_of_categories_and_says_so():
    model, _ = crossing()
    found = model.vint(points=3)
    assert (found.params == 0).all()
    assert model.h_statistic([("g", "h")], order="pairwise").params["g:h"] == 1.0
    assert "Of two categories (g:h) it can't see effects that cross" in words_of(found)
    assert "cross" not in words_of(model.vint([("g", "x")], points=3))


def test_the_sd_of_categories_too():
    """As in vip: no range / 4 in vint."""
    X = pd.DataFrame({"g": list("abc") * 7, "x": np.arange(21.0)})
    slope = {"a": 1.0, "b": 2.0, "c": 5.0}
    model = pi.FittedModel(lambda rows: rows["g"].map(slope) * rows["x"], X)
    grid = {"x": [1.0, 2.0, 4.0]}
    found = model.vint(grid=grid).params["g:x"]
    assert found == pytest.approx(np.std([1, 2, 5], ddof=1) * np.std([1, 2, 4], ddof=1), rel=EXACT)


def test_gradient_by_finite_differences_and_cells_missing_or_repeated():
    rng = np.random.default_rng(1)
    layout = pd.DataFrame({"value": [1, 2, 3] * 4, "value2": np.repeat(list("abcd"), 3)})
    for cells in (layout, layout.drop(index=[0, 7]), pd.concat([layout, layout[2:5]])):
        values = rng.normal(size=len(cells))
        _, gradient = surface_interaction(values, cells)
        numeric = derivatives(lambda v, cells=cells: surface_interaction(v, cells)[0], values)
        assert_allclose(gradient, numeric, atol=1e-8)


def test_contributions_by_perturbing_the_weights_of_rows():
    _, X = normal_rows(25, "a b c", 2)
    model = pi.FittedModel(lambda r: np.exp(r["a"] * r["b"] / 4) + r["c"] * r["a"] * r["b"], X)
    found = model.vint([("a", "b")], points=4)
    surface = model.pd(["a", "b"], points=4)
    curves, layout = surface.row_frame().to_numpy(), surface.estimand.terms.layout
    (estimate,) = found.replicates.estimates

    def value(weights):
        return surface_interaction(weights @ curves / weights.sum(), layout)[0]

    deviations = (estimate.rows - estimate.value)[:, 0] / 25
    assert_allclose(deviations, derivatives(value, np.ones(25)), atol=1e-8)


def test_classes_and_engines():
    _, X = normal_rows(60, "a b", 3)
    y = np.array(list("uvw"))[np.digitize(X["a"] * X["b"], [-0.3, 0.3])]
    forest = RandomForestClassifier(10, random_state=1).fit(X, y)
    exact, batched = (pi.FittedModel(forest, X, y, engine=e) for e in ("trees", "batched"))
    found = exact.vint(points=4)
    assert found.exog_names == ["u: a:b", "v: a:b", "w: a:b"]
    assert_allclose(found.params, batched.vint(points=4).params, rtol=1e-9)
    assert_allclose(found.bse, batched.vint(points=4).bse, rtol=1e-9)
    only = exact.vint(points=4, which_class="w")
    assert only.params["a:b"] == pytest.approx(found.params["w: a:b"], rel=EXACT)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("a", "A pair needs 2 variables; got 'a'"),
        (["a"], r"A pair needs 2 variables; got \['a'\]"),
        (["a", "q"], "Can't find variable 'q'"),
        ([("a", "b", "c")], "A pair is of 2 different variables"),
        ([("a", "a")], "A pair is of 2 different variables"),
        (["a", ("a", "b")], "Name variables, of which all pairs are taken, or pairs of them"),
        (3, "Name variables, of which all pairs are taken, or pairs of them, not 3"),
    ],
)
def test_bad_pairs_are_refused(pairs, message):
    X = pd.DataFrame(np.eye(6)[:, :3], columns=["a", "b", "c"])
    with pytest.raises(OptionError, match=message):
        pi.FittedModel(lambda rows: rows["a"], X).vint(pairs)


def test_a_pair_has_one_name_whatever_the_order_it_is_asked_in():
    model = model_of("y ~ .", friedman1().draw(60, 1), LinearRegression())
    expected = model.vint([("x1", "x2")])
    assert list(expected.params.index) == ["x1:x2"]
    for pair in ([("x2", "x1")], ["x2", "x1"], "x1:x2", ["x2:x1"]):
        again = model.vint(pair)
        assert list(again.params.index) == ["x1:x2"]
        assert_array_equal(again.params, expected.params)
    by_name = model.h_statistic("x2:x1", order="pairwise")
    assert list(by_name.params.index) == ["x1:x2"]
    with pytest.raises(OptionError, match="Can't find variable 'x1:x99'"):
        model.vint(["x1:x99"])
