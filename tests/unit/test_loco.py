"""LOCO: loops by hand, comparisons of learners, exact expectations, and what can't be left out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.api as sm
from by_refit import estimates_of, refits_of
from fits import fit_of, words_of
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal, assert_series_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import InferenceError, LossError, OptionError, RefitError
from pyinterp.inference import COV_TYPES

# The same fits in another order of operations: rounding of sums of some dozen terms.
EXACT = 1e-12
PLAN = pi.HalfSampling(3, pairs=5)
FORMULA = "y ~ x*g + I(x**2) + z"
WITHOUT = {"x": "z + g", "g": "x + I(x**2) + z", "z": "x*g + I(x**2)"}


def learner(data, estimator, formula=FORMULA, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options)


def each(fit, results):
    """Pair every refit, those in pairs included, with its estimate."""
    found = [one.estimate for one in refits_of(fit, results)]
    assert_array_equal([one.value for one in found], results.replicates.sums.values)
    yield from zip(fit.analysis.refits, found, strict=True)


def test_least_squares_equals_a_loop_over_all_refits(data):
    res = fit_of(FORMULA, data, LinearRegression(), PLAN)
    found = res.loco()
    assert list(found.params.index) == ["x", "z", "g"]
    y = data["y"].to_numpy()
    designs = [
        patsy.dmatrix(f, data) for f in (FORMULA.partition("~")[2], *map(WITHOUT.get, "xzg"))
    ]
    refits = res.analysis.refits
    assert len(refits) == 13
    for refit, estimate in each(res, found):
        train, rows = refit.train_rows, refit.evaluation.rows
        losses = []
        for design in designs:
            X = np.asarray(design)
            beta = np.linalg.lstsq(X[train], y[train])[0]
            losses.append((y[rows] - X[rows] @ beta) ** 2)
        apart = np.column_stack(losses[1:]) - losses[0][:, None]
        assert_allclose(estimate.rows, apart, atol=EXACT)
        assert_allclose(estimate.value, apart.mean(axis=0), atol=EXACT)
        assert estimate.donors is None
    assert (found.mcse == 0).all()


FOREST = RandomForestRegressor(4, max_features=0.7)
CASES = {
    "square and interaction": (FORMULA, "x", "y ~ z + g", LinearRegression(), {}),
    "factor": (FORMULA, "g", "y ~ x + I(x**2) + z", LinearRegression(), {}),
    "coded anew": ("y ~ 0 + g + h", "g", "y ~ 0 + h", LinearRegression(fit_intercept=False), {}),
    "slopes coded anew": ("y ~ z:g + z:h + x", "g", "y ~ z:h + x", LinearRegression(), {}),
    "state of all rows": ("y ~ standardize(z) + x", "x", "y ~ standardize(z)", Ridge(9), {}),
    "state of each refit": (
        "y ~ standardize(z) + x", "x", "y ~ standardize(z)", Ridge(9), {"design_state": "refit"},
    ),
    "splines": ("y ~ bs(z, df=4) + x", "x", "y ~ bs(z, df=4)", LinearRegression(), {}),
    "intercept column": ("y ~ x + g", "g", "y ~ x", pi.statsmodels_learner(sm.OLS), {}),
    "group": ("y ~ x*g + z", "both", "y ~ z", LinearRegression(), {"groups": {"both": ["g", "x"]}}),
    "forest": ("y ~ x + z + g", "z", "y ~ x + g", FOREST, {}),
    "seeds within": (
        "y ~ x + z + g",
        "g",
        "y ~ x + z",
        make_pipeline(
            QuantileTransformer(n_quantiles=9), BaggingRegressor(DecisionTreeRegressor(), 3)
        ),
        {},
    ),
    "frame": ("y ~ x + z", "z", "y ~ x", DecisionTreeRegressor(), {"design": "frame"}),
    "frame by dtype": (
        "y ~ x + z + g",
        "g",
        "y ~ x + z",
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(), make_column_selector(dtype_include="category")),
                remainder=StandardScaler(),
            ),
            LinearRegression(),
        ),
        {"design": "frame"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("plan", [PLAN, pi.Bootstrap(4)], ids=["halves", "bootstrap"])
def test_it_is_the_comparison_with_the_learner_without_it(data, case, plan):
    """Estimates and standard errors are those of the two learners; t intervals and tests too."""
    formula, feature, without, estimator, options = CASES[case]
    data = data.assign(h=np.tile(["u", "v", "v"], 20), g=data["g"].astype("category"))
    whole = learner(data, estimator, formula, **options).fit(plan, seed=3)
    own = {k: v for k, v in options.items() if k != "groups"}
    rest = learner(data, estimator, without, **own).fit(plan, seed=3)
    loco, difference = whole.loco(feature), pi.compare(rest, whole)
    expected, found = difference.summary_frame(), loco.summary_frame()
    assert list(found.index) == [feature]
    if plan is PLAN:  # half-sample intervals of importances are not those of a difference
        found, expected = (
            answer.summary_frame()[["estimate"]].assign(error=error_of_mean(answer))
            for answer in (loco, difference)
        )
    else:  # LOCO has no test of 0
        tests = ["std_error_null", "statistic", "p_value"]
        assert found[tests].isna().all(axis=None)
        found, expected = found.drop(columns=tests), expected.drop(columns=tests)
    assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-9, atol=EXACT)


def error_of_mean(answer):
    """Return the half-sample standard errors without what only importances and learners have."""
    plain = replace(answer.replicates, no_effect=None, half_refits=())
    return np.sqrt(np.diag(COV_TYPES["half-sample"](plain).cov))


def test_seeds_of_the_estimator_are_kept_if_refits_kept_them(data):
    forest = RandomForestRegressor(3, random_state=7)
    whole = learner(data, forest, "y ~ x + z").fit(PLAN, seed=3, reseed=False)
    rest = learner(data, forest, "y ~ z").fit(PLAN, seed=3, reseed=False)
    assert_allclose(whole.loco("x").params, pi.compare(rest, whole).params, rtol=0, atol=EXACT)
    again = learner(data, forest, "y ~ x + z").fit(PLAN, seed=3, reseed=False)
    assert whole.loco("x").params["x"] == again.loco("x").params["x"]


LEARNERS = [LogisticRegression(), RandomForestClassifier(4)]


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda e: type(e).__name__)
def test_a_classifier_is_measured_by_its_log_loss(data, estimator):
    res = learner(data, estimator, "g ~ x + z").fit(pi.Bootstrap(3), seed=2)
    found = res.loco()
    for refit, estimate in each(res, found):
        assert refit.train is not None
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        states = {
            k: v for k, v in refit.predictor.estimator.get_params().items() if k == "random_state"
        }  # the seed of the refit
        losses = []
        for columns in (["x", "z"], ["z"], ["x"]):
            model = type(estimator)(**{**estimator.get_params(), **states})
            model.fit(train[columns].to_numpy(), train["g"])
            p = model.predict_proba(rows[columns].to_numpy())
            own = p[np.arange(len(rows)), np.searchsorted(model.classes_, rows["g"])]
            losses.append(-np.log(np.clip(own, np.finfo(float).eps, 1)))
        expected = np.column_stack(losses[1:]) - losses[0][:, None]
        assert_allclose(estimate.rows, expected, atol=EXACT)
    assert "LOCO (log loss)" in str(found.summary())


def risk_of_least_squares(noise, n, p):
    """Expected squared error out of sample: p Gaussian features and an intercept, n rows."""
    return noise * (n + 1) / n * (n - 2) / (n - p - 2)


def test_expectation_for_gaussian_features_is_exact():
    # Without x_j the model of Gaussian features is linear again, with noise variance
    # s² + beta_j² V(X_j | X_-j) and one coefficient less: at n -> infinity LOCO is the second part.
    n, beta, noise = 120, np.array([1.0, 0.7, 0.0, 0.5]), 1.0
    law = np.eye(4)
    law[0, 1] = law[1, 0] = 0.6
    root = np.linalg.cholesky(law)
    conditional = 1 / np.diag(np.linalg.inv(law))
    assert_allclose(conditional, [0.64, 0.64, 1, 1])

    def draw(rng):
        X = rng.normal(size=(n, 4)) @ root.T
        return X @ beta + rng.normal(scale=np.sqrt(noise), size=n), X

    plan = pi.FreshDraws(draw, 400, fraction=0.3)
    res = pi.Learner(*draw(np.random.default_rng(0)), LinearRegression()).fit(plan, seed=1)
    n_train = res.refits[0].n_train
    expected = [
        risk_of_least_squares(noise + b**2 * v, n_train, 3)
        - risk_of_least_squares(noise, n_train, 4)
        for b, v in zip(beta, conditional, strict=True)
    ]
    found = res.loco()
    errors = np.abs(found.params - expected) / found.bse
    assert (errors < 4).all(), errors
    assert (np.abs(np.array(expected) - beta**2 * conditional) < 0.1).all()
    # The truth of an irrelevant feature is a little below 0.
    assert found.params["x3"] < -4 * found.bse["x3"]


@pytest.mark.parametrize("estimator", [LinearRegression(), RandomForestRegressor(3)])
def test_without_the_only_feature_the_best_constant_predicts(data, estimator):
    res = fit_of("y ~ x + I(x**2)", data, estimator, PLAN)
    for name, constant in {"squared": np.mean, "absolute": np.median}.items():
        found = res.loco(loss=name)
        for refit, estimate in each(res, found):
            y, rows = data["y"].to_numpy(), refit.evaluation.rows
            predicted = refit.predictor(refit.design.encode(refit.evaluation.variables))
            power = {"squared": 2, "absolute": 1}[name]
            best = np.abs(y[rows] - constant(y[refit.train_rows])) ** power
            own = np.abs(y[rows] - predicted) ** power
            assert_allclose(estimate.rows[:, 0], best - own, atol=EXACT)


def test_without_the_only_feature_classes_have_their_shares(data):
    res = fit_of("g ~ x", data, LogisticRegression(), pi.Bootstrap(3))
    losses = estimates_of(res, res.loss())
    for refit, estimate in each(res, res.loco()):
        shares = data["g"].iloc[refit.train_rows].value_counts(normalize=True)
        best = -np.log(shares[data["g"].iloc[refit.evaluation.rows]].to_numpy())
        own = losses[refit.number - 1].rows[:, 0]
        assert_allclose(estimate.rows[:, 0], best - own, atol=EXACT)


def test_without_all_features_an_intercept_column_is_left(data):
    # statsmodels models are given the intercept: without x they still learn a mean.
    ols = learner(data, pi.statsmodels_learner(sm.OLS), "y ~ x").fit(PLAN, seed=1)
    own = fit_of("y ~ x", data, LinearRegression(), PLAN)
    assert_allclose(ols.loco().params, own.loco().params, atol=EXACT)
    assert np.isfinite(ols.loco(loss="huber").params).all()


@pytest.mark.parametrize(
    ("formula", "feature", "groups"),
    [("y ~ x", "x", None), ("y ~ x + z", "all", {"all": ["x", "z"]}), ("y ~ g + g:x", "g", None)],
)
def test_without_any_column_the_loss_needs_a_best_constant(data, formula, feature, groups):
    res = learner(data, LinearRegression(), formula, groups=groups).fit(PLAN, seed=1)
    with pytest.raises(LossError, match=f"Without `{feature}` no column is left .*`Huber loss`"):
        res.loco(feature, loss="huber")
    assert np.isfinite(res.loco(feature).params).all()


def test_the_ratio_is_loss_without_over_loss_with(data):
    res = fit_of(FORMULA, data, LinearRegression(), PLAN)
    difference, ratio = res.loco(), res.loco(relation="ratio")
    losses = res.loss().refit_frame()["loss"]
    expected = 1 + difference.refit_frame().div(losses, axis=0)
    assert_allclose(ratio.refit_frame(), expected, rtol=EXACT)
    assert difference.null is None
    assert ratio.null is None
    perfect = data.assign(y=data["x"])
    exact = learner(perfect, DecisionTreeRegressor(), "y ~ x + z").fit(
        pi.FreshDraws(lambda _: pd.concat([perfect, perfect]), 3, fraction=0.5), seed=1
    )
    with pytest.raises(InferenceError, match="ratio needs a positive loss"):
        exact.loco("z", relation="ratio")


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), DecisionTreeRegressor(max_depth=2), Ridge()]
)
def test_a_constant_column_has_exactly_0_and_no_interval(data, estimator):
    res = learner(data.assign(k=7.0), estimator, "y ~ x + k").fit(PLAN, seed=1)
    found = res.loco()
    assert found.params["k"] == 0
    assert found.bse["k"] == 0
    assert found.params["x"] > 0
    text = words_of(found)
    assert "No interval for k: the learner predicts the same without it in every refit" in text


def test_the_table_says_what_it_holds(data):
    res = learner(data, LinearRegression()).fit(seed=1)
    text = words_of(res.loco(), notes="full")
    part = "Increase in expected squared error, in units of y², when the learner is trained on the "
    assert part + "same rows without the feature." in text
    assert "CVIM estimates twice LOCO's target." in words_of(res.importance(["cvim", "loco"]))
    ratio = words_of(res.loco(relation="ratio"), notes="full")
    assert "Factor by which expected squared error grows when the learner is trained" in ratio


def test_halves_see_three_times_the_standard_error_of_noise():
    """A law. Slopes b + e and b - e on halves, least squares, a standardized noise feature.

    LOCO of the pair is b² - 3 e², PFI 2 (b² - e²), up to terms of the order of e² / root n. So S is
    9 V(e²) and 4 V(e²), where estimates vary over data sets as b² and 2 b². V(e²) = V(b²).
    """
    rng = np.random.default_rng(12)
    X = rng.normal(size=(1000, 2))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    data = pd.DataFrame(X, columns=["x", "z"]).assign(y=X[:, 0] + rng.normal(size=1000))
    res = learner(data, LinearRegression(), "y ~ x + z").fit(pi.HalfSampling(0, pairs=20), seed=1)
    halves = {}
    for refit in res.analysis.refits:
        rows = refit.train_rows
        beta = np.linalg.lstsq(np.column_stack([X[rows], np.ones(500)]), data["y"].iloc[rows])[0]
        halves.setdefault(refit.group.number, []).append(beta[1])
    one, two = np.array(list(halves.values())).T
    b, e = (one + two) / 2, (one - two) / 2
    for found, law in ((res.loco("z"), b**2 - 3 * e**2), (res.pfi("z"), 2 * (b**2 - e**2))):
        means = found.replicates.of_pairs[..., 0].mean(axis=1)
        assert_allclose(means, law, atol=0.1 * np.std(law))


def test_one_model_of_a_holdout_has_the_interval_of_a_mean(data):
    found = fit_of("y ~ x + z", data, LinearRegression(), pi.Holdout(0.6)).loco("x")
    rows = found.row_frame()["x"]
    assert found.bse["x"] == pytest.approx(rows.std(ddof=1) / np.sqrt(len(rows)), rel=1e-12)
    assert found.cov_type == "rows"


class Counting(RegressorMixin, BaseEstimator):
    """Least squares of at least `least` columns that counts how often it is trained."""

    trained = 0

    def __init__(self, least=1, invalid=0):
        self.least, self.invalid = least, invalid

    def fit(self, X, y):
        Counting.trained += 1
        if X.shape[1] < self.least:
            raise RuntimeError("too few columns")
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        missing = np.nan if X.shape[1] == self.invalid else 0.0
        return np.asarray(self.model_.predict(X) + missing)


def test_nothing_is_trained_twice(data):
    res = fit_of("y ~ x + z + g", data, Counting(), PLAN)
    Counting.trained = 0
    first = res.loco(["x", "z"])
    assert Counting.trained == 2 * PLAN.number
    again = [res.loco("x"), res.loco("z", loss="absolute"), res.loco(["z", "x"], relation="ratio")]
    assert Counting.trained == 2 * PLAN.number
    # NumPy adds the refits of one term and of two in another order, on some processors.
    assert_allclose(again[0].params["x"], first.params["x"], rtol=1e-15 * PLAN.number)
    res.loco()
    assert Counting.trained == 3 * PLAN.number


def test_the_learner_is_that_of_the_fit_whatever_becomes_of_the_estimator(data):
    estimator = Ridge(1.0)
    res = fit_of(FORMULA, data, estimator, PLAN)
    expected = learner(data, Ridge(1.0)).fit(PLAN, seed=1).loco().params
    estimator.set_params(alpha=1e6)
    assert_series_equal(res.loco().params, expected)


def test_a_feature_is_the_same_whatever_else_is_asked_for_and_in_any_number_of_jobs(data):
    forest = learner(data, RandomForestRegressor(3), "y ~ x + z + g")
    among, alone = forest.fit(PLAN, seed=3).loco(), forest.fit(PLAN, seed=3, n_jobs=2).loco("z")
    assert_frame_equal(alone.summary_frame(), among.summary_frame().loc[["z"]])


def test_a_learner_that_needs_more_columns_says_so(data):
    message = (
        r"LOCO trains the learner without `g`, but refit 1 then failed: RuntimeError: too few "
        r"columns\. Remedy: choose settings that allow fewer columns, or leave `g` out of "
        r"`features`\."
    )
    with parallel_config(backend="threading"):
        res = fit_of("y ~ x + z + g", data, Counting(least=3), PLAN, n_jobs=2)
        with pytest.raises(RefitError, match=message) as caught:
            res.loco("g")
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert np.isfinite(res.loco(["x", "z"]).params).all()
        invalid = fit_of("y ~ x + z", data, Counting(invalid=1), PLAN, n_jobs=2)
        with pytest.raises(RefitError, match=r"refit 1 then failed: .*Predictions must be finite"):
            invalid.loco()


@pytest.mark.parametrize("kind", [list, tuple, pd.Index, np.array])
def test_a_pipeline_that_names_the_feature_is_trained_without_it(data, kind):
    plan = pi.Bootstrap(2)
    encode = make_column_transformer((OneHotEncoder(), kind(["g"])), remainder=StandardScaler())
    pipeline = make_pipeline(encode, LinearRegression())
    res = fit_of("y ~ x + z + g", data, pipeline, plan, design="frame")
    scale = make_pipeline(StandardScaler(), LinearRegression())
    less = fit_of("y ~ x + z", data, scale, plan, design="frame")
    difference = less.loss().params.iloc[0] - res.loss().params.iloc[0]
    assert res.loco().params["g"] == pytest.approx(difference, rel=1e-9)
    assert list(encode.transformers[0][2]) == ["g"]


@pytest.mark.parametrize("positions", [[0], slice(0, 1)])
def test_columns_by_position_would_be_others(data, positions):
    first = make_column_transformer((StandardScaler(), positions), remainder="passthrough")
    options = {"monotonic_cst": [1, 0], "interaction_cst": [{0}, {1}]}
    boosted = {k: HistGradientBoostingRegressor(max_iter=2, **{k: v}) for k, v in options.items()}
    piped = {"columntransformer__transformers": make_pipeline(first, LinearRegression())}
    for where, estimator in (piped | boosted).items():
        res = fit_of("y ~ x + z", data, estimator, pi.Bootstrap(2))
        with pytest.raises(
            OptionError, match=f"without `x`, but `{where}` refers to columns by pos"
        ):
            res.loco("x")


def test_a_fitted_model_has_no_learner_to_train(data):
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    inside = learner(data, LinearRegression()).fit_model()
    for fitted in (pi.FittedModel(model, data[["x", "z"]], data["y"]), inside):
        with pytest.raises(OptionError, match=r"no learner to train; use the results of `pi\.Lea"):
            fitted.loco()


def test_options_are_checked_before_anything_is_trained(data):
    res = fit_of("y ~ x + z", data, Counting(), PLAN)
    Counting.trained = 0
    for options, error, said in (
        ({"features": "zz"}, OptionError, r"Can't find feature 'zz'.*Did you mean `z`"),
        ({"relation": "quotient"}, OptionError, '`relation` must be one of "difference", "ratio"'),
        ({"loss": "log"}, LossError, "needs a classifier"),
    ):
        with pytest.raises(error, match=said):
            res.loco(**options)
    assert Counting.trained == 0
