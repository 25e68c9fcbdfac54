"""Rows of a table that are marked: few rows decide a term, or half refits do not use it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from by_refit import refits_of
from fits import fit_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import RefitEstimate, Replicates
from pyinterp.inference.half_sample.constants import LARGEST_IDLE_SHARE, LARGEST_SKEWNESS
from pyinterp.resampling import Group


def model(errors):
    """A model of x that is right but for these errors."""
    x = np.random.default_rng(0).normal(size=len(errors))
    return pi.FittedModel(lambda rows: rows[:, 0], x[:, None], x + errors)


def test_it_is_the_skewness_of_the_losses_of_one_model():
    errors = np.random.default_rng(1).standard_t(4, size=80)
    loss = model(errors).loss()
    expected = abs(stats.skew(errors**2)) / np.sqrt(80)
    assert loss.replicates.skewness == pytest.approx(expected)


def test_of_a_learner_rows_are_averaged_over_the_refits_that_they_evaluate():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=50), "y": rng.normal(size=50)})
    results = fit_of("y ~ x", frame, LinearRegression(), pi.Bootstrap(6))
    total, times = np.zeros(50), np.zeros(50)
    for refit, case in zip(results.refits, results.analysis.cases, strict=True):
        losses = (case.y - case.whatif.factual) ** 2
        np.add.at(total, refit.evaluation.rows, losses - losses.mean())
        np.add.at(times, refit.evaluation.rows, 1)
    mean = (total / np.where(times > 0, times, np.nan))[times > 0]
    expected = abs(stats.skew(mean)) / np.sqrt(len(mean))
    assert results.loss().replicates.skewness == pytest.approx(expected)


def test_few_rows_that_decide_are_beyond_the_limit():
    even = np.random.default_rng(3).normal(size=80)
    assert model(even).loss().replicates.skewness[0] < LARGEST_SKEWNESS
    one = even.copy()
    one[7] = 40.0
    result = model(one).loss()
    assert result.replicates.skewness[0] > LARGEST_SKEWNESS
    # A single row that differs has a skewness of nearly root n.
    assert result.replicates.skewness[0] == pytest.approx(1.0, abs=0.02)
    assert model(one).pfi().replicates.skewness[0] > LARGEST_SKEWNESS


def test_ratios_depend_on_the_skewness_of_the_loss_too():
    rng, frame = normal_rows(120, "x z", 4)
    frame["y"] = 4 * frame["x"] + rng.normal(size=120)
    frame.loc[3, ["x", "y"]] = 0.0, 30.0  # its error, whatever x is
    results = fit_of("y ~ x", frame, LinearRegression())
    ratio, difference = (results.pfi(relation=r) for r in ("ratio", "difference"))
    plain = [
        one._replace(estimate=replace(one.estimate, below=None))
        for one in refits_of(results, ratio)
    ]
    assert Replicates.of(plain).skewness[0] < LARGEST_SKEWNESS
    assert ratio.replicates.skewness[0] == results.loss().replicates.skewness[0] > LARGEST_SKEWNESS
    assert difference.replicates.skewness[0] < LARGEST_SKEWNESS
    other = fit_of("y ~ x", frame, LinearRegression(fit_intercept=False)).pfi(relation="ratio")
    assert pi.compare(ratio, other).replicates.skewness[0] > LARGEST_SKEWNESS
    # Of groups it is the loss of the group.
    frame["g"] = np.where(np.arange(120) < 60, "with", "without")
    groups = fit_of("y ~ x", frame, LinearRegression())
    by = groups.pfi(relation="ratio", by="g").replicates.skewness
    assert by[0] > LARGEST_SKEWNESS > by[1]


def test_rows_that_contribute_the_same_have_none():
    assert model(np.full(30, 2.0)).loss().replicates.skewness[0] == 0


def test_the_limit_is_edgeworth_s():
    """One-sided errors of t for gamma means: .025 plus .085 times skewness over root n."""
    rng, n = np.random.default_rng(5), 100
    shape = 4 / (0.2 * np.sqrt(n)) ** 2  # skewness / √n of 0.2
    draws = rng.gamma(shape, size=(200_000 // n * 10, n))
    t = (draws.mean(axis=1) - shape) / (draws.std(axis=1, ddof=1) / np.sqrt(n))
    z = stats.norm.isf(0.025)
    added = (2 * z**2 + 1) * stats.norm.pdf(z) / 6 * 0.2
    assert added == pytest.approx(0.0846 * 0.2, rel=0.01)
    assert (
        pytest.approx(0.034, abs=0.0005) == added / 0.2 * LARGEST_SKEWNESS
    )  # as said of the constant
    missed = (t < -stats.t.isf(0.025, n - 1)).mean()
    error = np.sqrt(missed * (1 - missed) / len(t))
    # Terms of order 1/n are left out: .003 at this skewness.
    assert abs(missed - 0.025 - added) < 0.003 + 3 * error


@pytest.mark.parametrize("unit", [1e-60, 1e-9, 1e9, 1e60])
def test_it_does_not_depend_on_the_unit(unit):
    errors = np.random.default_rng(6).standard_t(4, size=80)
    x = np.random.default_rng(0).normal(size=80)
    scaled = pi.FittedModel(lambda rows: unit * rows[:, 0], x[:, None], unit * (x + errors)).loss()
    expected = model(errors).loss().replicates.skewness
    assert_allclose(scaled.replicates.skewness, expected, rtol=1e-9)


def of_halves(values, estimate, **options):
    """Return replicates of two refits that agree, and of pairs with these values."""

    def one(value):
        found = np.array(value, float)
        zeros = np.zeros(len(found))
        return Estimate(value=found, rows=found[None], donors=None, mc_variance=zeros)

    halves = [
        RefitEstimate(one(value), np.array([k % 2]), Group("pair", k // 2))
        for k, value in enumerate(values)
    ]
    separate = [RefitEstimate(one(estimate), np.array([0])) for _ in range(2)]
    return Replicates.of((*separate, *halves), correction=0.58, **options)


def test_unused_is_the_share_of_half_refits_with_exactly_no_effect():
    values = [[0.0, 0.1, 0.0], [0.0, 0.2, 0.0], [0.3, -0.1, 0.0], [1e-300, 0.1, 0.0]]
    replicates = of_halves(values, [0.1, 0.1, 0.0], no_effect=0.0)
    assert_array_equal(replicates.idle_share, [0.5, 0.0, 1.0])
    # The refits of the estimate may be those that never use it.
    unused = of_halves(values, [0.0, 0.1, 0.0], no_effect=0.0)
    assert_array_equal(unused.idle_share, [0.5, 0.0, 1.0])
    ratios = [[1 + v for v in row] for row in values[:2]]
    replicates = of_halves(ratios, [1.1, 1.1, 1.0], no_effect=1.0)
    assert_array_equal(replicates.idle_share, [1.0, 0.0, 1.0])
    # 0 is no value of no effect of a curve or of a ratio.
    assert not of_halves(values, [0.1, 0.1, 0.0]).idle_share.any()
    assert not of_halves(values, [0.1, 0.1, 0.0], no_effect=1.0).idle_share.any()


def test_other_plans_have_no_halves_that_could_be_unused():
    frame = pd.DataFrame({"x": np.arange(60.0), "y": np.arange(60.0) % 7})
    results = fit_of("y ~ x", frame, LinearRegression(), pi.Bootstrap(5))
    assert_array_equal(results.pfi().replicates.idle_share, [0.0])


def test_a_rare_dummy_of_a_tree_is_unused_in_many_halves():
    """Leaves of 5 rows: 8 ones are split off where at least 5 of them are in the half."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(size=150), "rare": np.arange(150.0) < 8})
    frame["y"] = frame["x"] + 4 * frame["rare"] + rng.normal(size=150)
    tree = DecisionTreeRegressor(min_samples_leaf=5, max_depth=3, random_state=0)
    results = fit_of("y ~ x + rare", frame, tree)
    pfi = results.pfi()
    halves = pfi.replicates.of_pairs
    expected = [np.mean([h[k] == 0 for pair in halves for h in pair]) for k in (0, 1)]
    assert_array_equal(pfi.replicates.idle_share, expected)
    table = pfi.variance_parts()
    assert_array_equal(table["unused"], expected)
    assert_array_equal(table["skewness"], pfi.replicates.skewness)
    assert table.loc["rare", "unused"] > LARGEST_IDLE_SHARE
    assert table.loc["x", "unused"] == 0
    assert not results.pd("x", points=3).replicates.idle_share.any()
