"""Rows that look ordered in time have a footnote; others have none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

import pyinterp as pi

N = 150
WORDS = "If rows are ordered in time"


def series(rng: np.random.Generator) -> np.ndarray:
    """Return a series of first order with coefficient .8."""
    values = rng.normal(size=N)
    for t in range(1, N):
        values[t] += 0.8 * values[t - 1]
    return values


def frame(seed: int, *, ordered: bool, classes: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": series(rng), "z": series(rng)})
    data["y"] = data["x"] + series(rng)
    if classes:
        data["y"] = np.where(data["y"] > 0, "yes", "no")
    return data if ordered else data.sample(frac=1, random_state=seed)


def notes(data: pd.DataFrame, plan: Any = None, *, notes: str = "short", **options: Any) -> str:
    learner = LogisticRegression() if data["y"].dtype == "str" else LinearRegression()
    plan = pi.Bootstrap(5) if plan is None else plan
    results = pi.Learner.from_formula("y ~ x + z", data, learner, **options).fit(plan, seed=1)
    return " ".join(str(results.pd("x", grid=[0, 1]).summary(notes=notes)).split())


@pytest.mark.parametrize("option", ["short", "full"])
@pytest.mark.parametrize("classes", [False, True])
def test_residuals_alike_in_row_order_have_a_footnote(option: str, classes: bool) -> None:
    found = notes(frame(1, ordered=True, classes=classes), notes=option)
    assert "Residuals of rows next to each other are alike (autocorrelation 0." in found
    assert WORDS in found
    assert "TimeSeriesSplit" in found
    assert WORDS not in notes(frame(1, ordered=True), notes="none")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("classes", [False, True])
def test_exchangeable_rows_have_none(seed: int, classes: bool) -> None:
    assert WORDS not in notes(frame(seed, ordered=False, classes=classes))


def test_the_autocorrelation_is_that_of_mean_residuals() -> None:
    data = frame(1, ordered=True)
    learner = pi.Learner.from_formula("y ~ x + z", data, LinearRegression())
    residuals: dict[int, list[float]] = {}
    for case in learner.fit(pi.Bootstrap(5), seed=1).analysis.cases:
        for row, y, predicted in zip(case.sample.rows, case.y, case.whatif.factual, strict=True):
            residuals.setdefault(row, []).append(y - predicted)
    means = [np.mean(residuals[row]) for row in sorted(residuals)]
    around = np.array(means) - np.mean(means)
    expected = sum(a * b for a, b in pairwise(around)) / sum(a * a for a in around)
    assert f"(autocorrelation {expected:.2f})" in notes(data)


def test_an_index_of_dates_has_a_footnote() -> None:
    data = frame(0, ordered=False).set_index(pd.date_range("2020-01-01", periods=N))
    assert "Rows have an index of dates." in notes(data)


def test_plans_that_know_the_order_or_blocks_have_none() -> None:
    data = frame(1, ordered=True).assign(block=np.arange(N) // 10)
    assert WORDS not in notes(data, KFold(5))
    assert WORDS not in notes(data, pi.Bootstrap(5, cluster="block"))


def test_rows_sorted_by_the_response_have_none() -> None:
    assert WORDS not in notes(frame(1, ordered=True).sort_values("y"))


def test_repeated_rows_are_not_alike_in_time() -> None:
    data = frame(1, ordered=False).assign(w=3)
    assert WORDS not in notes(data, weights="w", weights_type="frequency")
