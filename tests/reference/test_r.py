"""Agreement with R's pdp and vip on numbers computed by the real packages.

The R call behind every file is in data/README.md. Models are refitted here by formula; R's and
statsmodels' fits agree to 5e-14, so the tolerances below are rounding.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi

DATA = Path(__file__).parent / "data"
LM_FRIEDMAN = "y ~ x1*x2 + x3 + I(x3**2) + x4 + x5 + I(x1**2) + x6 + x7 + x8 + x9 + x10"
LM_MIXED = "yreg ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2 + z1:z3"
GLM_MIXED = "ybin ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2"
TOLERANCE = 1e-8  # the bar; measured differences are near 1e-13


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / name)


@pytest.fixture(scope="module")
def friedman() -> pd.DataFrame:
    return read("inputs/friedman1.csv")


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    data = read("inputs/mixed.csv")
    levels = json.loads((DATA / "inputs/mixed_levels.json").read_text())
    for name in ("f1", "f2"):
        data[name] = pd.Categorical(data[name], categories=levels[name])
    return data


@pytest.fixture(scope="module")
def lm_friedman(friedman: pd.DataFrame) -> pi.FittedModel:
    return pi.Learner.from_formula(LM_FRIEDMAN, friedman, LinearRegression()).fit_model()


@pytest.fixture(scope="module")
def lm_mixed(mixed: pd.DataFrame) -> pi.FittedModel:
    return pi.Learner.from_formula(LM_MIXED, mixed, LinearRegression()).fit_model()


@pytest.fixture(scope="module")
def glm_mixed(mixed: pd.DataFrame) -> pi.FittedModel:
    learner = pi.statsmodels_learner(
        sm.GLM, family=sm.families.Binomial(), fit={"tol": 1e-14, "maxiter": 100}
    )
    return pi.Learner.from_formula(GLM_MIXED, mixed, learner).fit_model()


def check(result: pi.EstimandResults, expected: pd.Series, tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(result.params.to_numpy(), expected.to_numpy(), atol=tolerance)


@pytest.mark.parametrize(
    ("name", "variable", "points"),
    [("lmf_x1_default", "x1", 51), ("lmf_x3_default", "x3", 51), ("lmf_x3_res20", "x3", 20)],
)
def test_pd_of_lm_with_squares_and_products_on_rs_default_grid(
    lm_friedman: pi.FittedModel, name: str, variable: str, points: int
) -> None:
    expected = read(f"pdp/{name}.csv")
    result = lm_friedman.pd(variable, grid="equidistant", points=points)
    grid = result.estimand.terms.layout["value"]
    np.testing.assert_allclose(grid, expected[variable], atol=1e-14)
    check(result, expected["yhat"])


@pytest.mark.parametrize("name", ["lmf_x3_quantiles", "lmf_x3_usergrid"])
def test_pd_on_a_given_grid(lm_friedman: pi.FittedModel, name: str) -> None:
    expected = read(f"pdp/{name}.csv")
    check(lm_friedman.pd("x3", grid=expected["x3"]), expected["yhat"])


def test_pd_of_two_variables_in_the_order_of_expand_grid(lm_friedman: pi.FittedModel) -> None:
    expected = read("pdp/lmf_x1x2_res11.csv")
    result = lm_friedman.pd(("x1", "x2"), grid="equidistant", points=11)
    layout = result.estimand.terms.layout
    np.testing.assert_allclose(layout, expected[["x1", "x2"]], atol=1e-14)
    check(result, expected["yhat"])


@pytest.mark.parametrize("variable", ["z1", "z3"])
def test_pd_with_interactions_and_factors(lm_mixed: pi.FittedModel, variable: str) -> None:
    expected = read(f"pdp/lmm_{variable}_default.csv")
    check(lm_mixed.pd(variable, grid="equidistant", points=51), expected["yhat"])


@pytest.mark.parametrize("variable", ["f1", "f2"])
def test_pd_of_a_factor_in_level_order(lm_mixed: pi.FittedModel, variable: str) -> None:
    expected = read(f"pdp/lmm_{variable}.csv")
    result = lm_mixed.pd(variable)
    assert result.estimand.terms.layout["value"].tolist() == expected[variable].tolist()
    check(result, expected["yhat"])


def test_pd_of_two_factors(lm_mixed: pi.FittedModel) -> None:
    expected = read("pdp/lmm_f1f2.csv")
    result = lm_mixed.pd(["f1", "f2"])
    assert result.estimand.terms.layout["value2"].tolist() == expected["f2"].tolist()
    check(result, expected["yhat"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lmm_z4_nocheck", {"grid": "equidistant", "points": 11}),
        ("lmm_z4_cats", {"grid": "unique"}),
    ],
)
def test_pd_of_an_integer(lm_mixed: pi.FittedModel, name: str, options: dict) -> None:
    check(lm_mixed.pd("z4", **options), read(f"pdp/{name}.csv")["yhat"])


@pytest.mark.parametrize(("name", "kind"), [("lmm_z1_ice", "ice"), ("lmm_z1_cice", "c-ice")])
def test_ice_and_centered_ice(mixed: pd.DataFrame, name: str, kind: str) -> None:
    fitted = smf.ols(LM_MIXED, mixed).fit()
    expected = read(f"pdp/{name}.csv").pivot_table(index="yhat.id", columns="z1", values="yhat")
    result = pi.FittedModel(fitted, mixed[:100]).pd("z1", grid=expected.columns, kind=kind)
    np.testing.assert_allclose(result.row_frame(), expected, atol=TOLERANCE)


def test_ice_of_a_factor(mixed: pd.DataFrame) -> None:
    fitted = smf.ols(LM_MIXED, mixed).fit()
    expected = read("pdp/lmm_f1_ice.csv").pivot_table(index="yhat.id", columns="f1", values="yhat")
    result = pi.FittedModel(fitted, mixed[:100]).pd("f1", kind="ice")
    expected = expected[result.estimand.terms.layout["value"]]
    np.testing.assert_allclose(result.row_frame(), expected, atol=TOLERANCE)


def test_pd_of_a_binomial_glm_on_both_scales(glm_mixed: pi.FittedModel) -> None:
    grid = {"grid": "equidistant", "points": 51}
    check(glm_mixed.pd("z1", **grid), read("pdp/glm_z1_prob.csv")["yhat"])
    check(glm_mixed.pd("z1", which_class=0, **grid), read("pdp/glm_z1_prob_class2.csv")["yhat"])
    logit = glm_mixed.pd("z1", scale="logit", **grid)
    check(logit, read("pdp/glm_z1_link.csv")["yhat"])
    check(logit, 2 * read("pdp/glm_z1_logit.csv")["yhat"])  # pdp's default is half the logit
    check(glm_mixed.pd("f2"), read("pdp/glm_f2_prob.csv")["yhat"])


def test_pd_of_a_poisson_glm_is_the_mean_of_means(mixed: pd.DataFrame) -> None:
    fitted = smf.glm("z4 ~ z1 + z2 + f2", mixed, family=sm.families.Poisson()).fit(tol=1e-14)
    expected = read("pdp/pois_z1.csv")  # on the link scale
    result = pi.FittedModel(fitted, mixed).pd("z1", grid=expected["z1"])
    # z1 enters the link linearly: exp of it is proportional to the PD of the mean.
    ratio = result.params.to_numpy() / np.exp(expected["yhat"].to_numpy())
    np.testing.assert_allclose(ratio, ratio[0], rtol=TOLERANCE)


def permuted_loss(model: pi.FittedModel, loss: pi.Loss, index: pd.DataFrame) -> pd.DataFrame:
    """Loss increase under R's own permutations, one row per variable, one column per simulation."""
    (case,) = model.analysis.cases
    base = loss(case.y, case.whatif.factual).mean()
    donors = case.sample.variables
    found = []
    for (sim, feature), row in index.set_index(["sim", "feature"]).iterrows():
        given, every = row.to_numpy()[:, None], np.arange(len(row))
        predicted = case.whatif.of([feature]).pairs(every, given, donors[[feature]])
        found.append((feature, sim, loss(case.y[:, None], predicted).mean() - base))
    table = pd.DataFrame(found, columns=["feature", "sim", "increase"])
    return table.pivot_table(index="feature", columns="sim", values="increase")


@pytest.mark.parametrize(
    ("model", "loss", "draws", "scores"),
    [
        ("lm_friedman", "squared", "perm_friedman", "permute_lmf_mse_custom"),
        ("glm_mixed", "log", "perm_mixed", "permute_glm_logloss"),
        ("glm_mixed", "brier", "perm_mixed", "permute_glm_brier_custom"),
    ],
)
def test_what_if_losses_equal_vips_under_its_own_permutations(
    request: pytest.FixtureRequest, model: str, loss: str, draws: str, scores: str
) -> None:
    from pyinterp.losses.rowwise import LOSSES

    expected = read(f"vip/{scores}.csv").set_index("Variable").filter(like="permutation_")
    found = permuted_loss(request.getfixturevalue(model), LOSSES[loss], read(f"vip/{draws}.csv"))
    np.testing.assert_allclose(found.loc[expected.index], expected, atol=TOLERANCE)


def test_vips_mean_over_permutations_is_near_ours_over_all(lm_friedman: pi.FittedModel) -> None:
    vip = read("vip/permute_lmf_mse_custom.csv").set_index("Variable")
    ours = lm_friedman.pfi(permutations="all").params[vip.index]
    # vip permutes with fixed points: its expectation is (n - 1)/n of ours.
    z = (vip["Importance"] - ours * 499 / 500) / (vip["StDev"] / np.sqrt(5))
    # |t| with 4 df exceeds 8.6 with probability 0.001; ten features.
    assert (z.abs() < 8.6).all()


def test_logistic_regression_of_scikit_learn_agrees_with_glm(
    mixed: pd.DataFrame, glm_mixed: pi.FittedModel
) -> None:
    learner = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    other = pi.Learner.from_formula(GLM_MIXED, mixed, learner).fit_model()
    np.testing.assert_allclose(other.pd("z2").params, glm_mixed.pd("z2").params, atol=1e-6)
    every = [model.pfi(permutations="all").params for model in (other, glm_mixed)]
    np.testing.assert_allclose(*every, atol=1e-6)
