"""What-if predictions: the budget changes nothing, and rows meet the right donors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.whatif import WhatIf

# Trees give the same bits in batches of any size; matrix products may round differently.
ROUNDING = 1e-12
BUDGETS = [1e-9, 0.001, 0.01, 256.0]

CASES = {
    "forest": ("y ~ x*g + bs(z, df=4)", RandomForestRegressor(5), "matrix"),
    "linear": ("y ~ x*g + bs(z, df=4)", LinearRegression(), "matrix"),
    "classes": ("g ~ x + z", RandomForestClassifier(5), "frame"),
}


def whatif(data: pd.DataFrame, case: str, memory_mb: float = 256.0) -> WhatIf:
    formula, estimator, design = CASES[case]
    learner = pi.Learner.from_formula(formula, data, estimator, design=design)  # type: ignore[arg-type]
    refit = learner.fit(pi.Holdout(0.6), seed=1).refits[0]
    return WhatIf(refit.predictor, refit.design, refit.evaluation, memory_mb=memory_mb)


def crossed(engine: WhatIf, variables: Sequence[str], donors: pd.DataFrame) -> np.ndarray:
    blocks = list(engine.of(variables).cross(donors))
    positions = np.concatenate([np.arange(engine.sample.nobs)[b.rows] for b in blocks])
    np.testing.assert_array_equal(positions, np.arange(engine.sample.nobs))
    return np.concatenate([b.predictions for b in blocks])


@pytest.mark.parametrize("case", CASES)
def test_cross_predicts_every_row_with_every_donor(data: pd.DataFrame, case: str) -> None:
    engine = whatif(data, case)
    donors = data[["x", "z"]].sample(7, random_state=1).reset_index(drop=True)
    found = crossed(engine, ["x", "z"], donors)
    assert found.shape[:2] == (engine.sample.nobs, 7)
    for k in range(7):
        replaced = engine.sample.variables.assign(x=donors.x[k], z=donors.z[k])
        expected = engine.predictor(engine.design.encode(replaced))
        np.testing.assert_allclose(found[:, k], expected, atol=ROUNDING)


@pytest.mark.parametrize("case", CASES)
def test_paired_predicts_what_cross_does(data: pd.DataFrame, case: str) -> None:
    engine = whatif(data, case)
    donors, n = data[["x"]], engine.sample.nobs
    every = crossed(engine, ["x"], donors)
    index = np.random.default_rng(0).integers(len(donors), size=(n, 5))
    found = engine.of(["x"]).pairs(np.arange(n), index, donors)
    np.testing.assert_allclose(found, every[np.arange(n)[:, None], index], atol=ROUNDING)
    rows = np.array([3, 0, 3, n - 1])
    some = engine.of(["x"]).pairs(rows, index[:4], donors)
    np.testing.assert_allclose(some, every[rows[:, None], index[:4]], atol=ROUNDING)


def test_donors_that_are_used_once_are_not_looked_for_twice(
    data: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = whatif(data, "linear")
    few, index = data[["x"]].iloc[:3], np.zeros((10, 5), np.intp)
    asked = []
    predict = engine.predictor

    def recorded(matrix: Any) -> np.ndarray:
        asked.append(len(matrix))
        return predict(matrix)

    engine.predictor = recorded  # type: ignore[assignment]
    engine.of(["x"]).pairs(np.arange(10), index, few)
    assert asked == [10]  # every row meets one donor, five times
    monkeypatch.setattr(np, "unique", None)
    own = data[["x"]].iloc[:8]  # fewer than rows of the sample
    engine.of(["x"]).pairs(np.arange(2), np.arange(8).reshape(2, 4), own)
    assert asked == [10, 8]


@pytest.mark.parametrize("case", CASES)
def test_own_values_give_the_factual_predictions(data: pd.DataFrame, case: str) -> None:
    engine = whatif(data, case)
    own = np.arange(engine.sample.nobs)[:, None]
    every = np.arange(engine.sample.nobs)
    found = engine.of(["z", "x"]).pairs(every, own, engine.sample.variables[["x", "z"]])
    np.testing.assert_allclose(found[:, 0], engine.factual, atol=ROUNDING)


@pytest.mark.parametrize("memory_mb", BUDGETS[:-1])
@pytest.mark.parametrize("case", CASES)
def test_the_memory_budget_does_not_change_predictions(
    data: pd.DataFrame, case: str, memory_mb: float
) -> None:
    large, small = whatif(data, case), whatif(data, case, memory_mb)
    donors = data[["x"]].iloc[:9]
    tolerance = ROUNDING if case == "linear" else 0.0
    np.testing.assert_allclose(
        crossed(small, ["x"], donors), crossed(large, ["x"], donors), atol=tolerance, rtol=0
    )
    index = np.random.default_rng(0).integers(9, size=(small.sample.nobs, 4))
    np.testing.assert_allclose(
        small.of(["x"]).pairs(np.arange(small.sample.nobs), index, donors),
        large.of(["x"]).pairs(np.arange(large.sample.nobs), index, donors),
        atol=tolerance,
        rtol=0,
    )


def test_batches_stay_within_the_budget(data: pd.DataFrame) -> None:
    largest = []
    engine = whatif(data, "linear", 0.01)
    predict = engine.predictor

    def watch(matrix: Any) -> np.ndarray:
        largest.append(len(matrix))
        return predict(matrix)

    engine.predictor = watch  # type: ignore[assignment]
    list(engine.of(["x"]).cross(data[["x"]]))
    bytes_per_row = 24 * (len(engine.design.columns) + 1)
    assert max(largest) * bytes_per_row <= 0.01 * 2**20
    assert len(largest) > 1


@pytest.mark.parametrize("memory_mb", BUDGETS[1:-1])
def test_estimates_do_not_depend_on_the_memory_budget(data: pd.DataFrame, memory_mb: float) -> None:
    learner = pi.Learner.from_formula("y ~ x*g + z", data, RandomForestRegressor(5))
    expected = learner.fit(pi.Bootstrap(2), seed=1)
    found = learner.fit(pi.Bootstrap(2), seed=1, memory_mb=memory_mb)
    for ask in (lambda r: r.pfi(), lambda r: r.pfi(permutations=3), lambda r: r.pd("g")):
        np.testing.assert_allclose(ask(found).params, ask(expected).params, atol=ROUNDING)
        np.testing.assert_allclose(ask(found).bse, ask(expected).bse, atol=ROUNDING)


@pytest.mark.parametrize("memory_mb", [0, -1.0, "256", True, None])
def test_the_budget_must_be_positive(data: pd.DataFrame, memory_mb: Any) -> None:
    learner = pi.Learner.from_formula("y ~ x", data, LinearRegression())
    with pytest.raises(OptionError, match="`memory_mb` must be a positive number"):
        learner.fit(pi.Bootstrap(2), seed=1, memory_mb=memory_mb)


@pytest.mark.parametrize("estimator", [LinearRegression(), RandomForestRegressor(3)])
def test_features_that_must_be_copied_have_the_bound_of_copies(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(1200, 4)), columns=["y", "a", "b", "c"])
    learner = pi.Learner.from_formula("y ~ a*b + c", data, estimator)
    mcse = learner.fit(pi.Holdout(0.5), seed=1).pfi().mcse
    assert mcse["a"] > 0
    assert mcse["c"] == 0
