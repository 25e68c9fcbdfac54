"""Families that state positive means: the scale of intervals, and the default loss."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from fits import fit_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    PoissonRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.losses.rowwise import LOSSES
from pyinterp.models.aims import aim_of

families, links = sm.families, sm.families.links


def _glm(family):
    return pi.statsmodels_learner(sm.GLM, family=family)


STATED = [
    (PoissonRegressor(), "poisson"),
    (GammaRegressor(), "gamma"),
    (TweedieRegressor(power=1.5), "tweedie"),
    (TweedieRegressor(power=0, link="log"), "tweedie"),
    (TweedieRegressor(), ""),
    (make_pipeline(StandardScaler(), PoissonRegressor()), "poisson"),
    (TransformedTargetRegressor(PoissonRegressor()), "poisson"),  # as it is
    (TransformedTargetRegressor(PoissonRegressor(), func=np.log1p, inverse_func=np.expm1), ""),
    (HistGradientBoostingRegressor(loss="gamma"), "gamma"),
    (RandomForestRegressor(criterion="poisson"), ""),  # no link
    (lightgbm.LGBMRegressor(objective="poisson"), "poisson"),
    (lightgbm.LGBMRegressor(app="tweedie"), "tweedie"),
    (xgboost.XGBRegressor(objective="count:poisson"), "poisson"),
    (_glm(families.Poisson()), "poisson"),
    (_glm(families.Gamma(links.Log())), "gamma"),
    (_glm(families.Gaussian(links.Log())), "gaussian"),
    (pi.statsmodels_learner(sm.NegativeBinomial), "negativebinomial"),
    (pi.statsmodels_learner(sm.OLS), ""),
]


@pytest.mark.parametrize(("estimator", "family"), STATED, ids=lambda value: str(value)[:40])
def test_the_family_is_what_is_stated(estimator, family):
    assert aim_of(estimator).family == family


@pytest.mark.parametrize(
    ("options", "family"), [({"loss_function": "Tweedie:variance_power=1.5"}, "tweedie")]
)
def test_the_family_of_catboost_is_what_is_stated(options, family):
    catboost = pytest.importorskip("catboost")
    assert aim_of(catboost.CatBoostRegressor(**options)).family == family


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n = 120
    x, b = rng.normal(size=(2, n))
    return pd.DataFrame(
        {
            "x": x,
            "b": b,
            "g": rng.choice(["u", "v"], n),
            "time": rng.uniform(0.5, 2, n),
            "count": rng.poisson(np.exp(-0.7 + 0.8 * x + 0.3 * b)),
            "cost": np.exp(0.5 * x + 0.3 * rng.normal(size=n)),
        }
    )


def _fit(data, learner=None, y="count", **options):
    learner = PoissonRegressor() if learner is None else learner
    return fit_of(f"{y} ~ x + b + g", data, learner, **options)


def _model(data, **options):
    offset = data["time"] if options else None
    results = smf.glm("count ~ x + b + g", data, family=families.Poisson(), exposure=offset).fit()
    return pi.FittedModel(results, data, "count", **options)


CURVES = {
    "learner": lambda d: _fit(d).pd("x", grid=[-2, 1]),
    "groups": lambda d: _fit(d).pd("x", grid=[-2, 1], by="g"),
    "boosting": lambda d: _fit(d, HistGradientBoostingRegressor(loss="gamma"), "cost").pd("g"),
    "delta": lambda d: _model(d).pd("x", grid=[-2, 1]),
    "rate": lambda d: _model(d, exposure="time").pd("x", grid=[-2, 1], scale="rate"),
    "no response": lambda d: pi.FittedModel(
        smf.poisson("count ~ x + b + g", d).fit(disp=0), d[["x", "b", "g"]]
    ).pd("x", grid=[-2, 1]),
}


@pytest.mark.parametrize("case", CURVES)
def test_intervals_of_positive_means_are_symmetric_on_the_logarithmic_scale(data, case):
    curve = CURVES[case](data)
    quantile = stats.t.isf(0.025, curve.df_resid) if curve.use_t else stats.norm.isf(0.025)
    half = quantile * curve.bse / curve.params
    limits = np.column_stack([curve.params * np.exp(-half), curve.params * np.exp(half)])
    assert_allclose(curve.conf_int(), limits, rtol=1e-10)
    assert "symmetric on the log scale" in words_of(curve)


def test_positive_predictions_are_no_statement(data):
    curve = _fit(data.assign(cost=data["cost"] + 50), LinearRegression(), "cost").pd("g")
    assert (curve.params > 40).all()
    assert_allclose(curve.conf_int().mean(axis=1), curve.params)
    slope = _fit(data).ame("x")
    assert_allclose(slope.conf_int().mean(axis=1), slope.params)


@pytest.mark.parametrize(
    ("learner", "response", "loss"),
    [
        (PoissonRegressor(), "count", "Poisson deviance"),
        (HistGradientBoostingRegressor(loss="gamma"), "cost", "gamma deviance"),
        (TweedieRegressor(power=1.5, alpha=0), "count", "Tweedie deviance, p = 1.5"),
        (LinearRegression(), "count", "squared error"),
    ],
)
def test_the_default_loss_is_the_deviance_of_the_family(data, learner, response, loss):
    results = _fit(data, learner, response)
    tables = [results.loss(), results.pfi("x"), results.pd("g"), results.loss(relation="explained")]
    assert {table.fit.name for table in tables} == {loss}
    assert {table.fit.share_name for table in tables} == {"R²" if loss[0] == "s" else "D²"}
    named = loss.split(maxsplit=1)[0].lower()
    if named in LOSSES:
        assert_array_equal(results.pfi("x").params, results.pfi("x", loss=named).params)


def test_a_fitted_model_has_the_deviance_of_its_family(data):
    for model in (_model(data), _model(data, exposure="time")):
        assert model.loss().fit.name == "Poisson deviance"
    ols = pi.FittedModel(smf.ols("count ~ x + g", data).fit(), data, "count")
    assert ols.loss().fit.name == "squared error"


def test_learners_of_two_families_are_compared_by_one_loss(data):
    learners = _fit(data), _fit(data, LinearRegression())
    with pytest.raises(InferenceError, match="by one `loss=`"):
        pi.compare(*learners)
    assert np.isfinite(pi.compare(*learners, loss="squared").params).all()
