"""Sampling weights reach what learns: refits equal the fits that a user of scikit-learn makes."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import AdaBoostRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError

N = 60
RNG = np.random.default_rng(2)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = np.exp(X["a"] / 2 + 0.3 * RNG.normal(size=N))
TWO = (Y > 1).astype(int)
W = RNG.uniform(0.1, 4.0, N)
SPLITS = [(np.arange(40), np.arange(40, N)), (np.arange(20, N), np.arange(20))]
LOG = {"func": np.log, "inverse_func": np.exp}


def asks(estimator):
    """Let an estimator take weights where metadata are routed."""
    estimator.set_fit_request(sample_weight=True)
    if hasattr(estimator, "set_score_request"):
        estimator.set_score_request(sample_weight=True)
    return estimator


def scaled(estimator, *, asked=False):
    scaler = StandardScaler()
    return make_pipeline(
        scaler.set_fit_request(sample_weight=False) if asked else scaler, estimator
    )


# By name: the estimator, and the keyword of `fit` that has the weights.
OFF = {
    "alone": (Ridge, "sample_weight"),
    "pipeline": (lambda: scaled(Ridge()), "ridge__sample_weight"),
    "search": (lambda: GridSearchCV(Ridge(), {"alpha": [1.0, 9.0]}, cv=3), "sample_weight"),
    "search of a pipeline": (
        lambda: GridSearchCV(scaled(Ridge()), {"ridge__alpha": [1.0, 9.0]}, cv=3),
        "ridge__sample_weight",
    ),
    "log response": (lambda: TransformedTargetRegressor(Ridge(), **LOG), "sample_weight"),
    "log response, default": (lambda: TransformedTargetRegressor(**LOG), "sample_weight"),
    "log response of a pipeline": (
        lambda: TransformedTargetRegressor(scaled(Ridge()), **LOG),
        "ridge__sample_weight",
    ),
    "pipeline to a log response": (
        lambda: scaled(TransformedTargetRegressor(Ridge(), **LOG)),
        "transformedtargetregressor__sample_weight",
    ),
    "selection": (lambda: RFE(Ridge(), n_features_to_select=1), "sample_weight"),
    "stack": (lambda: StackingRegressor([("a", Ridge()), ("b", Ridge(9))]), "sample_weight"),
    "vote": (lambda: VotingRegressor([("a", Ridge()), ("b", Ridge(9))]), "sample_weight"),
    "calibrated": (lambda: CalibratedClassifierCV(LogisticRegression(), cv=2), "sample_weight"),
}
ON = {
    "alone, without a request": Ridge,
    "over folds, without a request": RidgeCV,
    "pipeline": lambda: scaled(asks(Ridge()), asked=True),
    "search": lambda: GridSearchCV(asks(Ridge()), {"alpha": [1.0, 9.0]}, cv=3),
    "log response": lambda: TransformedTargetRegressor(asks(Ridge()), **LOG),
    "pipeline to a log response": lambda: scaled(
        TransformedTargetRegressor(asks(Ridge()), **LOG), asked=True
    ),
    "stack of a pipeline": lambda: StackingRegressor(
        [("a", scaled(asks(Ridge()), asked=True))], final_estimator=asks(Ridge())
    ),
    "calibrated pipeline": lambda: CalibratedClassifierCV(
        scaled(asks(LogisticRegression()), asked=True), cv=2
    ),
    "threshold": lambda: FixedThresholdClassifier(asks(LogisticRegression())),
    "one against the rest": lambda: OneVsRestClassifier(asks(LogisticRegression())),
}
CLASSIFIERS = ("calibrated", "calibrated pipeline", "threshold", "one against the rest")


def compare(name, estimator, keyword, n_jobs=1):
    y = TWO if name in CLASSIFIERS else Y
    learner = pi.Learner(y, X, estimator, weights=W, weights_type="sampling")
    results = learner.fit(pi.Splits(SPLITS), seed=1, reseed=False, n_jobs=n_jobs)
    for refit, (train, test) in zip(results.refits, SPLITS, strict=True):
        right = clone(estimator)
        weights = results.model.sample.weights[train]
        right.fit(X.iloc[train], y[train], **{keyword: weights})
        predicts = right.predict_proba if name in CLASSIFIERS else right.predict
        np.testing.assert_allclose(
            refit.predictor(X.iloc[test]), predicts(X.iloc[test]), rtol=1e-12
        )
        plain = clone(estimator).fit(X.iloc[train], y[train])
        predicts = plain.predict_proba if name in CLASSIFIERS else plain.predict
        assert np.abs(refit.predictor(X.iloc[test]) - predicts(X.iloc[test])).max() > 1e-4


@pytest.mark.parametrize("name", OFF)
def test_weights_without_routing(name):
    make, keyword = OFF[name]
    compare(name, make(), keyword)


@pytest.mark.parametrize(("name", "n_jobs"), [*((name, 1) for name in ON), ("pipeline", 2)])
def test_weights_by_routing(name, n_jobs):
    with config_context(enable_metadata_routing=True):
        compare(name, ON[name](), "sample_weight", n_jobs)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: pi.statsmodels_learner(sm.OLS), "takes no `sample_weight`"),
        (
            KNeighborsRegressor,
            r"KNeighborsRegressor takes no `sample_weight`.*as `Lin.* do, or fit",
        ),
        (lambda: RFECV(Ridge()), r"switch on `sklearn.set_config\(enable_metadata_routing=True"),
        (lambda: StackingRegressor([("a", scaled(Ridge()))]), "switch on"),
        (lambda: CalibratedClassifierCV(scaled(LogisticRegression())), "switch on"),
        (lambda: GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [3]}), "switch on"),
    ],
)
def test_who_takes_no_weights_without_routing(make, sentence):
    """A calibrated pipeline weighed the calibration alone, with a warning."""
    with pytest.raises(OptionError, match=sentence):
        pi.Learner(Y, X, make(), weights=W, weights_type="sampling")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: scaled(asks(Ridge())), "sample_weight.*StandardScaler"),
        (lambda: TransformedTargetRegressor(Ridge()), "sample_weight"),
        (
            lambda: GridSearchCV(Ridge().set_fit_request(sample_weight=True), {"alpha": [1.0]}),
            "sample_weight.*Ridge.score",
        ),
        (lambda: AdaBoostRegressor(LinearRegression()), "takes no `sample_weight`"),
        (
            lambda: scaled(Ridge().set_fit_request(sample_weight=False), asked=True),
            "use a learner that takes it, as .* do, say who takes it",
        ),
    ],
)
def test_requests_that_are_missing_are_named(make, sentence):
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises((OptionError, RefitError), match=sentence),
    ):
        pi.Learner(Y, X, make(), weights=W, weights_type="sampling").fit(pi.Splits(SPLITS), seed=1)


def test_several_responses_are_refused_with_what_to_do():
    learner = pi.Learner(Y, X, MultiOutputRegressor(Ridge()))
    with pytest.raises(RefitError, match="a learner has one response: pass the estimator inside"):
        learner.fit(pi.Splits(SPLITS), seed=1)
