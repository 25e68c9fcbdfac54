"""Molnar et al. (2021): numbers of theorems and equations, each computed in two ways.

Simulations have fixed seeds and allow `ERRORS` of their own standard errors.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp_papers.processes import molnar_linear

ERRORS = 3.0
PROCESS = molnar_linear()
FEATURES = ["x1", "x2"]
FULL = pytest.mark.calibration


def pairs_loop(model, data):
    """PFI of x1 by a loop over donors: every row has the value of every other row once."""
    X, y, n = data[FEATURES], data["y"].to_numpy(), len(data)
    changed = np.column_stack([model.predict(X.assign(x1=value)) for value in X["x1"]])
    losses = np.square(y[:, None] - changed)[~np.eye(n, dtype=bool)]
    return float(losses.mean() - np.square(y - model.predict(X)).mean())


# Bias --------------------------------------------------------------------------------------------


def bias(estimand, repetitions, truth, **options):
    """Mean of a least-squares learner's estimates over fresh data, less the true value."""
    plan = pi.FreshDraws(partial(PROCESS.draw, 2100), refits=repetitions, fraction=100 / 2100)
    learner = pi.Learner.from_formula("y ~ .", PROCESS.draw(100, seed=1), LinearRegression())
    results = getattr(learner.fit(plan, seed=1, progress=False), estimand)("x1", **options)
    estimates = results.refit_frame()
    return estimates.mean() - truth, estimates.std() / np.sqrt(repetitions)


@pytest.mark.parametrize("repetitions", [20, pytest.param(200, marks=FULL)])
def test_theorem_1_pd_of_an_unbiased_learner_is_unbiased(repetitions):
    grid = [0.1, 0.5, 0.9]
    found, error = bias("pd", repetitions, PROCESS.pd("x1", grid), grid=grid)
    assert len(found) == 3
    assert (found.abs() <= ERRORS * error).all()


@pytest.mark.parametrize("repetitions", [20, pytest.param(200, marks=FULL)])
def test_theorem_2_pfi_of_an_unbiased_learner_is_unbiased(repetitions):
    """If draws are conditional, or features independent, as here."""
    found, error = bias("pfi", repetitions, PROCESS.pfi("x1"))
    assert len(found) == 1
    assert (found.abs() <= ERRORS * error).all()


def test_theorem_3_conditional_pfi_of_the_process_less_that_of_a_model():
    """It is 2 E(V(f | C) - Cov(f, model | C)); the printed sign is reversed (erratum 1)."""
    n, rng = 1_000_000, np.random.default_rng(1)
    c, noise, y_noise, fresh = rng.standard_normal((4, n))
    s, again = 0.6 * c + 0.8 * noise, 0.6 * c + 0.8 * fresh  # two draws of s given c

    def f(s):
        return s * (1 + c)

    def model(s):
        return 0.5 * s * (1 + c) + 0.2 * s - c

    y = f(s) + y_noise
    cpfi = [np.square(y - g(again)) - np.square(y - g(s)) for g in (f, model)]
    left = cpfi[0] - cpfi[1]
    # V(s | c) = .64; f has the slope 1 + c in s, the model .7 + .5 c.
    right = 2 * 0.64 * ((1 + c) ** 2 - (1 + c) * (0.7 + 0.5 * c))
    errors = np.array([left.std(), right.std()]) / np.sqrt(n)
    assert abs(left.mean() - right.mean()) < ERRORS * np.hypot(*errors)
    assert abs(-left.mean() - right.mean()) > 100 * np.hypot(*errors)  # as printed


# Intervals of a model ----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[80, pytest.param(400, marks=FULL)])
def coverage(request):
    """The share of 95% intervals of a model that hold the true value, with its error."""
    process = replace(PROCESS, noise_sd=0.2)  # larger noise hides the donors' part
    rows = process.draw(200_000, seed=0)
    model = LinearRegression().fit(rows[FEATURES], process.f(rows))
    true = process.pfi("x1")
    held = []
    for seed in range(1, request.param + 1):
        case = pi.FittedModel(model, process.draw(100, seed=seed), "y")
        results = {
            "PD": (case.pd("x1", grid=[0.5], cov_type="rows"), 0.0),
            "PFI, rows": (case.pfi("x1", cov_type="rows"), true),
            "PFI, rows and donors": (case.pfi("x1", cov_type="ustat"), true),
        }
        limits = {k: (*r.conf_int().to_numpy()[0], value) for k, (r, value) in results.items()}
        held.append({k: low <= value <= high for k, (low, high, value) in limits.items()})
    table = pd.DataFrame(held)
    share = table.mean()
    return pd.DataFrame({"share": share, "error": np.sqrt(share * (1 - share) / len(table))})


def test_equation_5_intervals_of_a_models_pd_cover(coverage):
    share, error = coverage.loc["PD"]
    assert abs(share - 0.95) < ERRORS * error


def test_equation_6_intervals_of_a_models_pfi_cover_if_donors_count(coverage):
    """The printed variance counts rows alone, and donors are a sample too (erratum 9)."""
    share, error = coverage.loc["PFI, rows and donors"]
    assert abs(share - 0.95) < ERRORS * error
    assert coverage.loc["PFI, rows", "share"] < 0.92  # as printed


# Estimators --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    return PROCESS.draw(60, seed=1)


@pytest.fixture(scope="module")
def learner(data):
    learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
    return learner.fit(pi.Bootstrap(15), seed=1, progress=False)


@pytest.fixture(scope="module")
def by_hand(data, learner):
    """PD at .5 and PFI of x1 in every refit, trained and evaluated without the package."""
    rows = []
    for refit in learner.refits:
        train, rest = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        model = LinearRegression().fit(train[FEATURES], train["y"])
        curve = model.predict(rest[FEATURES].assign(x1=0.5)).mean()
        rows.append({"PD": curve, "PFI": pairs_loop(model, rest)})
    return pd.DataFrame(rows)


def test_equations_2_and_7_pd_is_a_mean_prediction_and_its_mean_over_refits(learner, by_hand):
    assert len(by_hand) == 15
    found = learner.pd("x1", grid=[0.5])
    np.testing.assert_allclose(found.refit_frame().iloc[:, 0], by_hand["PD"], rtol=1e-12)
    assert found.params.iloc[0] == pytest.approx(by_hand["PD"].mean(), rel=1e-12)


def test_equations_4_and_8_pfi_is_a_mean_over_pairs_and_its_mean_over_refits(learner, by_hand):
    found = learner.pfi("x1", permutations="all")
    np.testing.assert_allclose(found.refit_frame()["x1"], by_hand["PFI"], rtol=1e-12)
    assert found.params.iloc[0] == pytest.approx(by_hand["PFI"].mean(), rel=1e-12)


def test_section_7_3_the_variance_without_correction_is_that_of_a_mean(learner, by_hand):
    found = learner.pfi("x1", permutations="all", cov_type="naive").bse.iloc[0] ** 2
    assert found == pytest.approx(by_hand["PFI"].var(ddof=1) / 15, rel=1e-9)
