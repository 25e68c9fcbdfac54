"""Predictions in one form, whatever the estimator."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import pyinterp as pi
from pyinterp.errors import OptionError, PredictionError
from pyinterp.models.predictor import Predictor, check_estimator, is_classifier

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
NUMBERS = X @ [1.0, 2.0, 0.0]
LABELS = np.where(NUMBERS > 1, "high", np.where(NUMBERS < -1, "low", "mid"))


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression().fit(X, NUMBERS),
        PLSRegression(1).fit(X, NUMBERS[:, None]),  # one column of means
        sm.OLS(NUMBERS, X).fit(),
    ],
)
def test_a_regressor_predicts_means(model):
    predictor = Predictor.of(model)
    assert (predictor.kind, predictor.classes) == ("mean", None)
    assert_array_equal(predictor(X), np.ravel(model.predict(X)))


def test_a_classifier_predicts_probabilities_in_the_wanted_order():
    model = LogisticRegression().fit(X, LABELS)
    assert_array_equal(Predictor.of(model)(X), model.predict_proba(X))
    predictor = Predictor.of(model, ("low", "mid", "none", "high"))
    assert predictor.kind == "probability"
    low, mid, none, high = predictor(X).T
    assert_array_equal(np.column_stack([high, low, mid]), model.predict_proba(X))
    assert (none == 0).all()


def test_a_classifier_without_probabilities_indicates_its_labels():
    model = LinearSVC().fit(X, LABELS)
    predictor = Predictor.of(model, ("low", "mid", "high"))
    assert predictor.kind == "label"
    assert predictor(X).sum() == 40
    chosen = np.array(["low", "mid", "high"])[predictor(X).argmax(axis=1)]
    assert_array_equal(chosen, model.predict(X))


def test_classes_are_plain_values():
    classes = Predictor.of(LogisticRegression().fit(X, NUMBERS > 0)).classes
    assert classes is not None
    assert [type(c) for c in classes] == [bool, bool]


def test_a_function_predicts_means_or_probabilities():
    assert_array_equal(Predictor.of(lambda rows: rows[:, 0])(X), X[:, 0])
    second = Predictor.of(lambda rows: (rows[:, 0] > 0) * 0.25, ("no", "yes"))
    assert second.kind == "probability"
    yes = (X[:, 0] > 0) * 0.25
    assert_array_equal(second(X), np.column_stack([1 - yes, yes]))
    three = Predictor.of(LogisticRegression().fit(X, LABELS).predict_proba, ("high", "low", "mid"))
    assert three(X).shape == (40, 3)


@pytest.mark.parametrize(
    ("function", "classes", "message"),
    [
        (
            lambda rows: rows,
            None,
            r"one prediction per row, of shape \(40,\); it returned.*\(40, 3\)",
        ),
        (
            lambda rows: rows[:, :2],
            ("a", "b", "c"),
            r"shape \(40, 3\); it returned shape \(40, 2\)",
        ),
        (lambda rows: rows[:, 0] / np.zeros(40), None, "must be finite; <lambda> returned 40"),
        (lambda _: np.full(40, "a"), None, "must be real numbers; <lambda> returned"),
        (lambda rows: rows.nonsense, None, "<lambda> can't predict 40 rows: AttributeError"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_predictions_of_the_wrong_form_are_a_clear_error(function, classes, message):
    with pytest.raises(PredictionError, match=message):
        Predictor.of(function, classes)(X)


class NoParams:
    def fit(self, X, y): ...
    def predict(self, X): ...


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (LinearRegression, OptionError, r"an instance such as LinearRegression\(\), not the class"),
        (sm.OLS, OptionError, r"such as pi\.statsmodels_learner\(OLS\), not the class"),
        (
            StandardScaler(),
            PredictionError,
            "must have a `predict` method; StandardScaler has none",
        ),
        ("forest", PredictionError, "must have a `fit` method; str has none"),
        (lambda rows: rows, PredictionError, "must have a `fit` method; <lambda> has none"),
        (
            NoParams(),
            PredictionError,
            "`get_params` method; NoParams has none. Inherit from sklearn",
        ),
    ],
)
def test_what_can_not_be_trained_is_no_estimator(estimator, error, message):
    with pytest.raises(error, match=message):
        check_estimator(estimator)
    with pytest.raises(error, match=message):
        pi.Learner(NUMBERS, X, estimator)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *(
            (lambda thing=thing: Predictor.of(thing), "An estimator must have a `predict` method")
            for thing in ("model", StandardScaler())
        ),
        (
            lambda: Predictor.of(LogisticRegression().fit(X, LABELS), ("low", "high")),
            r"predicts class .*mid.*, which is not among",
        ),
    ],
)
def test_what_does_not_predict_is_an_error(make, message):
    with pytest.raises(PredictionError, match=message):
        make()


def test_who_is_a_classifier():
    assert is_classifier(RandomForestClassifier())
    assert is_classifier(make_pipeline(StandardScaler(), SVC()))
    assert not is_classifier(LinearRegression())
    assert not is_classifier(KMeans())
    assert not is_classifier(lambda rows: rows)
