"""The interval and the test of what varies as a square: formulas, laws, coverage and size."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from shared import module_of

from pyinterp.inference import SquareVariance
from pyinterp.inference.half_sample import square

EXACT = 1e-12
ROUNDING = 1e-9  # a difference of two roots loses digits
SIDES = ("two-sided", "greater", "less")


reference = module_of(Path(__file__).parents[1] / "reference" / "half_sample.py")


def variance_of(se, at_zero, df=15, no_effect=0.0):
    return SquareVariance(
        cov=np.diag(se**2),
        df=df,
        cov_type="half-sample",
        label="",
        note="",
        no_effect=no_effect,
        at_no_effect=at_zero,
    )


def row(c, se, share, df=15, no_effect=0.0):
    """Return the variance of one estimate; v0 is a share of its standard error."""
    return variance_of(np.array([se]), np.array([share * se]), df, no_effect)


def interval(variance, c, alpha, side):
    bse = np.sqrt(np.diag(variance.cov))
    return variance.interval(np.array([c]), bse, alpha, side)[0]


def p_of(variance, c, null, side="two-sided"):
    bse = np.sqrt(np.diag(variance.cov))
    return float(variance.p_values(np.array([c]), bse, null, side)[0])


def t_of(variance, c, null=0.0):
    bse = np.sqrt(np.diag(variance.cov))
    return float(variance.statistic(np.array([c]), bse, null)[0])


values = st.floats(-5, 5).filter(lambda c: c == 0 or abs(c) > 1e-6)
errors = st.floats(1e-3, 5)
shares = st.floats(0.01, 1.0)
dfs = st.integers(3, 60)
levels = st.floats(0.001, 0.99)
nulls = st.one_of(st.just(0.0), st.floats(-6, 6), st.floats(-0.1, 0.1))
rows = {"c": values, "se": errors, "share": shares, "df": dfs}


@given(**rows, alpha=levels, null=nulls)
def test_limits_and_statistics_are_those_of_the_formulas(c, se, share, df, alpha, null):
    variance, given_ = row(c, se, share, df), (c, se**2, share * se)
    near = {"rtol": ROUNDING, "atol": ROUNDING * (abs(c) + se)}
    found = interval(variance, c, alpha, "two-sided")
    assert_allclose(found, reference.limits(*given_, df, alpha), **near)
    bse = np.array([se])
    error = variance.null_error(np.array([c]), bse)
    assert_allclose(error, reference.null_error(*given_), rtol=ROUNDING)
    # An effect that equals the root of the null value has t = 0, and the digits of both.
    size = np.sqrt(reference.effect_variance(c, se**2))
    lost = 1e-14 * (np.sqrt(abs(c)) + np.sqrt(abs(null))) / size
    t = reference.statistic(*given_, null)
    assert t_of(variance, c, null) == pytest.approx(t, rel=ROUNDING, abs=1e-12 + 10 * lost)
    for side in SIDES:
        p = reference.p_value(*given_, df, null, side)
        assert p_of(variance, c, null, side) == pytest.approx(p, rel=1e-6, abs=1e-200)


@settings(deadline=None)
@given(**rows, null=nulls)
def test_p_is_the_level_at_which_a_limit_reaches_the_null_value(c, se, share, df, null):
    if abs(null - c) < 1e-3 * (abs(c) + se):
        return  # P is nearly 1, at which no interval has a width
    if reference.p_value(c, se**2, share * se, df, null) < 1e-250:
        return
    p = reference.p_by_limits(c, se**2, share * se, df, null)
    assert p_of(row(c, se, share, df), c, null) == pytest.approx(p, rel=1e-6)


@settings(max_examples=1000)
@given(**rows, alpha=levels, null=nulls, side=st.sampled_from(SIDES), no_effect=st.floats(-2, 2))
def test_the_test_rejects_exactly_what_the_interval_excludes(
    c, se, share, df, alpha, null, side, no_effect
):
    variance, null = row(c, se, share, df, no_effect), null + no_effect
    low, high = interval(variance, c + no_effect, alpha, side)
    p = p_of(variance, c + no_effect, null, side)
    if min(abs(null - low), abs(null - high)) > 1e-9 * (3 + abs(c) + se):
        assert (p < alpha) == (not low <= null <= high)


@given(**rows, alpha=levels, other=levels)
def test_limits_enclose_the_estimate_and_those_of_larger_levels(c, se, share, df, alpha, other):
    small, large = sorted([alpha, other])
    for side in SIDES:
        wide, narrow = (interval(row(c, se, share, df), c, a, side) for a in (small, large))
        near = 1e-12 * (abs(c) + se)
        assert wide[0] <= narrow[0] + near
        assert narrow[0] <= c + near
        assert c - near <= narrow[1] <= wide[1] + near


@given(**rows, alpha=levels)
def test_the_upper_limit_of_harm_is_that_of_the_standard_error(c, se, share, df, alpha):
    """Where q >= 1, at levels below a third: 0 is excluded from above only by |c| > q std err."""
    q = float(stats.t.isf(alpha / 2, df))
    high = interval(row(c, se, share, df), c, alpha, "two-sided")[1]
    if q >= 1 and abs(c + q * se) > 1e-9:
        assert (high < 0) == (c + q * se < 0)
        assert high == pytest.approx(c + q * se, rel=EXACT) or high >= 0


def test_an_upper_limit_of_exactly_0_is_that_of_a_square():
    """C = -2, a standard error of 1 and q = 2: the test does not reject 0 at that level."""
    high = square.limits(np.array([-2.0]), np.array([1.0]), np.array([0.5]), 2.0)[0, 1]
    assert high == pytest.approx(4 / np.sqrt(2), rel=EXACT)


def test_rounding_puts_no_estimate_outside_its_interval():
    c = np.random.default_rng(5).uniform(0, 10, size=10_000)
    for share in (1e-17, 1e-16, 1e-15):
        low, high = square.limits(c, share * c, share * c / 2, 1e-9).T
        assert (low <= c).all()
        assert (c <= high).all()


@given(**rows, no_effect=st.floats(-2, 2))
def test_t_of_no_effect_is_the_estimate_over_its_standard_error_there(c, se, share, df, no_effect):
    variance, bse = row(c, se, share, df, no_effect), np.array([se])
    error = float(variance.null_error(np.array([c + no_effect]), bse)[0])
    t = t_of(variance, c + no_effect, no_effect)
    assert t == pytest.approx(((c + no_effect) - no_effect) / error, rel=1e-9, abs=EXACT)
    assert share * se * (1 - EXACT) <= error <= se * (1 + EXACT)


@given(**rows, alpha=levels, null=nulls, power=st.integers(-60, 60))
def test_no_number_depends_on_the_unit(c, se, share, df, alpha, null, power):
    unit = 10.0**power
    plain, scaled = row(c, se, share, df), row(c, se * unit, share, df)
    limits = interval(scaled, c * unit, alpha, "two-sided")
    expected = interval(plain, c, alpha, "two-sided") * unit
    assert_allclose(limits, expected, rtol=1e-9, atol=1e-9 * (abs(c) + se) * unit)
    size = np.sqrt(reference.effect_variance(c, se**2))
    lost = 1e-13 * (np.sqrt(abs(c)) + np.sqrt(abs(null))) / size
    t = t_of(plain, c, null)
    assert t_of(scaled, c * unit, null * unit) == pytest.approx(t, rel=1e-9, abs=1e-11 + lost)


@given(se=errors, share=shares, alpha=levels, c=st.sampled_from([1e-310, 5e-324, 1e-9, 1e-7]))
def test_nothing_jumps_at_an_estimate_of_0(se, share, alpha, c):
    q = stats.t.isf(alpha / 2, 15)
    at_zero = interval(row(0.0, se, share), 0.0, alpha, "two-sided")
    root = se / np.sqrt(2)  # a of an estimate of 0
    assert_allclose(at_zero, [-q * share * se, root * (1 + q) ** 2], rtol=EXACT)
    assert t_of(row(0.0, se, share), 0.0) == 0.0
    for near in (c, -c):
        variance = row(near, se, share)
        # t goes to 0 from both sides, no faster than over the smallest standard error.
        assert abs(t_of(variance, near)) <= abs(near) / (share * se) * (1 + EXACT)
        assert t_of(variance, near) * near >= 0
        limits = interval(variance, near, alpha, "two-sided")
        assert_allclose(limits[0], at_zero[0], atol=1e-2 * se)
        # The upper limit is that of a square unless the estimate is further below than q se0.
        if near > 0 or abs(near) < q * share * se:
            assert_allclose(limits[1], at_zero[1], atol=1e-2 * se)
        for null in (0.5, -0.5):
            t = t_of(variance, near, null)
            assert t == pytest.approx(t_of(row(0.0, se, share), 0.0, null), rel=0.01, abs=1e-2)


@pytest.mark.parametrize("c", [-2.0, -0.1, 0.0, 0.4])
def test_the_standard_error_at_0_is_at_most_that_at_the_estimate(c):
    larger, same = row(c, 1.0, 3.0), row(c, 1.0, 1.0)
    assert t_of(larger, c) == t_of(same, c)
    for alpha in (0.3, 0.01):
        limits = (interval(v, c, alpha, "two-sided") for v in (larger, same))
        assert_array_equal(*limits)


def test_no_number_of_a_large_statistic_is_lost():
    for c in (1e3, 1e8, 1e16):
        p = p_of(row(c, 1.0, 0.01), c, 0.0)
        assert p == pytest.approx(2 * stats.t.sf(2 * c, 15), rel=1e-4)
        assert p > 0
        assert 0 <= p_of(row(c, 1.0, 0.01), c, c / 2) < 1e-12


def test_terms_keep_their_numbers():
    """Of one alone, and of one between others; a term that does not vary has none."""
    c, bse = np.array([4.0, -5.0, 0.5, 6.0]), np.array([1.0, 1.5, 2.0, 0.0])
    whole = variance_of(bse, np.array([0.2, 1.0, 2.0, 1.0]))
    for null in (0.0, np.array([1.0, -2.0, 7.0, 0.0])):
        p = whole.p_values(c, bse, null, "two-sided")
        for k in range(3):
            one, at = whole.of(np.array([k])), np.broadcast_to(null, 4)[[k]]
            assert one.p_values(c[[k]], bse[[k]], at, "two-sided")[0] == p[k]
            same = row(c[k], bse[k], whole.at_no_effect[k] / bse[k])
            assert p_of(same, c[k], at[0]) == pytest.approx(p[k], rel=EXACT)
        assert np.isnan(p[3])
        for side in ("greater", "less"):
            assert np.isnan(whole.p_values(c, bse, null, side)[3])
    assert np.isnan(whole.interval(c, bse, 0.05, "greater")[3]).all()
    assert whole.null_error(c, bse)[3] == 0
    assert whole.varies_as_square


def test_one_side_does_not_halve_p_or_alpha():
    """A square has no sign: what is above 0 counts as much as in the test of both sides."""
    for c in (2.0, -2.0):
        one = row(c, 0.8, 0.5)
        both, above, below = (p_of(one, c, 0.0, side) for side in SIDES)
        assert (above, below) == ((both, 1.0) if c > 0 else (1.0, both))
        low, high = interval(one, c, 0.05, "two-sided")
        assert tuple(interval(one, c, 0.05, "greater")) == (low, np.inf)
        assert tuple(interval(one, c, 0.05, "less")) == (-np.inf, high)
        assert p_of(one, c, c, "greater") == p_of(one, c, c, "less") == 1.0
    assert [one.p_heading(side) for side in SIDES] == ["P>|t|", "P", "P"]


def test_several_terms_at_once_take_one_quantile_of_both_sides():
    variance = variance_of(np.ones(3), np.full(3, 0.5))
    c, bse = np.array([3.0, 0.1, -3.5]), np.ones(3)
    joint = variance.joint_interval(c, bse, 0.05, "two-sided")
    # The quantile of the largest |t| of three, from the first lower limit of a plain t interval.
    q = -(joint[1, 0] - c[1]) / variance.null_error(c, bse)[1]
    assert stats.t.isf(0.025, 15) < q < stats.t.isf(0.025 / 3, 15)
    assert_allclose(joint, square.limits(c, bse, np.full(3, 0.5), q), rtol=1e-12)
    for side, k in (("greater", 0), ("less", 1)):
        one = variance.joint_interval(c, bse, 0.05, side)
        assert_array_equal(one[:, k], joint[:, k])
    p = variance.joint_p_values(c, bse, 0.0, "two-sided")
    assert_array_equal(p < 0.05, (joint[:, 0] > 0) | (joint[:, 1] < 0))


DRAWS = 400_000


def shares_of(hits):
    """Return a share and four of its standard errors."""
    p = float(hits.mean())
    return p, 4 * np.sqrt(p * (1 - p) / len(hits))


def square_draws(delta, seed):
    """Draw c of one coefficient: c + a = a (Z + delta)², a = 1."""
    return (np.random.default_rng(seed).normal(size=DRAWS) + delta) ** 2 - 1


@pytest.mark.parametrize(("alpha", "size"), [(0.10, 0.068), (0.05, 0.0503), (0.01, 0.0101)])
def test_the_size_of_the_test_of_one_coefficient(alpha, size):
    """With variances known: V = 2 a² + 4 a c_+ of each draw, v0² = 2 a²; normal quantiles.

    The test is exact where |Z| > q needs sqrt(1 + c/a) = |Z| only; at 10% c > q v0 asks for more.
    """
    c, q = square_draws(0.0, 1), stats.norm.isf(alpha / 2)
    error, at_zero = np.sqrt(2 + 4 * np.maximum(c, 0)), np.full(DRAWS, np.sqrt(2))
    t = square.statistic(c, error, at_zero, 0.0)
    rejected, four = shares_of(np.abs(t) > q)
    assert rejected == pytest.approx(size, abs=four + 0.0005)  # the sizes have three digits
    large = c > 4  # where the effect part is the larger standard error
    assert_allclose(t[large], np.sqrt(1 + c[large]), rtol=EXACT)
    if alpha < 0.1:
        up = c > 0
        assert_array_equal((np.abs(t) > q)[up], np.sqrt(1 + c[up]) > q)


@pytest.mark.parametrize("delta", [0.5, 1.0, 2.0, 3.0, 4.0])
def test_the_coverage_of_one_coefficient(delta):
    """A law, with variances known: the effect interval misses if | |Z + delta| - delta | > q.

    .973 at delta = .5, .950 at 4. The plain interval adds less than .002 to that.
    """
    c, q = square_draws(delta, 2), stats.norm.isf(0.025)
    error, at_zero = np.sqrt(2 + 4 * np.maximum(c, 0)), np.full(DRAWS, np.sqrt(2))
    low, high = square.limits(c, error, at_zero, q).T
    covered, four = shares_of((low <= delta**2) & (delta**2 <= high))
    below = stats.norm.sf(q) + stats.norm.sf(q + 2 * delta)
    above = max(stats.norm.cdf(-q) - stats.norm.cdf(q - 2 * delta), 0.0)
    law = 1 - below - above
    assert law - four <= covered <= law + four + 0.002
    for value, known in ((0.5, 0.973), (4.0, 0.950)):
        if delta == value:
            assert law == pytest.approx(known, abs=0.0005)


@pytest.mark.parametrize(("alpha", "size"), [(0.10, 0.100), (0.05, 0.0503), (0.01, 0.0101)])
def test_the_size_where_estimates_are_normal(alpha, size):
    """Normal estimates of a value of 0, of one standard error."""
    c = np.random.default_rng(3).normal(size=DRAWS)
    t = square.statistic(c, np.ones(DRAWS), np.ones(DRAWS), 0.0)
    rejected, four = shares_of(np.abs(t) > stats.norm.isf(alpha / 2))
    assert rejected <= size + four + 0.0005
    low, high = square.limits(c, np.ones(DRAWS), np.ones(DRAWS), stats.norm.isf(alpha / 2)).T
    covered, _ = shares_of((low <= 0) & (high >= 0))
    assert covered == pytest.approx(1 - rejected, abs=1e-12)


MIXTURES = [
    (k, tau, delta)
    for k in (1, 2, 5, 50)
    for tau in (0.0, 0.3, 1.0, 3.0)
    for delta in (0.0, 0.5, 1.0, 2.0, 4.0, 10.0)
]


def test_mixtures_of_a_square_a_chi_square_and_a_normal_are_covered():
    """c = a ((Z + delta)² - 1) + a (chi²(k-1) - (k-1)) + N(0, tau²), variances known.

    V = 2 a² k + tau² + 4 a c_+ of each draw. The worst coverage is .943 by normal quantiles, the
    largest size .052. Four standard errors of a share of 40,000 draws: .0046.
    """
    rng, n, q = np.random.default_rng(4), 40_000, stats.norm.isf(0.025)
    worst, largest = 1.0, 0.0
    for k, tau, delta in MIXTURES:
        z, noise = rng.normal(size=(2, n))
        rest = rng.chisquare(k - 1, size=n) - (k - 1) if k > 1 else 0.0
        c = (z + delta) ** 2 - 1 + rest + tau * noise
        at_zero = np.full(n, np.sqrt(2 * k + tau**2))
        error = np.sqrt(2 * k + tau**2 + 4 * np.maximum(c, 0))
        low, high = square.limits(c, error, at_zero, q).T
        worst = min(worst, ((low <= delta**2) & (delta**2 <= high)).mean())
        if delta == 0:
            largest = max(largest, (np.abs(square.statistic(c, error, at_zero, 0.0)) > q).mean())
    assert worst >= 0.943 - 0.0046
    assert largest <= 0.052 + 0.0046


def test_a_larger_standard_error_at_0_widens_every_interval():
    """Why the factor in v0 can cost no coverage and raise no size: 20,000 random rows."""
    rng, n, q = np.random.default_rng(41), 20_000, stats.t.isf(0.025, 15)
    c, small, large = rng.standard_t(2, n), *np.sort(rng.uniform(0.01, 1, (2, n)), axis=0)
    narrow, wide = (square.limits(c, np.ones(n), v0, q) for v0 in (small, large))
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (wide[:, 1] >= narrow[:, 1]).all()
    t, smaller = (np.abs(square.statistic(c, np.ones(n), v0, np.zeros(n))) for v0 in (small, large))
    assert (smaller <= t).all()
