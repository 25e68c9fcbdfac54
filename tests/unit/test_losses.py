"""Losses: scikit-learn's numbers, broadcasting, and what they refuse."""

import numpy as np
import pytest
from fits import fit_of
from numpy.testing import assert_allclose
from scipy import optimize
from sklearn import metrics
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.svm import LinearSVC

import pyinterp as pi
from pyinterp.errors import LossError, OptionError
from pyinterp.losses.rowwise import LOSSES, Loss

SAME = 1e-12  # the same formula summed in another order

LINEAR, LOGISTIC = LinearRegression(), LogisticRegression()
rng = np.random.default_rng(0)
N = 50
COUNTS = rng.poisson(2.0, size=N).astype(float)
POSITIVE = rng.gamma(2.0, size=N)
MEANS = rng.gamma(2.0, size=N)
SHARES = POSITIVE / POSITIVE.max()
CODES = rng.integers(0, 3, size=N).astype(float)
PROBABILITIES = rng.dirichlet([1, 2, 3], size=N)
BINARY = (CODES > 0).astype(float)
TWO = np.column_stack([PROBABILITIES[:, 0], 1 - PROBABILITIES[:, 0]])


@pytest.mark.parametrize(
    ("name", "y", "prediction", "expected"),
    [
        ("squared", POSITIVE, MEANS, metrics.mean_squared_error(POSITIVE, MEANS)),
        ("absolute", POSITIVE, MEANS, metrics.mean_absolute_error(POSITIVE, MEANS)),
        ("poisson", COUNTS, MEANS, metrics.mean_poisson_deviance(COUNTS, MEANS)),
        ("gamma", POSITIVE, MEANS, metrics.mean_gamma_deviance(POSITIVE, MEANS)),
        ("binomial", BINARY, TWO[:, 1], 2 * metrics.log_loss(BINARY, TWO)),
        ("log", CODES, PROBABILITIES, metrics.log_loss(CODES, PROBABILITIES)),
        ("log", BINARY, TWO, metrics.log_loss(BINARY, TWO)),
        ("brier", BINARY, TWO, metrics.brier_score_loss(BINARY, TWO[:, 1])),
        ("brier", CODES, PROBABILITIES, metrics.brier_score_loss(CODES, PROBABILITIES)),
        (
            "zero_one",
            CODES,
            PROBABILITIES,
            metrics.zero_one_loss(CODES, PROBABILITIES.argmax(axis=1)),
        ),
    ],
)
def test_mean_loss_equals_scikit_learns_metric(name, y, prediction, expected):
    assert LOSSES[name](y, prediction).mean() == pytest.approx(expected, abs=SAME)


def test_huber_is_squared_near_zero_and_absolute_far_away():
    r = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    expected = np.where(np.abs(r) <= 1, r**2 / 2, np.abs(r) - 0.5)
    assert_allclose(LOSSES["huber"](r, np.zeros(7)), expected, atol=SAME)


def test_log_loss_of_a_certain_mistake_is_large_but_finite():
    certain = np.array([[1.0, 0.0]])
    assert LOSSES["log"](np.array([0.0]), certain)[0] == 0
    assert LOSSES["log"](np.array([1.0]), certain)[0] == pytest.approx(36.04, abs=0.01)


@pytest.mark.parametrize("name", list(LOSSES))
def test_losses_broadcast_over_donors(name):
    loss = LOSSES[name]
    if name == "binomial":
        y, predictions = SHARES[:6], rng.uniform(size=(6, 4))
    elif loss.needs == "mean":
        y, predictions = POSITIVE[:6], rng.gamma(2.0, size=(6, 4))
    else:
        y, predictions = CODES[:6], rng.dirichlet([1, 1, 1], size=(6, 4))
    table = loss(y[:, None], predictions)
    assert table.shape == (6, 4)
    for i in range(6):
        for k in range(4):
            one = loss(y[i : i + 1], predictions[i, k : k + 1])
            assert table[i, k] == pytest.approx(one[0], abs=SAME)


@pytest.mark.parametrize("name", ["squared", "absolute", "poisson", "gamma", "binomial"])
def test_the_best_constant_minimizes_the_loss(name):
    loss = LOSSES[name]
    assert loss.constant is not None
    y, most = (SHARES, 0.99) if name == "binomial" else (POSITIVE, 10)
    best = float(loss.constant(y))

    def mean_loss(c):
        return float(loss(y, np.full(N, c)).mean())

    found = optimize.minimize_scalar(mean_loss, bounds=(0.01, most), method="bounded")
    assert mean_loss(best) <= found.fun + SAME


@pytest.mark.parametrize("name", ["log", "brier"])
def test_the_class_shares_are_the_best_constant_probabilities(name):
    loss = LOSSES[name]
    assert loss.constant is not None
    best = loss.constant(CODES)
    assert_allclose(best, np.bincount(CODES.astype(int)) / N)
    smallest = loss(CODES, np.broadcast_to(best, (N, 3))).mean()
    for other in rng.dirichlet([1, 1, 1], size=50):
        assert loss(CODES, np.broadcast_to(other, (N, 3))).mean() >= smallest


@pytest.mark.parametrize(
    ("name", "y", "prediction", "message"),
    [
        (
            "poisson",
            [-1.0, 2.0],
            [1.0, 1.0],
            r"needs a response >= 0 and predictions > 0.* -1 and 1",
        ),
        ("poisson", [0.0, 2.0], [0.0, 1.0], r"predictions > 0; the smallest are 0 and 0"),
        ("gamma", [0.0, 2.0], [1.0, 1.0], r"needs a response > 0"),
        ("gamma", [1.0, 2.0], [-1.0, 1.0], r"the smallest are 1 and -1"),
    ],
)
def test_deviances_need_positive_numbers(name, y, prediction, message):
    with pytest.raises(LossError, match=message):
        LOSSES[name](np.array(y), np.array(prediction))


def squared_by_hand(y, prediction):
    return (y - prediction) ** 2


def log_by_hand(y, probability):
    own = np.arange(probability.shape[-1]) == np.asarray(y)[..., None]
    return -np.log((probability * own).sum(axis=-1))


def regression(data, estimator=LINEAR):
    return fit_of("y ~ x + z", data, estimator, pi.Bootstrap(3))


def classification(data, estimator=LOGISTIC):
    return fit_of("g ~ x + z", data, estimator, pi.Bootstrap(3, strata="g"))


def of_labels(data):
    return classification(data, LinearSVC())


def test_a_function_is_a_loss(data):
    for results, by_hand, name in [
        (regression(data), squared_by_hand, "squared"),
        (classification(data), log_by_hand, "log"),
    ]:
        found, expected = results.pfi(loss=by_hand), results.pfi(loss=name)
        assert_allclose(found.params, expected.params, atol=SAME)
        assert_allclose(results.loss(by_hand).params, results.loss(name).params)
        assert by_hand.__name__ in str(found.summary())


def test_a_loss_of_ones_own_may_have_a_constant(data):
    own = Loss("pinball", lambda y, p: np.maximum(0.9 * (y - p), 0.1 * (p - y)), constant=np.median)
    results = regression(data)
    assert np.isfinite(results.loss(own, relation="explained").params).all()
    bare = Loss("pinball", own.function)
    with pytest.raises(LossError, match="`pinball` states no best constant prediction"):
        results.loss(bare, relation="explained")
    assert "D²" not in str(results.pfi(loss=bare).summary())


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (metrics.mean_squared_error, r"must return one value per prediction, shape .*shape \(\)"),
        (lambda _, p: np.where(p > -99, np.inf, 0.0), "must be finite"),
        (lambda y, p: y @ p.T @ p, "must work elementwise over broadcast arrays"),
        (lambda y: y, "must work elementwise.*TypeError"),
        (lambda *_: "small", "must return real numbers, not 'small'"),
    ],
)
def test_a_function_that_is_no_loss_is_a_clear_error(data, function, message):
    with pytest.raises(LossError, match=message):
        regression(data).pfi(loss=function)


def picks_by_row(y, p):
    return -np.log(p[np.arange(len(y)), y.astype(int)])


NUMERIC = 'needs numeric predictions, but LogisticRegression predicts the classes of `g`; use "log"'
UNSURE = "needs class probabilities, but LinearSVC has no `predict_p"


@pytest.mark.parametrize(
    ("make", "loss", "error", "message"),
    [
        (
            regression,
            "squard",
            OptionError,
            r"`loss` must be one of .*not \'squard\'. Did you mean `squared`\?",
        ),
        (regression, 3, LossError, "must be a name, a Loss or a function, not 3"),
        (
            regression,
            "log",
            LossError,
            'needs a classifier, but LinearRegression is a regressor; use "squared"',
        ),
        (regression, "poisson", LossError, "`poisson` needs a response >= 0"),
        (classification, "squared", LossError, NUMERIC),
        (classification, picks_by_row, LossError, "`picks_by_row` must"),
        (of_labels, "brier", LossError, UNSURE),
    ],
)
def test_a_loss_that_a_learner_can_not_serve(data, make, loss, error, message):
    with pytest.raises(error, match=message):
        make(data).pfi(loss=loss)


def test_defaults(data):
    for results, loss in (
        (regression(data), "squared error"),
        (classification(data, RandomForestClassifier(5)), "log loss"),
        (of_labels(data), "zero-one loss"),
    ):
        assert results.pfi().estimand.description == f"PFI ({loss})"
    for options, error, message in (
        ({"function": 3}, LossError, "function of a Loss must be callable, not 3"),
        ({"function": np.add, "needs": "class"}, OptionError, '`needs` must be one of "mean"'),
    ):
        with pytest.raises(error, match=message):
            Loss("l", **options)


def test_poisson_deviance_serves_counts(data):
    counts = data.assign(y=np.random.default_rng(0).poisson(np.exp(data.x / 2)))
    results = regression(counts, PoissonRegressor(alpha=0.01))
    assert results.pfi(loss="poisson").params["x"] > 0
