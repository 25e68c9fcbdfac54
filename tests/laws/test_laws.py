"""Laws that hold for any data: what must be 0, equal or proportional."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi

ROUNDING = 1e-9


def frame(seed: int, n: int = 40, p: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    return X.assign(y=X["x0"] + rng.normal(size=n))


seeds = st.integers(0, 10_000)


@settings(deadline=None, max_examples=20)
@given(seed=seeds, beta=st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_pfi_of_the_true_linear_function_is_2_beta2_var_plus_a_covariance(seed, beta) -> None:
    data = frame(seed)
    X, y = data[["x0", "x1", "x2"]], data["y"]
    f = lambda rows: rows.to_numpy() @ np.array(beta)  # noqa: E731 - a function of rows
    found = pi.FittedModel(f, X, y).pfi(permutations="all").params
    residual = y - f(X)
    expected = [
        2 * b**2 * X[v].var() + 2 * b * X[v].cov(residual) for v, b in zip(X, beta, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=ROUNDING)


@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_unused_feature_has_importance_0_and_a_flat_curve(seed: int) -> None:
    data = frame(seed)
    model = pi.FittedModel(lambda rows: np.sin(rows["x0"]), data[["x0", "x1"]], data["y"])
    assert model.pfi("x1").params["x1"] == 0
    curve = model.pd("x1").params
    np.testing.assert_allclose(curve, curve.iloc[0], atol=ROUNDING)


@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_additive_model_pd_differs_from_its_component_by_a_constant(seed: int) -> None:
    data = frame(seed)
    model = pi.FittedModel(lambda rows: rows["x0"] ** 2 + np.exp(rows["x1"]), data[["x0", "x1"]])
    result = model.pd("x0")
    grid = result.estimand.terms.layout["value"].to_numpy()
    apart = result.params.to_numpy() - grid**2
    np.testing.assert_allclose(apart, apart[0], atol=ROUNDING)
    slopes = model.pd("x0", kind="c-ice").row_frame()
    np.testing.assert_allclose(slopes, np.tile(grid**2 - grid[0] ** 2, (40, 1)), atol=ROUNDING)


@settings(deadline=None, max_examples=10)
@given(seed=seeds, order=st.permutations(range(40)))
def test_order_of_rows_does_not_matter(seed: int, order: list[int]) -> None:
    data = frame(seed)
    X, y = data[["x0", "x1"]], data["y"]
    f = lambda rows: rows["x0"] * rows["x1"]  # noqa: E731 - a function of rows
    one = pi.FittedModel(f, X, y).pfi(permutations="all")
    two = pi.FittedModel(f, X.iloc[order], y.iloc[order]).pfi(permutations="all")
    np.testing.assert_allclose(one.params, two.params, atol=ROUNDING)
    np.testing.assert_allclose(one.bse, two.bse, atol=ROUNDING)


@settings(deadline=None, max_examples=10)
@given(seed=seeds, scale=st.floats(0.1, 10))
def test_units_of_the_response_square_in_squared_loss(seed: int, scale: float) -> None:
    data = frame(seed)
    learner = LinearRegression()
    one = pi.Learner.from_formula("y ~ .", data, learner).fit(pi.Bootstrap(3), seed=1)
    two = pi.Learner.from_formula("y ~ .", data.assign(y=scale * data["y"]), learner).fit(
        pi.Bootstrap(3), seed=1
    )
    np.testing.assert_allclose(two.pfi().params, scale**2 * one.pfi().params, rtol=1e-7)
    np.testing.assert_allclose(two.pfi().bse, scale**2 * one.pfi().bse, rtol=1e-7)


@pytest.mark.parametrize("formula", ["y ~ x0 + x1", "y ~ I(3 * x0) + standardize(x1)"])
def test_linear_recoding_of_features_changes_nothing(formula: str) -> None:
    data = frame(5)
    plain = pi.Learner.from_formula("y ~ x0 + x1", data, LinearRegression()).fit(seed=2)
    recoded = pi.Learner.from_formula(formula, data, LinearRegression()).fit(seed=2)
    np.testing.assert_allclose(recoded.pfi().params, plain.pfi().params, atol=ROUNDING)
    np.testing.assert_allclose(recoded.pd("x0").bse, plain.pd("x0").bse, atol=ROUNDING)


def test_a_variable_with_many_columns_moves_as_one() -> None:
    data = frame(6).assign(g=lambda d: np.where(d["x1"] > 0, "u", "v"))
    res = pi.Learner.from_formula("y ~ x0 + I(x0**2) + x0:x2 + C(g)*x0", data, LinearRegression())
    assert list(res.features) == ["x0", "x2", "g"]
    fitted = res.fit(pi.Bootstrap(3), seed=1)
    refit = fitted.refits[0]
    rows = refit.evaluation.variables
    moved = refit.predictor(refit.design.encode(rows.assign(x0=0.5))).mean()
    assert fitted.pd("x0", grid=[0.5]).refit_frame().iloc[0, 0] == pytest.approx(moved, abs=1e-12)


def test_a_group_of_one_is_its_variable_and_a_group_moves_jointly() -> None:
    data = frame(7)
    alone = pi.Learner.from_formula("y ~ .", data, LinearRegression(), groups={"first": ["x0"]})
    plain = pi.Learner.from_formula("y ~ .", data, LinearRegression())
    one, two = alone.fit(seed=1).pfi(), plain.fit(seed=1).pfi()
    assert one.params["first"] == pytest.approx(two.params["x0"], abs=1e-12)
    # A function of the difference of two variables does not change when both move together by one
    # donor whose difference is the same.
    same = data.assign(x1=data["x0"] + 1)
    model = pi.FittedModel(
        lambda rows: rows["x1"] - rows["x0"], same[["x0", "x1"]], data["y"],
        groups={"pair": ["x0", "x1"]},
    )  # fmt: skip
    assert model.pfi("pair").params["pair"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_do_not_change_numbers(n_jobs: int) -> None:
    data = frame(8)
    learner = pi.Learner.from_formula("y ~ .", data, RandomForestRegressor(5))
    one = learner.fit(pi.Bootstrap(4), seed=1)
    other = learner.fit(pi.Bootstrap(4), seed=1, n_jobs=n_jobs)
    pd.testing.assert_frame_equal(
        one.pfi(permutations=3).summary_frame(), other.pfi(permutations=3).summary_frame()
    )
    pd.testing.assert_frame_equal(one.pd("x0").summary_frame(), other.pd("x0").summary_frame())
