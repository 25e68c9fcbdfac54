"""Rows that look ordered in time have a footnote; others have none."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, model_of, words_of
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit

import pyinterp as pi
from pyinterp.learner import row_order

N = 150
WORDS = "If rows are ordered in time"


def series(rng):
    """Return a series of first order with coefficient .8."""
    values = rng.normal(size=N)
    for t in range(1, N):
        values[t] += 0.8 * values[t - 1]
    return values


def frame(seed, *, ordered, classes=False):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": series(rng), "z": series(rng)})
    data["y"] = data["x"] + series(rng)
    if classes:
        data["y"] = np.where(data["y"] > 0, "yes", "no")
    return data if ordered else data.sample(frac=1, random_state=seed)


def notes(data, plan=None, *, notes="short", **options):
    numeric = pd.api.types.is_numeric_dtype(data["y"])
    learner = LinearRegression() if numeric else LogisticRegression()
    plan = pi.Bootstrap(5) if plan is None else plan
    results = fit_of("y ~ x + z", data, learner, plan, **options)
    return words_of(results.pd("x", grid=[0, 1]), notes=notes)


@pytest.mark.parametrize("option", ["short", "full"])
@pytest.mark.parametrize("classes", [False, True])
def test_residuals_alike_in_row_order_have_a_footnote(option, classes):
    found = notes(frame(1, ordered=True, classes=classes), notes=option)
    assert "Residuals of rows next to each other are alike (autocorrelation 0." in found
    assert WORDS in found
    assert "TimeSeriesSplit" in found
    assert WORDS not in notes(frame(1, ordered=True), notes="none")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("classes", [False, True])
def test_exchangeable_rows_have_none(seed, classes):
    assert WORDS not in notes(frame(seed, ordered=False, classes=classes))


@pytest.mark.parametrize("change", ["none", "missing", "subset", "index"])
def test_the_autocorrelation_is_that_of_mean_residuals(change):
    data, options = frame(1, ordered=True), {}
    if change == "missing":
        data.loc[data.index[::7], "x"] = np.nan
    if change == "subset":
        options["subset"] = "z > -1"
    if change == "index":
        data.index = [f"row {k % 9}" for k in range(N)]
    residuals = {}
    for case in fit_of(
        "y ~ x + z", data, LinearRegression(), pi.Bootstrap(5), **options
    ).analysis.cases:
        for row, y, predicted in zip(
            case.evaluation.rows, case.y, case.whatif.factual, strict=True
        ):
            residuals.setdefault(row, []).append(y - predicted)
    means = [np.mean(residuals[row]) for row in sorted(residuals)]
    around = np.array(means) - np.mean(means)
    expected = sum(a * b for a, b in pairwise(around)) / sum(a * a for a in around)
    assert f"(autocorrelation {expected:.2f})" in notes(data, **options)


def flagged(rho, n, sets, seed):
    """Return the share of data sets whose rows look ordered, least squares and the default plan.

    Four features and the errors are stationary series of first order with coefficient `rho`.
    """
    rng, found = np.random.default_rng(seed), 0
    for _ in range(sets):
        steps = rng.normal(size=(n, 5))
        Z = steps.copy()
        for t in range(1, n):
            Z[t] = rho * Z[t - 1] + np.sqrt(1 - rho**2) * steps[t]
        X, y = np.column_stack([np.ones(n), Z[:, :4]]), Z[:, 0] + Z[:, 1] / 2 + Z[:, 4]
        sample = SimpleNamespace(
            index=pd.RangeIndex(n), y=y, response=SimpleNamespace(classes=None),
            rows=np.arange(n), clusters=None,
        )  # fmt: skip
        refits, predictions = [], []
        for split in range(45):
            rows = rng.permutation(n)
            size = round(0.632 * n) if split < 15 else n // 2
            train, test = np.sort(rows[:size]), np.sort(rows[size:])
            factual = X[test] @ np.linalg.lstsq(X[train], y[train])[0]
            predictions.append(factual)
            refits.append(
                SimpleNamespace(train_rows=train, evaluation=SimpleNamespace(rows=test, y=y[test]))
            )
        note = row_order.order_note(sample, refits, predictions)
        found += bool(note)
    return found / sets


def test_sixty_rows_of_a_strong_series_are_flagged_and_exchangeable_rows_are_not():
    """Shares of 200 and 300 data sets; .89 was found on 100 others. Tolerance: 3 s.e. of both."""
    strong = flagged(0.6, 60, 200, seed=40)
    assert strong == pytest.approx(0.89, abs=3 * np.sqrt(0.89 * 0.11 * (1 / 200 + 1 / 100)))
    assert flagged(0.0, 60, 300, seed=41) <= 0.02


def test_an_index_of_dates_has_a_footnote():
    data = frame(0, ordered=False).set_index(pd.date_range("2020-01-01", periods=N))
    assert "Rows have an index of dates." in notes(data)
    assert "not sorted by it. If rows are" in notes(data[::-1], TimeSeriesSplit(3))


def test_splits_into_blocks_and_clusters_have_none():
    data = frame(1, ordered=True).assign(block=np.arange(N) // 10)
    for plan in (KFold(5), TimeSeriesSplit(5), pi.Bootstrap(5, cluster="block")):
        assert WORDS not in notes(data, plan)
    assert WORDS in notes(data, KFold(5, shuffle=True))


@pytest.mark.parametrize("order", ["blocks", "by chance", "no runs"])
def test_blocks_of_a_series_that_are_too_short_have_a_footnote(order):
    data = frame(1, ordered=order != "by chance").assign(block=np.arange(N) // 2)
    data = data.assign(block=np.arange(N) % 20) if order == "no runs" else data
    said = "Mean residuals of clusters next to each other are alike" in notes(
        data, pi.HalfSampling(cluster="block")
    )
    assert said == (order == "blocks")


def test_one_model_has_none_unless_its_rows_are_held_out():
    data = frame(1, ordered=True)
    fitted = LinearRegression().fit(data[["x", "z"]], data["y"])
    for model in (
        model_of("y ~ x + z", data, LinearRegression()),
        pi.FittedModel(fitted, data[["x", "z"]], data["y"]),
    ):
        assert WORDS not in words_of(model.pfi())
    assert WORDS in notes(data, pi.Holdout(0.5))


@pytest.mark.parametrize("classes", [False, True])
def test_rows_sorted_by_the_response_have_none(classes):
    assert WORDS not in notes(frame(1, ordered=True, classes=classes).sort_values("y"))


def test_repeated_rows_are_not_alike_in_time():
    data = frame(1, ordered=False).assign(w=3)
    assert WORDS not in notes(data, weights="w", weights_type="frequency")
