"""Sizes that `sample_size` names have the width and the power that they are asked for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression
from statsmodels.stats.power import TTestPower

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.inference.half_sample.square import effect_variance, limits
from pyinterp.inference.sample_size import noncentrality

STUDY = Path(__file__).parents[2] / "studies" / "results" / "sample_size.csv"


@pytest.fixture(scope="module")
def res():
    rng, data = normal_rows(150, "a b c d", 3)
    y = 0.7 * data["a"] + 0.4 * data["b"] + rng.normal(size=150)
    return pi.Learner(y, data, LinearRegression()).fit(seed=1)


def test_the_effect_in_errors_is_statsmodels_and_the_normal_one():
    size = TTestPower().solve_power(nobs=16, alpha=0.05, power=0.8)
    q = stats.t.isf(0.025, 15)
    assert noncentrality(q, 15, 0.8) == pytest.approx(4 * size, abs=1e-3)
    q = stats.norm.isf(0.025)
    assert noncentrality(q, np.inf, 0.8) == pytest.approx(q + stats.norm.ppf(0.8), abs=1e-4)
    assert noncentrality(stats.t.isf(1e-7, 2), 2, 1 - 1e-9) > 1e3


def test_the_width_at_hand_needs_the_rows_at_hand(res):
    curve = res.pd("a", grid=[0.0, 2.0])
    width = curve.conf_int().diff(axis=1)[1]
    at_hand = curve.sample_size(width=width.iloc[0])
    assert at_hand["n"].iloc[0] == 150
    # The range of a variance with 15 df.
    shares = at_hand.iloc[0, 1:] / 150
    assert shares.tolist() == pytest.approx([0.5457, 2.3954], abs=0.007)
    half = curve.sample_size(width=width.iloc[1] / 2)
    assert half["n"].iloc[1] == 600
    wider = curve.sample_size(width=width.iloc[0], alpha=0.01)["n"].iloc[0]
    assert wider == np.ceil(150 * (stats.t.isf(0.005, 15) / stats.t.isf(0.025, 15)) ** 2)


def test_a_difference_has_the_power_of_a_t_test(res):
    effects = res.ame()
    n = effects.sample_size(effect=0.2)["n"]
    errors = effects.bse * np.sqrt(150 / n)
    t = stats.nct(15, 0.2 / errors)
    q = stats.t.isf(0.025, 15)
    assert (t.sf(q) + t.cdf(-q)).tolist() == pytest.approx([0.8] * 4, abs=0.01)


def test_contrasts_have_the_sizes_of_their_terms(res):
    curve = res.pd("a", grid=[0.0, 2.0])
    one = curve.t_test("a[0] = 0").sample_size(width=0.1)
    assert one.to_numpy().tolist() == curve.sample_size(width=0.1).iloc[:1].to_numpy().tolist()
    steps = curve.differences()
    width = np.ptp(steps.conf_int())
    assert steps.sample_size(width=width / 3)["n"].tolist() == pytest.approx([9 * 150], abs=1)
    effects = res.ame()
    twice = effects.t_test("2 * a = 0").sample_size(effect=0.4)["n"]
    assert twice.tolist() == effects.sample_size(effect=0.2)["n"].iloc[:1].tolist()
    for test in (res.pfi().t_test("a = b"), curve.differences(relation="ratio")):
        with pytest.raises(InferenceError, match="errors of ratios and of contrasts"):
            test.sample_size(width=0.1)


def test_an_importance_has_the_power_and_the_width_of_its_interval(res):
    pfi, effect, rng = res.pfi(["a", "b"]), 0.3, np.random.default_rng(5)
    a, q = effect_variance(pfi.params.to_numpy(), pfi.bse.to_numpy()), stats.t.isf(0.025, 15)
    n = pfi.sample_size(effect=effect)["n"].to_numpy()
    smaller = a * 150 / n
    roots = np.sqrt(effect) + np.sqrt(smaller) * rng.normal(size=(40_000, 2))
    spread = np.sqrt(smaller * rng.chisquare(15, size=(40_000, 1)) / 15)
    power = (np.abs(roots) > q * spread).mean(axis=0)
    # The rule at 0 may ask for more rows, so that power is larger.
    assert power.min() > 0.79
    assert power.min() < 0.81
    n = pfi.sample_size(effect=effect, width=0.25)["n"].to_numpy()
    smaller = a * 150 / n
    error = np.sqrt(2 * smaller**2 + 4 * smaller * effect)
    low, high = limits(np.full(2, effect), error, np.zeros(2), q).T
    assert (high - low).tolist() == pytest.approx([0.25, 0.25], rel=0.02)


def test_ratios_are_counted_from_one(res):
    n = res.pfi(["a"], relation="ratio").sample_size(effect=0.3)["n"]
    more = res.pfi(["a"], relation="ratio").sample_size(effect=0.15)["n"]
    assert 1.95 < (more / n).iloc[0] < 2.05


def test_importances_have_a_size_by_the_half_sample_variance_alone():
    # By other variances n would be 1 for an importance near 0, whose pilot hardly varies.
    rng, X = normal_rows(120, "a b")
    learner = pi.Learner(X["a"] + rng.normal(size=120), X, LinearRegression())
    results = learner.fit(pi.CrossValidation(3), seed=1)
    with pytest.raises(InferenceError, match="half-sample variance"):
        results.pfi().sample_size(effect=0.2)
    assert (results.pd("a", points=3).sample_size(width=0.3)["n"] > 0).all()


def test_several_tests_need_more_rows(res):
    one = res.pfi().sample_size(effect=0.3, alpha=0.05 / 4)
    for method in ("bonferroni", "holm"):
        every = res.pfi(p_adjust=method).sample_size(effect=0.3)
        pd.testing.assert_frame_equal(one, every)
    with pytest.raises(OptionError, match="depends on the other effects"):
        res.pfi(p_adjust="fdr_bh").sample_size(effect=0.3)
    together = res.pfi(simultaneous=True).sample_size(effect=0.3)["n"]
    assert (together > res.pfi().sample_size(effect=0.3)["n"])["a"]


def test_clusters_are_counted_beside_their_rows():
    x, y = np.random.default_rng(1).normal(size=(2, 96))
    plan = pi.HalfSampling(pairs=5, cluster=np.arange(96) // 4)
    effects = pi.Learner(y, x[:, None], LinearRegression()).fit(plan, seed=1).ame()
    for results in (effects, effects.t_test([1.0])):
        sizes = results.sample_size(effect=0.1)
        assert (sizes["clusters"] == np.ceil(sizes["n"] / 4)).all()


def test_what_is_no_more_than_noise_has_no_size(res):
    pfi = res.pfi()
    said = pfi.sample_size(effect=0.3)
    noise = pfi.tvalues < 1
    assert noise.any()
    assert said[noise].isna().all(axis=None)
    assert said[~noise].notna().all(axis=None)
    X = np.arange(20.0)[:, None]
    flat = pi.FittedModel(LinearRegression().fit(X, np.zeros(20)), X, X[:, 0]).pfi()
    with pytest.raises(InferenceError, match="no standard errors"):
        flat.sample_size(effect=1.0)


@pytest.mark.parametrize(
    ("of", "options", "words"),
    [
        ("pfi", {}, "importance that is worth finding"),
        ("pd", {}, "either the `width`"),
        ("pd", {"effect": 1.0}, "no test of no effect"),
        ("pd", {"width": -1.0}, "`width` must be a positive number"),
        ("pfi", {"effect": 1.0, "power": 0.05}, "`power` must be a number in"),
    ],
)
def test_refusals_say_what_to_give(res, of, options, words):
    results = res.pfi() if of == "pfi" else res.pd("a", points=2)
    with pytest.raises(OptionError, match=words):
        results.sample_size(**options)


def test_one_sided_results_have_no_size(res):
    with pytest.raises(InferenceError, match="one-sided"):
        res.ame(alternative="greater").sample_size(effect=1.0)


def test_the_study_says_what_the_page_says():
    study = pd.read_csv(STUDY)
    page = (STUDY.parents[2] / "docs" / "tests.md").read_text(encoding="utf-8")
    lines = study[study["learner"] == "lm"]
    assert lines["data_sets"].min() >= 50
    curves = lines[lines["target"].str.startswith("PD")]
    assert curves["width_ratio"].between(0.95, 1.05).all()
    assert (curves["holds"] >= 0.9).all()
    assert study[study["learner"] != "neighbors"]["power"].dropna().between(0.7, 0.9).all()
    for learner, group in study.groupby("learner"):
        for what in ("PD", "PFI"):
            ratios = group[group["target"].str.startswith(what)]["width_ratio"]
            assert f"{ratios.max():.2f}" in page, learner
            assert f"{ratios.min():.2f}" in page, learner
        for power in group["power"].dropna():
            assert f"{power:.0%}" in page, learner
