"""Conditional importance: CVIM, AMVIM and positivity against closed forms and naive loops."""

import numpy as np
import pandas as pd
import pytest
from by_refit import estimates_of
from fits import words_of
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import pyinterp as pi
from pyinterp import samplers
from pyinterp.errors import DataError, DesignError, LossError, OptionError

PLAN = pi.Subsampling(3)
LINEAR_MODEL = LinearRegression()
LINEAR = samplers.Residual(LINEAR_MODEL)
BETA = np.array([1.0, -2.0, 0.5])
COV = np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.0], [0.2, 0.0, 1.0]])
GIVEN = 1 / np.diag(np.linalg.inv(COV))  # V(X_j | X_-j)


def gaussian(n, seed=1, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal(np.zeros(3), COV, size=n)
    data = pd.DataFrame(X, columns=["x1", "x2", "x3"])
    return data.assign(y=X @ BETA + noise * rng.normal(size=n))


def fit_of(data, estimator=LINEAR_MODEL, formula="y ~ .", plan=PLAN, seed=1, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options).fit(plan, seed=seed)


def assert_mean(values, expected, name=""):
    """The mean of independent values, to 3.5 of its standard errors."""
    error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    away = np.abs(np.mean(values, axis=0) - expected)
    np.testing.assert_array_less(away, 3.5 * error, err_msg=name)


@pytest.fixture(scope="module")
def results():
    return fit_of(gaussian(200), plan=pi.Subsampling(4))


def parts(results):
    """Of every refit: its training and evaluation rows, and the mean of x1 given the others."""
    data, others = gaussian(200), ["x2", "x3"]
    for refit in results.refits:
        train, rows = data.iloc[refit.train_rows], data.iloc[refit.evaluation.rows]
        given = LinearRegression().fit(train[others], train["x1"])
        yield train, rows, given.predict(rows[others])


def test_cvim_is_the_mean_over_all_residuals(results):
    """Against the double loop of Algorithm 2 over every pair of evaluation rows."""
    found, names = results.cvim("x1", sampler=LINEAR).refit_frame()["x1"], ["x1", "x2", "x3"]
    for d, (train, rows, center) in enumerate(parts(results)):
        model = LinearRegression().fit(train[names], train["y"])
        residual, n = rows["x1"].to_numpy() - center, len(rows)

        def loss(replaced, rows=rows, model=model):
            return np.square(rows["y"] - model.predict(replaced[names])).mean()

        moved = [loss(rows.assign(x1=center + np.roll(residual, shift))) for shift in range(1, n)]
        assert found[d] == pytest.approx(np.mean(moved) - loss(rows), rel=1e-10)


def test_gaussian_features_and_a_linear_model_have_closed_forms():
    """CVIM = 2 b^2 V(X_j | X_-j), AMVIM = MVIM = 2 b^2 V(X_j), LOCO = CVIM / 2.

    Means over 40 data sets, to 3.5 standard errors of that mean.
    """
    marginal, given = 2 * BETA**2, GIVEN * (1 + 3 / 300)
    closed = {
        # Residuals of the learned mean vary by 1 + 3/300 of V(X_j | X_-j).
        "cvim": (lambda res: res.cvim(sampler=LINEAR), marginal * given),
        "amvim": (lambda res: res.amvim(sampler=LINEAR), marginal),
        "additive": (lambda res: res.amvim(method="additive"), marginal),
        "mvim": (lambda res: res.mvim(), marginal),
        "positivity": (lambda res: res.positivity(sampler=LINEAR), 1 - given),
        # Half of CVIM, but that the effect of the feature must be learned.
        "loco": (lambda res: res.loco(), BETA**2 * given - 1 / 300),
    }
    fits = [fit_of(gaussian(600, seed), plan=pi.Holdout(0.5), seed=seed) for seed in range(40)]
    for name, (ask, expected) in closed.items():
        assert_mean([ask(res).params for res in fits], expected, name)


def test_three_levels_have_theorem_4_without_its_factor():
    rng = np.random.default_rng(1)
    n = 20_000
    z = rng.integers(2, size=n)
    p = np.where(z[:, None] == 1, [0.2, 0.3, 0.5], [0.6, 0.3, 0.1])
    level = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    effects = np.array([[0.0, 1.0, 3.0], [0.0, -2.0, 1.0]])
    y = effects[z, level] + rng.normal(size=n)
    g = np.array(["a", "b", "c"])[level]
    data = pd.DataFrame({"g": g, "z": z, "y": y})
    found = fit_of(data, formula="y ~ g * C(z)", plan=pi.Holdout(0.5)).cvim("g")
    differences = (effects[:, :, None] - effects[:, None, :]) ** 2
    law = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    expected = np.mean(np.einsum("zi,zj,zij->z", law, law, differences))
    assert abs(found.params["g"] - expected) < 4 * found.bse["g"]
    assert found.bse["g"] < 0.1


def test_contributions_average_to_the_estimate_and_donors_to_zero(results):
    for asked in (
        results.cvim(sampler=LINEAR),
        results.pfi(sampler="subgroup", loss="absolute"),
        results.pfi(sampler="knockoff", permutations=5),
        results.amvim(sampler=LINEAR),
        results.amvim(method="additive"),
    ):
        for estimate in estimates_of(results, asked):
            assert_allclose(estimate.rows.mean(axis=0), estimate.value, atol=1e-12)
            if estimate.donors is not None:
                assert_allclose(estimate.donors.mean(axis=0), 0, atol=1e-12)


def test_contributions_to_amvim_are_numerical_derivatives(results):
    """AMVIM as a function of CVIM and R²_j, each moved as a row moves it; R²_j is at least 0."""
    step, negative = 1e-6, 0
    asked = (results.amvim, results.cvim, results.positivity)
    for amvim, cvim, share in zip(
        *(estimates_of(results, ask(sampler=LINEAR)) for ask in asked), strict=True
    ):
        assert ((np.abs(share.value) > 0.001) & (share.value < 0.9)).all()
        negative += (share.value < 0).sum()

        def value(c, r):
            return c / (1 - np.maximum(r, 0))

        assert_allclose(amvim.value, value(cvim.value, share.value), rtol=1e-12)
        c, r = cvim.rows - cvim.value, share.rows - share.value
        at = [value(cvim.value + h * c, share.value + h * r) for h in (step, -step)]
        slope = (at[0] - at[1]) / (2 * step)
        assert_allclose(amvim.rows - amvim.value, slope, rtol=1e-6, atol=1e-8)
        assert_allclose(amvim.donors, value(cvim.donors, share.value), rtol=1e-12)
    assert 0 < negative < 4 * 3


def test_contributions_to_positivity_are_numerical_derivatives(results):
    """By the weights of rows in both variances, that about a mean which they move too."""
    estimates = estimates_of(results, results.positivity("x1", sampler=LINEAR))
    for (_, rows, center), estimate in zip(parts(results), estimates, strict=True):
        x = rows["x1"].to_numpy()
        left = np.square(x - center)

        def share(weights, x=x, left=left):
            mean = np.average(x, weights=weights)
            return 1 - np.average(left, weights=weights) / np.average(
                (x - mean) ** 2, weights=weights
            )

        n, step = len(x), 1e-6
        same = np.full(n, 1 / n)
        assert estimate.value[0] == pytest.approx(share(same), rel=1e-12)
        for i in range(n):
            along = step * (np.eye(n)[i] - same)
            slope = (share(same + along) - share(same - along)) / (2 * step)
            assert estimate.rows[i, 0] - estimate.value[0] == pytest.approx(slope, abs=1e-7)


class TrueMean(LinearRegression):
    """Of x1 given the others, whatever the rows."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X @ (COV[0, 1:] @ np.linalg.inv(COV[1:, 1:]))


TRUE_LAW = samplers.Residual(TrueMean())


def fitted_of(data, model=None, **options):
    X, y = data[["x1", "x2", "x3"]], data["y"]
    return pi.FittedModel(model or LinearRegression().fit(X, y), X, y, **options)


@pytest.mark.parametrize("name", ["marginal", "conditional"])
def test_monte_carlo_errors_are_the_spread_over_seeds(name):
    """Of 7 of 9 draws; without the finite-population factor mcse² would be 4.5 times too large.

    Over 60 seeds the ratio of the two variances has a standard error of some 18 %.
    """
    data = gaussian(10, seed=3)

    def ask(seed, permutations=7):
        fitted = fitted_of(data, seed=seed)
        if name == "marginal":
            return fitted.mvim("x1", permutations=permutations)
        return fitted.cvim("x1", sampler=TRUE_LAW, permutations=permutations)

    exact = ask(0, "all")
    assert exact.mcse["x1"] == 0
    runs = [ask(seed) for seed in range(60)]
    values = np.array([run.params["x1"] for run in runs])
    error = np.mean([run.mcse["x1"] ** 2 for run in runs])
    assert np.mean((values - exact.params["x1"]) ** 2) == pytest.approx(error, rel=0.73)
    assert abs(values.mean() - exact.params["x1"]) < 4 * np.sqrt(error / 60)


def test_all_draws_have_no_monte_carlo_error():
    fitted = fitted_of(gaussian(10, seed=3), seed=1)
    for permutations in (9, 10, 50):
        found = fitted.cvim("x1", sampler=TRUE_LAW, permutations=permutations)
        assert found.mcse["x1"] == 0
        assert found.params["x1"] == fitted.cvim("x1", sampler=TRUE_LAW).params["x1"]


def test_model_level_intervals_of_cvim_cover():
    """The true f and the true law: 300 data sets, nominal 95 %, to 4 standard errors."""
    covered, truth = [], 2 * BETA[0] ** 2 * GIVEN[0]
    for seed in range(300):
        f = fitted_of(gaussian(100, seed), lambda X: X.to_numpy() @ BETA)
        low, high = f.cvim("x1", sampler=TRUE_LAW).conf_int().loc["x1"]
        covered.append(low <= truth <= high)
    assert abs(np.mean(covered) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 300)


@pytest.fixture(scope="module")
def copied():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    data = pd.DataFrame({"x": x, "copy": x, "z": rng.normal(size=120)})
    data["flag"] = x > 0
    data["y"] = x + data["z"] + rng.normal(size=120)
    return fit_of(data, RandomForestRegressor(20, random_state=0))


class TestPositivity:
    def test_a_copy_violates_it(self, copied):
        found = copied.positivity()
        assert found.params["x"] > 0.999
        assert found.params["z"] < 0.2
        assert "Near violation of positivity" in str(found.summary())

    def test_amvim_is_missing_with_its_reason(self, copied):
        found = copied.amvim()
        assert np.isnan(found.params["x"])
        assert np.isnan(found.bse["x"])
        assert np.isfinite(found.params["z"])
        assert not np.isinf(found.summary_frame().select_dtypes("number")).any().any()
        text = words_of(found)
        assert (
            "No estimate for x, copy: R²_j is 0.999 or more, or not defined, in some refit" in text
        )
        assert "Near violation" in text
        assert copied.cvim().params["x"] < 0.05
        assert found.plot() is not None

    def test_a_binary_feature_that_others_determine(self, copied):
        assert copied.positivity("flag").params["flag"] > 0.9
        assert copied.cvim("flag").params["flag"] == pytest.approx(0, abs=0.05)

    def test_a_constant_feature(self):
        data = gaussian(60).assign(x3=1.0)
        learner = pi.Learner(data["y"], data[["x1", "x2", "x3"]], LinearRegression())
        found = learner.fit(pi.Subsampling(3), seed=1)
        assert np.isnan(found.positivity("x3").params["x3"])
        assert np.isnan(found.amvim("x3").params["x3"])
        assert found.cvim("x3").params["x3"] == 0

    def test_a_rank_deficient_design(self):
        res = fit_of(gaussian(100).assign(sum=lambda d: d["x1"] + d["x2"]))
        found = res.amvim(sampler=LINEAR)
        assert np.isnan(found.params[["x1", "x2", "sum"]]).all()
        assert found.params["x3"] == pytest.approx(2 * BETA[2] ** 2, abs=0.6)
        assert (res.cvim(sampler=LINEAR).params[["x1", "x2", "sum"]].abs() < 1e-10).all()


def encoded(name):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [name]), remainder="passthrough"
    )
    return make_pipeline(encode, LinearRegression())


CLASSES = gaussian(150).assign(y=lambda d: pd.cut(d["y"], [-99, -1, 1, 99], labels=list("abc")))
LABELS = gaussian(150).assign(y=lambda d: d["y"] > 0)


class Unhashable(samplers.Residual):
    __hash__ = None


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (
            lambda _: fit_of(CLASSES, LogisticRegression()).mvim(),
            OptionError,
            r'squared error.*has 3: `pfi\(loss="rps"\)`',
        ),
        (
            lambda _: fit_of(LABELS, LinearSVC()).amvim(method="additive"),
            LossError,
            "LinearSVC predicts labels",
        ),
        (
            lambda res: res.amvim(method="additive", permutations=5),
            OptionError,
            "takes no `permutations` and no `sampler`",
        ),
        (lambda res: res.cvim(sampler=samplers.Residual), OptionError, "must be a name, a sampler"),
        (
            lambda _: samplers.Residual(LogisticRegression()),
            OptionError,
            "needs a scikit-learn regressor",
        ),
        (lambda res: res.cvim(sampler=Unhashable()), OptionError, "frozen=True"),
        (
            lambda res: res.cvim(sampler="knockoff"),
            OptionError,
            "CVIM needs draws.*Gaussian knockoffs",
        ),
        (
            lambda res: res.pfi(sampler="knockoff", permutations="all"),
            OptionError,
            "no end of draws",
        ),
        (lambda res: res.pfi(sampler={"x9": "residual"}), OptionError, "Can't find feature 'x9'"),
    ],
)
def test_what_is_refused(results, ask, error, words):
    with pytest.raises(error, match=words):
        ask(results)


class TestOptions:
    def test_a_level_that_is_missing_in_a_training_split(self):
        rng = np.random.default_rng(0)
        g = np.array(["a"] * 40 + ["b"] * 40 + ["c"] * 2)
        data = pd.DataFrame({"g": pd.Categorical(g), "z": rng.normal(size=82)})
        data["y"] = (g == "b") + data["z"] + rng.normal(size=82)
        res = fit_of(data, plan=pi.Subsampling(8), unseen_levels="allow")
        assert np.isfinite(res.cvim().summary_frame()["estimate"]).all()

    def test_classes_are_scored_by_the_indicator_of_the_second(self):
        data = gaussian(150)
        data["y"] = np.where(data["y"] > 0, "yes", "no")
        forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
        res = fit_of(data, forest)
        pd.testing.assert_series_equal(res.mvim().params, res.pfi(loss="brier").params)
        assert res.cvim().fit.name == "Brier score"
        assert "squared error" not in str(res.cvim().summary())
        assert res.cvim().params["x2"] > 0
        assert res.amvim(method="additive").params["x2"] > 0

    def test_levels_that_the_learner_was_not_made_with(self):
        def draw(rng, levels="abcd"):
            g = rng.choice(list(levels), size=200)
            return pd.DataFrame({"g": g, "y": (g == "d") * 9 + rng.normal(size=200)})

        known = draw(np.random.default_rng(0), "abc")
        res = fit_of(known, encoded("g"), plan=pi.FreshDraws(draw, 2), design="frame")
        for ask in (res.cvim, lambda: res.amvim(method="additive")):
            with pytest.raises(DataError, match="'d' of `g` does not"):
                ask()

    def test_changing_an_estimator_does_not_change_what_was_asked(self, results):
        ridge = Ridge(alpha=1.0)
        sampler = samplers.Residual(ridge)
        first = results.cvim("x1", sampler=sampler).params["x1"]
        ridge.set_params(alpha=1e6)
        assert results.cvim("x1", sampler=sampler).params["x1"] == first
        assert results.cvim("x1", sampler=samplers.Residual(ridge)).params["x1"] != first

    def test_features_that_a_mapping_does_not_name_keep_the_default(self, results):
        mixed = results.pfi(sampler={"x1": "residual"})
        conditional, marginal = results.pfi(sampler="residual"), results.pfi()
        others = [name for name in marginal.params.index if name != "x1"]
        assert mixed.params["x1"] == conditional.params["x1"]
        np.testing.assert_allclose(mixed.params[others], marginal.params[others], rtol=1e-13)
        assert "partly conditional" in mixed.estimand.words.title
        assert "(x1), or an independent draw (the others)" in mixed.estimand.words.meaning
        assert mixed.diagnostic.params.index.tolist() == ["x1"]
        assert list(mixed.summary_frame()["diagnostic"].notna()) == [True, False, False]
        assert "partly conditional" in str(mixed.summary())
        named = results.cvim(sampler={"x1": "subgroup"}).params
        assert named[others].tolist() == results.cvim().params[others].tolist()
        assert named["x1"] == results.cvim(sampler="subgroup").params["x1"]

    def test_transformations_that_draws_can_break(self):
        data = gaussian(80).assign(x1=lambda d: np.exp(d["x1"]))
        res = fit_of(data, formula="y ~ np.log(x1) + x2")
        with pytest.raises(DesignError, match="within_range=True"):
            res.cvim()
        assert np.isfinite(res.cvim(sampler=samplers.Residual(within_range=True)).params).all()

    def test_groups(self, results):
        res = fit_of(gaussian(150), groups={"both": ["x1", "x2"]})
        assert np.isfinite(res.cvim().params["both"])
        assert "a group can't enter linearly" in words_of(res.amvim())
        found = res.amvim(method="additive")
        assert np.isnan(found.params["both"])
        assert np.isfinite(found.params["x3"])
        assert "the effect of a group is not accumulated" in words_of(found)
