"""Labels are those of a model's own `predict`, whatever its probabilities are."""

import numpy as np
import pytest
from scipy import special
from shared import normal_rows
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import pyinterp as pi
from pyinterp.errors import PredictionError

EXACT = 1e-12  # the same numbers, added up in another order
N = 60


class ByCosts(ClassifierMixin, BaseEstimator):  # untyped
    """The class with the least expected cost: a missed row of a class costs its number."""

    def __init__(self, costs=(1.0, 3.0, 9.0)):
        self.costs = costs

    def fit(self, X, y):
        self.inside_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict_proba(self, X):
        return self.inside_.predict_proba(X)

    def predict(self, X):
        weighed = self.predict_proba(X) * np.array(self.costs[: len(self.classes_)])
        return self.classes_[weighed.argmax(axis=1)]


class ForestByCosts(RandomForestClassifier):  # untyped
    """A forest, whose trees an exact engine can read, with a rule that it can't see."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, -1] > 0.2).astype(int)]


class Platt(LinearSVC):  # untyped
    """Labels by the sign of the decision function, probabilities by another threshold."""

    def predict_proba(self, X):
        p = special.expit(2 * self.decision_function(X) + 1)
        return np.column_stack([1 - p, p])


def rows(classes=2):
    rng, X = normal_rows(N, "a b", 3)
    edges = [0.9] if classes == 2 else [-0.3, 0.9]
    codes = np.digitize(X.a + rng.normal(size=N), edges)
    return X, np.array(["no", "so", "yes"])[codes * (2 if classes == 2 else 1)]


MODELS = {
    "threshold": (FixedThresholdClassifier(LogisticRegression(), threshold=0.2), 2),
    "Platt": (Platt(), 2),
    "costs": (ByCosts(), 3),
    "forest by costs": (ForestByCosts(10, max_depth=3, random_state=0), 2),
    "pipeline": (make_pipeline(StandardScaler(), ByCosts((1.0, 5.0))), 2),
    "logit": (LogisticRegression(), 3),
    "forest": (RandomForestClassifier(10, random_state=0), 2),
    "labels only": (LinearSVC(), 2),
}


@pytest.fixture(params=list(MODELS))
def fitted(request):
    model, classes = MODELS[request.param]
    X, y = rows(classes)
    return clone(model).fit(X, y), X, y


def own_errors(model, X, y):
    return np.asarray(model.predict(X) != y, float)


def naive_pfi(error, X, name):
    """Return the mean error over all pairs of a row and another row's value, less the mean."""
    total = 0.0
    for shift in range(1, len(X)):
        total += error(X.assign(**{name: np.roll(X[name], shift)})).mean()
    return total / (len(X) - 1) - error(X).mean()


def test_the_models_have_other_labels_than_the_most_probable():
    for name in ("threshold", "Platt", "costs", "forest by costs", "pipeline"):
        X, y = rows(MODELS[name][1])
        model = clone(MODELS[name][0]).fit(X, y)
        most = model.classes_[model.predict_proba(X).argmax(axis=1)]
        assert (most != model.predict(X)).mean() > 0.02, name


def test_zero_one_loss_and_its_importance_are_of_own_labels(fitted):
    model, X, y = fitted
    result = pi.FittedModel(model, X, y)
    assert result.loss("zero_one").params.iloc[0] == pytest.approx(
        own_errors(model, X, y).mean(), abs=EXACT
    )
    naive = [naive_pfi(lambda Z: own_errors(model, Z, y), X, name) for name in X]
    pfi = result.pfi(loss="zero_one", permutations="all").params
    assert list(pfi) == pytest.approx(naive, abs=EXACT)


def yardstick(y, said):
    """Return the mean of sensitivity and specificity over the classes that occur."""
    each = [
        0.5 * np.mean(said[y == c] == c) + 0.5 * np.mean(said[y != c] != c) for c in np.unique(y)
    ]
    return float(np.mean(each))


BY_LABEL = {
    "accuracy": ("accuracy", metrics.accuracy_score),
    "bal_accuracy": ("bal_accuracy", yardstick),
    "youden": ("youden", lambda y, said: 2 * yardstick(y, said) - 1),
    "scorer's name": ("f1_macro", lambda y, said: metrics.f1_score(y, said, average="macro")),
    "scorer": (metrics.make_scorer(metrics.matthews_corrcoef), metrics.matthews_corrcoef),
    "function with an estimator": (
        lambda estimator, X, y: metrics.accuracy_score(y, estimator.predict(X)),
        metrics.accuracy_score,
    ),
}


@pytest.mark.parametrize("name", BY_LABEL)
def test_metrics_of_labels_and_their_importance_are_of_own_labels(fitted, name):
    model, X, y = fitted
    metric, naive = BY_LABEL[name]
    result = pi.FittedModel(model, X, y)
    base = naive(y, model.predict(X))
    assert result.metric(metric).params.iloc[0] == pytest.approx(base, abs=EXACT)
    order = np.column_stack([np.roll(np.arange(N), 7), np.arange(N)[::-1]])
    pfi = result.pfi("a", metric=metric, permutations={"a": order}).params.iloc[0]
    moved = [naive(y, model.predict(X.assign(a=X.a.to_numpy()[index]))) for index in order.T]
    assert pfi == pytest.approx(base - np.mean(moved), abs=EXACT)


def test_a_scorer_may_ask_for_all_answers(fitted):
    model, X, y = fitted

    def scorer(estimator, rows, y):
        score = float(np.mean(estimator.predict(rows) == y))
        if hasattr(estimator, "predict_proba"):
            score += 10 * float(estimator.predict_proba(rows)[:5].max())
        if hasattr(estimator, "decision_function"):
            score += 100 * float(np.ravel(estimator.decision_function(rows))[:5].sum())
        return score

    assert pi.FittedModel(model, X, y).metric(scorer).params.iloc[0] == pytest.approx(
        scorer(model, X, y), rel=EXACT
    )


def test_a_decision_function_serves_scorers_that_ask_for_one():
    X, y = rows()
    scorer = metrics.make_scorer(
        metrics.roc_auc_score, response_method=("decision_function", "predict_proba")
    )
    for model in (LinearSVC(), Platt(), DecisionTreeClassifier(max_depth=2)):
        model.fit(X, y)
        area = pi.FittedModel(model, X, y).metric(scorer).params.iloc[0]
        assert area == pytest.approx(scorer(model, X, y), abs=EXACT)


def test_a_decision_function_keeps_its_sign_where_classes_are_in_another_order():
    X, y = rows()
    model = LinearSVC().fit(X, y)
    result = pi.FittedModel(model, X, y, classes=["yes", "no"])
    area = result.metric("average_precision").params.iloc[0]  # of the second class, "no"
    expected = metrics.average_precision_score(y == "no", -model.decision_function(X))
    assert area == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("model", ["threshold", "forest by costs", "logit"])
def test_a_learner_is_judged_by_the_labels_of_its_refits(model):
    estimator, classes = MODELS[model]
    X, y = rows(classes)
    data = X.assign(y=y)
    learner = pi.Learner(y, X, clone(estimator))
    resampling = pi.Holdout(0.7)
    result = learner.fit(resampling=resampling, seed=1)
    (refit,) = result.analysis.refits
    train, test = refit.train.rows, refit.evaluation.rows
    own = clone(refit.predictor.estimator)
    own.fit(X.iloc[train], y[train])
    where, labels = X.iloc[test].reset_index(drop=True), y[test]
    errors = own_errors(own, where, labels)
    assert result.loss("zero_one").params.iloc[0] == pytest.approx(errors.mean(), abs=EXACT)
    naive = naive_pfi(lambda Z: own_errors(own, Z, labels), where, "a")
    pfi = result.pfi("a", loss="zero_one", permutations="all").params.iloc[0]
    assert pfi == pytest.approx(naive, abs=EXACT)
    less = clone(own).fit(X.iloc[train][["b"]], y[train])
    loco = own_errors(less, where[["b"]], labels).mean() - errors.mean()
    assert result.loco("a", loss="zero_one").params.iloc[0] == pytest.approx(loco, abs=EXACT)
    among = data.iloc[test].b > 0
    part = result.loss("zero_one", rows="b > 0").params.iloc[0]
    assert part == pytest.approx(errors[among.to_numpy()].mean(), abs=EXACT)


def test_a_function_is_given_probabilities_and_a_loss_of_labels_labels():
    X, y = rows()
    model = clone(MODELS["threshold"][0]).fit(X, y)
    result = pi.FittedModel(model, X, y)

    def second(_, prediction):
        return prediction[..., 1]

    p = model.predict_proba(X)[:, 1]
    assert result.loss(second).params.iloc[0] == pytest.approx(p.mean(), abs=EXACT)
    share = (model.predict(X) == "yes").mean()
    of_labels = pi.Loss("predicted yes", second, needs="label")
    assert result.loss(of_labels).params.iloc[0] == pytest.approx(share, abs=EXACT)


def test_the_engine_of_labels_is_exact_only_where_the_most_probable_class_is_the_label():
    X, y = rows()
    engines = {}
    for name in ("forest", "forest by costs", "threshold", "Platt"):
        result = pi.FittedModel(clone(MODELS[name][0]).fit(X, y), X, y)
        pfi = result.pfi(loss="zero_one")
        engines[name] = result.analysis.measure(pfi.estimand)[0].engine.name
    assert engines["forest"].startswith("trees")
    assert {engines[name] for name in ("forest by costs", "threshold", "Platt")} == {"batched"}


def test_a_rule_that_rows_do_not_show_is_still_followed():
    X, y = rows()
    clear = np.abs(X.a) > 0.5  # no row is near a threshold, what-if rows are
    X, y = X[clear].reset_index(drop=True), np.where(X.a > 0, "yes", "no")[clear]
    X["b"] = -X.a + 0.01 * X.b
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3).fit(X, y)
    most = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (most == model.predict(X)).all()
    naive = naive_pfi(lambda Z: own_errors(model, Z, y), X, "b")
    pfi = pi.FittedModel(model, X, y).pfi("b", loss="zero_one", permutations="all").params
    assert pfi.iloc[0] == pytest.approx(naive, abs=EXACT)


def test_a_label_that_is_no_class_is_refused():
    class Odd(ByCosts):
        def predict(self, X):
            return np.full(len(X), "perhaps")

    X, y = rows()
    train, _, labels, _ = train_test_split(X, y, random_state=0)
    result = pi.FittedModel(Odd().fit(train, labels), X, y)
    with pytest.raises(PredictionError, match="must predict its classes"):
        result.metric("accuracy")
    assert result.metric("roc_auc").params.iloc[0] > 0.5
