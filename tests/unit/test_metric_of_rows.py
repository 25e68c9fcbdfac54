"""The metric itself: scikit-learn's values, influences, errors, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from numpy.testing import assert_allclose
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import LossError, OptionError
from pyinterp.losses import metric_functions
from pyinterp.losses.metric_functions import MetricFunction
from pyinterp.losses.metrics import METRICS

RNG = np.random.default_rng(3)
N = 120
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
SCORE = X["a"] + X["b"] / 2 + RNG.normal(size=N)
CLASSES = X.assign(y=np.where(SCORE > 0, "yes", "no"))
NUMBERS = X.assign(y=SCORE)


@pytest.fixture(scope="module")
def classes():
    return fit_of("y ~ .", CLASSES, LogisticRegression(), pi.Subsampling(4))


@pytest.fixture(scope="module")
def numbers():
    return fit_of("y ~ .", NUMBERS, LinearRegression(), pi.Subsampling(4))


def probabilities(function, **options):
    return lambda y, prediction: function(y, prediction[:, 1], **options)


OF_CLASSES = {
    "roc_auc": ("roc_auc", probabilities(sk.roc_auc_score)),
    "pr_auc": ("pr_auc", probabilities(sk.average_precision_score)),
    "log_loss": ("log_loss", probabilities(sk.log_loss)),
    "named scorer": ("neg_log_loss", lambda y, p: -sk.log_loss(y, p)),
    "named scorer of labels": ("f1", lambda y, p: sk.f1_score(y, p.argmax(1))),
    "scorer": (
        sk.make_scorer(sk.f1_score, pos_label="no"),
        lambda y, p: sk.f1_score(y, p.argmax(1), pos_label=0),
    ),
    "scorer of probabilities": (
        sk.make_scorer(sk.brier_score_loss, response_method="predict_proba", pos_label="no"),
        lambda y, p: sk.brier_score_loss(1 - y, p[:, 0]),
    ),
}


@pytest.mark.parametrize("name", OF_CLASSES)
def test_values_on_the_rows_of_each_refit_are_scikit_learns(classes, name):
    metric, expected = OF_CLASSES[name]
    values = [expected(c.y, c.whatif.factual) for c in classes.analysis.cases]
    result = classes.metric(metric)
    assert_allclose(result.refit_frame().iloc[:, 0], values, rtol=1e-12)
    assert result.params.iloc[0] == pytest.approx(np.mean(values), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("rmse", sk.root_mean_squared_error),
        ("neg_mean_absolute_error", lambda y, p: -sk.mean_absolute_error(y, p)),
        ("r2", sk.r2_score),
        (sk.median_absolute_error, sk.median_absolute_error),
        (sk.mean_pinball_loss, sk.mean_pinball_loss),
    ],
)
def test_values_for_numbers_are_scikit_learns(numbers, metric, expected):
    values = [expected(c.y, c.whatif.factual) for c in numbers.analysis.cases]
    assert_allclose(numbers.metric(metric).refit_frame().iloc[:, 0], values, rtol=1e-12)


def fitted():
    model = LinearRegression().fit(X, SCORE)
    return pi.FittedModel(model, X, SCORE), np.asarray(SCORE), model.predict(X)


def weighted_mae(y, prediction, weights):
    return float(np.average(np.abs(y - prediction), weights=weights))


@pytest.mark.parametrize(
    "metric",
    [
        "r2",
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
        sk.r2_score,
        sk.mean_squared_error,
        sk.root_mean_squared_error,
        sk.mean_absolute_error,
        sk.get_scorer("neg_mean_squared_error"),
        sk.make_scorer(sk.mean_squared_error, greater_is_better=False),
        sk.get_scorer("r2"),
    ],
    ids=lambda m: getattr(m, "__name__", repr(m)),
)
def test_scikit_learns_metrics_of_numbers_have_formulas(metric):
    """Values are scikit-learn's and influences those by small changes of weights."""
    result, y, prediction = fitted()
    score = metric_functions.choose_metric(
        metric, result.analysis.problem.predictor, result.analysis.problem.response, direction=True
    )
    assert not isinstance(score, MetricFunction)
    name = metric if isinstance(metric, str) else score.name
    scored = isinstance(metric, str) or name in sk.get_scorer_names()
    scorer = sk.get_scorer(name) if scored else metric
    function, sign = (scorer._score_func, scorer._sign) if scored else (metric, 1)
    assert score.smaller_is_better == (not scored and "error" in name)
    jackknife = MetricFunction(
        name="m",
        smaller_is_better=True,
        function=lambda y, p, sample_weight: sign * function(y, p, sample_weight=sample_weight),
        weights="sample_weight",
    )
    value, influences = score(y, prediction)
    expected, changes = jackknife(y, prediction)
    assert value == pytest.approx(expected, rel=1e-12)
    assert_allclose(influences, changes, rtol=1e-2, atol=1e-3 * np.std(changes))


def test_options_of_a_function_are_not_lost():
    """A scorer with options, and a function of the same name, are computed by their own code."""
    result = fitted()[0]

    def r2_score(y, prediction):
        return 0.25

    assert result.metric(r2_score).params.iloc[0] == 0.25
    assert result.metric(sk.make_scorer(r2_score)).params.iloc[0] == 0.25
    with_option = sk.make_scorer(sk.r2_score, force_finite=False)
    assert isinstance(
        result.metric(with_option).estimand.score, MetricFunction
    )  # which knows no formula


def test_weights_that_a_function_ignores_do_not_make_errors_0():
    result = fitted()[0]

    def with_weights(y, prediction, weights=None):
        return float(np.mean(np.abs(y - prediction)))

    def as_in_sklearn(y, prediction, sample_weight=None):
        return float(np.mean(np.abs(y - prediction)))

    exact = result.metric("mae").bse.iloc[0]
    scorer = sk.make_scorer(as_in_sklearn, greater_is_better=False)
    for ignoring in (with_weights, as_in_sklearn, scorer):
        assert result.metric(ignoring).bse.iloc[0] == pytest.approx(exact, rel=1e-9)
    plain = sk.make_scorer(lambda y, p: -np.mean(np.abs(y - p)))  # hands no weights on
    assert result.metric(plain).bse.iloc[0] == pytest.approx(exact, rel=1e-9)


def median_of_errors(y, prediction):
    return float(np.median(np.abs(y - prediction)))


def upper_quantile(y, prediction):
    return float(np.quantile(np.abs(y - prediction), 0.9))


def share_of_small_errors(y, prediction):
    return float(np.mean(np.abs(y - prediction) < 0.5))


@pytest.mark.parametrize("metric", [sk.median_absolute_error, median_of_errors, upper_quantile])
@pytest.mark.parametrize("n", [41, 301, 302])
def test_medians_have_no_standard_error(metric, n):
    """A row's influence on a median says nothing of its error: 15 times too small, or huge."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=n)
    model = pi.FittedModel(lambda rows: rows[:, 0], x[:, None], x + rng.normal(size=n))
    result = model.metric(metric)
    assert np.isfinite(result.params).all()
    assert result.bse.isna().all()
    assert result.conf_int().isna().to_numpy().all()
    table = words_of(result)
    assert "No standard error for" in table
    assert "jumps where the weights of rows change a little, as medians do" in table


def test_medians_of_a_learner_have_no_standard_error_by_rows(numbers):
    results = fit_of("y ~ a + b", NUMBERS, LinearRegression(), pi.HalfSampling(2, pairs=5))
    result = results.metric("neg_median_absolute_error")
    assert result.params.iloc[0] < 0
    assert result.bse.isna().all()
    # The spread over refits needs no rows.
    assert (numbers.metric("neg_median_absolute_error").bse > 0).all()
    importance = results.pfi(metric="neg_median_absolute_error", permutations=2)
    assert (importance.params > 0).any()
    assert importance.bse.isna().all()
    assert importance.mcse.notna().all()


@pytest.mark.parametrize(
    "metric", [share_of_small_errors, sk.r2_score, sk.root_mean_squared_error, sk.max_error]
)
def test_only_what_jumps_is_without_standard_error(metric):
    rng = np.random.default_rng(4)
    missing = 0
    for _ in range(20):
        x = rng.normal(size=60)
        model = pi.FittedModel(lambda rows: rows[:, 0], x[:, None], x + rng.standard_t(3, size=60))
        missing += int(model.metric(metric).bse.isna().sum())
    assert missing == (20 if metric is sk.max_error else 0)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (sk.accuracy_score, 'pass the name "accuracy", or `sklearn.metrics.make_scorer'),
        (sk.hamming_loss, r"pass `sklearn\.metrics\.make_scorer\(hamming_loss\)`"),
    ],
)
def test_functions_of_labels_are_told_from_those_of_probabilities(function, said):
    model = LogisticRegression().fit(X, CLASSES["y"])
    result = pi.FittedModel(model, X, CLASSES["y"])
    with pytest.raises(LossError, match=said):
        result.metric(function)


def test_errors_without_a_formula_are_those_by_formula():
    result, y, prediction = fitted()

    def by_leaving_out(y, prediction):
        return float(np.mean(np.abs(y - prediction)))

    exact = result.metric("mae").bse.iloc[0]
    assert exact == pytest.approx(np.std(np.abs(y - prediction), ddof=1) / N**0.5, rel=1e-12)
    assert result.metric(weighted_mae).bse.iloc[0] == pytest.approx(exact, rel=1e-6)
    assert result.metric(by_leaving_out).bse.iloc[0] == pytest.approx(exact, rel=1e-9)
    squared = result.metric("rsq_trad").bse.iloc[0]
    assert result.metric("explained_variance").bse.iloc[0] == pytest.approx(squared, rel=1e-3)
    notes = [result.metric(m).estimand.words.notes[0] for m in (weighted_mae, by_leaving_out)]
    assert "infinitesimal jackknife" in notes[0]
    assert "left out" in notes[1]


def test_importance_by_a_function_is_that_of_the_metric(numbers):
    by_name = numbers.pfi(metric="mae", permutations=2)
    by_function = numbers.pfi(metric=sk.mean_absolute_error, permutations=2)
    by_scorer = numbers.pfi(metric="neg_mean_absolute_error", permutations=2)
    assert_allclose(by_function.params, by_name.params, rtol=1e-12)
    assert_allclose(by_scorer.params, by_name.params, rtol=1e-12)
    assert_allclose(by_function.bse, by_name.bse, rtol=1e-6)


def no_direction(y, prediction):
    return 1.0


def of_three(y, prediction, other):
    return 1.0


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("rocauc", "Did you mean `roc_auc`"),
        ("auc", "Did you mean `roc_auc`"),
        ("r2", "is for regression"),
        ("rmse", "needs numeric predictions"),
        (["r2", "max_error"], "one metric at a time"),
        (sk.roc_auc_score, "can't be computed"),
        (lambda y, p: p[:, 0] + y, "one finite number"),
        (of_three, "this one needs"),
    ],
)
def test_what_is_no_metric_is_refused(classes, numbers, metric, said):
    with pytest.raises((LossError, OptionError), match=said):
        classes.metric(metric)
    with pytest.raises(LossError, match="whether a smaller"):
        numbers.pfi(metric=no_direction)
    assert numbers.metric(no_direction).estimand.parameter.better is None


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["rmse", "mae", "rsq", "roc_auc", "pr_auc", "log_loss"])
def test_standard_errors_of_one_model_are_those_of_a_simulation(name):
    rng, n, times = np.random.default_rng(11), 400, 3000
    values, errors = [], []
    for _ in range(times):
        score = rng.normal(size=n)
        if METRICS[name].needs == "mean":
            y, prediction = score + rng.normal(size=n), score
        else:
            p = 1 / (1 + np.exp(-1.5 * score))
            y, prediction = (rng.uniform(size=n) < p) * 1.0, np.column_stack([1 - p, p])
        value, influence = METRICS[name](y, prediction)
        values.append(value)
        errors.append(influence.std(ddof=1) / n**0.5)
    ratio = float(np.sqrt(np.mean(np.square(errors))) / np.std(values, ddof=1))
    print(name, round(ratio, 4))
    assert ratio == pytest.approx(1, abs=0.05)


def test_blocks_of_rows_keep_outliers_apart():
    rng = np.random.default_rng(3)
    n = 2500
    f = rng.normal(size=n)
    model = pi.FittedModel(lambda x: x[:, 0], f[:, None], f + rng.standard_t(3, size=n))
    for ours, theirs in (("mse", sk.mean_squared_error), ("mae", sk.mean_absolute_error)):
        expected = model.metric(ours).bse.iloc[0]
        assert model.metric(theirs).bse.iloc[0] == pytest.approx(expected, rel=0.01)
