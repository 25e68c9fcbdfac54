"""Learners from other libraries: same fits, intercepts, labels."""

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import fit_of, model_of
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

import pyinterp as pi
from pyinterp.errors import OptionError, PredictionError, RefitError
from pyinterp.models.adapters import column_positions, needs_intercept, says, wants_codes

SAME = 1e-9  # iterative fits of the same model from the same start


def test_ols_equals_statsmodels_own_formula(data):
    formula = "y ~ x + I(x**2) + C(g)"
    fitted = model_of(formula, data, pi.statsmodels_learner(sm.OLS))
    own = smf.ols(formula, data).fit()
    refit = fitted.analysis.refits[0]
    assert_allclose(refit.predictor.estimator.results_.params, own.params, rtol=SAME)
    assert_allclose(fitted.loss().params, (own.resid**2).mean(), rtol=SAME)
    theirs = pi.FittedModel(own, data, "y").pfi()
    assert_allclose(fitted.pfi().params, theirs.params, rtol=SAME)


def test_options_of_model_and_fit_are_passed_on(data):
    X, poisson = sm.add_constant(data.x), sm.families.Poisson()
    counts = np.round(np.exp(data.x))
    for learner, y, own in (
        (
            pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.9}),
            data.y,
            sm.QuantReg(data.y, X).fit(q=0.9),
        ),
        (pi.statsmodels_learner(sm.GLM, family=poisson), counts, sm.GLM(counts, X, poisson).fit()),
    ):
        assert_allclose(learner.fit(X, y).results_.params, own.params, rtol=SAME)


@pytest.mark.parametrize(
    ("estimator", "classifier", "name"),
    [
        (pi.statsmodels_learner(sm.OLS), False, "OLS"),
        (pi.statsmodels_learner(sm.GLM), False, "GLM"),
        (pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson()), False, "GLM(Poisson)"),
        (pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()), True, "GLM(Binomial)"),
        (pi.statsmodels_learner(sm.Logit), True, "Logit"),
        (pi.statsmodels_learner(sm.Probit), True, "Probit"),
        (pi.statsmodels_learner(sm.MNLogit), True, "MNLogit"),
    ],
)
def test_kind_and_name(estimator, classifier, name):
    assert is_classifier(estimator) == classifier
    assert is_regressor(estimator) != classifier
    assert estimator.learner_name == name
    assert clone(estimator).learner_name == name


@pytest.mark.parametrize(
    "estimator",
    [
        pi.statsmodels_learner(sm.Logit),
        pi.statsmodels_learner(sm.Probit),
        pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()),
    ],
)
@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (0, 1), (2.0, 1.0)])
def test_the_last_class_in_order_is_modeled(data, estimator, labels):
    X, y = sm.add_constant(data[["x", "z"]].to_numpy()), (data.y > 1).to_numpy()
    fitted = clone(estimator).fit(X, np.where(y, labels[1], labels[0]))
    second = sorted(labels)[1]
    own = sm.Logit((np.where(y, labels[1], labels[0]) == second).astype(float), X).fit(disp=0)
    assert fitted.classes_.tolist() == sorted(labels)
    proba = fitted.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    if type(fitted.results_.model).__name__ != "Probit":
        assert_allclose(proba[:, 1], own.predict(X), rtol=1e-6)
    np.testing.assert_array_equal(fitted.predict(X) == second, proba[:, 1] > 0.5)


def test_mnlogit_serves_three_classes(data):
    results = fit_of(
        "g ~ x + z", data, pi.statsmodels_learner(sm.MNLogit), pi.Bootstrap(3, strata="g")
    )
    assert np.isfinite(results.pfi().params).all()
    assert results.pd("x", points=3).params.shape == (9,)
    assert_allclose(results.predict(data).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [sm.OLS(np.ones(3), np.ones(3)), "OLS", smf.ols])
def test_a_model_class_is_wanted(model):
    with pytest.raises(OptionError, match=r"must be a statsmodels model class such as sm\.GLM"):
        pi.statsmodels_learner(model)


@pytest.mark.parametrize(
    ("estimator", "fits"),
    [
        (LinearRegression(), True),
        (LinearRegression(fit_intercept=np.False_), False),
        (make_pipeline(StandardScaler(), Ridge(fit_intercept=False)), False),
        (GridSearchCV(Ridge(fit_intercept=np.True_), {"alpha": [1.0]}), True),
        (TransformedTargetRegressor(Ridge(fit_intercept=False)), False),
        (pi.statsmodels_learner(sm.OLS), False),
        (make_pipeline(StandardScaler(), pi.statsmodels_learner(sm.OLS)), False),
    ],
)
def test_who_needs_and_who_fits_an_intercept(estimator, fits):
    assert needs_intercept(estimator) == (not fits)
    assert says(estimator, "fit_intercept") == fits


@pytest.mark.parametrize(
    "estimator",
    [
        XGBClassifier(n_estimators=3),
        make_pipeline(StandardScaler(), XGBClassifier(n_estimators=3)),
        GridSearchCV(XGBClassifier(n_estimators=3), {"max_depth": [1]}, cv=2),
        BaggingClassifier(XGBClassifier(n_estimators=3), 2),
    ],
    ids=lambda e: type(e).__name__,
)
def test_xgboost_gets_codes_and_shows_labels(data, estimator):
    assert wants_codes(estimator)
    assert not wants_codes(LogisticRegression())
    results = fit_of("g ~ x + z", data, estimator, pi.Bootstrap(2, strata="g"))
    assert results.refits[0].predictor.classes == ("a", "b", "c")
    assert list(results.predict(data).columns) == ["a", "b", "c"]
    assert set(results.pd("x", points=3).estimand.terms.layout["class"]) == {"a", "b", "c"}


def columns(chosen):
    return make_pipeline(make_column_transformer((StandardScaler(), chosen)), LinearRegression())


@pytest.mark.parametrize(
    ("estimator", "where"),
    [
        (LinearRegression(), ""),
        (columns(["x", "[z]"]), ""),
        (columns(slice("x", "z")), ""),
        (columns(make_column_selector(dtype_include="number")), ""),
        (columns(np.array([True, False])), "columntransformer__transformers"),
        (TransformedTargetRegressor(columns([0])), "regressor__columntransformer__transformers"),
        (HistGradientBoostingRegressor(), ""),
        (HistGradientBoostingRegressor(categorical_features=["g"]), ""),
        (HistGradientBoostingRegressor(monotonic_cst={"x": 1}), ""),
        (HistGradientBoostingRegressor(categorical_features=[2]), "categorical_features"),
        (HistGradientBoostingRegressor(interaction_cst=[{0, 1}]), "interaction_cst"),
        (XGBRegressor(monotone_constraints={"x": 1}), ""),
        (XGBRegressor(monotone_constraints="(1, -1)"), "monotone_constraints"),
        (XGBRegressor(interaction_constraints=[["x", "z"]]), ""),
        (XGBRegressor(interaction_constraints="[[0, 1]]"), "interaction_constraints"),
    ],
)
def test_who_refers_to_columns_by_position(estimator, where):
    assert column_positions(estimator) == where


def test_options_that_statsmodels_does_not_know(data):
    unknown = pi.statsmodels_learner(sm.GLM, no_such=3)
    with pytest.raises(RefitError, match="unknown kwargs"):
        fit_of("y ~ x", data, unknown, pi.Bootstrap(3))
    with pytest.raises(OptionError, match="`fit` must be a mapping"):
        pi.statsmodels_learner(sm.GLM, fit=("x",))


def test_models_that_are_not_fitted_are_refused(data):
    for model in (DecisionTreeRegressor(), RandomForestRegressor()):
        with pytest.raises(PredictionError, match="not fitted"):
            pi.FittedModel(model, data[["x", "z"]], data["y"]).loss()
