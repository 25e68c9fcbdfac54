"""Likelihood- and entropy-importance (Wood et al. 2024): closed forms, loops and propositions."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import fit_of
from numpy.testing import assert_allclose
from scipy import stats
from shared import normal_rows
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.distributions import Gamma, Normal, NormalMixture, Poisson
from pyinterp.errors import OptionError, PredictionError
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Predictor
from pyinterp.results.together import DECISIONS
from pyinterp_papers.processes import wood_regression

N = 40
RNG, X = normal_rows(N, "a b c", 3)
X["b"] = 0.8 * X["a"] + 0.6 * X["b"]
Y = X["a"] + X["b"] ** 2 + RNG.normal(scale=0.5, size=N)
LABELS = pd.Series(np.where(Y.median() < Y, "yes", "no"), name="y")
THREE = pd.Series(np.array(["u", "v", "w"])[np.digitize(Y, np.quantile(Y, [0.3, 0.6]))], name="y")


def gaussian_process():
    return GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), optimizer=None, normalize_y=True)


def log_sds(model, rows):
    """Logarithms of the standard deviations that a model predicts."""
    return np.log(np.asarray(model.predict(rows, return_std=True)[1]))


def pairs_of(numbers, *features):
    """Numbers of copies of row i with the features of row k, for all pairs: shape (n, n).

    ``numbers(copies, i)`` is given all copies, and the row that each is of.
    """
    i, k = np.repeat(np.arange(N), N), np.tile(np.arange(N), N)
    copies = X.iloc[i].reset_index(drop=True)
    for feature in features:
        copies[feature] = X[feature].to_numpy()[k]
    return np.asarray(numbers(copies, i)).reshape(N, N)


def importance(pairs):
    """Mean over pairs of different rows minus the mean over rows as they are."""
    off = pairs.sum() - np.trace(pairs)
    return float(off / (N * (N - 1)) - np.trace(pairs) / N)


class TestClasses:
    @pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
    @pytest.mark.parametrize("relation", ["difference", "ratio"])
    def test_likelihood_pfi_is_the_pfi_for_log_loss_exactly(self, y, relation):
        fitted = pi.FittedModel(LogisticRegression().fit(X, y), X, y, seed=1)
        ours = fitted.likelihood_pfi(relation=relation)
        log = fitted.pfi(loss="log", relation=relation)
        pd.testing.assert_frame_equal(ours.summary_frame(), log.summary_frame())

    @pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
    def test_entropy_pfi_is_that_of_scipys_entropy_over_all_pairs(self, y):
        model = LogisticRegression().fit(X, y)
        result = pi.FittedModel(model, X).entropy_pfi(permutations="all")
        for feature in X:
            pairs = pairs_of(
                lambda rows, _: stats.entropy(model.predict_proba(rows), axis=1), str(feature)
            )
            assert result.params[feature] == pytest.approx(importance(pairs), abs=1e-12)
            h = (pairs - np.diag(pairs)[:, None]).sum(axis=1) / (N - 1)
            h += (pairs - np.diag(pairs)[:, None]).sum(axis=0) / (N - 1)
            assert result.bse[feature] == pytest.approx(np.std(h, ddof=1) / np.sqrt(N), rel=1e-9)

    def test_probabilities_of_0_have_no_entropy(self):
        model = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
        fitted = pi.FittedModel(model, X, LABELS, seed=1)
        assert fitted.pfi().engine.name == "trees, exact"
        result = fitted.entropy_pfi()
        assert result.engine.name == "trees, exact"
        p = model.predict_proba(X)
        assert (p == 0).any()
        pairs = pairs_of(lambda rows, _: stats.entropy(model.predict_proba(rows), axis=1), "a")
        assert result.params["a"] == pytest.approx(importance(pairs), abs=1e-12)

    def test_one_class_is_told_from_all_others(self):
        model = LogisticRegression().fit(X, THREE)
        fitted = pi.FittedModel(model, X, THREE, seed=1)

        def entropy(rows, _):
            p = model.predict_proba(rows)[:, 1]
            return stats.entropy(np.column_stack([p, 1 - p]), axis=1)

        def minus_log(rows, i):
            p = model.predict_proba(rows)[:, 1]
            return -np.log(np.where(THREE.to_numpy()[i] == "v", p, 1 - p))

        for result, number in (
            (fitted.entropy_pfi("a", which_class="v"), entropy),
            (fitted.likelihood_pfi("a", which_class="v"), minus_log),
        ):
            expected = importance(pairs_of(number, "a"))
            assert result.params["a"] == pytest.approx(expected, abs=1e-12)
            assert "class v" in result.estimand.description
        with pytest.raises(OptionError, match="u, v, w"):
            fitted.entropy_pfi(which_class="x")


class TestNormal:
    def test_entropy_pfi_is_the_closed_form_of_the_standard_deviations(self):
        model = gaussian_process().fit(X, Y)
        result = pi.FittedModel(model, X).entropy_pfi(permutations="all")
        for feature in X:
            pairs = pairs_of(lambda rows, _: log_sds(model, rows), str(feature))
            assert result.params[feature] == pytest.approx(importance(pairs), abs=1e-9)

    def test_likelihood_pfi_is_that_of_scipys_density(self):
        model = BayesianRidge().fit(X, Y)

        def minus_log(rows, i):
            mean, sd = map(np.asarray, model.predict(rows, return_std=True))
            return -stats.norm.logpdf(Y.to_numpy()[i], mean, sd)

        result = pi.FittedModel(model, X, Y).likelihood_pfi("b", permutations="all")
        assert result.params["b"] == pytest.approx(importance(pairs_of(minus_log, "b")), abs=1e-12)
        assert result.fit.name == "negative log likelihood"
        mean, sd = model.predict(X, return_std=True)
        assert result.fit.loss == pytest.approx(-stats.norm.logpdf(Y, mean, sd).mean(), abs=1e-12)

    @pytest.mark.parametrize("of", ["entropy", "nll"])
    @pytest.mark.parametrize("kind", ["pd", "c-ice"])
    def test_partial_dependence_is_that_of_copies(self, of, kind):
        model = BayesianRidge().fit(X, Y)
        fitted = pi.FittedModel(model, X, Y)
        result = fitted.pd("a", of=of, grid=[-1.0, 0.5, 2.0], kind=kind)
        curves = []
        for value in (-1.0, 0.5, 2.0):
            mean, sd = model.predict(X.assign(a=value), return_std=True)
            curves.append(
                0.5 * np.log(2 * np.pi * np.e * sd**2)
                if of == "entropy"
                else -stats.norm.logpdf(Y, mean, sd)
            )
        expected = np.column_stack(curves)
        if kind == "c-ice":
            expected = expected - expected[:, :1]
        assert_allclose(result.row_frame(), expected, atol=1e-12)
        assert_allclose(result.params, expected.mean(axis=0), atol=1e-12)
        assert result.estimand.words.unit == "nats"

    def test_no_response_is_needed_for_entropy_but_for_the_likelihood(self):
        fitted = pi.FittedModel(BayesianRidge().fit(X, Y), X)
        assert fitted.entropy_pfi().params.notna().all()
        assert fitted.pd("a", of="entropy").params.notna().all()
        for ask in (fitted.likelihood_pfi, lambda: fitted.pd("a", of="nll"), fitted.uncertainty):
            with pytest.raises(OptionError, match="pass `y` to FittedModel"):
                ask()

    def test_groups_are_replaced_together(self):
        model = BayesianRidge().fit(X, Y)
        result = pi.FittedModel(model, X, groups={"ab": ["a", "b"]}).entropy_pfi(
            "ab", permutations="all"
        )
        pairs = pairs_of(lambda rows, _: log_sds(model, rows), "a", "b")
        assert result.params["ab"] == pytest.approx(importance(pairs), abs=1e-12)


class TestPropositions:
    def test_a_feature_that_the_model_does_not_use_has_0_exactly(self):
        class First(RegressorMixin, BaseEstimator):
            def fit(self, rows, y):
                self.model_ = BayesianRidge().fit(rows[["a"]], y)
                return self

            def predict(self, rows, return_std=False):
                return self.model_.predict(rows[["a"]], return_std=return_std)

        fitted = pi.FittedModel(First().fit(X, Y), X, Y)
        assert fitted.entropy_pfi(["b", "c"]).params.tolist() == [0.0, 0.0]
        assert fitted.likelihood_pfi(["b", "c"]).params.tolist() == [0.0, 0.0]
        assert fitted.uncertainty().decisions["c"] == "unused"

    def test_an_independent_feature_has_entropy_pfi_0_within_3_standard_errors(self):
        """Proposition 1, for X5 of Wood's regression set and the mean t of 8 data sets."""
        process = wood_regression()
        t = []
        for seed in range(8):
            data = process.draw(150, np.random.default_rng(seed))
            learner = pi.Learner.from_formula("y ~ .", data, BayesianRidge())
            plan = pi.HalfSampling(3, pairs=8)
            result = learner.fit(plan, seed=seed).entropy_pfi()
            t.append(result.tvalues["X5"])
            assert (result.tvalues[["X1", "X2", "X3", "X4"]] > 2).all()
        assert abs(np.mean(t)) < 3 / np.sqrt(8)

    def test_conditional_draws_are_refused_with_the_proposition(self):
        fitted = pi.FittedModel(BayesianRidge().fit(X, Y), X, Y)
        with pytest.raises(TypeError, match=r"Proposition 3.*likelihood_pfi"):
            fitted.entropy_pfi(sampler="residual")
        assert fitted.likelihood_pfi("a", sampler="residual").params.notna().all()


def parameters_of(model, rows):
    read = predictive(Predictor.of(model), rows[:1])
    return read.distribution, read(rows)


class TestWhatLearnersState:
    @pytest.mark.parametrize("model", [BayesianRidge(), ARDRegression(), gaussian_process()])
    @pytest.mark.parametrize("piped", [False, True])
    def test_standard_deviations_of_predict(self, model, piped):
        rows = X.to_numpy()
        fitted = make_pipeline(StandardScaler(), model) if piped else model
        fitted.fit(rows, Y)
        family, parameters = parameters_of(fitted, rows)
        assert family == Normal()
        assert_allclose(
            parameters, np.column_stack(fitted.predict(rows, return_std=True)), rtol=1e-9
        )

    def test_statsmodels_linear_model_predicts_an_observation(self):
        rows = sm.add_constant(X.to_numpy())
        results = sm.OLS(Y.to_numpy(), rows).fit()
        family, parameters = parameters_of(results, rows)
        frame = results.get_prediction(rows).summary_frame(alpha=0.05)
        half = stats.t.ppf(0.975, results.df_resid) * parameters[:, 1]
        assert family == Normal()
        assert_allclose(parameters[:, 0] - half, frame["obs_ci_lower"], rtol=1e-9)

    def test_statsmodels_generalized_linear_models(self):
        rows, counts = sm.add_constant(X.to_numpy()), np.exp(Y / 3).round().to_numpy()
        for family, response, expected in (
            (sm.families.Poisson(), counts, Poisson()),
            (sm.families.Gamma(sm.families.links.Log()), np.exp(Y / 3).to_numpy(), Gamma()),
            (sm.families.Gaussian(), Y.to_numpy(), Normal()),
        ):
            results = sm.GLM(response, rows, family=family).fit()
            found, parameters = parameters_of(results, rows)
            assert found == expected
            if found == Gamma():
                assert_allclose(parameters.prod(axis=1), results.predict(rows))
                variance = parameters[:, 0] * parameters[:, 1] ** 2
                assert_allclose(variance, results.scale * results.predict(rows) ** 2)
            else:
                assert_allclose(parameters[:, 0], results.predict(rows))
        negative = sm.GLM(counts, rows, family=sm.families.NegativeBinomial(alpha=1.0)).fit()
        with pytest.raises(PredictionError, match="predicts a mean but no distribution"):
            parameters_of(negative, rows)

    def test_forests_are_mixtures_of_their_leaves(self):
        rows = X.to_numpy()
        model = RandomForestRegressor(4, min_samples_leaf=5, random_state=0).fit(rows, Y)
        family, parameters = parameters_of(model, rows)
        assert family == NormalMixture(4)
        assert_allclose(parameters[:, :4].mean(axis=1), model.predict(rows))
        for t, tree in enumerate(model.estimators_):
            drawn = model.estimators_samples_[t]
            leaf = tree.apply(rows)
            same = leaf[drawn] == leaf[0]
            expected = Y.to_numpy()[drawn][same]
            assert parameters[0, t] == pytest.approx(expected.mean())
            assert parameters[0, 4 + t] == pytest.approx(expected.std())
        small = RandomForestRegressor(4, random_state=0).fit(rows, Y)
        with pytest.raises(PredictionError, match="min_samples_leaf=5"):
            parameters_of(small, rows)

    def test_a_model_that_predicts_something_of_its_own_is_refused(self):
        class Tenfold(RandomForestRegressor):
            def predict(self, rows):
                return 10 * super().predict(rows)

        with pytest.raises(PredictionError, match=r"`predict` does something of its own"):
            parameters_of(Tenfold(4, min_samples_leaf=5).fit(X.to_numpy(), Y), X.to_numpy())

    def test_components_of_a_mixture(self):
        class Ensemble(LinearRegression):
            def predict_components(self, rows):
                mean = self.predict(rows)
                return np.column_stack([mean - 1, mean + 1]), np.ones((len(mean), 2))

        model = Ensemble().fit(X.to_numpy(), Y)
        family, parameters = parameters_of(model, X.to_numpy())
        assert family == NormalMixture(2)
        assert parameters.shape == (N, 4)
        entropy = pi.FittedModel(model, X.to_numpy()).entropy_pfi()
        assert entropy.params.abs().max() < 1e-9  # the same spread everywhere

    def test_a_users_own_distribution(self):
        model = pi.Distributional(LinearRegression(), own_parameters)
        data = X.assign(y=Y)
        res = fit_of("y ~ .", data, model, pi.Holdout(0.5))
        assert (res.entropy_pfi().params[["a", "b"]] != 0).all()
        assert res.entropy_pfi().params["c"] == 0
        wrong = pi.Distributional(LinearRegression(), lambda _, rows: np.ones((len(rows), 3)))
        with pytest.raises(PredictionError, match=r"mean and standard deviation.*shape \(40, 3\)"):
            parameters_of(wrong.fit(X.to_numpy(), Y), X.to_numpy())

    @pytest.mark.parametrize(
        ("model", "y", "sentence"),
        [
            (LinearRegression(), Y, "predicts a mean but no distribution.*return_std"),
            (QuantileRegressor(), Y, "one quantile is no distribution"),
            (SGDClassifier(random_state=0), LABELS, "classes without probabilities"),
        ],
    )
    def test_learners_without_a_distribution_are_refused(self, model, y, sentence):
        fitted = pi.FittedModel(model.fit(X, y), X, y)
        asks = [fitted.entropy_pfi, fitted.likelihood_pfi, lambda: fitted.pd("a", of="nll")]
        for ask in asks[: 1 if y is LABELS else 3]:
            with pytest.raises(PredictionError, match=sentence):
                ask()

    def test_ratios_of_what_may_be_negative_are_refused(self):
        fitted = pi.FittedModel(BayesianRidge().fit(X, Y), X, Y)
        for ask in (fitted.likelihood_pfi, fitted.entropy_pfi):
            with pytest.raises(OptionError, match="may be negative"):
                ask(relation="ratio")
        with pytest.raises(OptionError, match="leave `scale` out"):
            fitted.pd("a", of="entropy", scale=np.exp)


def own_parameters(fitted, rows):
    mean = fitted.predict(rows)
    return np.column_stack([mean, np.exp(np.asarray(rows)[:, 0] * np.asarray(rows)[:, 1])])


class TestTogether:
    def test_the_four_decisions_are_the_stated_rule(self):
        data = wood_regression().draw(200, np.random.default_rng(1))
        result = fit_of("y ~ .", data, BayesianRidge(), pi.HalfSampling(5, pairs=8)).uncertainty()
        likelihood, entropy = result.likelihood.conf_int(), result.entropy.conf_int()
        for name in result.decisions.index:
            informative = likelihood.loc[name, 0] > 0
            shared = not entropy.loc[name, 0] <= 0 <= entropy.loc[name, 1]
            assert result.decisions[name] == DECISIONS[bool(informative), shared]
        assert result.decisions["X5"] == "informative and independent"
        assert result.decisions["X1"] == "informative and shared"
        table = " ".join(str(result).split())
        for part in ("PFI_L", "PFI_H", "R²_j", "Informative and independent: X5"):
            assert part in table
        frame = result.summary_frame()
        assert set(frame["measure"]) == {"PFI_L", "PFI_H", "R²_j"}
        assert result.plot().draw() is not None

    def test_the_response_adds_to_what_predicts_an_informative_feature(self):
        data = wood_regression().draw(300, np.random.default_rng(1))
        res = fit_of("y ~ .", data, BayesianRidge(), pi.Subsampling(3))
        result = res.redundancy()
        others = result["others"].params
        pd.testing.assert_series_equal(others, res.positivity().params, check_names=False)
        assert (result["response"].params - others)["X5"] > 0.1
        assert others["X5"] < 0.05
        assert (others[["X1", "X2"]] > 0.5).all()
