"""Formulas of fitted statsmodels results, read into the package's own design."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.formula import names_in
from pyinterp.models.statsmodels_formula import read_formula

SHIFT = 2.0  # which formulas below use


def squared(values: Any) -> Any:
    return values**2


def rows_of(n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "x": rng.normal(3, 1, n),
            "w": rng.uniform(1, 2, n),
            "g": rng.choice([4, 6, 8], n),
            "z": rng.choice(list("abc"), n),
            "b": rng.random(n) > 0.5,
            "my var": rng.normal(size=n),
            "k": pd.Categorical(rng.choice(["lo", "mid", "hi"], n), ["lo", "mid", "hi"]),
        }
    )
    data["y"] = data["x"] - 2 * (data["g"] == 6) + 4 * (data["g"] == 8) + rng.normal(size=n) + 9
    data["h"] = (data["y"] > data["y"].median()).astype(int)
    data["c"] = rng.poisson(np.exp(data["y"] / 6).clip(0.1, 20))
    return data


DATA = rows_of()
READ = (
    "x", "x * z", "x + C(g)", "C(g, Treatment(8))", "C(g, Treatment(reference=8)) + x", "C(z, Sum)",
    "np.log(x + 9) + I(w**2)", "bs(x, df=4)", "cr(x, df=4) - 1", "Q('my var')", "squared(x)",
    "I(x * SHIFT)", "x + b", "b * x", "0 + z + x", "x - 1", "center(x) * z", "standardize(x)", "k",
    "C(k, Poly)", "(x + w + z)**2", "x:z", "x / z", "C(z, levels=['c', 'b', 'a'])", "I(x > 3)",
    "C(z):w", "te(cr(x, df=3), cr(w, df=3)) - 1", "pd.cut(x, [-9, 2, 4, 99])", "x.clip(2, 4)",
)  # fmt: skip
# R's scale divides by n - 1; the others mean something else in other rows.
NOT_READ = ("scale(x)", "I(x - np.mean(x))", "I(x / np.max(x))", "C(pd.qcut(x, 3))")


@pytest.mark.parametrize("right", READ + NOT_READ)
def test_predictions_are_those_of_the_results(right: str) -> None:
    results = smf.ols(f"y ~ {right}", DATA).fit()
    variables = DATA[list(names_in(right, DATA))]
    read = read_formula(results, variables)
    assert (read is None) == (right in NOT_READ)
    if read is not None:
        design, of_matrices = read
        other = variables.sample(frac=1, random_state=1).reset_index(drop=True)
        assert of_matrices.predict(design.encode(other)) == pytest.approx(
            results.predict(other).to_numpy(), rel=1e-12
        )
        assert hasattr(results.model, "formula")  # the user's own stay as they are


MODELS: dict[str, Any] = {
    "ols": lambda f: smf.ols(f"y ~ {f}", DATA),
    "wls": lambda f: smf.wls(f"y ~ {f}", DATA, weights=DATA["w"]),
    "logit": lambda f: smf.logit(f"h ~ {f}", DATA),
    "probit": lambda f: smf.probit(f"h ~ {f}", DATA),
    "poisson": lambda f: smf.poisson(f"c ~ {f}", DATA),
    "gamma": lambda f: smf.glm(
        f"y ~ {f}", DATA, family=sm.families.Gamma(link=sm.families.links.Log())
    ),
    "binomial": lambda f: smf.glm(f"h ~ {f}", DATA, family=sm.families.Binomial()),
    "negative binomial": lambda f: smf.negativebinomial(f"c ~ {f}", DATA),
    "mnlogit": lambda f: smf.mnlogit(f"g ~ {f}", DATA),
}


def fit(name: str, right: str) -> Any:
    model = MODELS[name](right)
    discrete = name in ("logit", "probit", "poisson", "negative binomial", "mnlogit")
    return model.fit(disp=0, maxiter=200) if discrete else model.fit()


@pytest.mark.parametrize("name", MODELS)
def test_effects_and_their_errors_are_those_of_the_results_as_a_function(name: str) -> None:
    results = fit(name, "x * z + np.log(w)")
    endog = results.model.endog_names if name != "mnlogit" else "g"
    fitted = pi.FittedModel(results, DATA, endog)
    assert fitted.analysis.problem.design.columns[0] == "Intercept"
    variables = DATA[["x", "w", "z"]]
    curve = fitted.pd("x", grid=[2.0, 4.0], **({"scale": "probability"} if endog == "h" else {}))
    means = [np.asarray(results.predict(variables.assign(x=v))).mean(axis=0) for v in (2.0, 4.0)]
    expected = np.transpose(means).ravel() if name == "mnlogit" else np.array(means)
    assert curve.params.to_numpy() == pytest.approx(expected, rel=1e-10)
    # The delta method by hand: derivatives by central differences, of the model's own predictions.
    params = np.asarray(results.params, dtype=float).ravel(order="F")
    shape, jacobian = np.shape(results.params), []
    exog = [
        np.asarray(read_formula(results, variables)[0].encode(variables.assign(x=v)))  # type: ignore[index]
        for v in (2.0, 4.0)
    ]
    for j, step in enumerate(1e-5 * np.maximum(np.abs(params), 1)):
        ends = []
        for sign in (-1, 1):
            moved = params.copy()
            moved[j] += sign * step
            moved_params = moved.reshape(shape, order="F")
            parts = [np.asarray(results.model.predict(moved_params, e)).mean(axis=0) for e in exog]
            ends.append(np.transpose(parts).ravel() if name == "mnlogit" else np.array(parts))
        jacobian.append((ends[1] - ends[0]) / (2 * step))
    change = np.array(jacobian).T
    errors = np.sqrt(np.diag(change @ np.asarray(results.cov_params()) @ change.T))
    assert curve.bse.to_numpy() == pytest.approx(errors, rel=1e-5)


def test_one_ols_has_one_table_as_a_learner_and_as_a_fitted_model() -> None:
    formula = "y ~ x * C(g) + z"
    fitted = pi.FittedModel(smf.ols(formula, DATA).fit(), DATA, "y", seed=1)
    learned = pi.Learner.from_formula(formula, DATA, LinearRegression()).fit_model(seed=1)
    for ask in (
        lambda model: model.firm(),
        lambda model: model.ame(),
        lambda model: model.pd("g"),
        lambda model: model.pfi(),
        lambda model: model.h_statistic(),
        lambda model: model.ale("g"),
    ):
        one, two = ask(fitted), ask(learned)
        assert one.params.index.equals(two.params.index)
        assert one.params.to_numpy() == pytest.approx(two.params.to_numpy(), rel=1e-9, abs=1e-12)
    assert fitted.pfi().engine.name == "linear, exact"


def test_coefficient_of_a_code_is_its_contrast() -> None:
    results = smf.ols("y ~ x + C(g)", DATA).fit()
    effects = pi.FittedModel(results, DATA, "y").ame("g")
    assert effects.params.to_numpy() == pytest.approx(results.params.filter(like="C(g)").to_numpy())
    assert effects.bse.to_numpy() == pytest.approx(results.bse.filter(like="C(g)").to_numpy())


def test_rows_that_were_left_out_change_nothing() -> None:
    data = DATA.copy()
    data.loc[[3, 40], "x"] = np.nan
    results = smf.ols("y ~ x + C(g)", data, subset=data["w"] > 1.1).fit()
    variables = DATA[["x", "g"]]
    design, of_matrices = read_formula(results, variables)  # type: ignore[misc]  # it is read
    assert of_matrices.predict(design.encode(variables)) == pytest.approx(
        results.predict(variables).to_numpy()
    )


def test_offsets_are_the_last_column() -> None:
    results = smf.glm("c ~ x + C(g)", DATA, family=sm.families.Poisson(), exposure=DATA["w"]).fit()
    fitted = pi.FittedModel(results, DATA, "c", exposure="w")
    means = [
        results.predict(DATA.assign(g=level), exposure=DATA["w"]).mean() for level in (4, 6, 8)
    ]
    assert fitted.pd("g").params.to_numpy() == pytest.approx(means, rel=1e-10)
    assert fitted.pfi().engine.name == "linear, exact"


def test_results_without_their_data_are_asked_as_they_are() -> None:
    results = smf.ols("y ~ x + C(g)", DATA).fit()
    means = [results.predict(DATA.assign(g=level)).mean() for level in (4, 6, 8)]
    results.remove_data()
    fitted = pi.FittedModel(results, DATA, "y")
    assert fitted.pd("g").params.to_numpy() == pytest.approx(means, rel=1e-10)
