"""What predictive uncertainty must refuse, and what it must not say."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from test_uncertainty import LABELS, N, X, Y

import pyinterp as pi
from pyinterp.distributions import Gamma, LogNormal, NormalMixture, Poisson
from pyinterp.errors import LossError, OptionError, PredictionError, PyinterpError

ROWS = sm.add_constant(X.to_numpy())
COUNTS = np.exp(Y / 3).round().to_numpy()


def entropy_of(model, rows=X):
    return pi.FittedModel(model, rows, seed=1).entropy_pfi().params


class TestNoise:
    @pytest.mark.parametrize("normalize_y", [False, True])
    def test_the_noise_of_a_gaussian_process_may_be_its_alpha(self, normalize_y):
        """A new response has noise, which `return_std` leaves out unless a kernel states it."""
        options = {"optimizer": None, "normalize_y": normalize_y}
        white = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.25), **options).fit(X, Y)
        alpha = GaussianProcessRegressor(RBF(1.0), alpha=0.25, **options).fit(X, Y)
        assert_allclose(entropy_of(alpha), entropy_of(white), atol=1e-8)

    def test_noise_of_each_training_row_is_not_that_of_new_rows(self):
        alpha = np.linspace(0.1, 0.2, N)
        model = GaussianProcessRegressor(RBF(1.0), alpha=alpha, optimizer=None).fit(X, Y)
        with pytest.raises(PredictionError, match=r"`alpha`.*use one number"):
            entropy_of(model)

    def test_a_response_without_noise_has_no_density(self):
        """The residuals of a perfect fit are rounding."""
        exact = ROWS @ [1.0, 2.0, 3.0, 4.0]
        with pytest.raises(PredictionError, match=r"rounding of its mean.*WhiteKernel"):
            entropy_of(sm.OLS(exact, ROWS).fit(), ROWS)


class TestWeights:
    @pytest.mark.parametrize("weights", [np.full(N, 4.0), np.linspace(1, 2, N)])
    def test_variances_by_weights_are_refused(self, weights):
        models = (
            sm.GLM(Y.to_numpy(), ROWS, var_weights=weights),
            sm.WLS(Y.to_numpy(), ROWS, weights=weights),
        )
        for model in models:
            with pytest.raises(PredictionError, match="weight of a new row is not known"):
                entropy_of(model.fit(), ROWS)

    def test_frequencies_are_copies_of_rows(self):
        twice = sm.GLM(Y.to_numpy(), ROWS, freq_weights=np.full(N, 2.0)).fit()
        copied = sm.GLM(np.tile(Y, 2), np.tile(ROWS, (2, 1))).fit()
        assert_allclose(entropy_of(twice, ROWS), entropy_of(copied, ROWS), atol=1e-12)

    def test_a_quasi_likelihood_is_no_distribution(self):
        model = sm.GLM(COUNTS, ROWS, family=sm.families.Poisson())
        assert entropy_of(model.fit(), ROWS).notna().all()
        with pytest.raises(PredictionError, match="quasi-likelihood is no distribution"):
            entropy_of(model.fit(scale="X2"), ROWS)


def constant_parameters(_, rows):
    return np.ones((len(rows), 2))


def constant_mean(_, rows):
    return np.ones((len(rows), 1))


def constant_error(fitted, rows):
    return np.column_stack([fitted.predict(rows), np.full(len(rows), 0.5)])


class TestSupport:
    @pytest.mark.parametrize(
        ("family", "impossible"),
        [
            (Poisson(), 0.5),
            (Poisson(), -1.0),
            (Gamma(), 0.0),
            (Gamma(), -1.0),
            (LogNormal(), 0.0),
            (LogNormal(), -1.0),
        ],
        ids=lambda value: getattr(value, "name", value),
    )
    def test_an_impossible_response_is_named(self, family, impossible):
        """Without warnings, and not as the likelihood of a density that goes on beyond its end."""
        parameters = constant_mean if isinstance(family, Poisson) else constant_parameters
        model = pi.Distributional(LinearRegression(), parameters, family).fit(X, Y)
        y = np.ones(N)
        assert pi.FittedModel(model, X, y).likelihood_pfi().params.eq(0).all()
        y[3] = impossible
        fitted = pi.FittedModel(model, X, y)
        sentence = f"{family.name}.*{family.support}, but the response has {impossible:g};"
        for ask in (fitted.likelihood_pfi, lambda: fitted.pd("a", of="nll")):
            with pytest.raises(LossError, match=sentence):
                ask()

    def test_ratios_of_counts_are_of_what_is_positive(self):
        model = sm.GLM(COUNTS, ROWS, family=sm.families.Poisson()).fit()
        fitted = pi.FittedModel(model, ROWS, COUNTS)
        ratio, difference = fitted.likelihood_pfi(relation="ratio"), fitted.likelihood_pfi()
        expected = 1 + difference.params / ratio.fit.loss
        assert_allclose(ratio.params, expected, rtol=1e-9)


class TestForests:
    @pytest.mark.parametrize("offset", [0.0, 1e7])
    def test_leaves_of_equal_responses_are_told_from_rounding(self, offset):
        """Far from 0 the variance of a leaf is the difference of two large numbers."""
        y = np.where(Y > 0, 1.0, 0.0) + offset
        model = RandomForestRegressor(5, min_samples_leaf=6, random_state=0).fit(X, y)
        with pytest.raises(PredictionError, match=r"larger leaves \(`min_samples_leaf` is 6\)"):
            entropy_of(model)

    def test_variances_that_are_mostly_rounding_are_refused(self):
        model = RandomForestRegressor(5, min_samples_leaf=8, random_state=0).fit(X, Y + 1e7)
        with pytest.raises(PredictionError, match="subtract a constant from responses"):
            entropy_of(model)


class Components(LinearRegression):
    """A regressor whose components are what its function of the means returns."""

    def predict_components(self, rows):
        return self.components(self.predict(rows))


class Varying(LinearRegression):
    """A mixture of one part in some refits, and of two in others."""

    def fit(self, rows, y):
        self.parts_ = 1 + int(np.asarray(y)[:20].sum() * 1000) % 2
        return super().fit(rows, y)

    def predict_components(self, rows):
        means = np.repeat(self.predict(rows)[:, None], self.parts_, axis=1)
        return means, np.ones_like(means)


class TestMixtures:
    @pytest.mark.parametrize(
        "components",
        [
            lambda mean: (np.column_stack([mean, mean]), np.ones(len(mean))),
            lambda mean: (np.column_stack([mean, mean]), np.ones((len(mean), 4))),
            lambda mean: (mean, np.ones(len(mean))),
            lambda mean: mean,
        ],
        ids=["one sd per row", "more sds than means", "one part", "means alone"],
    )
    def test_components_come_in_pairs(self, components):
        model = Components().fit(X, Y)
        model.components = components
        with pytest.raises(PredictionError, match=r"`predict_components` must return means and"):
            entropy_of(model)

    def test_refits_with_other_families_are_refused(self):
        res = pi.Learner(Y.rename("y"), X, Varying()).fit(pi.Subsampling(6), seed=1)
        for ask in (res.likelihood_pfi, res.entropy_pfi, lambda: res.pd("a", of="nll")):
            with pytest.raises(PredictionError, match="same family of distributions"):
                ask()

    @pytest.mark.parametrize("components", [0, -1, 1.5])
    def test_a_mixture_has_a_whole_number_of_components(self, components):
        with pytest.raises(OptionError, match="`components`"):
            NormalMixture(components)


class TestDistributional:
    def test_a_classifier_is_its_own_distribution(self):
        model = pi.Distributional(LogisticRegression(), constant_error)
        with pytest.raises(OptionError, match=r"must be a regressor.*pass it as it is"):
            model.fit(X, (Y > 0).astype(int))

    def test_parameters_are_checked_for_a_fitted_estimator_too(self):
        model = pi.Distributional(LinearRegression().fit(X, Y), "constant")  # wrong
        with pytest.raises(PyinterpError, match="`parameters` must be"):
            entropy_of(model)

    def test_columns_are_matched_by_the_names_of_the_estimator(self):
        model = pi.Distributional(BayesianRidge(), bayesian).fit(X, Y)
        expected = entropy_of(model)
        found = entropy_of(model, X[["c", "a", "b"]])[list(X.columns)]
        pd.testing.assert_series_equal(found, expected)
        assert model.n_features_in_ == 3


def bayesian(fitted, rows):
    return np.column_stack(fitted.predict(rows, return_std=True))


class TestClasses:
    def test_probabilities_may_be_off_by_rounding_in_single_precision(self):
        """What predictions may be, the entropy must take."""

        def sure(rows):
            return np.tile([1 + 1e-6, -1e-6], (len(rows), 1))

        fitted = pi.FittedModel(sure, X, classes=["no", "yes"])
        assert fitted.entropy_pfi().params.eq(0).all()
        assert fitted.entropy_pfi(which_class="no").params.eq(0).all()


class TestDecisions:
    @pytest.mark.parametrize("classes", [False, True])
    def test_equal_sureness_says_nothing_of_what_features_share(self, classes):
        """`a` and `b` are correlated: entropy-PFI is 0 because the model is sure of all rows."""
        model = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
        if not classes:
            model = pi.Distributional(LinearRegression(), constant_error).fit(X, X["a"] + X["b"])
        fitted = pi.FittedModel(model, X, LABELS if classes else X["a"] + X["b"], seed=1)
        result = fitted.uncertainty()
        assert (result.likelihood.conf_int()[0] > 0)["a"]
        assert result.decisions["a"] == "undecided"
        assert "Undecided:" in str(result)
        assert result.plot().draw() is not None

    def test_a_missing_interval_is_not_taken_for_a_0(self):
        model = BayesianRidge().fit(X, Y)
        result = pi.FittedModel(model, X[:2], Y[:2], seed=1).uncertainty()
        assert result.likelihood.conf_int().isna().all(axis=None)
        assert set(result.decisions) == {"undecided"}

    def test_a_feature_that_changes_nothing_is_unused(self):
        model = pi.Distributional(LinearRegression(), constant_error).fit(X.assign(c=1.0), Y)
        result = pi.FittedModel(model, X.assign(c=1.0), Y, seed=1).uncertainty()
        assert result.decisions["c"] == "unused"

    def test_intervals_are_lines_without_ends(self):
        """Ends of lines are drawn across the plot where all entropies are 0."""
        model = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
        plot = pi.FittedModel(model, X, LABELS, seed=1).uncertainty().plot()
        lines = [layer.geom for layer in plot.layers if "error" in type(layer.geom).__name__]
        assert lines == []
        plot.draw()
