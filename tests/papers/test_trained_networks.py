"""Networks that PyTorch trains: what they learn, and what scikit-learn asks of them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import norm
from shared import check_of_sklearn, normal_rows
from sklearn.base import clone

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp_papers.networks import BayesByBackpropClassifier, MCDropoutRegressor

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra `torch`")

# Few epochs: seconds, not minutes.
QUICK = {
    "dropout": (MCDropoutRegressor, {"epochs": 60, "hidden_layer_sizes": (30, 30)}),
    "backprop": (
        BayesByBackpropClassifier,
        {"epochs": 60, "hidden_layer_sizes": (10,), "prior_sd": 1.0},
    ),
}

rng, X = normal_rows(240, "a b c")
NOISE = 3.0
Y = 100 + 10 * np.sin(X["a"]) + 5 * X["b"] + rng.normal(0, NOISE, len(X))
LABELS = np.where(2 * X["a"] + rng.logistic(size=len(X)) > 0, "yes", "no")


def model(name, **options):
    kind, quick = QUICK[name]
    return kind(**{"random_state": 1, **quick, **options})


def fitted(name, **options):
    return model(name, **options).fit(X, Y if name == "dropout" else LABELS)


def prediction(network, rows=X):
    classifies = hasattr(network, "predict_proba")
    return network.predict_proba(rows) if classifies else network.predict(rows)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix")
def test_every_check_of_scikit_learn_passes(name):
    check_of_sklearn(model(name))


@pytest.mark.parametrize("name", QUICK)
def test_one_seed_is_one_model_whatever_torch_draws_and_however_many_threads_it_has(name):
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
    assert_array_equal(first, prediction(second))
    assert_array_equal(first, prediction(second))
    assert not np.array_equal(first, prediction(fitted(name, random_state=2)))


@pytest.mark.parametrize("name", QUICK)
def test_models_can_be_cloned_and_pickled_without_tensors(name):
    network = fitted(name)
    stored = pickle.dumps(network)
    assert b"torch" not in stored
    assert_array_equal(prediction(pickle.loads(stored)), prediction(network))  # noqa: S301
    assert clone(network).get_params() == network.get_params()
    assert list(network.feature_names_in_) == ["a", "b", "c"]


def test_the_mean_is_that_of_the_mixture():
    network = fitted("dropout", draws=7)
    means, sds = network.predict_components(X)
    assert means.shape == sds.shape == (240, 7)
    assert len(set(sds.ravel())) == 1
    assert_allclose(network.predict(X), means.mean(axis=1), rtol=1e-12)


def test_a_dropout_network_learns_the_function_and_its_noise():
    network = fitted("dropout", epochs=400, hidden_layer_sizes=(100, 100))
    new = pd.DataFrame(np.random.default_rng(5).normal(size=(500, 3)), columns=list("abc"))
    truth = 100 + 10 * np.sin(new["a"]) + 5 * new["b"]
    errors = network.predict(new) - truth
    assert np.sqrt(np.mean(errors**2)) < NOISE
    # 24 reserved rows tell a standard deviation to some 15%.
    assert network.noise_ == pytest.approx(NOISE, rel=0.5)
    y = truth + np.random.default_rng(6).normal(0, NOISE, 500)
    means, sds = network.predict_components(new)
    mean, sd = means.mean(axis=1), np.hypot(means.std(axis=1), sds[:, 0])
    assert np.mean(np.abs(y - mean) < norm.ppf(0.95) * sd) > 0.75


def test_without_hidden_units_dropout_of_features_is_ridge_regression():
    """Its penalty is rate / (1 - rate) times the squares of each feature (Wager et al. 2013)."""
    draw = np.random.default_rng(4)
    Z = draw.normal(size=(400, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    y = Z @ [1.0, -0.5] + draw.normal(size=400)
    rate = 0.4
    network = MCDropoutRegressor(
        (), feature_dropout=rate, learning_rate=0.002, epochs=4000, reserved=0.01, random_state=0
    ).fit(Z, y)
    scale = network.scale_
    rows = scale.standardize(Z)
    squares = rows.T @ rows
    penalty = rate / (1 - rate) * np.diag(np.diag(squares))
    means = np.linalg.solve(squares + penalty, rows.T @ network.response_scale_.standardize(y))
    # Four reserved rows are in the sums; steps wander.
    weights = network.draw_.keywords["parameters"][0][:, 0]
    assert_allclose(weights, means, atol=0.02)
    least_squares = np.linalg.solve(squares, rows.T @ network.response_scale_.standardize(y))
    assert np.abs(weights - least_squares).min() > 0.05


def test_without_hidden_units_backprop_is_bayesian_logistic_regression():
    """Means and spreads of the difference of two classes' weights, by quadrature over a grid.

    Of many rows the posterior is nearly normal. Weights of two classes have independent priors:
    their difference has twice the variance, and half of it each.
    """
    n, prior = 400, 0.5
    draw = np.random.default_rng(3)
    z = draw.normal(size=n)
    z = (z - z.mean()) / z.std()
    y = (draw.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    network = BayesByBackpropClassifier(
        (), prior_sd=prior, epochs=3000, learning_rate=0.004, batch_size=n, random_state=0
    ).fit(z[:, None], y)
    slopes, constants = np.meshgrid(np.linspace(0, 2, 101), np.linspace(-1, 1, 101))
    margin = np.multiply.outer(z, slopes) + constants
    logs = (y[:, None, None] * margin - np.logaddexp(0, margin)).sum(axis=0)
    logs -= (slopes**2 + constants**2) / (4 * prior**2)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    keywords = network.draw_.keywords
    found = keywords["means"][[1, 3]] - keywords["means"][[0, 2]]
    exact = np.array([(weights * slopes).sum(), (weights * constants).sum()])
    sd = np.sqrt((weights * slopes**2).sum() - exact[0] ** 2)
    # Adam's steps do not end: means wander by a fraction of their standard deviations.
    assert_allclose(found, exact, atol=0.5 * sd)
    assert found[0] > 4 * sd
    # The best independent normal distributions have the precisions of the posterior at its mean.
    p = 1 / (1 + np.exp(-exact[0] * z - exact[1]))
    information = np.array([(p * (1 - p) * z**2).sum(), (p * (1 - p)).sum()])
    precisions = np.repeat(information + 1 / prior**2, 2)
    assert_allclose(keywords["sds"], precisions**-0.5, rtol=0.15)


def test_probabilities_are_means_over_draws():
    network = fitted("backprop", draws=6)
    p = network.predict_proba(X)
    draws = [softmax(block, axis=-1) for block in network._outputs(X.to_numpy())]
    assert_allclose(p, np.concatenate(draws, axis=1).mean(axis=0), rtol=1e-12)
    assert network.classes_.tolist() == ["no", "yes"]
    assert set(network.predict(X)) == {"no", "yes"}
    assert np.corrcoef(p[:, 1], 1 / (1 + np.exp(-2 * X["a"])))[0, 1] > 0.8


def test_steps_that_are_too_long_are_an_error():
    with pytest.raises(OptionError, match="a smaller `learning_rate` helps"):
        fitted("dropout", learning_rate=1e6)


@pytest.mark.parametrize("name", QUICK)
def test_a_network_is_a_learner_like_any_other(name):
    data = X.assign(y=Y if name == "dropout" else LABELS)
    learner = pi.Learner.from_formula("y ~ a + b", data[:80], model(name, random_state=None))
    first, second = (learner.fit(pi.HalfSampling(2, pairs=5), seed=1) for _ in "ab")
    importance = first.pfi(["a", "b"])
    assert_array_equal(importance.params, second.pfi(["a", "b"]).params)
    assert importance.params["a"] > 0
