"""Half-sampling: the plan, the variance, and intervals that agree with their tests."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import DataError, InferenceError, OptionError, RefitError
from pyinterp.estimands.estimand import Estimate
from pyinterp.inference import COV_TYPES, Half, HalfSampleVariance, Replicates, Variance
from pyinterp.inference.simultaneous import LargestT
from pyinterp.inference.squared_effect import SquaredEffect, law_of_a_sum, variance_of_squares

spec = importlib.util.spec_from_file_location(
    "half_sample", Path(__file__).parents[1] / "reference" / "half_sample.py"
)
assert spec is not None
assert spec.loader is not None
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

EXACT = 1e-12


def make_estimate(rng: np.random.Generator, n: int, q: int, *, donors: bool) -> Estimate:
    rows = rng.normal(size=(n, q)) + rng.normal(size=q)
    given_ = rng.normal(size=(n, q))
    return Estimate(
        value=rows.mean(axis=0),
        rows=rows,
        donors=given_ - given_.mean(axis=0) if donors else None,
        mc_variance=np.zeros(q),
    )


def make_evidence(
    seed: int, n: int = 41, q: int = 3, pairs: int = 6, *, donors: bool = True, **options: Any
) -> Replicates:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(1000)[:n]  # rows have gaps where some were dropped
    found = []
    for _ in range(pairs):
        shuffled = rng.permutation(labels)
        halves = shuffled[: n // 2], shuffled[n // 2 :]
        # The first refit trains on the first half and is evaluated on the second.
        found.append(
            tuple(Half(make_estimate(rng, len(h), q, donors=donors), h) for h in halves[::-1])
        )
    return Replicates(
        estimates=tuple(make_estimate(rng, 15, q, donors=donors) for _ in range(7)),
        clusters=(None,) * 7,
        correction=0.58,
        pairs=tuple(found),
        **options,
    )


def arrays_of(replicates: Replicates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T_main, T and bm of the reference; effects of rows by regression on all dummies."""
    halves = [half for pair in replicates.pairs for half in pair]
    labels = sorted({row for half in halves for row in half.rows})
    design, response = [], []
    for f, half in enumerate(halves):
        for k, row in enumerate(half.rows):
            line = np.zeros(len(halves) + len(labels))
            line[f] = line[len(halves) + labels.index(row)] = 1.0
            t = half.estimate.rows[k].copy()
            if half.estimate.donors is not None:
                t += half.estimate.donors[k]
            design.append(line)
            response.append(t)
    effects = np.linalg.lstsq(np.array(design), np.array(response))[0][len(halves) :]
    bhat = dict(zip(labels, effects, strict=True))
    T = np.array([[half.estimate.value for half in pair] for pair in replicates.pairs])
    bm = np.array(
        [
            # half 0 evaluated the second refit, half 1 the first
            [np.mean([bhat[r] for r in pair[1 - h].rows], axis=0) for h in (0, 1)]
            for pair in replicates.pairs
        ]
    )
    return np.array([e.value for e in replicates.estimates]), T, bm


@pytest.mark.parametrize("donors", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_variance_is_that_of_the_reference(seed: int, donors: bool) -> None:
    replicates = make_evidence(seed, donors=donors)
    _, expected, df = reference.variance(*arrays_of(replicates))
    found = COV_TYPES["half-sample"](replicates)
    np.testing.assert_allclose(np.diag(found.cov), expected, rtol=EXACT)
    assert found.df == df
    assert np.linalg.eigvalsh(found.cov).min() > 0


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("pairs", [5, 15])
def test_rows_that_train_and_evaluate_are_counted_in_full(pairs: int, share: float) -> None:
    """A law: if T = mean of a over training rows + mean of b over evaluation rows, D = z0 - z1.

    z_h is the mean of a + b over half h. Over random splits D² / 4 is S²(a + b) / n on average, the
    variance of a mean over n rows. PFI of least squares is such a statistic, with a = b.
    """
    rng = np.random.default_rng(8)
    n = 40
    a, b = rng.normal(size=(2, n, 3)) + rng.normal(size=(n, 3))
    b[:, 1], a[:, 2] = a[:, 1], 0.0
    found, expected = [], np.zeros(3)
    for _ in range(pairs):
        shuffled = rng.permutation(n)
        first = int(share * n)  # of unequal size, as with clusters
        halves = shuffled[:first], shuffled[first:]
        made = []
        for train, rest in (halves, halves[::-1]):
            rows = a[train].mean(axis=0) + b[rest]
            value = rows.mean(axis=0)
            made.append(
                Half(Estimate(value=value, rows=rows, donors=None, mc_variance=np.zeros(3)), rest)
            )
        found.append(tuple(made))
        means = [(a + b)[half].mean(axis=0) for half in halves]
        expected += (means[0] - means[1]) ** 2 / (4 * pairs)
    same = found[0][0].estimate  # estimates that do not differ: nothing is added
    replicates = Replicates(
        estimates=(same, same), clusters=(None, None), correction=0.0, pairs=tuple(found)
    )
    found_ = np.diag(COV_TYPES["half-sample"](replicates).cov)
    np.testing.assert_allclose(found_, expected, rtol=1e-10)


def test_the_variance_of_a_contrast_is_the_contrast_of_the_covariance() -> None:
    replicates = make_evidence(3)
    weights = np.array([[1.0, -2.0, 0.5]])
    from pyinterp.inference import combine

    one = COV_TYPES["half-sample"](combine(lambda e: e.linear(weights), [replicates]))
    whole = COV_TYPES["half-sample"](replicates)
    np.testing.assert_allclose(one.cov, weights @ whole.cov @ weights.T, rtol=1e-10)


def test_estimates_that_agree_have_no_variance() -> None:
    replicates = make_evidence(4, n=57, pairs=9)
    for estimate in (half.estimate for pair in replicates.pairs for half in pair):
        estimate.value[:] = estimate.rows[:] = 0.1
        estimate.donors[:] = 0.0
    for estimate in replicates.estimates:
        estimate.value[:] = 0.1
    assert (np.diag(COV_TYPES["half-sample"](replicates).cov) < 1e-30).all()


def test_a_missing_term_leaves_the_others_alone() -> None:
    whole, replicates = make_evidence(3), make_evidence(3)
    for half in (half for pair in replicates.pairs[:1] for half in pair):
        half.estimate.value[1] = half.estimate.rows[:, 1] = np.nan
    found, expected = (np.diag(COV_TYPES["half-sample"](e).cov) for e in (replicates, whole))
    np.testing.assert_array_equal(np.isnan(found), [False, True, False])
    np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=EXACT)


def make_variance(
    floor: float | None,
    df: int = 15,
    q: int = 1,
    at_bound: float = 1.0,
    asymmetry: float = 1.0,
    chi_df: float = 1.0,
) -> HalfSampleVariance:
    return HalfSampleVariance(
        cov=np.eye(q),
        df=df,
        cov_type="half-sample",
        label="",
        note="",
        lower_bound=floor,
        at_bound=np.full(q, at_bound),
        asymmetry=np.full(q, asymmetry),
        chi_df=np.full(q, chi_df),
    )


class Learns(NamedTuple):
    """What `half_sample` takes of a `Learning`."""

    growth: float = 1.0
    calm: float = 1.0
    kappa: float = 1.25
    reason: str = ""
    warning: str = ""
    growth_warning: str = ""


@pytest.mark.parametrize(
    "learning", [None, Learns(1.3), Learns(1.1, 0.4), Learns(1.0, 1.0, 0.6), Learns(kappa=1.1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_variances_of_importances_are_those_of_the_reference(
    seed: int, learning: Learns | None
) -> None:
    replicates = make_evidence(
        seed, lower_bound=0.0, learning=() if learning is None else (learning,)
    )
    names = ("growth", "calm", "kappa")
    options = {} if learning is None else {name: getattr(learning, name) for name in names}
    V, V0, nu = reference.variances_of_importances(*arrays_of(replicates), **options)
    found = COV_TYPES["half-sample"](replicates)
    np.testing.assert_allclose(np.diag(found.cov), V, rtol=1e-10)
    np.testing.assert_allclose(found.at_bound**2, V0, rtol=1e-10)
    np.testing.assert_allclose(found.chi_df, np.minimum(nu, 1000), rtol=1e-9)
    assert np.linalg.eigvalsh(found.cov).min() > 0
    assert (found.asymmetry == np.clip(options.get("kappa", 1.25), 0.8, 1.0)).all()


@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6), st.floats(0.01, 1.0), st.floats(1e-100, 1e100))
def test_variances_of_squares_are_those_of_the_law(
    a: float, c: float, share: float, unit: float
) -> None:
    """2 a² + 4 a c (the variance of a (Z + δ)² with c = a δ²) becomes that of share * a."""
    above, less = max(c, 0.0), share * a
    V = np.array([2 * a**2 + 4 * a * above]) * unit
    found = variance_of_squares(V, np.array([c]) * np.sqrt(unit), share)
    expected = (2 * less**2 + 4 * less * above) * unit
    assert found[0] == pytest.approx(expected, rel=1e-9)
    assert share**2 * V[0] * (1 - 1e-9) <= found[0] <= share * V[0] * (1 + 1e-9)


def as_ratio(estimate: Estimate) -> Estimate:
    return replace(estimate, below=np.ones_like(estimate.rows))


def test_missing_variances_stay_missing() -> None:
    found = variance_of_squares(np.array([np.nan, 1.0]), np.array([0.3, 0.3]), 0.5)
    assert np.isnan(found[0])
    assert found[1] < 1


@pytest.mark.parametrize("seed", range(4))
def test_ratios_vary_in_proportion_to_their_size(seed: int) -> None:
    replicates = make_evidence(seed, lower_bound=1.0, learning=(Learns(1.1, 0.4, 0.6),))
    pairs = [
        tuple(Half(as_ratio(half.estimate), half.rows) for half in pair)
        for pair in replicates.pairs
    ]
    estimates = tuple(map(as_ratio, replicates.estimates))
    found = COV_TYPES["half-sample"](replace(replicates, estimates=estimates, pairs=tuple(pairs)))
    V, V0, nu = reference.variances_of_ratios(*arrays_of(replicates), growth=1.1)
    np.testing.assert_allclose(np.diag(found.cov), V, rtol=1e-10)
    np.testing.assert_allclose(found.at_bound**2, V0, rtol=1e-10)
    np.testing.assert_allclose(found.chi_df, np.minimum(nu, 1000), rtol=1e-9)


def test_correlations_of_importances_are_those_of_the_pairs() -> None:
    """The part by the refits of the estimate aside, which all variances have."""
    between = np.cov(make_evidence(1).per_refit, rowvar=False) / 7
    covs = [
        COV_TYPES["half-sample"](make_evidence(1, lower_bound=floor)).cov - between
        for floor in (None, 0.0)
    ]
    one, other = (cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov))) for cov in covs)
    np.testing.assert_allclose(one, other, rtol=1e-9)


estimates = st.floats(-5, 5)
errors = st.floats(1e-3, 5)
factors = st.floats(0.5, 1.0)
chi_dfs = st.floats(0, 3).map(lambda power: 10.0**power)


@given(c=estimates, se=errors, df=st.integers(5, 60), alpha=st.floats(0.001, 0.5))
def test_intervals_and_p_values_are_those_of_the_reference(c, se, df, alpha) -> None:
    variance, estimate, bse = make_variance(None, df), np.array([c]), np.array([se])
    found = variance.interval(estimate, bse, alpha, "two-sided")
    expected = reference.interval(c, se**2, df, alpha)
    np.testing.assert_allclose(found[0], expected, rtol=EXACT, atol=EXACT)
    (p,) = variance.p_values(estimate, bse, 0.0, "two-sided")
    np.testing.assert_allclose(p, reference.pvalue(c, se**2, df), rtol=1e-9, atol=1e-300)


@settings(deadline=None)  # roots of the reference are by bisection
@given(
    c=estimates,
    se=errors,
    at_bound=errors,
    df=st.integers(5, 60),
    alpha=st.floats(0.001, 0.9),
    theta=st.floats(-6, 6),
    asymmetry=factors,
    nu=chi_dfs,
)
def test_those_of_importances_are_too(c, se, at_bound, df, alpha, theta, asymmetry, nu) -> None:
    variance = make_variance(0.0, df, at_bound=at_bound, asymmetry=asymmetry, chi_df=nu)
    options = {"asymmetry": asymmetry, "nu": nu}
    estimate, bse = np.array([c]), np.array([se])
    (found,) = variance.interval(estimate, bse, alpha, "two-sided")
    with np.errstate(over="ignore"):  # h / (4c) of the smallest c
        expected = reference.interval_of_importance(c, se**2, at_bound**2, df, alpha, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * (1 + abs(c) + se))
    for value in (0.0, theta):
        if abs(value - c) > 1e-6 * (1 + abs(c)):
            (p,) = variance.p_values(estimate, bse, value, "two-sided")
            with np.errstate(over="ignore"):
                exact = reference.pvalue_of_importance(c, se**2, at_bound**2, df, value, **options)
            assert p == pytest.approx(exact, rel=1e-7, abs=1e-200)


@settings(max_examples=400)
@given(
    c=estimates,
    se=errors,
    at_bound=errors,
    df=st.integers(5, 60),
    alpha=st.floats(0.001, 0.99),
    theta=st.floats(-6, 6),
    lower_bound=st.sampled_from([None, 0.0, 1.0, -0.5]),
    side=st.sampled_from(["two-sided", "greater", "less"]),
    asymmetry=factors,
    nu=chi_dfs,
)
def test_the_test_rejects_exactly_what_the_interval_excludes(
    c, se, at_bound, df, alpha, theta, lower_bound, side, asymmetry, nu
) -> None:
    options = {"at_bound": at_bound, "asymmetry": asymmetry, "chi_df": nu}
    variance = make_variance(lower_bound, df, **options)
    estimate, bse = np.array([c]), np.array([se])
    low, high = variance.interval(estimate, bse, alpha, side)[0]
    (p,) = variance.p_values(estimate, bse, theta, side)
    if min(abs(theta - low), abs(theta - high)) > 1e-9 * (1 + abs(c) + se):
        assert (p < alpha) == (not low <= theta <= high)


def test_terms_keep_their_laws() -> None:
    """Of one alone, and of one between others that have no value above 0 to test."""
    nu = np.array([1.0, 4.0, 50.0])
    variance = replace(make_variance(0.0, q=3), chi_df=nu, at_bound=np.array([1.0, 2.0, 3.0]))
    estimate, bse = np.array([4.0, 5.0, 6.0]), np.array([1.0, 1.5, 2.0])
    for null in (np.zeros(3), np.array([0.0, 2.0, 7.0])):
        whole = variance.p_values(estimate, bse, null, "two-sided")
        for k in range(3):
            one = variance.of(np.array([k]))
            (p,) = one.p_values(estimate[[k]], bse[[k]], null[[k]], "two-sided")
            assert p == pytest.approx(whole[k], rel=1e-12)
            other = replace(make_variance(0.0), chi_df=nu[[k]], at_bound=np.array([1.0 + k]))
            (p,) = other.p_values(estimate[[k]], bse[[k]], null[[k]], "two-sided")
            assert p == pytest.approx(whole[k], rel=1e-12)


def test_a_one_sided_limit_beyond_the_estimate_is_dual_too() -> None:
    """Above alpha = 1/2 the lower limit is above the estimate, where the error is larger."""
    variance = make_variance(0.0)
    estimate, bse = np.array([0.01]), np.array([0.02])
    ((low, _),) = variance.interval(estimate, bse, 0.9, "greater")
    h = stats.t.isf(0.1, 15) * 0.02
    assert low == pytest.approx(0.01 + h / (1 - 0.6))
    assert variance.p_values(estimate, bse, low, "greater")[0] == pytest.approx(0.9)


@pytest.mark.parametrize("c", [1e-310, 5e-324, -1e-310, 1e-5])
def test_estimates_near_0_are_like_0_and_warn_of_nothing(c: float) -> None:
    variance, bse = make_variance(0.0), np.array([1.0])
    near, zero = np.array([c]), np.array([0.0])
    for side in ("two-sided", "greater", "less"):
        limits = (variance.interval(v, bse, 0.05, side) for v in (near, zero))
        np.testing.assert_allclose(*limits, atol=1e-4)
    for null in (0.5, -0.5):
        t = (variance.statistic(v, bse, null) for v in (near, zero))
        np.testing.assert_allclose(*t, atol=1e-4)


@pytest.mark.parametrize("floor", [None, 0.0])
def test_p_values_fall_from_the_estimate_on_both_sides(floor: float | None) -> None:
    variance = make_variance(floor)
    for c in (-1.0, 0.0, 0.3, 2.0):
        thetas = c + np.linspace(-20, 20, 4001)
        p = np.array(
            [
                variance.p_values(np.array([c]), np.array([1.0]), theta, "two-sided")[0]
                for theta in thetas
            ]
        )
        assert (np.diff(p[:2000]) >= 0).all()
        assert (np.diff(p[2001:]) <= 0).all()
        assert p[0] < 1e-3
        assert p[-1] < 1e-3


@pytest.mark.parametrize("delta", [0.0, 0.7, 2.0, 6.0])
def test_the_limits_of_a_squared_effect_cover_as_they_say(delta: float) -> None:
    """A law: for c = a (Z + delta)² - a, of which a is known, lower limits are exact.

    But for effects whose sign is wrong and large, which count as well.
    """
    a, z = 0.8, np.random.default_rng(5).normal(size=40_000)
    c = a * (z + delta) ** 2 - a
    at_bound = np.full(len(c), np.sqrt(2) * a)
    effect = SquaredEffect(c, np.sqrt(4 * a * (c + a)), at_bound, np.inf)
    missed = effect.low(0.05, 0.025) > a * delta**2
    expected = stats.norm.sf(1.96) + stats.norm.sf(1.96 + 2 * delta)
    spread = np.sqrt(expected * (1 - expected) / len(c))
    # The growth is that of estimates above 0, and a little smaller for those below.
    assert missed.mean() == pytest.approx(expected, abs=4 * spread)
    p = effect.p_value(np.zeros(len(c)), 2)
    np.testing.assert_allclose(p[c > 0], 2 * stats.norm.sf(np.sqrt(1 + c[c > 0] / a)), rtol=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.7, 0.4])
def test_the_law_of_a_squared_effect_and_normal_noise(share: float) -> None:
    """Three moments are equal; of tails the part at 5% is .85 to 1, that at 1% 1 to 1.12."""
    rng = np.random.default_rng(6)
    z, noise = rng.normal(size=(2, 2_000_000))
    value = np.sqrt(share / 2) * (z**2 - 1) + np.sqrt(1 - share) * noise
    (nu,) = law_of_a_sum(np.array([share]))
    assert stats.skew(value) == pytest.approx(np.sqrt(8 / nu), rel=0.02)
    for alpha, least, most in ((0.05, 0.85, 1.0), (0.01, 1.0, 1.12)):
        above = value > (stats.chi2.isf(alpha, nu) - nu) / np.sqrt(2 * nu)
        error = 4 * np.sqrt(alpha * (1 - alpha) / len(value))
        assert least * alpha - error <= above.mean() <= most * alpha + error


def test_the_size_of_the_test_of_a_slope() -> None:
    """5% of 8,000 data sets, by 15 refits and 15 pairs: least squares of a feature of no use.

    Its PFI is twice the slope times that in the evaluation rows, twice the product of two means of
    normal numbers. Within 4 standard errors (.0024 each).
    """
    rng = np.random.default_rng(7)
    n, n1, m, pairs, rejected, total = 60, 38, 15, 15, 0, 0
    for _ in range(8):
        z = rng.normal(size=(1000, n))
        order = rng.permuted(np.broadcast_to(np.arange(n), (1000, m + pairs, n)), axis=2)
        rows = np.take_along_axis(z[:, None], order, axis=2)
        main = 2 * rows[:, :m, :n1].mean(axis=2) * rows[:, :m, n1:].mean(axis=2)
        halves = rows[:, m:].reshape(1000, pairs, 2, n // 2).mean(axis=3)
        noise = main.var(axis=1, ddof=1) / m
        # Both refits of a pair have the same estimate, which is their mean.
        squared = 1.25**2 * (2 * halves.prod(axis=2)).var(axis=1, ddof=1)
        error = np.sqrt(squared + noise)
        effect = SquaredEffect(
            main.mean(axis=1), error, error, 15.0, law_of_a_sum(squared / error**2)
        )
        rejected += int((effect.p_value(np.zeros(1000), 2) < 0.05).sum())
        total += 1000
    assert rejected / total == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / total))


def test_no_number_of_a_large_statistic_is_lost() -> None:
    variance, bse = make_variance(0.0), np.array([1.0])
    for c in (1e3, 1e8):
        (p,) = variance.p_values(np.array([c]), bse, 0.0, "two-sided")
        assert 0 <= p < 1e-250
        (p,) = variance.p_values(np.array([c]), bse, c / 2, "two-sided")
        assert 0 <= p < 1e-6


def test_the_ratio_form_is_asymmetric_about_one() -> None:
    shifted, plain = make_variance(1.0), make_variance(0.0)
    at_one = shifted.interval(np.array([3.0]), np.array([0.4]), 0.05, "two-sided")
    at_zero = plain.interval(np.array([2.0]), np.array([0.4]), 0.05, "two-sided")
    np.testing.assert_allclose(at_one, at_zero + 1, rtol=EXACT)


class TestPlan:
    def data(self, n: int = 61) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["y", "x", "z"])
        data["id"] = np.arange(n) // 2
        data["g"] = np.where(data["x"] > 0.8, "rare", "usual")
        return data

    def fit(self, plan: pi.HalfSampling | None = None, formula: str = "y ~ x + z", **options):
        learner = options.pop("learner", LinearRegression())
        data = options.pop("data", self.data())
        return pi.Learner.from_formula(formula, data, learner).fit(plan, seed=1, **options)

    def test_it_is_the_default(self) -> None:
        results = self.fit()
        assert isinstance(results.resampling, pi.HalfSampling)
        assert (len(results.refits), len(results.halves)) == (15, 30)
        pfi = results.pfi()
        assert (pfi.cov_type, pfi.df_resid) == ("half-sample", 15)
        assert "15, and 15 pairs" in str(pfi.summary())
        words = " ".join(str(pfi.summary()).split())
        pattern = (
            r"of linear models \(n = 40 to [\d,]+\) nominal 95% intervals of every term covered"
        )
        assert re.search(pattern, words)

    def test_halves_are_complementary_and_random_in_size_and_order(self) -> None:
        results = self.fit(pi.HalfSampling(2, pairs=20))
        sizes = set()
        for first, second in zip(results.halves[::2], results.halves[1::2], strict=True):
            assert first.group == second.group
            np.testing.assert_array_equal(first.train_rows, second.evaluation.rows)
            np.testing.assert_array_equal(second.train_rows, first.evaluation.rows)
            both = np.concatenate([first.train_rows, second.train_rows])
            np.testing.assert_array_equal(np.sort(both), np.arange(61))
            sizes.add(len(first.train_rows))
        assert sizes == {30, 31}

    def test_the_estimate_does_not_depend_on_the_number_of_pairs(self) -> None:
        few, many = (self.fit(pi.HalfSampling(pairs=k)).pfi() for k in (5, 9))
        pd.testing.assert_series_equal(few.params, many.params)

    def test_the_estimate_is_that_of_subsampling(self) -> None:
        halves = self.fit(pi.HalfSampling())
        subsamples = self.fit(pi.Subsampling(15))
        pd.testing.assert_series_equal(halves.pfi().params, subsamples.pfi().params)
        corrected = halves.pfi(cov_type="corrected")
        pd.testing.assert_series_equal(corrected.bse, subsamples.pfi().bse)

    def test_clusters_stay_whole(self) -> None:
        data = self.data(121)
        results = self.fit(pi.HalfSampling(2, pairs=5, cluster="id"), data=data)
        for refit in (*results.refits, *results.halves):
            train = set(data["id"].iloc[refit.train_rows])
            assert not train & set(data["id"].iloc[refit.evaluation.rows])

    def test_every_half_has_every_class_but_shares_vary(self) -> None:
        results = self.fit(formula="g ~ x + z", learner=LogisticRegression())
        shares = [np.mean(r.evaluation.y) for r in results.halves]
        assert len(set(shares)) > 3
        assert all(0 < share < 1 for share in shares)

    def test_pairs_alone_estimate_at_half_the_size(self) -> None:
        results = self.fit(pi.HalfSampling(refits=0, pairs=6))
        pfi = results.pfi()
        assert len(results.refits) == 12
        T = np.array([[h.estimate.value for h in pair] for pair in pfi.replicates.pairs])
        np.testing.assert_allclose(pfi.params, T.mean(axis=(0, 1)), rtol=EXACT)
        _, T_, bm = arrays_of(pfi.replicates)
        D = T_[:, 0] - T_[:, 1] + 2 * (bm[:, 0] - bm[:, 1])
        A, S = (D**2).mean(axis=0) / 4, T.mean(axis=1).var(axis=0, ddof=1)
        expected = np.maximum(A - 0.9 * S, 0.4 * S) + S / 6
        np.testing.assert_allclose(pfi.bse**2, expected, rtol=1e-10)
        assert "6 pairs" in str(pfi.summary())
        assert "trained on half the data" in " ".join(str(pfi.summary()).split())

    def test_a_pair_of_which_one_refit_failed_is_left_out(self) -> None:
        class Fails(LinearRegression):
            count = 0

            def fit(self, X, y):
                type(self).count += 1
                if type(self).count == 5:
                    raise ValueError("no")
                return super().fit(X, y)

        with pytest.warns(pi.errors.RefitWarning, match="1 of 16 refits failed"):
            results = self.fit(pi.HalfSampling(2, pairs=7), learner=Fails(), on_error="drop")
        assert results.pfi().df_resid == 6

    @pytest.mark.parametrize(
        ("refits", "fails", "message"),
        [
            # 2 refits, then 7 pairs: all refits of pairs; a refit of 3 pairs; all for the estimate
            (2, range(2, 16), "2 of 2 refits succeeded and 0 of 7 pairs are whole"),
            (2, (3, 4, 6), "2 of 2 refits succeeded and 4 of 7 pairs are whole"),
            (2, (0, 1), "0 of 2 refits succeeded and 7 of 7 pairs are whole"),
            (0, (1, 3, 5), "at least 5 pairs of which both succeed, but 4 of 7 pairs are whole"),
        ],
    )
    def test_too_many_failures_are_counted(self, refits: int, fails: Any, message: str) -> None:
        class Fails(LinearRegression):
            count = -1

            def fit(self, X, y):
                type(self).count += 1
                if type(self).count in fails:
                    raise ValueError("no")
                return super().fit(X, y)

        plan = pi.HalfSampling(refits, pairs=7)
        with pytest.raises(RefitError, match=f"Half-sampling needs .*{message}.*ValueError: no"):
            self.fit(plan, learner=Fails(), on_error="drop")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"pairs": 4}, "`pairs` must be at least 5, not 4: with fewer, intervals"),
            ({"pairs": 5.0}, "`pairs` must be a whole number"),
            ({"strata": "g"}, "`strata` can't be given to half-sampling: halves with"),
            ({"refits": 1}, "`refits` must be 0 or at least 2"),
            ({"refits": -1}, "`refits` must be a whole number of at least 0"),
        ],
    )
    def test_bad_numbers(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            pi.HalfSampling(**options)

    def test_few_rows_are_refused_with_the_reason(self) -> None:
        with pytest.raises(DataError, match=r"at least 40 rows.*got 39.*pi.Bootstrap\(15\)"):
            self.fit(data=self.data(39))
        assert self.fit(data=self.data(40)).pfi().cov_type == "half-sample"
        with pytest.raises(DataError, match=r"at least 40 clusters.*got 30.*15, cluster="):
            self.fit(pi.HalfSampling(cluster="id"), data=self.data(60))

    def test_advice_for_an_unseen_level_can_be_followed(self) -> None:
        data = self.data().assign(g=["rare", *["usual"] * 60])
        with pytest.raises(RefitError, match="merge rare levels, or accept"):
            self.fit(formula="y ~ x + g", data=data)
        with pytest.raises(RefitError, match=r"draw within levels \(`strata=`\)"):
            self.fit(pi.CrossValidation(3), formula="y ~ x + g", data=data)

    def test_other_plans_can_not_serve_it(self) -> None:
        results = self.fit(pi.Bootstrap(5))
        with pytest.raises(InferenceError, match=r"needs at least 5 pairs.*HalfSampling\(\)"):
            results.pfi(cov_type="half-sample")

    def test_a_feature_that_is_never_used_has_no_interval(self) -> None:
        class OnlyFirst(LinearRegression):
            def fit(self, X, y):
                return super().fit(X[:, :1], y)

            def predict(self, X):
                return super().predict(X[:, :1])

        pfi = self.fit(learner=OnlyFirst()).pfi()
        assert pfi.params["z"] == pfi.bse["z"] == 0
        assert pfi.conf_int().loc["z"].isna().all()
        assert "never used by the learner in any refit" in " ".join(str(pfi.summary()).split())

    def test_the_test_of_irrelevance_is_its_formula(self) -> None:
        pfi = self.fit().pfi()
        (learning,) = pfi.replicates.learning
        V, V0, nu = reference.variances_of_importances(
            *arrays_of(pfi.replicates), learning.growth, learning.calm, learning.kappa
        )
        np.testing.assert_allclose(pfi.bse**2, V, rtol=1e-9)
        np.testing.assert_allclose(pfi.bse_null**2, V0, rtol=1e-9)
        t = pfi.params / np.sqrt(V0)
        np.testing.assert_allclose(pfi.tvalues, t, rtol=1e-9)
        expected = np.where(t > 0, stats.chi2.sf(nu + np.sqrt(2 * nu) * t, nu), 1.0)
        np.testing.assert_allclose(pfi.pvalues, expected, rtol=1e-8)

    def test_more_features_change_nothing(self) -> None:
        results = self.fit(learner=RandomForestRegressor(5))
        one, both = results.pfi("x"), results.pfi()
        assert one.bse["x"] == pytest.approx(both.bse["x"], rel=EXACT)
        assert one.params["x"] == both.params["x"]

    def test_comparisons_are_paired_in_every_half(self) -> None:
        first, second = self.fit(), self.fit(formula="y ~ x")
        found = pi.compare(first, second)
        assert found.cov_type == "half-sample"
        assert found.estimand.lower_bound is None
        T = np.array([[h.estimate.value for h in pair] for pair in found.replicates.pairs])
        mine, other = (r.loss().replicates.pairs for r in (first, second))
        expected = [
            [a.estimate.value - b.estimate.value for a, b in zip(p, q, strict=True)]
            for p, q in zip(mine, other, strict=True)
        ]
        np.testing.assert_allclose(T, expected, rtol=EXACT)


def exact_level(q: int, df: float, alpha: float, tails: int) -> float:
    """Return the level of q independent terms over a kappa chi-square, by quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    shares = (nodes + 1) / 2
    scale = np.sqrt(stats.chi2.isf(shares, df) / df)

    def excess(c: float) -> float:
        one = stats.norm.sf(c * scale) * tails
        return float(weights @ -np.expm1(q * np.log1p(-one)) / 2 - alpha)

    c = brentq(excess, stats.t.isf(alpha / tails, df), stats.t.isf(alpha / tails / q, df) + 1e-9)
    return float(tails * stats.t.sf(c, df))


class TestSimultaneous:
    @pytest.mark.parametrize("q", [2, 5, 20])
    def test_independent_normal_terms_have_the_level_of_sidak(self, q: int) -> None:
        for df in (1e6, np.inf):
            level = LargestT.of(np.diag(np.arange(1.0, q + 1)), df, "two-sided").level(0.05)
            expected = 1 - 0.95 ** (1 / q)
            c, exact = (stats.norm.isf(v / 2) for v in (level, expected))
            assert c == pytest.approx(exact, rel=0.004)  # 4 times the error that is promised

    @pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
    @pytest.mark.parametrize(("q", "df"), [(2, 5), (20, 5), (6, 15), (20, 15)])
    @pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
    def test_quantiles_of_independent_terms_are_exact_to_a_thousandth(
        self, q: int, df: int, alpha: float, side: str
    ) -> None:
        tails = 2 if side == "two-sided" else 1
        level = LargestT.of(np.eye(q), df, side).level(alpha)
        c, exact = (stats.t.isf(v / tails, df) for v in (level, exact_level(q, df, alpha, tails)))
        assert c == pytest.approx(exact, rel=0.004)  # 4 times the error that is promised

    @pytest.mark.parametrize("alpha", [0.001, 0.05, 0.7])
    @pytest.mark.parametrize("df", [5, 15, np.inf])
    @pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
    def test_terms_that_move_together_keep_their_level(
        self, side: str, df: float, alpha: float
    ) -> None:
        level = LargestT.of(np.ones((4, 4)), df, side).level(alpha)
        assert level == pytest.approx(alpha, rel=1e-4)
        assert level <= alpha  # no band is narrower than the intervals of single terms

    def test_terms_whose_variance_is_rounding_do_not_count(self) -> None:
        variance = Variance(
            cov=np.diag([1.0, 1e-34, 1e-34, np.nan]), df=15, cov_type="corrected", label="", note=""
        )
        estimate, bse = np.array([1.0, 1.0, 1.0, np.nan]), np.array([1.0, 0.0, 0.0, np.nan])
        joint = variance.joint_interval(estimate, bse, 0.05, "two-sided")
        np.testing.assert_array_equal(joint, variance.interval(estimate, bse, 0.05, "two-sided"))

    def test_terms_without_variance_do_not_count(self) -> None:
        cov = np.diag([1.0, 0.0, 0.0])
        assert LargestT.of(cov, 10, "two-sided").level(0.05) == 0.05

    def test_bands_contain_the_pointwise_intervals(self) -> None:
        results = TestPlan().fit()
        for ask in (lambda **o: results.pd("x", points=6, **o), results.pfi):
            point, band = ask().conf_int(), ask(simultaneous=True).conf_int()
            assert (band[0] < point[0]).all()
            assert (band[1] > point[1]).all()
            assert ask(simultaneous=True).summary_frame()["conf_low"].equals(band[0])
        table = " ".join(str(results.pd("x", simultaneous=True).summary()).split())
        assert "Intervals are simultaneous (sup-t)" in table
        assert "nominal 95% intervals covered" not in table
