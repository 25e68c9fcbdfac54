"""Results of statsmodels that predict from more than rows of `X`: right numbers, or what is needed.

Inflation variables: statsmodels issues 4757 and 4952.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import model_of
from numpy.testing import assert_allclose
from statsmodels.discrete import count_model, discrete_model
from statsmodels.gam.api import BSplines, GLMGam

import pyinterp as pi
from pyinterp.errors import OptionError, PredictionError

KINDS = ["Poisson", "NegativeBinomialP", "GeneralizedPoisson"]
FORMS = ["formula", "frame", "array"]
GRID = [0.0, 1.0]
N = 120


def _counts():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=N), "z": rng.normal(size=N)})
    data["e"] = rng.uniform(0.5, 2, N)
    rate = data["e"] * np.exp(0.3 + 0.5 * data["x"])
    zero = rng.random(N) < 1 / (1 + np.exp(-2 * data["z"]))
    return data.assign(c=np.where(zero, 0, rng.poisson(rate)))


DATA = _counts()
MATRIX = sm.add_constant(DATA[["x"]])
INFLATION = sm.add_constant(DATA[["z"]])


def fitted(kind, form, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge
        if form == "formula":
            return kind.from_formula("c ~ x", DATA, **options).fit(disp=0, maxiter=30)
        arrays = {name: np.asarray(value) for name, value in options.items()}
        if form == "array":
            return kind(DATA["c"].to_numpy(), MATRIX.to_numpy(), **arrays).fit(disp=0, maxiter=30)
        return kind(DATA["c"], MATRIX, **options).fit(disp=0, maxiter=30)


def inflated(kind, form, **options):
    return fitted(getattr(count_model, f"ZeroInflated{kind}"), form, **options)


def rows(form, data):
    """Return evaluation rows as a model of this form takes them."""
    matrix = sm.add_constant(data[["x"]], has_constant="add")
    return {"formula": data, "frame": matrix, "array": matrix.to_numpy()}[form]


def curve(results, form, data, **beside):
    """Return the mean prediction with x at the points of the grid."""
    return [float(np.mean(results.predict(rows(form, data.assign(x=x)), **beside))) for x in GRID]


def pd_of(model, form):
    return model.pd("x2" if form == "array" else "x", grid=GRID).params


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_variables_of_the_inflation_are_asked_for_by_name(kind, form):
    results = inflated(kind, form, exog_infl=INFLATION)
    with pytest.raises(OptionError, match=r"`exog_infl`.*`lambda Z: results.predict\("):
        pi.FittedModel(results, rows(form, DATA))
    ones = inflated(kind, form, exog_infl=np.ones((N, 1)))
    with pytest.raises(OptionError, match="exog_infl"):
        pi.FittedModel(ones, rows(form, DATA[:1]))

    def predict(Z):
        inflation = sm.add_constant(Z[["z"]], has_constant="add")
        return results.predict(rows(form, Z), exog_infl=np.asarray(inflation))

    new = DATA[:50]
    model = pi.FittedModel(predict, new[["x", "z"]], new["c"])
    beside = {"exog_infl": INFLATION[:50].to_numpy()}
    assert_allclose(pd_of(model, "frame"), curve(results, form, new, **beside))
    right = [predict(new.assign(z=z)).mean() for z in GRID]
    assert_allclose(model.pd("z", grid=GRID).params, right)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 60, N])
def test_a_constant_inflation_is_right(kind, form, n):
    results, new = inflated(kind, form), DATA[:n]
    model = pi.FittedModel(results, rows(form, new))
    assert_allclose(pd_of(model, form), curve(results, form, new))


def test_standard_errors_are_those_of_the_delta_method():
    """With the coefficient of the inflation, by differences of statsmodels' own predictions."""
    results, step = inflated("Poisson", "frame"), 1e-5
    gradient = []
    for direction in step * np.eye(3):
        means = [
            [results.model.predict(results.params + by, rows("array", DATA.assign(x=x))).mean()]
            for by in (direction, -direction)
            for x in GRID
        ]
        gradient.append(np.ravel(np.subtract(means[:2], means[2:])) / (2 * step))
    right = np.sqrt(np.einsum("ki,kl,li->i", gradient, results.cov_params(), gradient))
    found = pi.FittedModel(results, rows("frame", DATA)).pd("x", grid=GRID).bse
    assert_allclose(found, right, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_exposures_of_inflated_counts_are_those_of_the_rows(kind, form):
    results, new = inflated(kind, form, exposure=DATA["e"]), DATA[60:]
    with pytest.raises(OptionError, match="fitted with an exposure"):
        pi.FittedModel(results, rows(form, new))
    exposure = new["e"].to_numpy()
    right = curve(results, form, new, exposure=exposure)
    for given in ({"exposure": exposure}, {"offset": np.log(exposure)}):
        model = pi.FittedModel(results, rows(form, new), **given)
        assert_allclose(pd_of(model, form), right)


@pytest.mark.parametrize("kind", ["NegativeBinomialP", "GeneralizedPoisson"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [60, N])
def test_no_exposure_of_training_rows_is_in_predictions(kind, form, n):
    """By default these two add that of their training rows to whatever rows they predict."""
    results = fitted(getattr(discrete_model, kind), form, exposure=DATA["e"])
    new = DATA[::-1][:n]
    model = pi.FittedModel(results, rows(form, new), exposure=new["e"].to_numpy())
    slope = results.params[:2]
    right = [float(np.mean(new["e"] * np.exp(np.dot([1, x], slope)))) for x in GRID]
    assert_allclose(pd_of(model, form), right)


def test_a_learner_of_inflated_counts_takes_exposures():
    learner = pi.statsmodels_learner(count_model.ZeroInflatedPoisson, fit={"disp": 0})
    fit = model_of("c ~ x", DATA, learner, exposure="e")
    results = inflated("Poisson", "frame", exposure=DATA["e"])
    right = curve(results, "frame", DATA, exposure=DATA["e"])
    assert_allclose(fit.pd("x", grid=GRID).params, right, rtol=1e-4)
    with pytest.raises(OptionError, match=r"`exog_infl` of .* an estimator of your own"):
        pi.statsmodels_learner(count_model.ZeroInflatedPoisson, exog_infl=INFLATION)


def test_rows_of_a_smooth_are_asked_for_by_name():
    smooth = BSplines(DATA[["z"]], df=[5], degree=[3])
    gam = GLMGam(DATA["c"], MATRIX, smoother=smooth, family=sm.families.Poisson()).fit()
    with pytest.raises(OptionError, match="`exog_smooth`"):
        pi.FittedModel(gam, MATRIX)
    columns = pd.DataFrame(gam.model.exog, columns=gam.model.exog_names)  # its basis
    model = pi.FittedModel(gam, columns)
    right = [gam.predict(columns.assign(x=x)).mean() for x in GRID]
    assert_allclose(pd_of(model, "frame"), right)


def test_what_else_a_model_needs_is_quoted_as_its_own_words():
    series = sm.tsa.SARIMAX(DATA["x"].to_numpy(), exog=DATA[["z"]].to_numpy()).fit(disp=0)
    with pytest.raises(PredictionError, match=r"SARIMAX can't .*Error: .*`lambda Z: results."):
        pi.FittedModel(series, DATA[["z"]].to_numpy()).pd("x1")
