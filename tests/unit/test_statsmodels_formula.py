"""Formulas of fitted statsmodels results, read into the package's own design."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import model_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.formula import names_in
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.effects.slopes import ame
from pyinterp.learner.models_here import STEP, WEIGHTS
from pyinterp.models.statsmodels import STATSMODELS
from pyinterp.whatif import WhatIf

SHIFT = 2.0  # which formulas below use


def squared(values):
    return values**2


def rows_of(n=150):
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
    data["c"] = rng.poisson(np.exp(data["y"] / 6).clip(0.1, 20))
    noisy = data["y"] + rng.normal(scale=3, size=n)  # so that no formula separates the classes
    data["h"] = (noisy > data["y"].median()).astype(int)
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
def test_predictions_are_those_of_the_results(right):
    results = smf.ols(f"y ~ {right}", DATA).fit()
    variables = DATA[list(names_in(right, DATA))]
    read = STATSMODELS.read_formula(results, variables)
    assert (read is None) == (right in NOT_READ)
    if read is not None:
        design, of_matrices = read
        other = variables.sample(frac=1, random_state=1).reset_index(drop=True)
        assert of_matrices.predict(design.encode(other)) == pytest.approx(
            results.predict(other).to_numpy(), rel=1e-12
        )
        assert hasattr(results.model, "formula")  # the user's own stay as they are


MODELS = {
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


def fit(name, right):
    model = MODELS[name](right)
    discrete = name in ("logit", "probit", "poisson", "negative binomial", "mnlogit")
    return model.fit(disp=0, maxiter=200) if discrete else model.fit()


@pytest.mark.parametrize("name", MODELS)
def test_effects_and_their_errors_are_those_of_the_results_as_a_function(name):
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
    params = np.asarray(results.params, float).ravel(order="F")
    shape, jacobian = np.shape(results.params), []
    exog = [
        np.asarray(STATSMODELS.read_formula(results, variables)[0].encode(variables.assign(x=v)))
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


def test_one_ols_has_one_table_as_a_learner_and_as_a_fitted_model():
    formula = "y ~ x * C(g) + z"
    fitted = pi.FittedModel(smf.ols(formula, DATA).fit(), DATA, "y", seed=1)
    learned = model_of(formula, DATA, LinearRegression())
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


def test_coefficient_of_a_code_is_its_contrast():
    results = smf.ols("y ~ x + C(g)", DATA).fit()
    effects = pi.FittedModel(results, DATA, "y").ame("g")
    assert effects.params.to_numpy() == pytest.approx(results.params.filter(like="C(g)").to_numpy())
    assert effects.bse.to_numpy() == pytest.approx(results.bse.filter(like="C(g)").to_numpy())


def test_rows_that_were_left_out_change_nothing():
    data = DATA.copy()
    data.loc[[3, 40], "x"] = np.nan
    results = smf.ols("y ~ x + C(g)", data, subset=data["w"] > 1.1).fit()
    variables = DATA[["x", "g"]]
    design, of_matrices = STATSMODELS.read_formula(results, variables)  # it is read
    assert of_matrices.predict(design.encode(variables)) == pytest.approx(
        results.predict(variables).to_numpy()
    )


def test_offsets_are_the_last_column():
    results = smf.glm("c ~ x + C(g)", DATA, family=sm.families.Poisson(), exposure=DATA["w"]).fit()
    fitted = pi.FittedModel(results, DATA, "c", exposure="w")
    means = [
        results.predict(DATA.assign(g=level), exposure=DATA["w"]).mean() for level in (4, 6, 8)
    ]
    assert fitted.pd("g").params.to_numpy() == pytest.approx(means, rel=1e-10)
    assert fitted.pfi().engine.name == "linear, exact"


def test_results_without_their_data_are_asked_as_they_are():
    results = smf.ols("y ~ x + C(g)", DATA).fit()
    means = [results.predict(DATA.assign(g=level)).mean() for level in (4, 6, 8)]
    results.remove_data()
    fitted = pi.FittedModel(results, DATA, "y")
    assert fitted.pd("g").params.to_numpy() == pytest.approx(means, rel=1e-10)


def old_errors(model, estimand):
    """Return standard errors by predicting copies of the rows anew for all moved coefficients."""
    models = model.analysis.models
    case, stated, predictor = models.case(0), models.coefficients, models.refits[0].predictor
    changes = []
    for direction in stated.directions().T:
        change = 0
        for steps, weight in WEIGHTS.items():
            moved = stated.shift(predictor, steps * STEP * direction)
            whatif = WhatIf(moved, case.whatif.design, case.evaluation)
            measured = estimand.measure(replace(case, whatif=whatif))
            change = change + weight * estimand.read(measured).value
        changes.append(change / STEP)
    return np.sqrt(np.square(changes).sum(axis=0))


ASKED = {
    "ame": lambda problem, _: ame(problem),
    "pd": lambda problem, name: partial_dependence(problem, name, points=4),
}
RIGHT = {
    "np.log(x + 9) + w": "x",
    "x + I(x**2) + b": "x",
    "bs(x, df=4, lower_bound=0, upper_bound=6) + w": "x",
    "C(g, Treatment(6)) + x": "x",
    "Q('my var') + w": "my var",
    "x * C(g) + w": "x",
}


@pytest.mark.parametrize("name", ["logit", "probit", "poisson", "negative binomial", "mnlogit"])
@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.filterwarnings("ignore")  # of steps that do not converge
def test_errors_are_those_of_rows_encoded_anew(name, right):
    if name == "mnlogit" and "g" in right:
        right = right.replace("C(g, Treatment(6))", "z").replace("C(g)", "z")
    model = pi.FittedModel(fit(name, right), DATA)
    _check_errors(model, RIGHT.get(right, "x"))


@pytest.mark.parametrize("right", RIGHT)
def test_errors_of_ols_are_those_of_rows_encoded_anew(right):
    model = pi.FittedModel(fit("ols", right), DATA, memory_mb=0.02)  # some copies do not fit
    _check_errors(model, RIGHT[right])


def _check_errors(model, name):
    analysis = model.analysis
    for ask in ASKED.values():
        estimand = ask(analysis.problem, name)
        old = old_errors(model, estimand)
        # By the derivative of the link, if it is known, then by differences.
        for one in (estimand, replace(estimand, linear=False)):
            errors = analysis.models.coefficient_errors(one, analysis.scope)
            bse = np.sqrt(np.square(errors.changes).sum(axis=0))
            np.testing.assert_allclose(bse, old, rtol=1e-8, atol=1e-8 * old.max())
