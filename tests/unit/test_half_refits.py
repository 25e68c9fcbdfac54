"""What a learner finds at the two sizes of training sets, and what is refused or warned of."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor
from test_square import reference

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.inference.half_sample.half_refits import HalfRefits, signal_and_spread


def frame(n, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    return X.assign(y=X["x0"] + X["x1"] / 2 + rng.normal(size=n))


def fit(data, learner, plan=None, formula="y ~ ."):
    return fit_of(formula, data, learner, plan)


@pytest.fixture(scope="module")
def cliff():
    """20 rows per leaf: no split of 37 rows, splits of 47."""
    return fit(frame(75), HistGradientBoostingRegressor(max_iter=20))


def test_signal_and_spread_by_hand():
    rng = np.random.default_rng(1)
    y, f = rng.normal(size=50), rng.normal(size=50)
    expected = [np.cov(y, f, ddof=0)[0, 1], f.var()]
    assert_allclose(signal_and_spread(y, f), expected)
    codes, p = rng.integers(0, 3, 50).astype(float), rng.dirichlet(np.ones(3), 50)
    signal = sum(np.cov(codes == k, p[:, k], ddof=0)[0, 1] for k in range(3))
    assert_allclose(signal_and_spread(codes, p), [signal, p.var(axis=0).sum()])


def test_they_are_those_of_every_refit():
    results = fit(frame(60), LinearRegression(), pi.HalfSampling(4, pairs=5))
    fits = results.analysis.facts.half_refits
    assert fits.estimating.shape == (4, 2)
    assert fits.halves.shape == (10, 2)
    rows = [*fits.estimating, *fits.halves]
    for row, case in zip(rows, results.analysis.cases, strict=True):
        f = case.whatif.factual
        assert_allclose(row, [np.cov(case.y, f, ddof=0)[0, 1], f.var()])


def about(mean, error, count):
    """Return signals of this mean, whose mean has this standard error, and spreads of 1."""
    away = np.resize([1.0, -1.0], count) * error * np.sqrt(count - 1)
    return np.column_stack([mean + away, np.ones(count)])


def fits_of(signal, half, noise):
    """Signals whose difference has this standard error."""
    root = noise / np.sqrt(2)
    return HalfRefits(about(signal, root, 16), about(half, root, 30))


signals = st.floats(-2, 2)
noises = st.floats(0.001, 0.5)


@given(signal=signals, half=signals, noise=noises, other=noises)
def test_growth_is_that_of_the_reference(signal, half, noise, other):
    fits = HalfRefits(about(signal, noise, 16), about(half, other, 30))
    assume(abs(signal - half - np.hypot(noise, other)) > 1e-9)
    expected = reference.growth(fits.estimating[:, 0], fits.halves[:, 0])
    assert fits.verdict.growth == pytest.approx(expected, rel=1e-9)
    assert 1.0 <= fits.verdict.growth <= 1.5


@pytest.mark.parametrize(
    ("signal", "half", "noise", "refused"),
    [
        (1.6, 1.0, 0.11, True),  # more than 1.5 times, by more than 5 standard errors
        (1.6, 1.0, 0.13, False),
        (1.45, 1.0, 0.01, False),
        (1.0, -0.2, 0.1, True),
        (-1.0, -2.0, 0.05, False),  # finds nothing at either size
        (-1.0, -5.0, 0.05, False),
    ],
)
def test_halves_that_find_too_little_are_refused(signal, half, noise, refused):
    fits = fits_of(signal, half, noise)
    assert bool(fits.verdict.reason) is refused
    if refused:
        assert f"finds {max(half / signal, 0):.0%} of what it finds on 63.2%" in fits.verdict.reason
        assert fits.verdict.reason.endswith("fit on more rows, or let it adapt to fewer")


@pytest.mark.parametrize(("constant", "refused"), [(3, False), (4, True)])
def test_halves_that_predict_a_constant_are_refused(constant, refused):
    """32 rows are not split into leaves of 20, 40 are, once: more than a tenth of 30 refits."""
    halves = about(1.0, 0.01, 30)
    halves[:constant, 1] = 0.0
    fits = HalfRefits(about(1.0, 0.01, 15), halves)
    assert bool(fits.verdict.reason) is refused
    if refused:
        assert "13% of the refits predict the same for every row" in fits.verdict.reason
    never = about(1.0, 0.01, 15) * [1.0, 0.0]
    assert (
        HalfRefits(never, halves).verdict.reason == ""
    )  # nothing at the size of the estimate either


@pytest.mark.parametrize(("times", "warned"), [(1.57, False), (1.59, True)])
def test_predictions_that_vary_more_on_halves_are_warned_of(times, warned):
    """1.264 of the growth is that of training variances; the rest is above a fifth of it."""
    halves = about(1.0, 0.01, 30) * [1.0, times]
    fits = HalfRefits(about(1.0, 0.01, 15), halves)
    assert bool(fits.verdict.warning) is warned
    assert fits.verdict.reason == ""
    if warned:
        assert f"predictions vary {times:.3g} times as much as on 63.2%" in fits.verdict.warning


def test_halves_that_are_the_estimate_are_never_refused():
    """There is no other size. Whatever the halves find: nothing, a constant, or much."""
    for mean, spread in ((1.0, 1.0), (-1.0, 1.0), (1.0, 0.0)):
        fits = HalfRefits(np.zeros((0, 2)), about(mean, 0.01, 30) * [1.0, spread])
        assert (fits.verdict.growth, fits.verdict.reason, fits.verdict.warning) == (1.0, "", "")
    results = fit(frame(75), HistGradientBoostingRegressor(max_iter=20), pi.HalfSampling(0))
    assert not results.pfi().variance.reason


def test_no_interval_where_halves_find_nothing(cliff):
    for answer in (cliff.pfi(), cliff.pd("x0", points=3), cliff.firm(), cliff.loss()):
        assert answer.params.notna().all()
        assert answer.bse.isna().all()
        assert answer.pvalues.isna().all()
        assert answer.conf_int().isna().to_numpy().all()
        assert answer.variance.reason.startswith("trained on half the rows the learner finds")
        assert answer.variance.reason in words_of(answer)
        assert not answer.variance.warning
        assert not answer.variance.note


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.pfi().t_test("x0 = x1"),
        lambda fit: fit.pfi().wald_test("x0 = x1"),
        lambda fit: fit.pd("x0", points=3).flat_test(),
    ],
)
def test_tests_there_are_refused_with_the_reason(cliff, ask):
    with pytest.raises(InferenceError, match="trained on half the rows the learner finds"):
        ask(cliff)


def test_comparisons_and_subgroups_know_it_too(cliff):
    other = fit(frame(75), LinearRegression())
    for pair in ((cliff, other), (other, cliff)):
        assert pi.compare(*pair).bse.isna().all()
    assert "trained on half the rows" in words_of(pi.compare(other, cliff))
    assert cliff.pfi(rows="x2 > -5").bse.isna().all()


def test_other_variances_of_the_same_refits_are_printed(cliff):
    assert (cliff.pfi(cov_type="corrected").bse.dropna() > 0).any()


@pytest.mark.parametrize(
    "learner", [LinearRegression(), Ridge(10.0), DecisionTreeRegressor(min_samples_leaf=5)]
)
def test_learners_of_the_published_settings_keep_their_intervals(learner):
    for seed in range(3):
        pfi = fit(frame(100, seed=seed), learner).pfi()
        assert not pfi.variance.reason
        assert not pfi.variance.warning
        assert (pfi.bse > 0).any()


def test_noise_alone_does_not_refuse_intervals():
    data = frame(80).assign(y=np.random.default_rng(3).normal(size=80))
    assert not fit(data, DecisionTreeRegressor()).pfi().variance.reason


def test_features_near_half_the_rows_are_warned_of():
    results = fit(frame(60, p=30), LinearRegression())
    for answer in (results.pfi(["x0"]), results.pd("x0", points=3)):
        assert "as they do where features are nearly as many as rows" in answer.variance.warning
        assert answer.variance.warning in words_of(answer)
        assert (answer.bse > 0).all()


def test_a_constant_prediction_has_no_signal_and_no_warning():
    """What rounding makes of a constant is no spread, of which halves might have more."""
    y = np.random.default_rng(0).normal(size=30)
    nearly = 0.1 * (1 + 1e-16 * y)
    assert (signal_and_spread(y, nearly) == 0).all()
    results = fit(frame(80), Lasso(100.0))
    assert not results.loss().variance.reason
    assert not results.loss().variance.warning


@pytest.mark.parametrize("ask", ["loss", "difference", "ratio"])
def test_comparisons_do_not_depend_on_the_order(ask):
    """Predictions of a linear model vary too much on halves, those of ridge regression do not."""
    data, plan = frame(60, p=29), pi.HalfSampling(5, pairs=8)
    both = [fit(data, learner, plan) for learner in (LinearRegression(), Ridge(5.0))]
    results = [r.loss() if ask == "loss" else r.pfi(["x0"], relation=ask) for r in both]
    one, other = pi.compare(*results), pi.compare(*reversed(results))
    assert_allclose(one.bse, other.bse, rtol=1e-9)
    for compared in (one, other):
        assert "predictions vary" in words_of(compared)


@pytest.mark.parametrize(("number", "warned"), [(30, True), (31, False)])
def test_few_clusters_are_warned_of(number, warned):
    data = frame(150).assign(id=np.arange(150) % number)
    plan = pi.HalfSampling(15, pairs=5, cluster="id")
    pfi = fit(data, LinearRegression(), plan, formula="y ~ x0 + x1").pfi()
    assert (f"There are {number} clusters" in pfi.variance.warning) is warned
    assert pfi.df_resid == 5
    assert (pfi.bse > 0).all()
    assert not pfi.variance.reason


def test_rows_without_clusters_are_not_counted():
    assert (
        not fit(frame(45), LinearRegression(), pi.HalfSampling(3, pairs=5)).pfi().variance.warning
    )
