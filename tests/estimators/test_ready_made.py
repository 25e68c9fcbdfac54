"""Estimators composed of scikit-learn's: what they are made of, and what they learn."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

import pyinterp as pi


def classes(n=400):
    X, y = make_classification(n, 6, n_informative=3, class_sep=0.7, random_state=0)
    return X, y


def test_the_forest_is_that_of_the_paper():
    forest = pi.estimators.calibrated_forest(random_state=3).estimator
    assert (forest.n_estimators, forest.max_depth, forest.random_state) == (500, 8, 3)


def test_one_forest_learns_from_80_percent_and_one_sigmoid_from_the_rest():
    X, y = classes()
    model = pi.estimators.calibrated_forest(random_state=0, n_estimators=10).fit(X, y)
    (calibrated,) = model.calibrated_classifiers_
    assert len(calibrated.calibrators) == 1
    ((trained, rest),) = model.cv.split(X, y)
    assert (len(trained), len(rest)) == (320, 80)
    forest = clone(calibrated.estimator).fit(X[trained], y[trained])
    scores = forest.predict_proba(X[rest])[:, 1]
    assert np.array_equal(scores, calibrated.estimator.predict_proba(X[rest])[:, 1])
    platt = CalibratedClassifierCV(FrozenEstimator(forest), method="sigmoid")
    expected = platt.fit(X[rest], y[rest]).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)


def test_calibrated_probabilities_have_a_smaller_log_loss_than_a_deep_small_forest():
    X, y = classes(1200)
    options = {"n_estimators": 20, "max_depth": None}
    model = pi.estimators.calibrated_forest(random_state=0, **options).fit(X[:800], y[:800])
    forest = clone(model.estimator).fit(X[:800], y[:800])
    calibrated, raw = (log_loss(y[800:], m.predict_proba(X[800:])) for m in (model, forest))
    assert calibrated < raw


def test_a_learner_repeats_its_refits_of_a_forest():
    X, y = classes(120)
    data = pd.DataFrame(X, columns=list("abcdef")).assign(y=np.where(y, "yes", "no"))
    forest = pi.estimators.calibrated_forest(n_estimators=5)
    learner = pi.Learner.from_formula("y ~ .", data, forest)
    first, second = (learner.fit(pi.HalfSampling(2, pairs=5), seed=1).loss().params for _ in "ab")
    np.testing.assert_array_equal(first, second)


def test_a_process_finds_its_own_parameters():
    """Data of a Gaussian process: length and noise are within what 200 rows can tell."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (200, 1))
    covariance = 4 * np.exp(-((X - X.T) ** 2) / 2)
    y = 50 + rng.multivariate_normal(np.zeros(200), covariance) + rng.normal(0, 0.5, 200)
    model = pi.estimators.gaussian_process().fit(X, y)
    scaler, process = model[0], model[-1]
    length = process.kernel_.k1.k2.length_scale * scaler.scale_[0]
    noise = np.sqrt(process.kernel_.k2.noise_level) * y.std()
    assert length == pytest.approx(1, rel=0.3)
    assert noise == pytest.approx(0.5, rel=0.15)


def test_the_standard_deviation_of_a_process_is_that_of_a_new_response():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, 300)
    model = pi.estimators.gaussian_process().fit(X[:200], y[:200])
    mean, sd = model.predict(X[200:], return_std=True)
    assert np.mean(np.abs(y[200:] - mean) < norm.ppf(0.95) * sd) == pytest.approx(0.9, abs=0.08)
    assert sd.min() > 0.2


def test_both_take_frames_and_options():
    frame = pd.DataFrame(classes(60)[0], columns=list("abcdef"))
    y = frame["a"] + frame["b"] + np.random.default_rng(0).normal(size=60)
    process = pi.estimators.gaussian_process(random_state=2, n_restarts_optimizer=1).fit(frame, y)
    assert list(process.feature_names_in_) == list("abcdef")
    assert process[-1].n_restarts_optimizer == 1
    forest = pi.estimators.calibrated_forest(n_estimators=3, max_depth=2).fit(frame, y > 0)
    assert list(forest.feature_names_in_) == list("abcdef")
