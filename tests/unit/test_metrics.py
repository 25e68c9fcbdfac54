"""Metrics of all rows together: scikit-learn's numbers, and influences by differentiation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import LossError, OptionError
from pyinterp.losses.metrics import METRICS, Metric

N = 60
RNG = np.random.default_rng(5)
Y = RNG.normal(size=N) + 3
MEAN = Y + RNG.normal(size=N)
CODES = np.repeat([0.0, 1.0, 1.0], N // 3)
TWO = np.column_stack([1 - (p := RNG.uniform(size=N).round(1)), p])
THREE = RNG.dirichlet([1, 1, 1], size=N)
LABELS = np.arange(N) % 3 * 1.0


def balanced(y, predicted):
    """As yardstick has it for several classes: sensitivity and specificity of each."""
    own = []
    for k in np.unique(y):
        own += [np.mean(predicted[y == k] == k), np.mean(predicted[y != k] != k)]
    return float(np.mean(own))


FOUND = {
    "rmse": (Y, MEAN, sk.root_mean_squared_error(Y, MEAN)),
    "mae": (Y, MEAN, sk.mean_absolute_error(Y, MEAN)),
    "mape": (Y, MEAN, 100 * sk.mean_absolute_percentage_error(Y, MEAN)),
    "mse": (Y, MEAN, sk.mean_squared_error(Y, MEAN)),
    "rsq": (Y, MEAN, np.corrcoef(Y, MEAN)[0, 1] ** 2),
    "rsq_trad": (Y, MEAN, sk.r2_score(Y, MEAN)),
    "accuracy": (LABELS, THREE, sk.accuracy_score(LABELS, THREE.argmax(1))),
    "bal_accuracy": (LABELS, THREE, balanced(LABELS, THREE.argmax(1))),
    "youden": (LABELS, THREE, 2 * balanced(LABELS, THREE.argmax(1)) - 1),
    "logloss": (LABELS, THREE, sk.log_loss(LABELS, THREE)),
    "brier": (CODES, TWO, sk.brier_score_loss(CODES, TWO[:, 1])),
    "log_loss": (LABELS, THREE, sk.log_loss(LABELS, THREE)),
    "pr_auc": (CODES, TWO, sk.average_precision_score(CODES, TWO[:, 1])),
    "roc_auc": (CODES, TWO, sk.roc_auc_score(CODES, TWO[:, 1])),
}


# Of two classes it is the mean recall; yardstick's of several is the squared distances, halved.
OTHERS = [
    ("bal_accuracy", CODES, TWO, sk.balanced_accuracy_score(CODES, TWO.argmax(1))),
    (
        "brier",
        LABELS,
        THREE,
        np.square(THREE - (LABELS[:, None] == np.arange(3))).sum(axis=1).mean() / 2,
    ),
]


@pytest.mark.parametrize(
    ("name", "y", "prediction", "expected"), [*((k, *v) for k, v in FOUND.items()), *OTHERS]
)
def test_values_are_those_of_scikit_learn(name, y, prediction, expected):
    assert set(FOUND) == set(METRICS)
    assert METRICS[name](y, prediction)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", FOUND)
def test_influences_are_derivatives_with_respect_to_the_rows_weights(name):
    """A row repeated among many copies of all rows moves the metric by its influence."""
    y, prediction, _ = FOUND[name]
    value, influence = METRICS[name](y, prediction)
    assert influence.mean() == pytest.approx(0, abs=1e-12)
    copies = 400
    for row in (0, 7, N - 1):
        many = np.append(np.tile(np.arange(N), copies), row)
        moved, _ = METRICS[name](y[many], prediction[many])
        total = copies * N + 1
        assert (moved - value) * total == pytest.approx(influence[row], rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("name", METRICS)
def test_influences_of_weighted_rows_are_derivatives_too(name):
    """The means about which moments are taken are not 0 then."""
    y, prediction, _ = FOUND[name]
    metric, weights = METRICS[name], np.random.default_rng(8).uniform(0.2, 3, N)
    _, influence = metric.with_weights(y, prediction, weights)
    step = 1e-5
    for row in (0, 7, N - 1):
        moved = weights + step * np.outer([1, -1], np.arange(N) == row)
        more, less = (metric.with_weights(y, prediction, w)[0] for w in moved)
        slope = N * weights[row] * (more - less) / (2 * step)
        assert slope == pytest.approx(influence[row], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "y", "prediction", "said"),
    [
        ("mape", np.array([0.0, 1.0]), np.array([1.0, 1.0]), "is 0, as in 1 rows"),
        ("rsq", Y, np.ones(N), "constant predictions"),
        ("rsq_trad", np.ones(N), MEAN, "the same in all"),
        ("roc_auc", np.zeros(N), TWO, "needs rows of both classes"),
        ("roc_auc", LABELS, THREE, "is for two classes"),
        ("bal_accuracy", np.zeros(N), TWO, "rows of another class"),
    ],
)
def test_what_is_not_defined_is_said(name, y, prediction, said):
    with pytest.raises(LossError, match=said):
        METRICS[name](y, prediction)


def test_rounding_does_not_break_ties():
    """The order of sums in an engine may not decide who scores higher."""
    noise = 1e-16 * np.arange(N)
    noisy = TWO + noise[:, None] * np.minimum(TWO, 1 - TWO) * [-1, 1]
    half = np.column_stack([0.5 + noise, 0.5 - noise])
    for name in ("roc_auc", "accuracy", "bal_accuracy"):
        assert METRICS[name](CODES, noisy)[0] == METRICS[name](CODES, TWO)[0]
    assert METRICS["accuracy"](CODES, half)[0] == np.mean(CODES == 0)
    assert METRICS["accuracy"](CODES, half[:, ::-1])[0] == np.mean(CODES == 0)


class TestImportance:
    """`pfi(metric=...)` of one fitted model and of a learner."""

    data = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
    y = 2 * data["a"] + data["b"] + 0.5 * RNG.normal(size=N)
    fitted = pi.FittedModel(LinearRegression().fit(data, y), data, y, seed=1)

    def test_the_mean_square_agrees_with_the_squared_loss(self):
        by_metric = self.fitted.pfi(metric="mse", permutations=N - 1)
        by_loss = self.fitted.pfi(permutations="all")
        np.testing.assert_allclose(by_metric.params, by_loss.params, rtol=1e-12)
        np.testing.assert_allclose(by_metric.bse, by_loss.bse, rtol=1e-12)

    def test_standard_errors(self):
        """The spread over 400 samples of rows is what `bse` says; 4 se of the ratio are 0.14."""
        rng = np.random.default_rng(12)
        model = self.fitted.analysis.problem.predictor.estimator
        estimates, said = [], []
        for _ in range(400):
            data = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
            y = 2 * data["a"] + data["b"] + 0.5 * rng.normal(size=N)
            found = pi.FittedModel(model, data, y).pfi("a", metric="rmse", permutations=N - 1)
            estimates.append(found.params["a"])
            said.append(found.bse["a"] ** 2)
        assert np.std(estimates, ddof=1) / np.sqrt(np.mean(said)) == pytest.approx(1, abs=0.14)

    def test_monte_carlo_error(self):
        model = self.fitted.analysis.problem.predictor.estimator
        runs = [
            pi.FittedModel(model, self.data, self.y, seed=seed).pfi(
                "a", metric="rmse", permutations=5
            )
            for seed in range(60)
        ]
        spread = np.std([r.params["a"] for r in runs], ddof=1)
        mcse = np.sqrt(np.mean([r.mcse["a"] ** 2 for r in runs]))
        # 59 and 240 degrees of freedom: 4 standard errors of the ratio are 0.41.
        assert spread / mcse == pytest.approx(1, abs=0.41)

    def test_a_learner_has_intervals_and_an_unused_feature_none(self):
        frame = self.data.assign(y=self.y, u=0.0)
        found = fit_of("y ~ .", frame, LinearRegression()).pfi(metric="rmse")
        assert found.cov_type == "half-sample"
        assert (found.conf_int().loc["a"] > 0).all()
        assert found.params["u"] == 0
        assert np.isnan(found.conf_int().loc["u"]).all()

    @pytest.mark.parametrize(
        ("ask", "error", "said"),
        [
            (lambda m: m.pfi(metric="roc_auc"), LossError, "needs a classifier"),
            (lambda m: m.pfi(metric="rmse", loss="squared"), OptionError, "not both"),
            (lambda m: m.pfi(metric="rmse", permutations="all"), OptionError, "not defined"),
            (lambda m: m.pfi(metric="rmse", permutations={"a": [[0]]}), OptionError, "'b'"),
            (
                lambda m: m.pfi("a", metric="rmse", permutations={"a": np.zeros((N, 2), int)}),
                OptionError,
                "once each",
            ),
            (lambda m: m.pfi(permutations={"a": [[0]]}), OptionError, "for a `metric`"),
        ],
    )
    def test_mistakes(self, ask, error, said):
        with pytest.raises(error, match=said):
            ask(self.fitted)


def test_near_certain_probabilities_keep_their_order():
    """As of naive Bayes with many features: rounding to 12 digits made them ties."""
    distance = 2.0**-45 * np.arange(1, N + 1)
    event = RNG.permutation(CODES)
    two = np.column_stack([distance, 1 - distance])
    expected = sk.roc_auc_score(event, two[:, 1])
    assert METRICS["roc_auc"](event, two)[0] == pytest.approx(expected, abs=1e-12)
    assert sk.roc_auc_score(event, two[:, 1].round(12)) != expected


@dataclass(frozen=True, kw_only=True)
class Careless(Metric):
    """A metric of a user that writes into its arguments, or returns what is no number."""

    name: str = "careless"
    smaller_is_better: bool = True
    returned: object = None

    def __call__(self, y, prediction):
        if self.returned is None:
            prediction -= y
            return float(np.square(prediction).mean()), np.zeros(len(y))
        return self.returned, np.zeros(len(y))


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "can't be computed: ValueError: .*read-only"),
        ("small", "must return a number"),
        (np.ones(3), "must be hashable"),
        (np.inf, "must be finite"),
    ],
)
def test_what_a_metric_of_the_user_does_is_checked(returned, said):
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
    y = X["a"] + X["b"]
    model = pi.FittedModel(LinearRegression().fit(X, y + X["b"] ** 2), X, y, seed=1)
    with pytest.raises(LossError, match=said):
        model.pfi(metric=Careless(returned=returned))
