"""Permutation importance: closed forms, the literal double loop, and Monte Carlo error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance as sklearn_pfi
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.estimands.estimate import Estimate
from pyinterp.losses.rowwise import LOSSES
from pyinterp.samplers import balanced_permutations

EXACT = 1e-10  # the bar for closed forms; measured differences are near 1e-14


def linear_data(n=60, seed=1):
    rng, X = normal_rows(n, "a b c", seed)
    X["b"] = X["b"].round(0)  # ties, so that distinct donors matter
    return X, X["a"] - 2 * X["b"] + rng.normal(size=n)


def linear_model(n=40):
    X, y = linear_data(n)
    return LinearRegression().fit(X, y), X, y


def test_linear_model_has_the_closed_form_of_all_pairs():
    # With residuals r_i and f = x'beta, the mean over i != k of (r_i - beta (x_k - x_i))² - r_i²
    # is 2 beta² s_x² + 2 beta s_rx (both with divisor n - 1).
    X, y = linear_data()
    model = LinearRegression().fit(X[:40], y[:40])
    rows, target = X[40:], y[40:]
    residual = target - model.predict(rows)
    expected = [
        2 * beta**2 * rows[name].var() + 2 * beta * rows[name].cov(residual)
        for name, beta in zip(rows, model.coef_, strict=True)
    ]
    found = pi.FittedModel(model, rows, target).pfi(permutations="all")
    assert_allclose(found.params, expected, atol=EXACT, rtol=0)
    assert (found.mcse == 0).all()


def literal(model, loss, X, y, names, predict):
    """D[i, k]: loss difference when row k donates `names` to row i; missing on the diagonal."""
    n = len(X)
    base = loss(y, predict(model, X))
    D = np.full((n, n), np.nan)
    for k in range(n):
        copy = X.copy()
        for name in names:
            copy[name] = X[name].iloc[k]
        D[:, k] = loss(y, predict(model, copy)) - base
    np.fill_diagonal(D, np.nan)
    return D, base


def regression_case():
    X, y = linear_data()
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    return model, X, y.to_numpy(), y.to_numpy(), lambda m, rows: m.predict(rows), "squared"


def classification_case():
    X, y = linear_data()
    labels = np.array(["no", "perhaps", "yes"])[np.digitize(y, [-1, 1])]
    model = RandomForestClassifier(10, random_state=0).fit(X, labels)
    codes = np.searchsorted(model.classes_, labels).astype(float)
    return model, X, labels, codes, lambda m, rows: m.predict_proba(rows), "brier"


@pytest.mark.parametrize("case", [regression_case, classification_case])
@pytest.mark.parametrize("members", [["a"], ["b"], ["a", "b"]])
def test_all_pairs_equal_the_double_loop_with_both_sides_contributions(case, members):
    model, X, y, coded, predict, loss = case()
    groups = {"group": members} if len(members) > 1 else None
    name = "group" if groups else members[0]
    fitted = pi.FittedModel(model, X, y, groups=groups)
    result = fitted.pfi(name, loss=loss, permutations="all")
    D, _ = literal(model, LOSSES[loss], X, coded, members, predict)
    (estimate,) = result.replicates.estimates
    row, donor = np.nanmean(D, axis=1), np.nanmean(D, axis=0)
    assert_allclose(estimate.value, [np.nanmean(D)], atol=1e-12)
    assert_allclose(estimate.rows[:, 0], row, atol=1e-12)
    assert_allclose(estimate.donors[:, 0], donor - donor.mean(), atol=1e-12)
    h, n = row + donor, len(X)
    ustat = np.sum((h - h.mean()) ** 2) / (n * (n - 1))
    rows = np.sum((row - row.mean()) ** 2) / (n * (n - 1))
    assert result.variance.cov[0, 0] == pytest.approx(ustat, rel=1e-10)
    alone = fitted.pfi(name, loss=loss, permutations="all", cov_type="rows")
    assert alone.variance.cov[0, 0] == pytest.approx(rows, rel=1e-10)


@pytest.mark.parametrize(("n", "k"), [(7, 3), (7, 6), (30, 11), (2, 1)])
def test_balanced_permutations(n, k):
    donors = balanced_permutations(n, k, np.random.default_rng(5))
    assert donors.shape == (n, k)
    assert (donors != np.arange(n)[:, None]).all()
    assert all(len(set(row)) == k for row in donors.tolist())
    assert (np.bincount(donors.ravel(), minlength=n) == k).all()
    assert all(sorted(column) == list(range(n)) for column in donors.T.tolist())


def test_n_minus_1_balanced_permutations_are_all_pairs():
    fitted = pi.FittedModel(*linear_model(30), seed=3)
    assert_allclose(
        fitted.pfi(permutations=29).params, fitted.pfi(permutations="all").params, atol=1e-12
    )


def test_contributions_of_some_permutations_are_those_of_the_pairs_met():
    model, X, y = linear_model(25)
    fitted = pi.FittedModel(model, X, y, seed=4)
    (estimate,) = fitted.pfi("a", permutations=6).replicates.estimates
    index = balanced_permutations(25, 6, fitted.analysis.seeds.stream("draws", 1, "a"))
    D, _ = literal(model, LOSSES["squared"], X, y.to_numpy(), ["a"], lambda m, r: m.predict(r))
    met = np.full((25, 25), np.nan)
    for i, donors in enumerate(index):
        met[i, donors] = D[i, donors]
    donor = np.nanmean(met, axis=0)
    assert_allclose(estimate.rows[:, 0], np.nanmean(met, axis=1), atol=1e-12)
    assert_allclose(estimate.donors[:, 0], donor - donor.mean(), atol=1e-12)


@pytest.mark.parametrize(("permutations", "count"), [(5, 400), (36, 200)])
def test_monte_carlo_error_is_the_spread_over_seeds(permutations, count):
    """36 of 39 permutations: without the finite-population factor it would be 3.6 times that."""
    model, X, y = linear_model()
    exact = pi.FittedModel(model, X, y).pfi("a", permutations="all").params["a"]
    runs = [
        pi.FittedModel(model, X, y, seed=s).pfi("a", permutations=permutations)
        for s in range(count)
    ]
    errors = np.array([r.params["a"] - exact for r in runs])
    mcse = np.sqrt(np.mean([r.mcse["a"] ** 2 for r in runs]))
    # The sd of normal draws has relative standard error 1/sqrt(2 count).
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(mcse, rel=4 / np.sqrt(2 * count))
    assert abs(errors.mean()) < 4 * mcse / np.sqrt(count)


def test_balanced_permutations_beat_independent_ones_at_the_same_cost():
    model, X, y = linear_model()
    exact = pi.FittedModel(model, X, y).pfi("a", permutations="all").params["a"]
    options = {"n_repeats": 10, "scoring": "neg_mean_squared_error"}
    ours, theirs = [], []
    for seed in range(40):
        found = pi.FittedModel(model, X, y, seed=seed).pfi("a", permutations=10)
        ours.append(found.params["a"] - exact)
        other = sklearn_pfi(model, X, y, random_state=seed, **options)
        theirs.append(other.importances_mean[0] - exact * 39 / 40)
    assert np.mean(np.square(ours)) < np.mean(np.square(theirs))


def test_batches_draw_permutations_of_features_with_many_values(monkeypatch):
    model, X, y = linear_model()
    few = pi.FittedModel(model, X, y, seed=1, engine="batched")
    assert (few.pfi().mcse == 0).all()
    monkeypatch.setattr("pyinterp.whatif.whatif.FEW", 0)
    fitted = pi.FittedModel(model, X, y, seed=1, engine="batched")
    auto, thirty, every = (fitted.pfi(permutations=k) for k in ("auto", 30, "all"))
    # b has few distinct values, a and c have 40.
    assert auto.mcse["b"] == 0
    assert (every.mcse == 0).all()
    assert auto.params["b"] == every.params["b"]
    for name in ("a", "c"):
        assert auto.mcse[name] == thirty.mcse[name] > 0
        assert auto.params[name] == thirty.params[name]
        assert auto.params[name] == pytest.approx(every.params[name], abs=5 * auto.mcse[name])
    assert (pi.FittedModel(model, X, y).pfi().mcse == 0).all()


def test_a_feature_has_the_same_draws_whatever_else_is_asked_for():
    fitted = pi.FittedModel(*linear_model(), seed=1)
    alone, among = fitted.pfi("c", permutations=4), fitted.pfi(permutations=4)
    assert alone.params["c"] == among.params["c"]


def test_ratio_and_its_contributions_are_the_delta_method():
    rng = np.random.default_rng(2)
    top, bottom = rng.uniform(1, 2, (50, 1)), rng.uniform(2, 3, (50, 1))
    ratio = Estimate.of_rows(top).over(Estimate.of_rows(bottom))
    assert ratio.value[0] == pytest.approx(top.mean() / bottom.mean(), rel=1e-14)
    # The derivative of the weighted ratio with respect to row i's weight.
    weight = np.full(50, 1 / 50)
    for i in (0, 17, 49):
        moved = weight.copy()
        moved[i] += 1e-6
        slope = ((moved @ top) / (moved @ bottom) - ratio.value)[0] / 1e-6
        # Two-decimal-digit step error: the second derivative is of order one.
        assert ratio.rows[i, 0] - ratio.value[0] == pytest.approx(slope, abs=1e-5)


def test_ratio_is_switched_over_original_loss():
    fitted = pi.FittedModel(*linear_model())
    loss = fitted.loss().params.iloc[0]
    difference, ratio = fitted.pfi(), fitted.pfi(relation="ratio")
    assert_allclose(ratio.params, 1 + difference.params / loss, rtol=1e-12)
    assert ratio.null == 1.0
    # Both sides' contributions, by the delta method from those of the two losses.
    (case,) = fitted.analysis.cases
    measured = ratio.estimand.measure(case)
    switched, original = measured["changed"], measured["original"]
    (estimate,) = ratio.replicates.estimates
    r = switched.value / original.value
    assert_allclose(
        estimate.donors, (switched.donors - r * original.donors) / original.value, rtol=1e-12
    )
    assert case.evaluation.nobs == len(estimate.donors)
