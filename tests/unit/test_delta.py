"""The delta method: effects of models that state the covariance of their coefficients."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import words_of
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.effects.slopes import ame
from pyinterp.estimands.importance.flatness import flatness

# Slopes are central differences over 1e-4 of a range, derivatives differences of fourth order.
MARGEFF = 1e-8
EXACT = 1e-9


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n = 150
    a, b = rng.normal(size=(2, n))
    c = rng.integers(0, 2, n)
    linear = 0.2 + 0.7 * a - 0.5 * b + 0.6 * c + 0.3 * a * b
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "c": c,
            "y": linear + rng.normal(size=n),
            "hit": (linear + rng.logistic(size=n) > 0).astype(int),
            "count": rng.poisson(np.exp(0.5 * linear)),
            "kind": np.digitize(linear + rng.normal(size=n), [-0.3, 0.6]),
            "group": rng.choice(["u", "v"], n),
        }
    )


@pytest.fixture(scope="module")
def ols(data):
    return smf.ols("y ~ a + b", data).fit()


@pytest.fixture(scope="module")
def product(data):
    return smf.ols("y ~ a * b + c", data).fit()


@pytest.fixture(scope="module")
def logit(data):
    return smf.logit("hit ~ a + b", data).fit(disp=0)


@pytest.mark.parametrize(
    ("fit", "response"), [(smf.logit, "hit"), (smf.probit, "hit"), (smf.poisson, "count")]
)
def test_marginal_effects_are_those_of_get_margeff(data, fit, response):
    results = fit(f"{response} ~ a + b + c", data).fit(disp=0)
    expected = results.get_margeff(dummy=True)
    ame = pi.FittedModel(results, data, response).ame()
    assert ame.cov_type == "delta"
    assert not ame.use_t
    assert_allclose(ame.params, expected.margeff, rtol=MARGEFF)
    assert_allclose(ame.bse, expected.margeff_se, rtol=MARGEFF)
    assert_allclose(ame.tvalues, expected.tvalues, rtol=2 * MARGEFF)
    assert_allclose(ame.pvalues, expected.pvalues, rtol=1e-6)
    assert_allclose(ame.conf_int(), expected.conf_int(), rtol=1e-6)


def test_multinomial_effects_are_those_of_get_margeff(data):
    X = sm.add_constant(data[["a", "b"]])
    results = sm.MNLogit(data["kind"], X).fit(disp=0)
    expected = results.get_margeff()
    ame = pi.FittedModel(results, X, data["kind"]).ame(["a", "b"])
    assert_allclose(ame.params, expected.margeff.ravel(), rtol=MARGEFF)
    assert_allclose(ame.bse, expected.margeff_se.ravel(), rtol=MARGEFF)


@pytest.mark.parametrize("options", [{}, {"cov_type": "HC3"}])
def test_a_linear_model_has_the_closed_form(data, options):
    results = smf.ols("y ~ a * b + c", data).fit(**options)
    model = pi.FittedModel(results, data, "y")
    cov = results.cov_params().to_numpy()
    mean_b, mean_c = data["b"].mean(), data["c"].mean()

    def bse(weights):
        return np.sqrt(np.einsum("ij,jk,ik->i", weights, cov, weights))

    grid = np.array([-1.0, 0.5])  # Intercept, a, b, a:b, c
    names = ["Intercept", "a", "b", "a:b", "c"]
    assert list(results.params.index) == names
    ones = np.ones(2)
    at = np.column_stack([ones, grid, mean_b * ones, grid * mean_b, mean_c * ones])
    pd_ = model.pd("a", grid=grid)
    assert_allclose(pd_.bse, bse(at), rtol=EXACT)
    assert_allclose(model.ame("a").bse, bse(np.array([[0, 1, 0, mean_b, 0]])), rtol=1e-8)
    assert_allclose(model.ame("c").bse, bse(np.array([[0, 0, 0, 0, 1]])), rtol=EXACT)
    centered = model.pd("a", grid=grid, kind="c-ice")
    assert centered.bse.iloc[0] == 0
    assert_allclose(centered.bse.iloc[1:], bse(at[1:] - at[:1]), rtol=EXACT)
    contrast = pd_.t_test(np.array([[-1.0, 1.0]]))
    assert_allclose(contrast.sd, bse(at[1:] - at[:1]), rtol=EXACT)
    use_t = not options
    assert pd_.df_resid == (results.df_resid if use_t else np.inf)
    assert ("z" in model.ame("a").summary().as_text().split()) != use_t


# marginaleffects 0.6.0 takes forward differences, here of slopes of width 0.1.
MARGINALEFFECTS = 1e-6
OF_SLOPES = 1e-5


def test_effects_are_those_of_marginaleffects():
    """Compare with the standard errors of Python's marginaleffects, called as the comments say."""
    table = pi.datasets.load_diabetes()
    table = table.assign(
        hi=(table["progression"] > 140).astype(int), sex=table["sex"].astype(int) - 1
    )
    grid = [20.0, 25.0, 35.0]
    logit = smf.logit("hi ~ bmi * bp + s5 + sex", table).fit(disp=0)
    ols = smf.ols("progression ~ bmi * bp + s5 + sex", table).fit()
    of_logit = pi.FittedModel(logit, table, "hi")
    of_ols = pi.FittedModel(ols, table, "progression")
    for found, expected, rtol in (
        # avg_predictions(logit, variables={"bmi": grid}, by="bmi"), and of ols
        (
            of_logit.pd("bmi", grid=grid),
            [0.045235695343, 0.025234911597, 0.050499622705],
            MARGINALEFFECTS,
        ),
        (
            of_ols.pd("bmi", grid=grid),
            [5.166580003087, 2.935995140834, 6.581971478401],
            MARGINALEFFECTS,
        ),
        # avg_comparisons(logit, variables={"sex": [0, 1]}), and of ols
        (of_logit.ame("sex"), 0.038913288524, MARGINALEFFECTS),
        (of_ols.ame("sex"), 5.408899839645, MARGINALEFFECTS),
        # avg_slopes(ols, variables=["bmi", "bp", "s5"], eps=0.1)
        (
            of_ols.ame(["bmi", "bp", "s5"]),
            [0.687261152601, 0.219432124703, 5.825610575554],
            OF_SLOPES,
        ),
    ):
        assert_allclose(found.bse, expected, rtol=rtol)


def test_groups_have_the_covariance_of_their_common_coefficients(data, product):
    model = pi.FittedModel(product, data, "y")
    means = data.groupby("group")["b"].mean()
    weights = np.array([[0, 1, 0, mean, 0] for mean in means])
    cov = weights @ product.cov_params().to_numpy() @ weights.T
    assert_allclose(model.ame("a", by="group").cov_params(), cov, rtol=1e-7)
    some = model.ame("a", rows="group == 'u'")
    assert_allclose(some.bse.iloc[0], np.sqrt(cov[0, 0]), rtol=1e-7)


def test_an_offset_stays_with_its_rows(data):
    data = data.assign(time=np.linspace(0.5, 2.0, len(data)))
    results = smf.glm(
        "count ~ a + b", data, family=sm.families.Poisson(), exposure=data["time"]
    ).fit()
    ame = pi.FittedModel(results, data, "count", exposure="time").ame("a")
    x = results.model.exog
    mean = np.exp(x @ results.params.to_numpy()) * data["time"].to_numpy()
    slope = results.params["a"]
    jacobian = slope * mean @ x / len(x) + mean.mean() * np.array([0, 1, 0])
    expected = np.sqrt(jacobian @ results.cov_params().to_numpy() @ jacobian)
    assert_allclose(ame.bse.iloc[0], expected, rtol=1e-7)


def test_a_learner_of_statsmodels_takes_it_as_one_model_only(data, ols):
    learner = pi.Learner.from_formula("y ~ a + b", data, pi.statsmodels_learner(sm.OLS))
    assert_allclose(learner.fit_model().ame("a").bse, ols.bse["a"], rtol=1e-8)
    assert learner.fit(pi.HalfSampling(4), seed=0).ame("a").cov_type == "half-sample"


class Own:
    """A linear model without an intercept; it may predict by other coefficients."""

    params = pd.Series([1.0, 2.0], index=["a", "b"])
    deaf = False

    def cov_params(self):
        return np.array([[0.04, 0.01], [0.01, 0.09]])

    def predict(self, X):
        return np.asarray(X["a"] if self.deaf else X @ self.params)


def test_any_model_with_params_and_cov_params_takes_it(data):
    ame = pi.FittedModel(Own(), data[["a", "b"]], data["y"]).ame()
    assert_allclose(ame.bse, [0.2, 0.3], rtol=1e-8)


def test_a_model_that_predicts_by_others_has_no_delta_method(data):
    deaf = Own()
    deaf.deaf = True
    model = pi.FittedModel(deaf, data[["a", "b"]], data["y"])
    assert model.ame("a").cov_type == "rows"
    bent = Own()
    bent.cov_params = lambda: np.array([[0.04, 0.07], [0.07, 0.09]])  # indefinite
    assert pi.FittedModel(bent, data[["a", "b"]], data["y"]).ame("a").cov_type == "rows"
    with pytest.raises(InferenceError, match="needs one fitted model that states"):
        model.ame("a", cov_type="delta")


def test_coefficients_of_glum_move_with_the_intercept(data):
    cov = np.diag([0.5, 0.04, 0.09])
    model = LinearRegression().fit(data[["a", "b"]], data["y"])
    model.covariance_matrix = lambda: cov  # glum's name for it
    ame = pi.FittedModel(model, data[["a", "b"]], data["y"]).ame()
    assert_allclose(ame.bse, [0.2, 0.3], rtol=1e-8)
    model.covariance_matrix = SimpleNamespace()  # not stored
    rows_alone = pi.FittedModel(model, data[["a", "b"]], data["y"]).ame()
    assert rows_alone.cov_type == "rows"


def test_results_and_their_predictions_stay_as_they_are(data, logit):
    before, predictions = logit.params.copy(), logit.predict(data)
    pi.FittedModel(logit, data, "hit").pd("a")
    pd.testing.assert_series_equal(logit.params, before)
    pd.testing.assert_series_equal(logit.predict(data), predictions)


@pytest.mark.parametrize("kind", ["statsmodels, over rows", "scikit-learn"])
def test_an_effect_of_a_fixed_model_has_no_test(data, product, kind):
    options = {"cov_type": "rows"}
    model = pi.FittedModel(product, data, data["y"])
    if kind == "scikit-learn":
        rows, options = data[["a", "b"]], {}
        model = pi.FittedModel(LinearRegression().fit(rows, data["y"]), rows, data["y"])
    for results in (
        model.ame(**options),
        model.ale("a", **options),
        model.pd("a", kind="c-ice", **options),
    ):
        assert results.null is None
        assert results.tvalues.isna().all()
        assert results.pvalues.isna().all()
        text = results.summary().as_text()
        assert "P>" not in text
        assert " t " not in text.split("=\n")[2]
        assert "other rows only" in text
        with pytest.raises(InferenceError, match="must allow for the training of the model"):
            results.wald_test(results.exog_names[-1])
    with pytest.raises(InferenceError, match="must allow for the training of the model"):
        model.pd("a", **options).flat_test()


def test_a_contrast_of_a_fixed_model_has_an_interval_and_no_test(data, product):
    curve = pi.FittedModel(product, data, "y").pd("a", grid=[0.0, 1.0], cov_type="ustat")
    contrast = curve.t_test(np.array([[-1.0, 1.0]]))
    assert np.isnan(contrast.tvalue).all()
    assert np.isnan(contrast.pvalue)
    assert np.isfinite(contrast.conf_int()).all(axis=None)
    text = contrast.summary().as_text()
    assert "P>" not in text
    assert "No t and P" in text


def test_importances_are_over_rows_and_keep_their_test(data, ols):
    pfi = pi.FittedModel(ols, data, "y").pfi()
    assert pfi.cov_type == "ustat"
    assert pfi.pvalues.notna().all()


def test_one_row_has_errors_of_its_prediction(data, ols):
    row = data.iloc[[3]]
    pd_ = pi.FittedModel(ols, row).pd("a", grid=[0.0, float(row["a"].iloc[0])])
    assert_allclose(pd_.bse.iloc[1], ols.get_prediction(row).se[0], rtol=EXACT)


@pytest.mark.parametrize("scale", ["probability", "cumulative", "score", "logit"])
@pytest.mark.parametrize("weights", [{}, {"weights_type": "sampling"}])
def test_derivatives_of_the_link_are_those_by_differences(data, scale, weights, monkeypatch):
    monkeypatch.setattr("pyinterp.whatif.tangents.BLOCK", 99)
    kind, X = pd.Categorical(data["kind"], ordered=True), data[["a", "b", "c"]]
    results = sm.MNLogit(kind.codes, X).fit(disp=0)
    if weights:
        weights |= {"weights": 1.0 + data.index}
    model = pi.FittedModel(results, X, pd.Series(kind), **weights)
    models, problem = model.analysis.models, model.analysis.problem
    for curve in (
        ame(problem, scale=scale),
        partial_dependence(problem, "a", points=3, kind="c-ice", scale=scale),
        flatness(problem, "a", points=3, scale=scale),
    ):
        assert curve.linear == (scale != "logit")
        one, other = (
            models.coefficient_errors(each, model.analysis.scope).changes
            for each in (curve, replace(curve, linear=False))
        )
        assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def test_medians_and_exemplars_have_errors_of_coefficients(data, ols):
    pd_ = pi.FittedModel(ols, data, "y").pd("a", grid=[0.0, 1.0], average="exemplar")
    row = pd.DataFrame({"a": [0.0, 1.0], "b": data["b"].median()})
    assert_allclose(pd_.bse, ols.get_prediction(row).se, rtol=EXACT)


def test_clusters_are_those_of_the_model(data):
    who = np.arange(len(data)) // 5
    results = smf.ols("y ~ a + b", data).fit(cov_type="cluster", cov_kwds={"groups": who})
    ame = pi.FittedModel(results, data, "y", cluster=who).ame("a")
    assert_allclose(ame.bse.iloc[0], results.bse["a"], rtol=1e-8)
    assert "delta (cluster)" in str(ame.summary())
    assert "clusters count only if the model was fitted so" in words_of(ame)


def test_the_likelihood_of_responses_is_no_effect(data, logit):
    model = pi.FittedModel(logit, data, "hit")
    assert model.pd("a", points=2, of="nll").cov_type == "rows"
    assert model.pd("a", points=2, of="entropy").cov_type == "delta"


def test_importances_take_it_where_it_is_asked_for(data, ols):
    grid = np.linspace(-1.0, 1.0, 5)
    firm = pi.FittedModel(ols, data, "y").firm("a", grid={"a": grid}, cov_type="delta")
    spread, slope, bse = grid.std(ddof=1), ols.params["a"], ols.bse["a"]
    assert firm.params["a"] == pytest.approx(abs(slope) * spread)
    assert firm.bse["a"] == pytest.approx(bse * spread, rel=1e-8)
    # s^2 minus what noise of the slope adds to it
    corrected = spread * np.sqrt(slope**2 - bse**2)
    assert firm.corrected_params["a"] == pytest.approx(corrected, rel=1e-8)


def test_two_models_have_no_common_covariance(data, ols, product):
    one, two = (
        pi.FittedModel(model, data, "y", missing="raise").pd("a", points=3)
        for model in (product, ols)
    )
    difference = pi.compare(one, two)
    assert difference.cov_type == "rows"
    assert difference.pvalues.isna().all()
    with pytest.raises(InferenceError, match="needs one fitted model that states"):
        pi.compare(one, two, cov_type="delta")


def test_joint_tests_are_those_of_statsmodels(data):
    """F(k, df): one factor of the covariance is estimated."""
    ols = smf.ols("y ~ a + b + C(kind)", data).fit()
    found = pi.FittedModel(ols, data, "y").ame("kind").wald_test("kind[1 - 0], kind[2 - 0]")
    theirs = ols.f_test("C(kind)[T.1] = 0, C(kind)[T.2] = 0")
    assert found.fvalue == pytest.approx(theirs.fvalue, rel=1e-6)
    assert (found.df_num, found.df_denom) == (theirs.df_num, theirs.df_denom)
    assert found.pvalue == pytest.approx(float(theirs.pvalue), rel=1e-5)
