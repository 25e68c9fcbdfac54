"""Laws that hold for any data: what must be 0, equal or proportional."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi

ROUNDING = 1e-9


def frame(seed, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    return X.assign(y=X["x0"] + rng.normal(size=n))


seeds = st.integers(0, 10_000)


@settings(deadline=None, max_examples=20)
@given(seed=seeds, beta=st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_pfi_of_the_true_linear_function_is_2_beta2_var_plus_a_covariance(seed, beta):
    data = frame(seed)
    X, y = data[["x0", "x1", "x2"]], data["y"]
    f = lambda rows: rows.to_numpy() @ np.array(beta)  # noqa: E731 - a function of rows
    found = pi.FittedModel(f, X, y).pfi(permutations="all").params
    residual = y - f(X)
    expected = [
        2 * b**2 * X[v].var() + 2 * b * X[v].cov(residual) for v, b in zip(X, beta, strict=True)
    ]
    assert_allclose(found, expected, atol=ROUNDING)


@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_unused_feature_has_importance_0_and_a_flat_curve(seed):
    data = frame(seed)
    model = pi.FittedModel(lambda rows: np.sin(rows["x0"]), data[["x0", "x1"]], data["y"])
    assert model.pfi("x1").params["x1"] == 0
    curve = model.pd("x1").params
    assert_allclose(curve, curve.iloc[0], atol=ROUNDING)


@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_additive_model_pd_differs_from_its_component_by_a_constant(seed):
    data = frame(seed)
    model = pi.FittedModel(lambda rows: rows["x0"] ** 2 + np.exp(rows["x1"]), data[["x0", "x1"]])
    result = model.pd("x0")
    grid = result.estimand.terms.layout["value"].to_numpy()
    apart = result.params.to_numpy() - grid**2
    assert_allclose(apart, apart[0], atol=ROUNDING)
    slopes = model.pd("x0", kind="c-ice").row_frame()
    assert_allclose(slopes, np.tile(grid**2 - grid[0] ** 2, (40, 1)), atol=ROUNDING)


def test_a_variable_with_many_columns_moves_as_one():
    data = frame(6).assign(g=lambda d: np.where(d["x1"] > 0, "u", "v"))
    res = pi.Learner.from_formula("y ~ x0 + I(x0**2) + x0:x2 + C(g)*x0", data, LinearRegression())
    assert list(res.features) == ["x0", "x2", "g"]
    fitted = res.fit(pi.Bootstrap(3), seed=1)
    refit = fitted.refits[0]
    rows = refit.evaluation.variables
    moved = refit.predictor(refit.design.encode(rows.assign(x0=0.5))).mean()
    assert fitted.pd("x0", grid=[0.5]).refit_frame().iloc[0, 0] == pytest.approx(moved, abs=1e-12)


def test_a_group_of_one_is_its_variable_and_a_group_moves_jointly():
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


def test_jobs_do_not_change_numbers():
    learner = pi.Learner.from_formula("y ~ .", frame(8), RandomForestRegressor(5))
    one, two = (learner.fit(pi.Bootstrap(4), seed=1, n_jobs=n) for n in (1, 2))
    for ask in (lambda r: r.pfi(permutations=3), lambda r: r.pd("x0")):
        pd.testing.assert_frame_equal(*(ask(fit).summary_frame() for fit in (one, two)))
