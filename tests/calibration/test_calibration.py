"""Do intervals cover and tests keep their size? Simulations with known truth.

Each study runs in full under `make calibration` and reduced in the default suite. Bounds of the
full runs are those promised in the documentation; reduced runs are held to the same bounds widened
by three Monte Carlo standard errors, sqrt(p (1 - p) / repetitions).
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp_papers.processes import molnar_linear

FULL = pytest.param(1000, id="full", marks=pytest.mark.calibration)
REDUCED = pytest.param(250, id="reduced")


def margin(p, repetitions, full):
    """Three standard errors of a reduced run's share; nothing for a full run."""
    return 0.0 if repetitions >= full else 3 * np.sqrt(p * (1 - p) / repetitions)


def known_function(rows):
    return (rows["x1"] - rows["x2"]).to_numpy()


def model_level(repetitions, n=100, noise=0.2):
    """Coverage of the true PFI, 2 Var(U) = 1/6 for both features, by each variance."""
    rng = np.random.default_rng(20211)
    covered = {"rows": [], "ustat": []}
    for _ in range(repetitions):
        X = pd.DataFrame(rng.uniform(size=(n, 2)), columns=["x1", "x2"])
        y = known_function(X) + rng.normal(0, noise, n)
        model = pi.FittedModel(known_function, X, y)
        for cov_type, hits in covered.items():
            limits = model.pfi(cov_type=cov_type).conf_int()
            hits.append(((limits[0] <= 1 / 6) & (limits[1] >= 1 / 6)).to_numpy())
    return {cov_type: np.array(hits) for cov_type, hits in covered.items()}


@pytest.mark.parametrize("repetitions", [REDUCED, FULL])
def test_model_level_pfi_intervals_cover_only_if_donors_count(repetitions):
    covered = model_level(repetitions)
    coverage = {k: v.mean() for k, v in covered.items()}
    print(f"\ncoverage of 95% model-level PFI intervals, {repetitions} repetitions: {coverage}")
    wide = margin(0.95, repetitions, 1000)
    assert 0.93 - wide <= coverage["ustat"] <= min(0.97 + wide, 0.99)
    assert coverage["ustat"] > coverage["rows"] + 0.05
    # The published formula, which counts rows only, covers about 0.84.
    wide = margin(0.84, repetitions, 1000)
    assert 0.81 - wide <= coverage["rows"] <= 0.87 + wide


@pytest.mark.parametrize("repetitions", [REDUCED, FULL])
def test_model_level_pd_intervals_cover(repetitions):
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(repetitions):
        X = pd.DataFrame(rng.uniform(size=(100, 2)), columns=["x1", "x2"])
        limits = pi.FittedModel(known_function, X).pd("x1", grid=[0.3]).conf_int()
        hits.append(limits.loc["x1[0.3]", 0] <= 0.3 - 0.5 <= limits.loc["x1[0.3]", 1])
    coverage = np.mean(hits)
    print(f"\ncoverage of 95% model-level PD intervals, {repetitions} repetitions: {coverage}")
    wide = margin(0.95, repetitions, 1000) or margin(0.95, repetitions, 1001)
    assert abs(coverage - 0.95) <= wide


@pytest.mark.parametrize(
    "datasets",
    [pytest.param(50, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.calibration)],
)
def test_null_feature_is_rejected_at_most_at_the_nominal_size(datasets):
    rng = np.random.default_rng(91)
    p = []
    for k in range(datasets):
        data = pd.DataFrame(rng.normal(size=(100, 3)), columns=["x1", "x2", "noise"])
        data["y"] = data["x1"] - data["x2"] + rng.normal(size=100)
        learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
        p.append(learner.fit(pi.Bootstrap(15), seed=k).pfi("noise").pvalues["noise"])
    rejected = np.mean(np.array(p) < 0.05)
    print(f"\nnull feature rejected at 5%: {rejected} of {datasets} data sets")
    assert rejected <= 0.07 + margin(0.05, datasets, 400)


@pytest.mark.parametrize(
    "datasets",
    [pytest.param(25, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.calibration)],
)
def test_loco_of_a_null_feature_is_rejected_at_most_at_the_nominal_size(datasets):
    rng = np.random.default_rng(92)
    p = []
    for k in range(datasets):
        X = rng.normal(size=(100, 3))
        y = X[:, 0] - X[:, 1] + rng.normal(size=100)
        loco = pi.Learner(y, X, LinearRegression()).fit(seed=k).loco("x3")
        p.append(loco.t_test("x3 = 0").pvalue.item())
    rejected = np.mean(np.array(p) < 0.05)
    print(f"\nLOCO of a null feature rejected at 5%: {rejected} of {datasets} data sets")
    assert rejected <= 0.05 + margin(0.05, datasets, 400)


@pytest.mark.parametrize(
    ("refits", "datasets"),
    [
        pytest.param(500, 20, id="reduced"),
        pytest.param(1000, 60, id="full", marks=pytest.mark.calibration),
    ],
)
def test_fresh_draws_cover_the_expected_importance(refits, datasets):
    # "Ideal" setting of Molnar et al., c = 0. The truth: many independent refits of n = 100.
    def draw(rng):
        X = pd.DataFrame(rng.uniform(size=(100, 2)), columns=["x1", "x2"])
        return X.assign(y=X["x1"] - X["x2"] + rng.normal(size=100))

    start = draw(np.random.default_rng(0))
    learner = pi.Learner.from_formula("y ~ x1 + x2", start, LinearRegression())
    long_run = learner.fit(pi.FreshDraws(draw, refits), seed=1).pfi()
    truth, error = long_run.params["x1"], long_run.bse["x1"]
    hits, half = [], []
    for k in range(datasets):
        limits = learner.fit(pi.FreshDraws(draw, 15), seed=100 + k).pfi("x1").conf_int().loc["x1"]
        hits.append(limits[0] <= truth <= limits[1])
        half.append((limits[1] - limits[0]) / 2)
    assert error < 0.1 * np.mean(half)  # the truth is known well enough to judge coverage
    assert abs(np.mean(hits) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / datasets)


@pytest.mark.calibration
def test_nested_bootstrap_intervals_cover():
    # For a linear model on independent features neither PD nor PFI depends in expectation on the
    # number of training rows: DGP-PFI is 2 Var(U) = 1/6, DGP-PD(x) is x - 1/2.
    process, grid = molnar_linear(), [0.1, 0.5, 0.9]
    truth = np.array([1 / 6, 1 / 6, *(x - 0.5 for x in grid)])
    hits = {"bootstrap": []}
    for k in range(200):
        data = process.draw(200, np.random.default_rng([77, k]))
        learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
        fitted = learner.fit(pi.NestedBootstrap(60, 4), seed=k, progress=False)
        for cov_type, own in hits.items():
            found = fitted.pfi(cov_type=cov_type), fitted.pd("x1", grid=grid, cov_type=cov_type)
            low, high = np.concatenate([f.conf_int().to_numpy() for f in found]).T
            own.append((low <= truth) & (truth <= high))
    coverage = {cov_type: np.mean(own, axis=0) for cov_type, own in hits.items()}
    print(f"\ncoverage of 95% nested bootstrap intervals, 200 data sets: {coverage}")
    three_errors = 3 * np.sqrt(0.95 * 0.05 / 200)
    for shares in coverage.values():
        assert (shares > 0.94 - three_errors).all()
