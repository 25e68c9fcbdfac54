"""What-if predictions: the budget changes nothing, and rows meet the right donors."""

import numpy as np
import pytest
from fits import fit_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.whatif import WhatIf

# Trees give the same bits in batches of any size; matrix products may round differently.
ROUNDING = 1e-12

CASES = {
    "forest": ("y ~ x*g + bs(z, df=4)", RandomForestRegressor(5), "matrix"),
    "linear": ("y ~ x*g + bs(z, df=4)", LinearRegression(), "matrix"),
    "classes": ("g ~ x + z", RandomForestClassifier(5), "frame"),
}


def whatif(data, case, memory_mb=256.0):
    formula, estimator, design = CASES[case]
    refit = fit_of(formula, data, estimator, pi.Holdout(0.6), design=design).refits[0]
    return WhatIf(refit.predictor, refit.design, refit.evaluation, memory_mb=memory_mb)


def crossed(engine, variables, donors):
    blocks = list(engine.of(variables).cross(donors))
    positions = np.concatenate([np.arange(engine.sample.nobs)[rows] for rows, _ in blocks])
    np.testing.assert_array_equal(positions, np.arange(engine.sample.nobs))
    return np.concatenate([predictions for _, predictions in blocks])


@pytest.mark.parametrize("case", CASES)
def test_cross_predicts_every_row_with_every_donor(data, case):
    engine = whatif(data, case)
    donors = data[["x", "z"]].sample(7, random_state=1).reset_index(drop=True)
    found = crossed(engine, ["x", "z"], donors)
    assert found.shape[:2] == (engine.sample.nobs, 7)
    for k in range(7):
        replaced = engine.sample.variables.assign(x=donors.x[k], z=donors.z[k])
        expected = engine.predictor(engine.design.encode(replaced))
        assert_allclose(found[:, k], expected, atol=ROUNDING)


@pytest.mark.parametrize("case", CASES)
def test_paired_predicts_what_cross_does(data, case):
    engine = whatif(data, case)
    donors, n = data[["x"]], engine.sample.nobs
    every = crossed(engine, ["x"], donors)
    index = np.random.default_rng(0).integers(len(donors), size=(n, 5))
    found = engine.of(["x"]).pairs(np.arange(n), index, donors)
    assert_allclose(found, every[np.arange(n)[:, None], index], atol=ROUNDING)
    rows = np.array([3, 0, 3, n - 1])
    some = engine.of(["x"]).pairs(rows, index[:4], donors)
    assert_allclose(some, every[rows[:, None], index[:4]], atol=ROUNDING)
    own = np.arange(n)[:, None]
    same = engine.of(["z", "x"]).pairs(np.arange(n), own, engine.sample.variables[["x", "z"]])
    assert_allclose(same[:, 0], engine.factual, atol=ROUNDING)


def batches_of(engine):
    """The numbers of rows that will be predicted at a time."""
    asked, predict = [], engine.predictor
    engine.predictor = lambda matrix: asked.append(len(matrix)) or predict(matrix)
    return asked


def test_batches_stay_within_the_budget(data):
    engine = whatif(data, "linear", 0.01)
    asked = batches_of(engine)
    list(engine.of(["x"]).cross(data[["x"]]))
    bytes_per_row = 24 * (len(engine.design.columns) + 1)
    assert max(asked) * bytes_per_row <= 0.01 * 2**20
    assert len(asked) > 1


def test_estimates_do_not_depend_on_the_memory_budget(data):
    learner = pi.Learner.from_formula("y ~ x*g + z", data, RandomForestRegressor(5))
    expected = learner.fit(pi.Bootstrap(2), seed=1)
    found = learner.fit(pi.Bootstrap(2), seed=1, memory_mb=0.001)
    for ask in (lambda r: r.pfi(), lambda r: r.pfi(permutations=3), lambda r: r.pd("g")):
        assert_allclose(ask(found).params, ask(expected).params, atol=ROUNDING)
        assert_allclose(ask(found).bse, ask(expected).bse, atol=ROUNDING)


@pytest.mark.parametrize("memory_mb", [0, -1.0, "256", True, None])
def test_the_budget_must_be_positive(data, memory_mb):
    learner = pi.Learner.from_formula("y ~ x", data, LinearRegression())
    with pytest.raises(OptionError, match="`memory_mb` must be a positive number"):
        learner.fit(pi.Bootstrap(2), seed=1, memory_mb=memory_mb)


@pytest.mark.parametrize("estimator", [LinearRegression(), RandomForestRegressor(3)])
def test_features_that_must_be_copied_have_the_bound_of_copies(estimator):
    _, data = normal_rows(1200, "y a b c")
    mcse = fit_of("y ~ a*b + c", data, estimator, pi.Holdout(0.5)).pfi().mcse
    assert mcse["a"] > 0
    assert mcse["c"] == 0
