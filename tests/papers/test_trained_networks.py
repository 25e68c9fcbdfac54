"""Networks that PyTorch trains: what they learn, and what scikit-learn asks of them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import pyinterp as pi
from pyinterp.errors import DataError, OptionError
from pyinterp_papers.networks import MCDropoutRegressor

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra `torch`")

E = pi.estimators
# Few epochs: seconds, not minutes.
QUICK: dict[str, dict[str, Any]] = {
    "MCDropoutRegressor": {"epochs": 60, "hidden_layer_sizes": (30, 30)},
    "MCDropoutClassifier": {"epochs": 60, "hidden_layer_sizes": (30, 30)},
    "BayesByBackpropRegressor": {"epochs": 60, "hidden_layer_sizes": (10,), "prior_sd": 1.0},
    "BayesByBackpropClassifier": {"epochs": 60, "hidden_layer_sizes": (10,), "prior_sd": 1.0},
}
REGRESSORS = [name for name in QUICK if "Regressor" in name]
CLASSIFIERS = [name for name in QUICK if "Classifier" in name]
SKIPPED = {"check_array_api_input"}  # arrays of other libraries, which need SCIPY_ARRAY_API

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(240, 3)), columns=["a", "b", "c"])
NOISE = 3.0
Y = 100 + 10 * np.sin(X["a"]) + 5 * X["b"] + rng.normal(0, NOISE, len(X))
LABELS = np.where(2 * X["a"] + rng.logistic(size=len(X)) > 0, "yes", "no")


def model(name: str, **options: Any) -> Any:
    return getattr(E, name)(**{"random_state": 1, **QUICK[name], **options})


def fitted(name: str, **options: Any) -> Any:
    return model(name, **options).fit(X, Y if name in REGRESSORS else LABELS)


def prediction(network: Any, rows: pd.DataFrame = X) -> np.ndarray:
    classifies = hasattr(network, "predict_proba")
    return network.predict_proba(rows) if classifies else network.predict(rows)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix")
def test_every_check_of_scikit_learn_passes(name: str) -> None:
    results = check_estimator(model(name), on_skip=None, on_fail=None)
    failures = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failures == {}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= SKIPPED


@pytest.mark.parametrize("name", QUICK)
def test_one_seed_is_one_model_whatever_torch_draws_and_however_many_threads_it_has(
    name: str,
) -> None:
    first = prediction(fitted(name))
    torch.manual_seed(99)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    try:
        before = torch.get_rng_state()
        second = fitted(name)
        assert torch.get_num_threads() == threads + 1
        assert torch.equal(before, torch.get_rng_state())
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(first, prediction(second))
    np.testing.assert_array_equal(first, prediction(second))
    assert not np.array_equal(first, prediction(fitted(name, random_state=2)))


@pytest.mark.parametrize("name", QUICK)
def test_a_row_is_predicted_alone_as_among_others(name: str) -> None:
    network = fitted(name)
    np.testing.assert_allclose(
        prediction(network, X[:5]), prediction(network)[:5], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", QUICK)
def test_models_can_be_cloned_and_pickled_without_tensors(name: str) -> None:
    network = fitted(name)
    stored = pickle.dumps(network)
    assert b"torch" not in stored
    np.testing.assert_array_equal(prediction(pickle.loads(stored)), prediction(network))  # noqa: S301
    assert clone(network).get_params() == network.get_params()
    assert list(network.feature_names_in_) == ["a", "b", "c"]
    assert network.n_features_in_ == 3


@pytest.mark.parametrize("name", REGRESSORS)
def test_mean_and_standard_deviation_are_those_of_the_mixture(name: str) -> None:
    network = fitted(name, draws=7)
    mean, sd = network.predict(X, return_std=True)
    means, sds = network.predict_components(X)
    assert means.shape == sds.shape == (240, 7)
    assert len(set(sds.ravel())) == 1
    np.testing.assert_allclose(mean, network.predict(X), rtol=1e-12)
    np.testing.assert_allclose(mean, means.mean(axis=1), rtol=1e-12)
    variance = np.mean(sds**2 + means**2, axis=1) - mean**2
    np.testing.assert_allclose(sd, np.sqrt(variance), rtol=1e-6)


def test_a_dropout_network_learns_the_function_and_its_noise() -> None:
    network = fitted("MCDropoutRegressor", epochs=400, hidden_layer_sizes=(100, 100))
    new = pd.DataFrame(np.random.default_rng(5).normal(size=(500, 3)), columns=list("abc"))
    truth = 100 + 10 * np.sin(new["a"]) + 5 * new["b"]
    errors = network.predict(new) - truth
    assert np.sqrt(np.mean(errors**2)) < NOISE
    # 24 reserved rows tell a standard deviation to some 15%.
    assert network.noise_ == pytest.approx(NOISE, rel=0.5)
    y = truth + np.random.default_rng(6).normal(0, NOISE, 500)
    mean, sd = network.predict(new, return_std=True)
    assert np.mean(np.abs(y - mean) < norm.ppf(0.95) * sd) > 0.75


def test_without_hidden_units_dropout_of_features_is_ridge_regression() -> None:
    """Its penalty is rate / (1 - rate) times the squares of each feature (Wager et al. 2013)."""
    draw = np.random.default_rng(4)
    Z = draw.normal(size=(400, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    y = Z @ [1.0, -0.5] + draw.normal(size=400)
    rate = 0.4
    network = MCDropoutRegressor(
        (), feature_dropout=rate, learning_rate=0.002, epochs=4000, reserved=0.01, random_state=0
    ).fit(Z, y)
    scale = network.networks_.scale
    rows = scale.standardize(Z)
    squares = rows.T @ rows
    penalty = rate / (1 - rate) * np.diag(np.diag(squares))
    means = np.linalg.solve(squares + penalty, rows.T @ network.response_scale_.standardize(y))
    # Four reserved rows are in the sums; steps wander.
    weights = network.networks_.draw.keywords["parameters"][0][:, 0]
    np.testing.assert_allclose(weights, means, atol=0.02)
    least_squares = np.linalg.solve(squares, rows.T @ network.response_scale_.standardize(y))
    assert np.abs(weights - least_squares).min() > 0.05


def test_without_hidden_units_backprop_is_bayesian_linear_regression() -> None:
    """The best independent normal distributions have the posterior's means and precisions."""
    n, prior = 60, 0.5
    draw = np.random.default_rng(3)
    Z = draw.normal(size=(n, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    Z = np.column_stack([(Z - Z.mean(axis=0)) / Z.std(axis=0), np.ones(n)])
    y = Z @ [1.0, -0.5, 0.0] + draw.normal(size=n)
    y = (y - y.mean()) / y.std()
    network = E.BayesByBackpropRegressor(
        (), prior_sd=prior, epochs=4000, learning_rate=0.004, batch_size=n, random_state=0
    ).fit(Z[:, :2], y)
    precision = Z.T @ Z / network.noise_**2 + np.eye(3) / prior**2
    weights = network.networks_.draw.keywords
    means = np.linalg.solve(precision, Z.T @ y) / network.noise_**2
    # Adam's steps do not end: means wander by a fraction of their standard deviations.
    np.testing.assert_allclose(weights["means"], means, atol=0.04)
    np.testing.assert_allclose(weights["sds"], np.diag(precision) ** -0.5, rtol=0.15)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_means_over_draws(name: str) -> None:
    network = fitted(name, draws=6)
    draws = network.predict_proba_draws(X)
    assert draws.shape == (6, 240, 2)
    np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(network.predict_proba(X), draws.mean(axis=0), rtol=1e-12)
    assert network.classes_.tolist() == ["no", "yes"]
    assert set(network.predict(X)) == {"no", "yes"}
    p = network.predict_proba(X)[:, 1]
    assert np.corrcoef(p, 1 / (1 + np.exp(-2 * X["a"])))[0, 1] > 0.8


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_is_refused(name: str) -> None:
    with pytest.raises(DataError, match=f"{name} needs at least two classes, but the response has"):
        model(name).fit(X, np.ones(len(X)))


def test_steps_that_are_too_long_are_an_error() -> None:
    with pytest.raises(OptionError, match="a smaller `learning_rate` helps"):
        fitted("MCDropoutRegressor", learning_rate=1e6)


def test_importing_the_estimators_does_not_import_torch() -> None:
    code = "import sys, pyinterp.estimators; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    assert done.stdout.strip() == "False"


def test_progress_is_shown_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    fitted("BayesByBackpropRegressor", epochs=3, progress=True)
    assert "3/3" in capsys.readouterr().err
    fitted("BayesByBackpropRegressor", epochs=3)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", QUICK)
def test_a_network_is_a_learner_like_any_other(name: str) -> None:
    data = X.assign(y=Y if name in REGRESSORS else LABELS)
    learner = pi.Learner.from_formula("y ~ a + b", data[:80], model(name, random_state=None))
    first, second = (learner.fit(pi.HalfSampling(2, pairs=5), seed=1) for _ in "ab")
    importance = first.pfi(["a", "b"])
    np.testing.assert_array_equal(importance.params, second.pfi(["a", "b"]).params)
    assert importance.params["a"] > 0
