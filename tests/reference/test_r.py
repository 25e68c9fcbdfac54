"""What R's numbers say beyond their equality with ours, which `test_manifest.py` has.

The R call behind every file is in data/README.md. Models are refitted here by formula; R's and
statsmodels' fits agree to 5e-14, so the tolerances below are rounding.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi

DATA = Path(__file__).parent / "data"
LM_FRIEDMAN = "y ~ x1*x2 + x3 + I(x3**2) + x4 + x5 + I(x1**2) + x6 + x7 + x8 + x9 + x10"
GLM_MIXED = "ybin ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2"
TOLERANCE = 1e-8  # the bar; measured differences are near 1e-13


def read(name):
    return pd.read_csv(DATA / name)


@pytest.fixture(scope="module")
def friedman():
    return read("inputs/friedman1.csv")


@pytest.fixture(scope="module")
def mixed():
    data = read("inputs/mixed.csv")
    levels = json.loads((DATA / "inputs/mixed_levels.json").read_text())
    for name in ("f1", "f2"):
        data[name] = pd.Categorical(data[name], categories=levels[name])
    return data


@pytest.fixture(scope="module")
def lm_friedman(friedman):
    return pi.Learner.from_formula(LM_FRIEDMAN, friedman, LinearRegression()).fit_model()


@pytest.fixture(scope="module")
def glm_mixed(mixed):
    learner = pi.statsmodels_learner(
        sm.GLM, family=sm.families.Binomial(), fit={"tol": 1e-14, "maxiter": 100}
    )
    return pi.Learner.from_formula(GLM_MIXED, mixed, learner).fit_model()


def test_pd_of_a_poisson_glm_is_the_mean_of_means(mixed):
    fitted = smf.glm("z4 ~ z1 + z2 + f2", mixed, family=sm.families.Poisson()).fit(tol=1e-14)
    expected = read("pdp/pois_z1.csv")  # on the link scale
    result = pi.FittedModel(fitted, mixed).pd("z1", grid=expected["z1"])
    # z1 enters the link linearly: exp of it is proportional to the PD of the mean.
    ratio = result.params.to_numpy() / np.exp(expected["yhat"].to_numpy())
    assert_allclose(ratio, ratio[0], rtol=TOLERANCE)


def test_vips_mean_over_permutations_is_near_ours_over_all(lm_friedman):
    vip = read("vip/permute_lmf_mse_custom.csv").set_index("Variable")
    ours = lm_friedman.pfi(permutations="all").params[vip.index]
    # vip permutes with fixed points: its expectation is (n - 1)/n of ours.
    z = (vip["Importance"] - ours * 499 / 500) / (vip["StDev"] / np.sqrt(5))
    # |t| with 4 df exceeds 8.6 with probability 0.001; ten features.
    assert (z.abs() < 8.6).all()


def test_logistic_regression_of_scikit_learn_agrees_with_glm(mixed, glm_mixed):
    learner = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    other = pi.Learner.from_formula(GLM_MIXED, mixed, learner).fit_model()
    assert_allclose(other.pd("z2").params, glm_mixed.pd("z2").params, atol=1e-6)
    every = [model.pfi(permutations="all").params for model in (other, glm_mixed)]
    assert_allclose(*every, atol=1e-6)
