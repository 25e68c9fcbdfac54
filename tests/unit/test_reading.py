"""Reading the user's data: formulas and arrays lead to the same variables and response."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import DataError, FormulaError

PLAN = pi.Bootstrap(3)


def learner(formula, data, **options):
    return pi.Learner.from_formula(formula, data, LinearRegression(), **options)


def test_formula_frame_and_array_give_the_same_numbers(data):
    exog, endog = data[["x", "z"]], data["y"]
    models = [
        learner("y ~ x + z", data),
        learner("y ~ x + z", data, design="frame"),
        pi.Learner(endog, exog, LinearRegression()),
        pi.Learner(endog.to_numpy(), exog.to_numpy(), LinearRegression()),
        pi.Learner(endog.tolist(), exog.to_numpy().tolist(), LinearRegression()),
        pi.Learner(endog.to_frame(), exog, LinearRegression()),
    ]
    numbers = [m.fit(PLAN, seed=1).pfi().params.to_numpy() for m in models]
    for other in numbers[1:]:
        assert_allclose(other, numbers[0], rtol=1e-10)


@pytest.mark.parametrize(
    ("endog", "name"),
    [
        (pd.Series(range(6), name="strength"), "strength"),
        (pd.Series(range(6)), "y"),
        (np.arange(6)[:, None], "y"),
        (pd.DataFrame({"strength": range(6)}), "strength"),
    ],
)
def test_the_response_keeps_its_name(endog, name):
    learner = pi.Learner(endog, np.arange(6.0)[:, None], LinearRegression())
    assert learner.endog_names == name
    assert learner.sample.nobs == 6


@pytest.mark.parametrize(
    ("endog", "exog", "message"),
    [
        (np.arange(5), np.ones((6, 2)), r"one value per row of `exog`; it has shape \(5,\) for 6"),
        (pd.DataFrame(np.ones((6, 2))), np.ones((6, 2)), r"one column.*shape \(6, 2\)"),
        (np.arange(6), "x", "`exog` must be a data frame .*or a numeric array, not str"),
        (np.arange(6), pd.Series(list("ababab"), name="g"), "must hold numbers, but `g` has dtype"),
    ],
)
def test_arrays_that_do_not_fit_are_a_clear_error(endog, exog, message):
    with pytest.raises(DataError, match=message):
        pi.Learner(endog, exog, LinearRegression())


@pytest.mark.parametrize("given", [np.ones((5, 2)), None])
def test_a_formula_needs_a_data_frame(given):
    with pytest.raises(DataError, match=r"`data` must be a data frame, not .*; for arrays"):
        learner("y ~ x", given)


@pytest.mark.parametrize(
    "index",
    [np.arange(60)[::-1], ["same"] * 60, pd.date_range("2020", periods=60), np.arange(60) * 0.5],
)
def test_the_index_of_the_data_does_not_matter(data, index):
    plan = pi.Bootstrap(3, strata="g")
    expected = learner("np.exp(y) ~ x + C(g)", data).fit(plan, seed=1).pfi()
    found = learner("np.exp(y) ~ x + C(g)", data.set_axis(index)).fit(plan, seed=1).pfi()
    assert_array_equal(found.params, expected.params)
    arrays = pi.Learner(
        data.y.set_axis(index), data[["x", "z"]].set_axis(index), LinearRegression()
    )
    assert arrays.sample.variables.index.tolist() == list(range(60))


def test_missing_rows_are_dropped_and_counted(data):
    holes = data.copy()
    holes.loc[3, "x"] = np.nan
    holes.loc[[3, 7], "g"] = None
    holes.loc[9, "y"] = np.nan
    assert learner("y ~ x", holes).dropped_rows == 2
    model = learner("y ~ .", holes)
    assert model.dropped_rows == 3
    assert model.sample.nobs == 57
    results = model.fit(PLAN, seed=1)
    assert "57 (3 dropped)" in str(results.summary())
    whole = learner("y ~ .", holes.drop(index=[3, 7, 9])).fit(PLAN, seed=1)
    assert_array_equal(results.pfi().params, whole.pfi().params)
    with pytest.raises(DataError, match=r"3 rows have missing values \(in g 2, x 1, y 1\)"):
        learner("y ~ .", holes, missing="raise")


def test_a_transformed_response_without_a_value_is_an_error_not_a_missing_row():
    data = pd.DataFrame({"y": np.linspace(-1, 5, 60), "x": np.arange(60.0)})
    with pytest.raises(
        DataError, match=r"`np.log\(y\)` is not defined in 10 of 60 rows \(the first"
    ):
        pi.Learner.from_formula("np.log(y) ~ x", data, LinearRegression())
    data.loc[data["y"] <= 0, "y"] = np.nan  # missing before: dropped and counted
    assert pi.Learner.from_formula("np.log(y) ~ x", data, LinearRegression()).dropped_rows == 10


def test_fresh_data_must_have_the_formulas_variables(data):
    model = learner("y ~ x + z", data)
    with pytest.raises(DataError, match="Variable `z` of the formula is not in the data"):
        model.fit(pi.FreshDraws(lambda _: data[["y", "x"]], 2), seed=1)
    arrays = pi.Learner(data.y, data[["x"]], LinearRegression())
    with pytest.raises(DataError, match=r"must be a pair \(endog, exog\) of arrays, not DataFrame"):
        arrays.fit(pi.FreshDraws(lambda _: data, 2), seed=1)


def test_response_of_a_formula_is_found_by_its_quoted_name(data):
    odd = data.rename(columns={"g": "wine grade"})
    model = pi.Learner.from_formula("Q('wine grade') ~ x + z", odd, LogisticRegression())
    assert model.endog_names == "wine grade"
    results = model.fit(pi.Bootstrap(3, strata="wine grade"), seed=1)
    assert "wine grade" in str(results.summary())


def test_the_frame_design_refuses_an_expression_of_one_variable(data):
    with pytest.raises(FormulaError, match=r"`np.log\(z\)` is not a variable"):
        learner("y ~ np.log(z)", data, design="frame")
