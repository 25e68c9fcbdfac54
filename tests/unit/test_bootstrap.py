"""Inference over bootstrap means: against loops and scipy, and intervals against their tests."""

import numpy as np
import pandas as pd
import pytest
from by_refit import failing
from fits import fit_of, words_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import BootstrapVariance, RefitEstimate, Replicates, variance
from pyinterp.resampling import Units

EXACT = 1e-10
B, K = 60, 3
SIDES = ["two-sided", "greater", "less"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.exponential(size=(70, 3)), columns=["x", "z", "noise"])
    data["y"] = data["x"] + data["z"] / 2 + rng.normal(size=70)
    data["still"] = 1.0
    data["id"] = np.arange(70) // 2
    return data


@pytest.fixture(scope="module")
def fitted(data):
    return fit_of("y ~ x + z + noise + still", data, LinearRegression(), pi.NestedBootstrap(B, K))


@pytest.fixture(scope="module")
def other(data):
    return fit_of("y ~ x", data, LinearRegression(), pi.NestedBootstrap(B, K))


def means_of(results, fitted):
    """The bootstrap means."""
    sample = [refit.group.number for refit in fitted.refits]
    return results.refit_frame().groupby(sample).mean().to_numpy()


class TestAgainstLoops:
    def test_the_estimate_and_the_loss_are_means_over_all_refits(self, fitted):
        # Algorithm 1, line 16; every evaluation row counts as often as it was drawn.
        losses = []
        for r in fitted.refits:
            predicted = r.predictor(r.design.encode(r.evaluation.variables))
            losses.append(np.mean((r.evaluation.y - predicted) ** 2))
        assert len(losses) == B * K
        assert fitted.loss().params.iloc[0] == pytest.approx(np.mean(losses), rel=EXACT)

    @pytest.mark.parametrize("ask", ["pfi", "pd"])
    def test_the_covariance_is_that_of_bootstrap_means(self, fitted, ask):
        found = fitted.pfi() if ask == "pfi" else fitted.pd("x", points=5)
        means = means_of(found, fitted)
        assert len(means) == B
        centered = means - means.mean(axis=0)
        expected = sum(np.outer(c, c) for c in centered) / (B - 1)
        assert_allclose(found.cov_params(), expected, rtol=EXACT, atol=1e-15)
        assert_allclose(found.params, means.mean(axis=0), rtol=EXACT, atol=1e-15)
        assert found.df_resid == B - 1

    def test_percentile_limits_are_interpolated_order_statistics(self, fitted):
        pfi = fitted.pfi(["x", "noise"])
        assert pfi.cov_type == "bootstrap"
        for alpha in (0.05, 0.2, 0.5):
            limits = [alpha / 2, 1 - alpha / 2]  # at the order statistics u (B + 1), from 1
            expected = np.quantile(means_of(pfi, fitted), limits, axis=0, method="weibull").T
            assert_allclose(pfi.conf_int(alpha), expected, rtol=1e-9)


def made(means):
    q = means.shape[1]
    return BootstrapVariance(
        cov=np.eye(q), df=len(means) - 1, cov_type="bootstrap", label="", note="", means=means
    )


def limits_of(found, alpha, side="two-sided"):
    q = found.means.shape[1]
    return found.interval(found.means.mean(axis=0), np.ones(q), alpha, side)


def p_of(found, null, side="two-sided"):
    q = found.means.shape[1]
    return found.p_values(found.means.mean(axis=0), np.ones(q), null, side)


class TestDuality:
    @settings(max_examples=600, deadline=None)
    @given(
        count=st.integers(2, 120),
        seed=st.integers(0, 2**16),
        grid=st.sampled_from([None, 1.0, 0.25]),
        alpha=st.floats(0.001, 0.999),
        where=st.floats(-0.2, 1.2),
        side=st.sampled_from(SIDES),
    )
    def test_the_test_rejects_exactly_what_the_interval_excludes(
        self, count, seed, grid, alpha, where, side
    ):
        means = np.random.default_rng(seed).gamma(2.0, size=(count, 1))
        if grid is not None:  # ties
            means = np.round(means / grid) * grid
        found = made(means)
        theta = means.min() + where * (np.ptp(means) + 1.0)
        (low, high), (p,) = limits_of(found, alpha, side)[0], p_of(found, theta, side)
        assert low <= high
        assert 0 <= p <= 1
        if abs(p - alpha) > 1e-9:
            assert (p < alpha) == (not low <= theta <= high)

    @settings(max_examples=200, deadline=None)
    @given(
        seed=st.integers(0, 2**16),
        count=st.sampled_from([19, 39, 40, 99, 199]),
        which=st.integers(0, 200),
        alpha=st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.2]),
        side=st.sampled_from(SIDES),
    )
    def test_also_at_order_statistics_and_levels_in_whole_numbers(
        self, seed, count, which, alpha, side
    ):
        # At the smallest p-value not even rounding may break it.
        means = np.random.default_rng(seed).integers(0, 12, size=(count, 1)).astype(float)
        found = made(means)
        theta = np.sort(means, axis=0)[which % count, 0]
        for value in (theta, theta - 0.5, theta + 0.5, means.min() - 1, means.max() + 1):
            (low, high), (p,) = limits_of(found, alpha, side)[0], p_of(found, value, side)
            at_floor = p in (1 / (count + 1), 2 / (count + 1))
            if at_floor or abs(p - alpha) > 1e-12:
                assert (p < alpha) == (not low <= value <= high)


def test_p_values_have_a_floor_and_smaller_levels_no_limits():
    means = np.arange(1.0, 40.0)[:, None]
    found = made(means)
    assert p_of(found, 0.0) == pytest.approx(2 / 40)
    assert p_of(found, 0.0, "greater") == pytest.approx(1 / 40)
    assert p_of(found, 0.0, "less") == 1.0
    assert p_of(found, 50.0, "less") == pytest.approx(1 / 40)
    assert_array_equal(limits_of(found, 0.05), [[-np.inf, np.inf]])
    assert_array_equal(limits_of(found, 0.025, "greater"), [[-np.inf, np.inf]])
    assert_allclose(limits_of(found, 0.1), [[2.0, 38.0]])
    assert p_of(found, 20.0) == 1.0


@pytest.mark.parametrize("count", range(5, 60))
def test_percentiles_have_their_level_without_rounding(count):
    """At 1/(B + 1) a limit is infinite, just above it is the smallest mean or a little more."""
    means = np.arange(float(count))[:, None]
    found, tail = made(means), 1 / (count + 1)
    assert_array_equal(limits_of(found, tail, "greater"), [[-np.inf, np.inf]])
    assert_array_equal(limits_of(found, tail, "less"), [[-np.inf, np.inf]])
    ((low, _),) = limits_of(found, tail * (1 + 1e-12), "greater")
    assert low == pytest.approx(0.0, abs=1e-9)
    for k in range(1, count - 1):
        assert p_of(found, float(k), "greater") == (k + 1) / (count + 1)


@pytest.mark.parametrize("split_by", ["row", "copy"])
def test_the_variance_of_a_mean_is_that_of_its_law(split_by):
    # Given the data, the bootstrap mean of a mean has the variance s²/n of the bootstrap, s² over
    # n, and 1/k of the variance of one split. That is s² (1/n2 - 1/n) if copies are dealt out
    # as they come. If rows are, it is that of a ratio over n2 of d distinct rows, weighted by how
    # often they were drawn (to first order; the square of their coefficient of variation is
    # E w² / (E w)² - 1, with 2 - 1/n = E w² over all n rows).
    n, k, count = 200, 3, 1500
    y = np.random.default_rng(1).normal(size=n)
    plan = pi.NestedBootstrap(count, k, split_by=split_by)
    splits = list(plan.split(Units.make(n, None, None), np.random.default_rng(2), None))
    replicates = Replicates.of(
        tuple(
            RefitEstimate(Estimate.of_rows(y[s.evaluation, None]), s.evaluation, s.group)
            for s in splits
        ),
        correction=0.5,
    )
    if split_by == "copy":
        split = 1 / (n - round(0.67 * n)) - 1 / n
    else:
        d = n * (1 - (1 - 1 / n) ** n)
        split = (2 - 1 / n) * d / n * (1 / (0.33 * d) - 1 / d)
    expected = y.var() * (1 / n + split / k)
    cov = float(variance(replicates, None).cov[0, 0])
    # The variance of a sample variance of nearly normal means; five standard errors. Without the
    # noise of splits V would be 0.6 or 0.43 of it.
    assert cov == pytest.approx(expected, rel=5 * np.sqrt(2 / count))
    noise = n * split
    assert noise == pytest.approx({"row": 4.0, "copy": 2.0}[split_by], abs=0.1)


class TestSimultaneous:
    def test_half_widths_are_the_largest_deviations(self, fitted):
        curve = fitted.pd("x", points=6, simultaneous=True)
        params, bse, means = curve.params, curve.bse, means_of(curve, fitted)
        largest = abs((means - params.to_numpy()) / bse.to_numpy()).max(axis=1)
        c = np.quantile(largest, 0.9, method="weibull")
        low, high = curve.conf_int(0.1).to_numpy().T
        assert_allclose(low, params - c * bse, rtol=EXACT)
        assert_allclose(high, params + c * bse, rtol=EXACT)
        inside = ((means >= low) & (means <= high)).all(axis=1)
        assert inside.mean() == pytest.approx(0.9, abs=1 / B)

    def test_one_sided(self, fitted):
        curve = fitted.pd("x", points=6, simultaneous=True, alternative="greater")
        low, high = curve.conf_int(0.1).to_numpy().T
        assert (high == np.inf).all()
        inside = (means_of(curve, fitted) >= low).all(axis=1)
        assert inside.mean() == pytest.approx(0.9, abs=1 / B)

    def test_terms_without_variance_do_not_count(self, fitted):
        one = fitted.pfi(["x", "still"], simultaneous=True).conf_int(0.1)
        alone = fitted.pfi(["x"]).conf_int(0.1)
        assert_allclose(one.loc["x"], alone.loc["x"])
        assert one.loc["still"].isna().all()


def test_a_term_whose_means_agree_has_no_interval(fitted):
    pfi = fitted.pfi()
    row = pfi.summary_frame().loc["still"]
    assert row["estimate"] == row["std_error"] == 0
    assert row[["statistic", "p_value", "conf_low", "conf_high"]].isna().all()
    assert "No interval for still" in str(pfi.summary())


def test_a_term_that_is_mostly_0_keeps_0_in_its_interval(data):
    # A stump uses `z` in few bootstrap samples: nearly all means are exactly 0.
    fitted = fit_of("y ~ x + z", data, DecisionTreeRegressor(max_depth=1), pi.NestedBootstrap(B, K))
    pfi = fitted.pfi("z")
    assert pfi.bse["z"] > 0
    assert (means_of(pfi, fitted) == 0).mean() > 0.9
    low, high = pfi.conf_int().loc["z"]
    assert low <= 0 <= high
    assert pfi.pvalues["z"] == 1


class TestTables:
    def test_a_table_says_what_its_intervals_are(self, fitted):
        text = words_of(fitted.pfi(), notes="full")
        for words in (
            "Cov. type: bootstrap",
            "percentiles of 60 bootstrap means",
            "P is the smallest alpha at which the interval excludes 0: at least 0.033 (0.016 if",
            " std err [0.025 0.975] P ",
        ):
            assert words in text
        assert "P>|t|" not in text

    def test_plots_leave_out_what_has_no_limits(self, data):
        results = fit_of("y ~ x + z", data, LinearRegression(), pi.NestedBootstrap(9, 2))
        for found in (results.pfi(), results.pd("x", points=4)):
            assert np.isinf(found.conf_int().to_numpy()).all()
            assert len(found.plot().draw().axes) == 1
            few, all_of_them = (
                sum(len(x._data) for x in plot.layers if isinstance(x._data, pd.DataFrame))
                for plot in (found.plot(), found.plot(0.5))
            )
            assert few < all_of_them


class TestComparisons:
    def test_learners_are_compared_within_bootstrap_samples(self, fitted, other):
        found = pi.compare(fitted, other)
        assert found.cov_type == "bootstrap"
        paired = means_of(fitted.loss(), fitted) - means_of(other.loss(), other)
        assert found.bse.iloc[0] == pytest.approx(paired.std(ddof=1), rel=EXACT)
        low, high = found.conf_int(0.4).iloc[0]
        assert paired.min() < low < found.params.iloc[0] < high < paired.max()
        terms = pi.compare(fitted.pfi("x"), other.pfi("x"))
        assert terms.df_resid == B - 1


class TestOtherCovTypes:
    @pytest.mark.parametrize(
        ("cov_type", "message"),
        [
            ("corrected", r'splits of different bootstrap samples.*use "bootstrap"'),
            ("half-sample", "needs at least 5 pairs"),
            ("rows", "needs one fitted model, not several refits: .* or leave `cov_type` out"),
            ("ustat", "needs one fitted model, not several refits"),
        ],
    )
    def test_those_that_do_not_apply_say_why(self, fitted, cov_type, message):
        with pytest.raises(InferenceError, match=message):
            fitted.pfi(cov_type=cov_type)

    def test_other_plans_can_not_serve_bootstrap(self, data):
        learner = pi.Learner.from_formula("y ~ x", data, LinearRegression())
        for plan in (pi.Bootstrap(5), pi.HalfSampling(2, pairs=5), pi.Holdout()):
            with pytest.raises(InferenceError, match=r'"bootstrap".*pi\.NestedBootstrap\(\)'):
                learner.fit(plan, seed=1).pfi(cov_type="bootstrap")


@pytest.mark.parametrize(("fails", "means"), [((0, 1, 5), 4), (range(2, 10), 1)])
def test_bootstrap_means_are_over_the_refits_that_succeeded(data, fails, means):
    learner = pi.Learner.from_formula("y ~ x", data, failing(fails))
    with pytest.warns(pi.errors.RefitWarning, match=f"{len(fails)} of 10 refits failed"):
        fitted = learner.fit(pi.NestedBootstrap(5, 2), seed=1, on_error="drop")
    if means == 1:
        with pytest.raises(InferenceError, match="at least 2 bootstrap samples; there is 1"):
            fitted.loss()
        return
    loss = fitted.loss()
    found = means_of(loss, fitted)
    assert (len(found), loss.df_resid) == (means, means - 1)
    assert loss.bse.iloc[0] == pytest.approx(found[:, 0].std(ddof=1), rel=EXACT)
