"""One matrix: learners x responses x estimands x levels, served without a warning or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xgboost
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVC
from threadpoolctl import threadpool_limits

import pyinterp as pi
from pyinterp.errors import DataError, LossError, OptionError, RefitError
from pyinterp.inference.replicates import contributions
from pyinterp.results.results import EstimandResults

N = 60
PLAN = pi.Bootstrap(3, strata="g")
REGRESSION = {"squared", "absolute", "huber", "poisson", "gamma"}
CLASSIFICATION = {"log", "brier", "zero_one"}

rng = np.random.default_rng(0)
x, z = rng.normal(size=N), rng.uniform(1, 3, size=N)
g = rng.permutation(np.repeat(["a", "b", "c"], N // 3))
mean = 4 + x + np.log(z) + (g == "b")
score = x + (g == "b") + rng.logistic(size=N)
DATA = pd.DataFrame(
    {
        "x": x,
        "z": z,
        "g": pd.Categorical(g),
        "numeric": mean + rng.normal(size=N) / 2,
        "count": rng.poisson(np.exp(mean / 3)).astype(float),
        "bool": score > 0,
        "str": np.where(score > 0, "yes", "no"),
        "category": pd.Categorical(np.where(score > 0, "yes", "no"), ["yes", "no"]),
        "integer": (score > 0).astype(int),
        "three": pd.cut(score, [-99, -0.7, 0.7, 99], labels=["low", "mid", "high"]),
    }
)
CLASSES = {
    "bool": (False, True),
    "str": ("no", "yes"),
    "category": ("yes", "no"),
    "integer": (0, 1),
    "three": ("low", "mid", "high"),
}


class Served(NamedTuple):
    """A learner, how its variables are handed over, and which per-row losses it can serve."""

    estimator: Any
    design: str
    losses: set[str]


@pytest.fixture(autouse=True)
def one_thread():
    """Keep OpenMP learners from crowding out the other test processes."""
    with threadpool_limits(1):
        yield


def one_hot(last):
    encode = make_column_transformer((OneHotEncoder(), ["g"]), remainder=StandardScaler())
    return make_pipeline(encode, last)


# Means of trees and of a Poisson GLM are positive where the response is; a line's need not be.
POSITIVE, ANY_SIGN = REGRESSION, {"squared", "absolute", "huber"}
REGRESSORS = {
    "linear": Served(LinearRegression(), "matrix", ANY_SIGN),
    "forest": Served(RandomForestRegressor(5), "matrix", POSITIVE),
    "histogram": Served(HistGradientBoostingRegressor(max_iter=5), "frame", POSITIVE),
    "pipeline": Served(one_hot(LinearRegression()), "frame", ANY_SIGN),
    "xgboost": Served(xgboost.XGBRegressor(n_estimators=5, n_jobs=1), "matrix", POSITIVE),
    "xgboost frame": Served(
        xgboost.XGBRegressor(n_estimators=5, n_jobs=1, enable_categorical=True), "frame", POSITIVE
    ),
    "lightgbm": Served(
        lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1), "matrix", POSITIVE
    ),
    "lightgbm frame": Served(
        lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1), "frame", POSITIVE
    ),
    "svr": Served(one_hot(SVR()), "frame", POSITIVE),
    "network": Served(
        one_hot(MLPRegressor(hidden_layer_sizes=[4], solver="lbfgs", max_iter=5000, alpha=0.1)),
        "frame",
        ANY_SIGN,
    ),
    "ols": Served(pi.statsmodels_learner(sm.OLS), "matrix", ANY_SIGN),
    "poisson glm": Served(
        pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson()), "matrix", POSITIVE
    ),
}
CLASSIFIERS = {
    "logistic": Served(LogisticRegression(), "matrix", CLASSIFICATION),
    "forest": Served(RandomForestClassifier(5), "matrix", CLASSIFICATION),
    "histogram": Served(HistGradientBoostingClassifier(max_iter=5), "frame", CLASSIFICATION),
    "pipeline": Served(one_hot(LogisticRegression()), "frame", CLASSIFICATION),
    "xgboost": Served(xgboost.XGBClassifier(n_estimators=5, n_jobs=1), "matrix", CLASSIFICATION),
    "lightgbm": Served(
        lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1), "matrix", CLASSIFICATION
    ),
    "svc": Served(LinearSVC(), "matrix", {"zero_one"}),
    "binomial glm": Served(
        pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()), "matrix", CLASSIFICATION
    ),
    "logit": Served(pi.statsmodels_learner(sm.Logit), "matrix", CLASSIFICATION),
}
TWO_CLASSES_ONLY = {"binomial glm", "logit"}
CELLS = [(k, r) for k in REGRESSORS for r in ("numeric", "count")] + [
    (k, r) for k in CLASSIFIERS for r in CLASSES if not (r == "three" and k in TWO_CLASSES_ONLY)
]


# One response of each kind. What costs most is asked of these; `make torture` asks it of all.
KINDS = {"numeric", "str", "three"}
FEWER_CELLS = [
    pytest.param(k, r, marks=() if r in KINDS else pytest.mark.torture) for k, r in CELLS
]


# Samplers know nothing of the learner but its predictions: one of each kind of input.
SAMPLED = {"linear", "histogram", "xgboost frame", "ols", "logistic", "svc"}
SAMPLED_CELLS = [
    pytest.param(k, r, marks=() if r in KINDS and k in SAMPLED else pytest.mark.torture)
    for k, r in CELLS
]


def served(name, response):
    return (CLASSIFIERS if response in CLASSES else REGRESSORS)[name]


def learner(name, response):
    estimator, design, _ = served(name, response)
    formula = f"Q({response!r}) ~ x + z + g"
    return pi.Learner.from_formula(formula, DATA, clone(estimator), design=design)


def assert_contributions_mean_to_values(results):
    """What variances count on. Of several refits deviations are summed, which leaves 0."""
    measured, evaluations = results.replicates.sums, results.replicates.evaluations
    for estimate in measured.single:
        means, size = contributions(estimate).mean(axis=0), np.nanmax(np.abs(estimate.rows))
        rounding = 1e-9 * size + 1e-12  # derivatives of a constant curve are 0 up to rounding
        assert_allclose(means, estimate.value, rtol=1e-9, atol=rounding)
    assert (measured.effects is None) == (len(evaluations.at) == 1)
    if measured.effects is not None:
        per_refit, sums = results.replicates.per_refit, measured.effects.sum(axis=0)
        means = sums / evaluations.times.sum()
        size = np.nanmax(np.abs(results.replicates.effects)) + np.nanmax(np.abs(per_refit))
        expected = np.where(np.isnan(per_refit.sum(axis=0)), np.nan, 0.0)
        assert_allclose(means, expected, rtol=0, atol=1e-9 * size + 1e-12)


def assert_readable(results, terms, *, exact_zero_ok=True):
    """Every way to read results works and agrees on its shape."""
    assert results.params.shape == (terms,)
    absent = results.params.isna()
    if absent.any():  # a class that is never predicted has no relative interaction
        assert results.estimand.key[0] == "h"
        assert "No estimate for" in str(results.summary())
    in_sample = bool(
        results.replicates.no_intervals
    )  # losses of rows that trained have no inference
    fixed = results.without_error or in_sample  # no mean over rows
    assert results.bse.isna().all() if fixed else (results.bse[~absent] >= 0).all()
    if not (exact_zero_ok or in_sample):
        assert (results.bse > 0).all()
    frame = results.summary_frame()
    assert len(frame) == len(results.tidy()) == terms
    assert {"estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"} <= {*frame}
    assert_contributions_mean_to_values(results)
    varies = results.bse > 0
    limits, tests = ["conf_low", "conf_high"], ["statistic", "p_value"]
    # Shares, as H, have no limits with 2 or 3 degrees of freedom.
    few = results.estimand.parameter.share and bool(results.inference.no_limits)
    assert (np.isfinite(frame.loc[varies, limits].to_numpy()) != few).all()
    tested = np.isfinite(frame.loc[varies, tests].to_numpy())
    assert tested.all() if results.null is not None else not tested.any()
    assert results.conf_int().shape == (terms, 2)
    assert results.cov_params().shape == (terms, terms)
    assert len(results.glance()) == 1
    table = results.summary()
    text = str(table)
    assert all(str(term) in text for term in results.params.index)
    assert "<table" in table.as_html()


def can_be_left_out(cell):
    """Pipelines here name `g`, and can't be trained without it."""
    return ["x", "z"] if hasattr(cell.estimator, "steps") else ["x", "z", "g"]


Ask = Callable[[Any], EstimandResults]
EFFECTS = {
    "pd": (lambda r: r.pd("x", points=4), 4),
    "pd of levels": (lambda r: r.pd("g"), 3),
    "ice": (lambda r: r.pd("x", points=4, kind="ice"), 4),
    "c-ice": (lambda r: r.pd("x", points=4, kind="c-ice", grid="equidistant"), 4),
    "d-ice": (lambda r: r.pd("x", points=4, kind="d-ice"), 4),
    "surface": (lambda r: r.pd(["g", "z"], points=3), 9),
    "three variables": (lambda r: r.pd(["g", "z", "x"], points=2), 12),
    "ale": (lambda r: r.ale("x", points=4), 4),
    "ale of levels": (lambda r: r.ale("g"), 3),
    "ame": (lambda r: r.ame(step="sd"), 4),
}


@pytest.mark.parametrize(("name", "response"), FEWER_CELLS, ids=str)
def test_cell(name, response):
    """PFI with every loss, PD in every form and the loss, for refits and for one model; LOCO."""
    cell, model = served(name, response), learner(name, response)
    curves = 3 if response == "three" else 1
    refits = model.fit(PLAN, seed=1)
    level_model = model.fit_model(seed=1)
    for level in (refits, level_model):
        for loss in sorted(cell.losses):
            if loss == "gamma" and response == "count":
                continue  # counts of 0 have no gamma deviance
            assert_readable(level.pfi(loss=loss), 3)
            assert_readable(level.loss(loss), 1, exact_zero_ok=False)
        assert_readable(level.pfi(permutations=2), 3)
        assert_readable(level.loss(relation="explained"), 1)
        for ask, terms in EFFECTS.values():
            assert_readable(ask(level), terms * curves)
    left_out = can_be_left_out(cell)
    for loss in sorted(cell.losses - {"gamma" if response == "count" else ""}):
        assert_readable(refits.loco(left_out, loss=loss), len(left_out))
        assert_readable(refits.loco(left_out, loss=loss, relation="ratio"), len(left_out))
    with pytest.raises(OptionError, match="no learner to train"):
        level_model.loco()
    if "g" not in left_out:  # a ColumnTransformer names it, and is given the others
        assert_readable(refits.loco("g"), 1)
    if response in CLASSES:
        assert refits.refits[0].predictor.classes == CLASSES[response]
        if "log" in cell.losses:
            assert_readable(refits.pd("x", points=4, scale="logit"), 4 * curves)
        else:  # labels have no log-odds
            with pytest.raises(OptionError):
                refits.pd("x", scale="logit")
    for loss in (REGRESSION | CLASSIFICATION) - cell.losses:
        mixed = loss in {"poisson", "gamma"} and response not in CLASSES
        if not mixed:  # a line's predictions may happen to be positive
            with pytest.raises(LossError):
                refits.pfi(loss=loss)


@pytest.mark.parametrize(("name", "response"), SAMPLED_CELLS, ids=str)
def test_conditional_importance(name, response):
    """Conditional PFI, MVIM and its kin, and the causal reading, for refits and for one model."""
    cell, model = served(name, response), learner(name, response)
    few = {"permutations": 4}
    for level in (model.fit(PLAN, seed=1), model.fit_model(seed=1)):
        assert_readable(level.positivity(), 3)
        for sampler in ("conditional", "subgroup"):
            assert_readable(level.pfi(sampler=sampler, **few), 3)
        if response != "three" and {"squared", "brier"} & cell.losses:
            for measure in (level.mvim(), level.cvim(**few), level.amvim(method="additive")):
                assert_readable(measure, 3)
            assert_readable(level.amvim(["x", "z"], **few), 2)
            assert_readable(level.causal("x", points=3, **few).importance, 2)
            assert_readable(level.causal("g", **few).effects, 3)


@pytest.mark.parametrize(("name", "response"), SAMPLED_CELLS, ids=str)
def test_shapley_shares_and_interactions_of_nature(name, response):
    """SAGE for refits and one model; interactions and products of rows pooled over folds."""
    cell, model = served(name, response), learner(name, response)
    folds = model.fit(pi.CrossValidation(2), seed=1)
    if not {"squared", "brier"} & cell.losses:
        with pytest.raises(LossError, match="probabilities"):
            folds.sage()
        for method in (folds.interactions, folds.products):
            with pytest.raises(OptionError, match="are of means"):
                method("x")
        return
    for level in (model.fit(PLAN, seed=1), model.fit_model(seed=1)):
        assert_readable(level.sage(), 3)
    found = folds.interactions(can_be_left_out(cell))
    curves = 3 if response == "three" else 1
    least = found.conf_int()[0]
    assert (found.pvalues.isna() | found.pvalues.between(0, 1)).all()  # additive: no test
    assert (least.isna() == found.pvalues.isna()).all()
    assert found.pvalues.shape == (curves * len(can_be_left_out(cell)),)
    assert not (least < 0).any()
    assert "P" in str(found.summary())
    assert len(found.plot().data) == len(found.params)
    assert_readable(folds.products("x"), 3 * curves)
    beside = folds.importance([pi.ask("products", "x", "z"), pi.ask("interactions", "x")])
    assert beside.tidy()["term"].nunique() == 2 * curves


# How many numbers a model reports of itself, per class; 0 if it has none.
REPORTED = {
    "linear": 4,
    "forest": 3,
    "histogram": 0,
    "pipeline": 5,
    "xgboost": 3,
    "xgboost frame": 3,
    "lightgbm": 3,
    "lightgbm frame": 3,
    "svr": 0,
    "network": 5,
    "ols": 4,
    "poisson glm": 4,
    "logistic": 4,
    "svc": 5,
    "binomial glm": 4,
    "logit": 4,
}
PER_CLASS = {"pipeline", "logistic", "svc"}


@pytest.mark.parametrize(("name", "response"), FEWER_CELLS, ids=str)
def test_flatness_interactions_and_native_importance(name, response):
    """FIRM, vint, H in every form, and what the model reports, for refits and for one model."""
    model = learner(name, response)
    curves = 3 if response == "three" else 1
    for level in (model.fit(PLAN, seed=1), model.fit_model(seed=1)):
        for options in ({}, {"spread": "mad"}, {"ice": True}):
            found = level.firm(points=4, **options)
            assert_readable(found, 3 * curves)
            assert (found.params >= 0).all()
            assert (found.corrected_params is None) == bool(options)
        assert_readable(level.vint(points=3), 3 * curves)
        for order, terms in {
            "overall": 3,
            "pairwise": 3,
            "three-way": 1,
            "total": 1,
            "importance": 3,
        }.items():
            found = level.h_statistic(order=order, most_rows=15)
            assert_readable(found, terms * curves)
            assert (found.params.dropna() >= 0).all()
        assert_readable(level.h_statistic(most_rows=10, normalize=False, squared=False), 3 * curves)
        if REPORTED[name]:
            per = curves if name in PER_CLASS else 1
            assert_readable(level.native_importance(), REPORTED[name] * per)
        else:
            with pytest.raises(OptionError, match="reports no importance of its own"):
                level.native_importance()


@pytest.mark.parametrize(("name", "response"), CELLS, ids=str)
def test_a_model_fitted_elsewhere_gives_what_the_learner_gives(name, response):
    """`FittedModel` of a refit's own estimator, on its evaluation rows, equals the refit."""
    refit = learner(name, response).fit(pi.Holdout(0.6, strata="g"), seed=1)
    one = refit.refits[0]
    rows = one.design.encode(one.evaluation.variables)
    y = DATA[response].iloc[one.evaluation.rows].reset_index(drop=True)
    estimator = one.predictor.estimator
    assert one.predictor.classes == CLASSES.get(response)
    if response in CLASSES and hasattr(estimator, "classes_") and name == "xgboost":
        y = pd.Series(one.evaluation.y.astype(int), name=response)  # it knows codes only
    elsewhere = pi.FittedModel(estimator, rows, y)
    assert_allclose(elsewhere.loss().params, refit.loss().params, rtol=1e-10)
    numeric = [c for c in ("x", "z") if c in one.design.columns]
    assert numeric == ["x", "z"]
    position = [one.design.columns.index(c) for c in numeric]
    named = (
        numeric
        if served(name, response).design == "frame"
        else [list(elsewhere.analysis.problem.features)[j] for j in position]
    )
    assert_allclose(
        elsewhere.pfi(named, permutations="all").params.to_numpy(),
        refit.pfi(numeric, permutations="all").params.to_numpy(),
        rtol=1e-8,
        atol=1e-10,
    )


@pytest.mark.parametrize("response", ["bool", "str", "category", "three"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_refuses_labels(name, response):
    estimator, design, _ = REGRESSORS[name]
    with pytest.raises(DataError, match="is a regressor and needs a numeric response"):
        pi.Learner.from_formula(f"Q({response!r}) ~ x", DATA, estimator, design=design)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_refuses_fractions(name):
    with pytest.raises(
        DataError, match="is a classifier, but the response `numeric` has fractional"
    ):
        pi.Learner.from_formula("numeric ~ x", DATA, CLASSIFIERS[name].estimator)


@pytest.mark.parametrize("name", sorted(TWO_CLASSES_ONLY))
def test_a_binary_model_refuses_three_classes(name):
    with pytest.raises(RefitError, match="Refit 1 of 3 failed: DataError: Only binary"):
        learner(name, "three").fit(PLAN, seed=1)
