"""Variances, intervals, tests and multiplicity against their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests

from pyinterp.errors import InferenceError, OptionError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import COV_TYPES, RefitEstimate, Replicates, Variance, variance
from pyinterp.inference.intervals import adjust
from pyinterp.inference.simultaneous import LargestT, tail_probability


def student(df):
    return Variance(cov=np.eye(1), df=df, note="")


def learner_refits(m=6, q=3):
    rng = np.random.default_rng(1)
    estimates = [Estimate.of_rows(rng.normal(size=(9, q))) for _ in range(m)]
    return [RefitEstimate(estimate, np.arange(9)) for estimate in estimates]


def learner_evidence(m=6, q=3, correction=0.58):
    return Replicates.of(learner_refits(m, q), correction=correction)


def model_evidence(donors=True, clusters=None):
    rng = np.random.default_rng(2)
    rows, given_ = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
    estimate = Estimate(
        value=rows.mean(axis=0),
        rows=rows,
        donors=given_ - given_.mean(axis=0) if donors else None,
        mc_variance=np.zeros(2),
    )
    refit = RefitEstimate(estimate, np.arange(12), clusters=clusters)
    return Replicates.of((refit,), correction=0.0)


def test_naive_and_corrected():
    replicates = learner_evidence()
    s2 = replicates.per_refit.var(axis=0, ddof=1)
    naive, corrected = variance(replicates, "naive"), variance(replicates, "corrected")
    assert_allclose(np.diag(naive.cov), s2 / 6)
    assert_allclose(np.diag(corrected.cov), (1 / 6 + 0.58) * s2)
    assert_allclose(corrected.cov, (1 / 6 + 0.58) * np.cov(replicates.per_refit, rowvar=False))
    assert naive.df == corrected.df == 5


def test_rows_and_ustat():
    replicates = model_evidence()
    (estimate,) = replicates.estimates
    n = 12
    one = estimate.rows - estimate.rows.mean(axis=0)
    both = estimate.rows + estimate.donors
    both = both - both.mean(axis=0)
    assert_allclose(variance(replicates, "rows").cov, one.T @ one / (n * (n - 1)))
    assert_allclose(variance(replicates, "ustat").cov, both.T @ both / (n * (n - 1)))
    assert variance(replicates, "ustat").df == 11
    without = model_evidence(donors=False)
    assert_array_equal(variance(without, "rows").cov, variance(without, "ustat").cov)


def test_clusters_of_one_row_change_nothing_and_copies_of_a_row_do_not_add_information():
    plain = variance(model_evidence(), "ustat")
    single = variance(model_evidence(clusters=np.arange(12)), "ustat")
    assert_allclose(single.cov, plain.cov)
    (estimate,) = model_evidence(donors=False).estimates
    twice = Estimate(
        value=estimate.value,
        rows=np.repeat(estimate.rows, 2, axis=0),
        mc_variance=estimate.mc_variance,
    )
    refit = RefitEstimate(twice, np.arange(24), clusters=np.repeat(np.arange(12), 2))
    copied = Replicates.of((refit,), correction=0.0)
    assert_allclose(
        variance(copied, "ustat").cov, variance(model_evidence(donors=False), "ustat").cov
    )
    assert variance(copied, "ustat").df == 11


def test_a_variance_that_does_not_apply_says_why():
    with pytest.raises(InferenceError, match="not defined for one refit"):
        variance(model_evidence(), "corrected")
    with pytest.raises(InferenceError, match=r"needs one fitted model, not several refits"):
        variance(learner_evidence(), "ustat")
    with pytest.raises(OptionError, match="Did you mean `corrected`"):
        variance(learner_evidence(), "corected")
    one = variance(model_evidence(clusters=np.zeros(12, int)), "ustat")
    assert np.isnan(one.cov).all()
    assert "need at least 2 clusters; there is 1" in one.note


def test_the_naive_table_warns_only_where_refits_share_rows():
    assert "too narrow" in COV_TYPES["naive"](learner_evidence()).note
    assert "too narrow" not in COV_TYPES["naive"](learner_evidence(correction=0.0)).note
    assert "donors" in COV_TYPES["rows"](model_evidence()).note
    assert "donors" not in COV_TYPES["rows"](model_evidence(donors=False)).note


@given(
    estimate=st.floats(-5, 5),
    null=st.floats(-5, 5),
    bse=st.floats(0.01, 3),
    df=st.integers(1, 200),
    alpha=st.floats(0.001, 0.5),
    alternative=st.sampled_from(["two-sided", "greater", "less"]),
)
def test_interval_excludes_the_null_exactly_when_p_is_below_alpha(
    estimate, null, bse, df, alpha, alternative
):
    one, error = np.array([estimate]), np.array([bse])
    (low, high) = student(df).interval(one, error, alpha, alternative)[0]
    (p,) = student(df).p_values(one, error, null, alternative)
    if abs(p - alpha) > 1e-9:
        assert (p < alpha) == (not low <= null <= high)


def test_small_p_values_do_not_become_0():
    (p,) = student(100.0).p_values(np.array([40.0]), np.ones(1), 0.0, "two-sided")
    assert p == pytest.approx(2 * stats.t.sf(40.0, 100.0))
    assert 0 < p < 1e-60
    (left,) = student(100.0).p_values(np.array([-40.0]), np.ones(1), 0.0, "less")
    assert left == pytest.approx(p / 2)


def test_no_interval_without_variance():
    one, errors = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    limits = student(5.0).interval(one, errors, 0.05, "two-sided")
    assert np.isnan(limits[0]).all()
    assert np.isfinite(limits[1]).all()
    greater = student(5.0).interval(one, errors, 0.05, "greater")
    assert np.isnan(greater[0]).all()
    assert greater[1, 1] == np.inf


@pytest.mark.parametrize("method", ["holm", "fdr_bh", "bonferroni"])
@pytest.mark.parametrize(
    "p", [[0.01, np.nan, 0.04, 0.2], [0.01, 0.02, 0.5], [0.02, 0.01, 0.5], [0.01, np.nan, 0.5]]
)
def test_adjustment_is_statsmodels_and_leaves_missing_p_values_out(method, p):
    raw = np.array(p)
    kept = ~np.isnan(raw)
    for _ in range(2):
        adjusted = adjust(raw, method, kept.sum())
        assert (np.isnan(adjusted) == ~kept).all()
        assert_allclose(adjusted[kept], multipletests(raw[kept], method=method)[1], rtol=1e-15)
        adjusted[:] = 0.0  # belongs to the caller
    with pytest.raises(OptionError, match="`p_adjust` must be one of"):
        adjust(raw, "homl", 3)


def test_sidak_takes_p_values_of_1():
    """1 - (1 - p)^q, of 1 too, without a warning."""
    p = np.array([1.0, 0.0, 0.02, np.nan])
    expected = [1.0, 0.0, 1 - 0.98**5, np.nan]
    assert_allclose(adjust(p, "sidak", 5), expected, rtol=1e-12)


@pytest.mark.parametrize("df", [np.inf, 6.0])
@pytest.mark.parametrize("q", [-1.5, -0.4, 0.0, 0.7, 2.0])
def test_the_largest_of_three_t_is_above_any_number_with_the_probability_of_the_law(q, df):
    """Against scipy's multivariate normal and t; 1e-3 is about their errors and ours."""
    cov = np.array([[2.0, 0.6, -0.4], [0.6, 1.0, 0.3], [-0.4, 0.3, 0.5]])
    scaled = cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    below = np.full(3, q)
    law = (
        stats.multivariate_normal(cov=scaled)
        if np.isinf(df)
        else stats.multivariate_t(shape=scaled, df=df, seed=1)
    )
    found = tail_probability(LargestT.of(cov, df, "greater"), q)
    assert found == pytest.approx(1 - law.cdf(below), abs=2e-3)
