"""Greenwell et al. (2018): numbers of an algorithm and of equations, each computed in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi
from pyinterp.papers.greenwell2018 import f14

ERRORS = 3.0


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return pi.simulation.friedman1().draw(200, seed=1)


@pytest.fixture(scope="module")
def forest(data: pd.DataFrame) -> RandomForestRegressor:
    forest = RandomForestRegressor(20, random_state=1)
    return forest.fit(data.drop(columns="y"), data["y"])


@pytest.fixture(scope="module")
def grid(data: pd.DataFrame) -> list[float]:
    return np.quantile(data["x4"], [0, 0.25, 0.5, 0.75, 1]).tolist()


@pytest.fixture(scope="module")
def loop(data: pd.DataFrame, forest: RandomForestRegressor, grid: list[float]) -> list[float]:
    """PD of x4 by copies of the data."""
    return [forest.predict(data.drop(columns="y").assign(x4=value)).mean() for value in grid]


def test_algorithm_1_pd_is_the_mean_prediction_over_copies_of_the_data(
    data: pd.DataFrame, forest: RandomForestRegressor, grid: list[float], loop: list[float]
) -> None:
    found = pi.FittedModel(forest, data, "y").pd("x4", grid=grid).params
    np.testing.assert_allclose(found, loop, rtol=1e-10)


def test_equation_4_firm_is_the_standard_deviation_of_pd(
    data: pd.DataFrame, forest: RandomForestRegressor, grid: list[float], loop: list[float]
) -> None:
    found = pi.FittedModel(forest, data, "y").firm("x4", grid=grid).params.iloc[0]
    assert found == pytest.approx(np.std(loop, ddof=1), rel=1e-10)


def test_section_4_joint_pd_of_x1_and_x4_has_60_where_12_is_printed() -> None:
    """Erratum 3: f14 of the package, with 60, is the mean over a million rows; 12 is not."""
    n, x1, x4 = 1_000_000, 0.3, 0.7
    process = pi.simulation.friedman1()
    rows = process.covariates(n, np.random.default_rng(1)).assign(x1=x1, x4=x4)
    values = process.f(rows)
    error = values.std() / n**0.5
    wave = 5 * np.pi * x1 * (12 * x4 + 5) - 12 * np.cos(x1 * np.pi) + 12
    assert abs(values.mean() - f14(x1, x4)) < ERRORS * error
    assert abs(values.mean() - wave / (6 * np.pi * x1)) > 100 * error  # as printed
