"""Skewness of what rows contribute: the number, where it is reported, and what it stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.inference.skewness import MOST, skewness

NOTE = "Few rows decide"


def words(results: Any) -> str:
    return " ".join(str(results.summary()).split())


def model(errors: np.ndarray) -> pi.FittedModel:
    """A model of x that is right but for these errors."""
    x = np.random.default_rng(0).normal(size=len(errors))
    return pi.FittedModel(lambda rows: rows[:, 0], x[:, None], x + errors)


def test_it_is_the_skewness_of_the_losses_of_one_model() -> None:
    errors = np.random.default_rng(1).standard_t(4, size=80)
    loss = model(errors).loss()
    expected = abs(stats.skew(errors**2)) / np.sqrt(80)
    assert skewness(loss.replicates) == pytest.approx(expected)


def test_of_a_learner_rows_are_averaged_over_the_refits_that_they_evaluate() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=50), "y": rng.normal(size=50)})
    results = pi.Learner.from_formula("y ~ x", frame, LinearRegression()).fit(
        pi.Bootstrap(6), seed=1
    )
    total, times = np.zeros(50), np.zeros(50)
    for refit, case in zip(results.refits, results.analysis.cases, strict=True):
        losses = (case.y - case.whatif.factual) ** 2
        np.add.at(total, refit.evaluation.rows, losses - losses.mean())
        np.add.at(times, refit.evaluation.rows, 1)
    mean = (total / np.where(times > 0, times, np.nan))[times > 0]
    expected = abs(stats.skew(mean)) / np.sqrt(len(mean))
    assert skewness(results.loss().replicates) == pytest.approx(expected)


def test_few_rows_that_decide_are_reported() -> None:
    even = np.random.default_rng(3).normal(size=80)
    assert NOTE not in words(model(even).loss())
    one = even.copy()
    one[7] = 40.0
    result = model(one).loss()
    assert skewness(result.replicates)[0] > MOST
    assert f"{NOTE} loss" in words(result)
    assert NOTE in words(model(one).pfi())


def test_percentiles_need_no_such_note() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    frame.loc[3, "y"] = 60.0
    learner = pi.Learner.from_formula("y ~ x", frame, LinearRegression())
    assert NOTE in words(learner.fit(seed=1).loss())
    assert NOTE not in words(learner.fit(pi.NestedBootstrap(20, splits=2), seed=1).loss())


def test_ratios_depend_on_the_skewness_of_the_loss_too() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "z"])
    frame["y"] = 4 * frame["x"] + rng.normal(size=120)
    frame.loc[3, ["x", "y"]] = 0.0, 30.0  # its error, whatever x is
    results = pi.Learner.from_formula("y ~ x", frame, LinearRegression()).fit(seed=1)
    ratio, difference = (results.pfi(relation=r) for r in ("ratio", "difference"))
    plain = tuple(replace(e, below=None) for e in ratio.replicates.estimates)
    assert skewness(replace(ratio.replicates, estimates=plain))[0] < MOST
    assert skewness(ratio.replicates)[0] == skewness(results.loss().replicates)[0] > MOST
    assert "what rows contribute to them, or to the loss that divides them" in words(ratio)
    assert NOTE not in words(difference)
    # Of groups it is the loss of the group.
    frame["g"] = np.where(np.arange(120) < 60, "with", "without")
    groups = pi.Learner.from_formula("y ~ x", frame, LinearRegression()).fit(seed=1)
    by = skewness(groups.pfi(relation="ratio", by="g").replicates)
    assert by[0] > MOST > by[1]


def test_rows_that_contribute_the_same_have_none() -> None:
    assert skewness(model(np.full(30, 2.0)).loss().replicates)[0] == 0


def test_the_limit_is_edgeworth_s() -> None:
    """One-sided errors of t for gamma means: .025 plus .085 times skewness over root n."""
    rng, n = np.random.default_rng(5), 100
    shape = 4 / (0.2 * np.sqrt(n)) ** 2  # skewness / √n of 0.2
    draws = rng.gamma(shape, size=(200_000 // n * 10, n))
    t = (draws.mean(axis=1) - shape) / (draws.std(axis=1, ddof=1) / np.sqrt(n))
    z = stats.norm.isf(0.025)
    added = (2 * z**2 + 1) * stats.norm.pdf(z) / 6 * 0.2
    assert added == pytest.approx(0.0846 * 0.2, rel=0.01)
    missed = (t < -stats.t.isf(0.025, n - 1)).mean()
    error = np.sqrt(missed * (1 - missed) / len(t))
    # Terms of order 1/n are left out: .003 at this skewness.
    assert abs(missed - 0.025 - added) < 0.003 + 3 * error


@pytest.mark.parametrize("unit", [1e-60, 1e-9, 1e9, 1e60])
def test_it_does_not_depend_on_the_unit(unit: float) -> None:
    errors = np.random.default_rng(6).standard_t(4, size=80)
    x = np.random.default_rng(0).normal(size=80)
    scaled = pi.FittedModel(lambda rows: unit * rows[:, 0], x[:, None], unit * (x + errors)).loss()
    expected = skewness(model(errors).loss().replicates)
    np.testing.assert_allclose(skewness(scaled.replicates), expected, rtol=1e-9)
