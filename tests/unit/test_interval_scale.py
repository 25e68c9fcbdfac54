"""Intervals stay inside the range of their estimand, and their tests agree with them."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit, logit
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.inference.terms import IntervalScale, TermInference
from pyinterp.inference.variance import Variance
from pyinterp.ranges import POSITIVE, REAL, SHARES

RANGES = [POSITIVE, SHARES, REAL, (-1.0, 1.0), (-np.inf, 1.0), (2.0, 5.0)]
inner = st.floats(0.001, 0.999)


def value_in(range_, share):
    low, high = range_
    if np.isfinite(low) and np.isfinite(high):
        return low + share * (high - low)
    distance = share / (1 - share)
    return (
        low + distance
        if np.isfinite(low)
        else high - distance
        if np.isfinite(high)
        else logit(share)
    )


def inference(range_, estimate, bse, **options):
    variance = Variance(
        cov=np.array([[bse**2]]), df=options.pop("df", 9), cov_type="naive", label="", note=""
    )
    return TermInference(
        estimate=np.array([estimate]),
        bse=np.array([bse]),
        null=np.array([options.pop("null", np.nan)]),
        variance=variance,
        scale=IntervalScale(range_),
        symmetric=True,
        **options,
    )


@given(share=inner, range_=st.sampled_from(RANGES))
def test_the_scale_is_inverted_and_its_slope_is_the_derivative(share, range_):
    x, scale, step = np.array([value_in(range_, share)]), IntervalScale(range_), 1e-6
    assert_allclose(scale.back(scale.of(x)), x, rtol=1e-9, atol=1e-12)
    h = step * min(share, 1 - share)
    slope = (scale.of(x + h) - scale.of(x - h)) / (2 * h)
    assert_allclose(scale.slope(x), slope, rtol=1e-3)


@given(
    share=inner,
    spread=st.floats(1e-6, 1e3),
    range_=st.sampled_from(RANGES),
    alternative=st.sampled_from(["two-sided", "greater", "less"]),
)
def test_intervals_stay_in_the_range_and_hold_the_estimate(share, spread, range_, alternative):
    x = value_in(range_, share)
    low, high = inference(range_, x, spread, alternative=alternative).interval(0.05)[0]
    assert range_[0] <= low <= x + 1e-12 * abs(x)
    assert x - 1e-12 * abs(x) <= high <= range_[1]


@settings(deadline=None)
@given(
    share=inner,
    other=inner,
    spread=st.floats(1e-3, 10),
    alpha=st.floats(0.001, 0.5),
    range_=st.sampled_from(RANGES),
    alternative=st.sampled_from(["two-sided", "greater", "less"]),
)
def test_an_interval_excludes_what_the_test_rejects(
    share, other, spread, alpha, range_, alternative
):
    x, null = value_in(range_, share), value_in(range_, other)
    test = inference(range_, x, spread, alternative=alternative, null=null)
    low, high = test.interval(alpha)[0]
    p = test.p_values[0]
    if abs(p - alpha) > 1e-9:
        assert (p < alpha) == (null < low or null > high)
    if x != null:
        scale, slope = test.scale, test.scale.slope(np.array([x]))[0]
        if np.isfinite(slope) and test.on_log_scale:
            away = scale.of(np.array([x])) - scale.of(np.array([null]))
            assert test.statistic[0] == pytest.approx(away[0] / (spread * slope), rel=1e-9)
        else:
            assert test.statistic[0] == pytest.approx((x - null) / spread, rel=1e-9)


def test_probabilities_are_on_the_logit_scale():
    test = inference(SHARES, 0.1, 0.05, df=12)
    half = stats.t.isf(0.025, 12) * 0.05 / (0.1 * 0.9)
    assert_allclose(test.interval(0.05)[0], expit(logit(0.1) + np.array([-half, half])))


def test_at_an_end_of_the_range_intervals_end_there():
    for x in (0.0, 1.0):
        low, high = inference(SHARES, x, 0.1).interval(0.05)[0]
        assert 0 <= low <= x <= high <= 1


@pytest.fixture(scope="module")
def rare():
    rng, frame = normal_rows(120, "a b c", 4)
    event = rng.random(120) < expit(-2.5 + 1.5 * frame["a"])
    return frame.assign(y=np.where(event, "yes", "no"))


@pytest.mark.parametrize("learner", [LogisticRegression(), RandomForestClassifier(10)])
@pytest.mark.parametrize("plan", [pi.HalfSampling(5, pairs=5), pi.Bootstrap(5), None])
def test_no_interval_of_an_estimand_leaves_its_range(rare, learner, plan):
    estimator = pi.Learner.from_formula("y ~ .", rare, learner)
    results = estimator.fit_model(seed=1) if plan is None else estimator.fit(plan, seed=1)
    asks = {
        "pd": lambda **o: results.pd("a", points=5, **o),
        "entropy": lambda **o: results.pd("a", points=3, of="entropy", **o),
        "nll": lambda **o: results.pd("a", points=3, of="nll", **o),
        "loss": results.loss,
        "zero-one": lambda **o: results.loss("zero_one", **o),
        "AUC": lambda **o: results.metric("roc_auc", **o),
        "accuracy": lambda **o: results.metric("accuracy", **o),
        "H²": results.h_statistic,
        "FIRM": results.firm,
        "vint": results.vint,
        "ratio": lambda **o: results.pfi(relation="ratio", **o),
        "R²": lambda **o: results.loss(relation="explained", **o),
    }
    for name, ask in asks.items():
        for options in ({}, {"simultaneous": True}, {"alternative": "less"}):
            answer = ask(**options)
            low, high = answer.estimand.parameter.range
            assert np.isfinite([low, high]).any(), name
            limits = answer.conf_int().dropna().to_numpy()
            assert (limits >= low).all(), name
            assert (limits <= high).all(), name


def test_loss_of_numbers_is_on_the_log_scale_and_says_so():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.standard_t(3, size=60)})
    results = fit_of("y ~ x", frame, LinearRegression())
    loss = results.loss()
    half = stats.t.isf(0.025, 15) * loss.bse / loss.params
    assert_allclose(loss.conf_int()[1], loss.params * np.exp(half))
    assert "symmetric on the log scale" in words_of(loss, notes="full")


def sums(y, prediction):
    return y + prediction


@pytest.mark.parametrize("wrong", [(1, 0), 5, (0,), ("a", "b"), [0, 1], (0, np.nan)])
def test_a_range_is_two_numbers(wrong):
    with pytest.raises(OptionError, match="`range` must be the least and the largest value"):
        pi.mean_over_rows(sums, "y", range=wrong)
    with pytest.raises(OptionError, match="`range` must be"):
        pi.Loss("own", sums, range=wrong)


@pytest.mark.parametrize("level", ["learner", "model"])
def test_estimates_beyond_the_range_are_refused(level):
    """Their intervals would end where the range does, and not hold them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60) - 3})
    learner = pi.Learner.from_formula("y ~ x", frame, LinearRegression())
    results = learner.fit(seed=1) if level == "learner" else learner.fit_model()
    mean = pi.mean_over_rows(observed, "mean", range=(0, np.inf))
    with pytest.raises(
        OptionError, match=r"The `range` of mean is \(0, inf\), but an estimate is -"
    ):
        results.estimate(mean)
    negative = pi.Loss("negative", minus_squared, range=(0, np.inf))
    with pytest.raises(OptionError, match="`range` of loss is"):
        results.loss(negative)


def observed(y, prediction):
    return y + 0 * prediction


def minus_squared(y, prediction):
    return -np.square(y - prediction)
