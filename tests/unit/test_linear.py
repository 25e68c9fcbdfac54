"""The linear engine: equal to the model's own predictions for every family, row and donor."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula
import statsmodels.formula.api as smf
from by_copies import LOSSES, Asked, compare, in_order, same_importance, whatif_of
from fits import model_of, words_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.losses.rowwise import LOSSES as NAMED
from pyinterp.whatif.linear import read_linear
from pyinterp.whatif.whatif import FeatureWhatIf

PREDICTIONS = 1e-12  # the bar, relative to the largest prediction: sums in another order
IMPORTANCES = 1e-10

N = 70
GAUSSIAN, POISSON = sm.families.Gaussian(), sm.families.Poisson()
GAMMA = sm.families.Gamma(sm.families.links.Log())
BINOMIAL = sm.families.Binomial()
PROBIT = sm.families.Binomial(sm.families.links.Probit())
CLOGLOG = sm.families.Binomial(sm.families.links.CLogLog())
SQUARE_ROOT = sm.families.Tweedie(sm.families.links.Power(0.5), var_power=1.5)
QUIET = {"disp": 0}
LINEAR_SVR = LinearSVR(loss="squared_epsilon_insensitive", dual=False)


def make_data(seed=0):
    """Numbers, with ties, whole and constant (the intercept of statsmodels), and responses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    X[:, 1] = X[:, 1].round(1)
    X[:, 2] = rng.integers(0, 5, N)
    X[:, 3] = 1.0
    number = X[:, 0] - X[:, 1] / 2 + X[:, 2] / 3 + rng.normal(size=N) / 2
    return X, {
        "number": number,
        "positive": np.exp(number / 2),
        "count": rng.poisson(np.exp(number / 2)).astype(np.float64),
        "two": (number > np.median(number)).astype(int),
        "three": np.digitize(number, np.quantile(number, [0.3, 0.7])),
    }


X, Y = make_data()

SKLEARN = {
    "LinearRegression": (LinearRegression(), "number"),
    "without intercept": (LinearRegression(fit_intercept=False), "number"),
    "Ridge": (Ridge(), "number"),
    "Lasso": (Lasso(0.05), "number"),
    "ElasticNet": (ElasticNet(0.05), "number"),
    "HuberRegressor": (HuberRegressor(), "number"),
    "QuantileRegressor": (QuantileRegressor(alpha=0.01), "number"),
    "LinearSVR": (LINEAR_SVR, "number"),
    "SVR": (SVR(kernel="linear"), "number"),
    "SGDRegressor": (SGDRegressor(random_state=0), "number"),
    "PoissonRegressor": (PoissonRegressor(), "count"),
    "GammaRegressor": (GammaRegressor(), "positive"),
    "TweedieRegressor": (TweedieRegressor(power=1.5), "positive"),
    "Tweedie, identity": (TweedieRegressor(power=0), "number"),
    "LogisticRegression": (LogisticRegression(), "two"),
    "LogisticRegression, 3": (LogisticRegression(), "three"),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), "two"),
    "LinearDiscriminantAnalysis, 3": (LinearDiscriminantAnalysis(), "three"),
    "SGDClassifier": (SGDClassifier(loss="log_loss", random_state=0), "two"),
    "SGDClassifier, 3": (SGDClassifier(loss="log_loss", random_state=0), "three"),
    "RidgeClassifier": (RidgeClassifier(), "two"),
    "RidgeClassifier, 3": (RidgeClassifier(), "three"),
    "LinearSVC": (LinearSVC(random_state=0), "two"),
    "LinearSVC, 3": (LinearSVC(random_state=0), "three"),
    "SVC": (SVC(kernel="linear"), "two"),
}
CLASSIFIERS = ["LogisticRegression", "LogisticRegression, 3", "SGDClassifier, 3"]
STATSMODELS = {
    "OLS": (pi.statsmodels_learner(sm.OLS), "number"),
    "WLS": (pi.statsmodels_learner(sm.WLS), "number"),
    "RLM": (pi.statsmodels_learner(sm.RLM), "number"),
    "QuantReg": (pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.7}), "number"),
    "GLM": (pi.statsmodels_learner(sm.GLM, family=GAUSSIAN), "number"),
    "GLM Poisson": (pi.statsmodels_learner(sm.GLM, family=POISSON), "count"),
    "GLM gamma": (pi.statsmodels_learner(sm.GLM, family=GAMMA), "positive"),
    "GLM binomial": (pi.statsmodels_learner(sm.GLM, family=BINOMIAL), "two"),
    "GLM probit": (pi.statsmodels_learner(sm.GLM, family=PROBIT), "two"),
    "GLM cloglog": (pi.statsmodels_learner(sm.GLM, family=CLOGLOG), "two"),
    "GLM square root": (pi.statsmodels_learner(sm.GLM, family=SQUARE_ROOT), "positive"),
    "Logit": (pi.statsmodels_learner(sm.Logit), "two"),
    "Probit": (pi.statsmodels_learner(sm.Probit), "two"),
    "MNLogit": (pi.statsmodels_learner(sm.MNLogit), "three"),
    "Poisson": (pi.statsmodels_learner(sm.Poisson, fit=QUIET), "count"),
}


def fit(name):
    """A fitted model with its rows and responses; "results of ..." are statsmodels' own."""
    models = SKLEARN | STATSMODELS
    learner, response = models[name.removeprefix("results of ")]
    # Some families have an intercept of their own, and discriminants need columns that vary.
    rows = X[:, :3] if response in ("two", "three") and name in SKLEARN else X
    fitted = learner.fit(rows, Y[response])
    return (fitted.results_ if name.startswith("results of ") else fitted), rows, Y[response]


def compare_each(whatif):
    donors = whatif.sample.variables
    for variables in (*([name] for name in donors), list(donors)[:2], list(donors)):
        compare(whatif, variables, donors, PREDICTIONS)


def equal(make, engine="linear, exact"):
    """Predictions and importances are those of copies, by the engine named."""
    whatif = whatif_of(make("auto"))
    compare_each(whatif)
    for loss in LOSSES[whatif.predictor.kind]:
        assert same_importance(make, loss, IMPORTANCES).startswith(engine)
    return whatif


def equal_model(model, X, y, engine="linear, exact"):
    return equal(lambda name: pi.FittedModel(model, X, y, engine=name), engine)


EVERY = [*SKLEARN, *STATSMODELS, *(f"results of {name}" for name in STATSMODELS)]


@pytest.mark.parametrize("name", EVERY)
def test_every_family_is_read_and_equals_the_model(name):
    whatif = equal_model(*fit(name))
    # Beyond the data, out of order, and again.
    compare(whatif, ["x1"], pd.DataFrame({"x1": [1.5, -9.0, 0.5, 9.0, 0.5]}), PREDICTIONS)


@pytest.mark.parametrize("name", ["LinearRegression", "LogisticRegression, 3", "GLM gamma"])
def test_small_memory_gives_the_same(name):
    model, rows, y = fit(name)
    loss = "log" if "Logistic" in name else "absolute"
    whole, small = (pi.FittedModel(model, rows, y, memory_mb=mb) for mb in (256.0, 1e-3))
    assert len(list(whatif_of(small).of(["x1"]).cross(whatif_of(small).sample.variables))) > 1
    donors, index = pd.DataFrame({"x1": Y["number"]}), np.arange(N).reshape(10, 7)
    pairs = [whatif_of(m).of(["x1"]).pairs(np.arange(10), index, donors) for m in (whole, small)]
    assert_array_equal(*pairs)
    assert_allclose(small.pfi(loss=loss).params, whole.pfi(loss=loss).params, rtol=0, atol=1e-12)


class TestSquaredLoss:
    """Sums of squared errors over all pairs, from moments."""

    def naive(self, model, rows, y, column):
        """All pairs' losses: row i with the value of row k."""
        losses = np.empty((len(y), len(y)))
        for k, value in enumerate(rows[:, column]):
            copies = rows.copy()
            copies[:, column] = value
            losses[:, k] = (y - model.predict(copies)) ** 2
        return losses

    @pytest.mark.parametrize("repeated", [False, True])
    def test_it_equals_the_loop_over_all_pairs(self, repeated):
        drawn = np.random.default_rng(3).integers(0, N, 90) if repeated else np.arange(N)
        rows, y = X[drawn], Y["number"][drawn]
        assert repeated == (len(np.unique(rows[:, 0])) < len(rows))
        model = Ridge().fit(X, Y["number"])
        result = pi.FittedModel(model, rows, y).pfi()
        assert result.engine.name == "linear, exact"
        n = len(y)
        for j in range(4):
            losses = self.naive(model, rows, y, j)
            increase = losses - np.diag(losses)[:, None]
            h = (increase.sum(axis=0) + increase.sum(axis=1)) / (n - 1)
            expected = increase.sum() / (n * (n - 1)), np.std(h, ddof=1) / np.sqrt(n)
            found = result.params.iloc[j], result.bse.iloc[j]
            assert_allclose(found, expected, rtol=0, atol=IMPORTANCES)

    def test_a_large_mean_of_a_feature_costs_no_digits(self):
        y = Y["number"]
        moved = X + np.array([1e4, 0, 0, 0])
        far = LinearRegression().fit(moved, y)
        found = pi.FittedModel(far, moved, y, engine="linear").pfi().params
        expected = 2 * far.coef_**2 * moved.var(axis=0, ddof=1)
        assert_allclose(found, expected, rtol=0, atol=1e-10)  # 1e4 x rounding unit

    def test_a_group_moves_jointly(self):
        model, rows, y = fit("LinearRegression")
        groups = {"both": ["x1", "x2"], "rest": ["x3", "x4"]}
        same_importance(
            lambda engine: pi.FittedModel(model, rows, y, groups=groups, engine=engine), "squared"
        )

    def test_a_constant_feature_has_importance_0_exactly(self):
        for name in ("LinearRegression", "OLS", "PoissonRegressor", "Logit"):
            model, _, y = fit(name)
            result = pi.FittedModel(model.fit(X, y), X, y).pfi()
            assert result.engine.name == "linear, exact"
            assert result.params["x4"] == 0
            assert result.bse["x4"] == 0

    def test_a_feature_with_coefficient_0_has_importance_0_exactly(self):
        model = Lasso(0.6).fit(X, Y["number"])
        unused = model.coef_ == 0
        assert 0 < unused[:3].sum() < 3
        result = pi.FittedModel(model, X, Y["number"]).pfi()
        assert ((result.params == 0) == unused).all()


DATA = pd.DataFrame(X[:, :3], columns=list("abk")).assign(
    k=X[:, 2].astype(int),
    g=pd.Categorical.from_codes(X[:, 2].astype(int), list("uvwxy")),
    s=np.where(X[:, 2] > 2, "high", "low"),
    label=np.where(Y["two"] == 1, "yes", "no"),
    **Y,
)
FORMULAS = {
    "ols": lambda: smf.ols("number ~ a + I(a**2) + C(k)", DATA).fit(),
    "splines": lambda: smf.ols("number ~ a + I(a**2) + bs(b, df=4) + C(k)", DATA).fit(),
    "wls": lambda: smf.wls("number ~ a + s", DATA, weights=np.linspace(1, 2, N)).fit(),
    "rlm": lambda: smf.rlm("number ~ a + standardize(b)", DATA).fit(),
    "quantreg": lambda: smf.quantreg("number ~ a + np.exp(b)", DATA).fit(q=0.3),
    "glm": lambda: smf.glm("count ~ a + C(k)", DATA, family=POISSON).fit(),
    "glm of labels": lambda: smf.glm("label ~ a + b", DATA, family=PROBIT).fit(),
    "logit": lambda: smf.logit("two ~ a + s", DATA).fit(disp=0),
    "probit": lambda: smf.probit("two ~ a + b + k", DATA).fit(disp=0),
    "mnlogit": lambda: smf.mnlogit("three ~ a + b + I(b**2)", DATA).fit(disp=0),
    "poisson": lambda: smf.poisson("count ~ a + k", DATA).fit(disp=0),
}


def of_formula(name, **options):
    results = FORMULAS[name]()
    return pi.FittedModel(results, DATA, results.model.formula.split(" ~ ")[0], **options)


class TestFormulas:
    @pytest.mark.parametrize("name", FORMULAS)
    def test_results_of_a_formula_are_read(self, name):
        equal(lambda engine: of_formula(name, engine=engine))

    def test_results_of_a_formula_with_interactions_are_predicted_in_batches(self):
        equal_model(smf.ols("number ~ a*b + a:s + C(k)", DATA).fit(), DATA, "number", engine="")

    @pytest.mark.parametrize(
        ("formula", "learner"),
        [
            *(
                ("number ~ a + I(a**2) + bs(b, df=4) + C(k)", learner)
                for learner in (
                    LinearRegression(),
                    Ridge(),
                    pi.statsmodels_learner(sm.OLS),
                    LINEAR_SVR,
                )
            ),
            ("three ~ a + I(a**2) + b", LogisticRegression()),
            ("three ~ a + I(a**2) + b", pi.statsmodels_learner(sm.MNLogit)),
        ],
    )
    def test_a_variable_that_drives_several_columns(self, formula, learner):
        fitted = model_of(formula, DATA, learner)
        assert whatif_of(fitted).engine.name == "linear, exact"
        compare_each(whatif_of(fitted))

    def test_interactions_are_predicted_in_batches_and_other_variables_are_not(self):
        formula = "number ~ a*b + a:s + I(k**2) + k"
        whatif = whatif_of(model_of(formula, DATA, LinearRegression()))
        compare_each(whatif)
        asked, donors = Asked(whatif), whatif.sample.variables
        for variable in "absk":
            asked.rows.clear()
            in_order(whatif, [variable], donors)
            assert sum(asked.rows) == (0 if variable == "k" else N * N)
            asked.rows.clear()
            whatif.of([variable]).pairs(np.arange(10), np.arange(N).reshape(10, 7), donors)
            assert sum(asked.rows) == (0 if variable == "k" else N)
            assert whatif.of([variable]).most_draws == (1e8 if variable == "k" else 250_000)


@pytest.fixture
def formulaics(monkeypatch):
    """Let statsmodels read formulas by formulaic, and return the class of what it keeps of them."""
    formulaic = pytest.importorskip("formulaic")
    options = getattr(statsmodels.formula, "options", None)
    if options is None:
        pytest.skip("statsmodels reads formulas by formulaic since 0.15")
    monkeypatch.setattr(options, "formula_engine", "formulaic")
    return formulaic.ModelSpec


# What formulaic writes in a way of its own, and what must be coded as in training.
FORMULAICS = {
    "braces": "number ~ a + {b**2}",
    "states": "number ~ center(a) + scale(b) + poly(k, 2)",
    "levels": "number ~ 0 + a + b + C(k, contr.sum)",
    "unused level": "number ~ a + h",
    "mixed before coding": "number ~ np.exp(a - b) + C(k)",
    "interactions": "number ~ a*b + a:s + C(k)",
}
OTHER_LANGUAGE = ("braces", "states", "levels")  # which is not this package's


class TestFormulaic:
    @pytest.mark.parametrize("name", FORMULAS)
    def test_results_are_read_as_those_of_patsy(self, name, formulaics):
        whatif = equal(lambda engine: of_formula(name, engine=engine))
        assert isinstance(whatif.predictor.estimator.model.data.model_spec, formulaics)

    @pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")  # an unused level
    @pytest.mark.parametrize("name", FORMULAICS)
    def test_formulas_of_its_own(self, name, formulaics):
        data = DATA.assign(h=DATA["g"].cat.add_categories("z"))
        results = smf.ols(FORMULAICS[name], data).fit()
        assert isinstance(results.model.data.model_spec, formulaics)
        if name in OTHER_LANGUAGE:  # asked by `results.predict`
            fitted = pi.FittedModel(results, data, "number")
            assert fitted.pfi().engine.name == "batched"
            means = [results.predict(data.assign(a=value)).mean() for value in (-0.5, 0.5)]
            curve = fitted.pd("a", grid=[-0.5, 0.5])
            assert_allclose(curve.params, means, rtol=1e-12)
        else:
            equal_model(results, data, "number")


@pytest.mark.parametrize("name", ["absolute", "huber"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_losses_by_pieces_are_summed_by_sorting(name, shift):
    """All pairs one by one are the reference, with ties of donors and rows on the knots."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(-2, 3, 200), rng.normal(size=200)]).astype(float)
    model = LinearRegression().fit(rows, rng.normal(size=200))
    model.coef_, model.intercept_ = np.array([1.0, 0.5]), shift
    y = shift + np.where(rng.uniform(size=200) < 0.5, rows[:, 0], rng.normal(scale=2, size=200))
    rows[:50, 1] = 0.0  # differences of 0 and of 1 in size, where pieces meet
    whatif = whatif_of(pi.FittedModel(model, rows, y))
    for column in whatif.sample.variables.columns:
        asked = whatif.of((column,))
        found, loss = asked.summed_losses(y, NAMED[name]), NAMED[name]
        expected = FeatureWhatIf.summed_losses(asked, y, loss)
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, rtol=1e-9 if shift else 1e-12)


def test_a_row_on_the_border_of_two_classes_is_no_error_of_rounding():
    """Rounding there moves the label from one class to the other, far from a small deviation."""
    rows = X[:, :2].copy()
    rows[0] = 1.0
    model = RidgeClassifier().fit(rows, Y["two"])
    model.coef_, model.intercept_ = np.array([[1.0, -1.0]]), np.zeros(1)
    whatif = whatif_of(pi.FittedModel(model, rows, Y["two"]))
    assert model.decision_function(rows[:1]) == 0
    assert whatif.engine.name == "linear, exact"
    compare_each(whatif)


ONE_HOT = ("g", OneHotEncoder(), ["g"])
PIPELINES = {
    "scaler": (make_pipeline(StandardScaler(), LinearRegression()), "number"),
    "splines": (make_pipeline(SplineTransformer(), Ridge()), "number"),
    "scaler, classes": (make_pipeline(StandardScaler(), LogisticRegression()), "three"),
    "scaler, labels": (make_pipeline(StandardScaler(), LinearSVC(random_state=0)), "two"),
    "only step": (make_pipeline(Ridge()), "number"),
}


class TestPipelines:
    @pytest.mark.parametrize("name", PIPELINES)
    def test_columnwise_steps_before_a_linear_model(self, name):
        pipeline, response = PIPELINES[name]
        equal_model(pipeline.fit(X[:, :3], Y[response]), X[:, :3], Y[response])

    @pytest.mark.parametrize("remainder", ["passthrough", StandardScaler()])
    @pytest.mark.parametrize("response", ["two", "three"])
    def test_encoders_of_frames_before_logistic_regression(self, response, remainder):
        encoder = ColumnTransformer([ONE_HOT], remainder=remainder)
        frame, y = DATA[["a", "b", "g"]], DATA[response]
        equal_model(make_pipeline(encoder, LogisticRegression()).fit(frame, y), frame, y)


class NotNegative(LinearRegression):
    def predict(self, X):
        return np.maximum(super().predict(X), 0)


MODIFIED_HUBER = SGDClassifier(loss="modified_huber", random_state=0)


def with_offset():
    results = sm.GLM(Y["count"], X[:, 1:], family=POISSON, offset=X[:, 0]).fit()
    return lambda rows: results.predict(rows[:, 1:], offset=rows[:, 0])


OTHERS = {
    "transformed response": (
        TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp),
        "positive",
        "batched",
    ),
    "another link": (MODIFIED_HUBER, "two", "batched"),
    "parameters that are no coefficients": (
        lambda: sm.NegativeBinomial(Y["count"], X).fit(disp=0, maxiter=500),
        "count",
        "batched",
    ),
    "function with an offset": (with_offset, "count", "batched"),
    "another kernel": (SVR(kernel="sigmoid", gamma=0.01), "number", "batched"),
    # coef_ has one row for each pair of classes, as many as there are classes.
    "classes decided pair by pair": (SVC(kernel="linear"), "three", "batched"),
    "steps that mix columns": (
        make_pipeline(StandardScaler(), PCA(2), LinearRegression()),
        "number",
        "",
    ),
}


class TestModelsThatAreNotLinear:
    @staticmethod
    def far(name, by):
        """A model of features moved far from 0, and its intercept with them."""
        model, rows, y = fit(name)
        moved = rows + np.array([by, -by, by, 0])[: rows.shape[1]]
        model.intercept_ = model.intercept_ - model.coef_ @ (moved - rows)[0]
        return model, moved, y

    @pytest.mark.parametrize("by", [1e2, 1e3, 1e4])
    @pytest.mark.parametrize("name", ["Ridge", "PoissonRegressor", *CLASSIFIERS[:2]])
    def test_terms_far_larger_than_predictions_are_read(self, name, by):
        # Their sums differ in their last digits with the order of addition, so with the processor.
        fitted = pi.FittedModel(*self.far(name, by))
        assert whatif_of(fitted).engine.name == "linear, exact"

    @pytest.mark.parametrize("name", ["Ridge", "PoissonRegressor", *CLASSIFIERS])
    def test_terms_whose_rounding_is_not_small_beside_the_spread_are_not(self, name):
        fitted = pi.FittedModel(*self.far(name, 1e9))
        assert "rounding of its terms" in whatif_of(fitted).engine.reason

    def test_one_row_of_large_terms_does_not_hide_that_the_others_are_wrong(self):
        model = clone(MODIFIED_HUBER).fit(X[:, :3], Y["two"])
        model.coef_[0, 1:] = 1, -1
        for large in (1e10, 1e13, 1e17):
            rows = X[:, :3].copy()
            rows[0, 1:] = large
            assert "batched" in whatif_of(pi.FittedModel(model, rows, Y["two"])).engine.name

    @pytest.mark.parametrize(("by", "wrong"), [(0, 1e-8), (1e1, 1e-8), (1e3, 1e-8)])
    @pytest.mark.parametrize("name", ["Ridge", "PoissonRegressor", *CLASSIFIERS[:2]])
    def test_a_difference_beyond_rounding_is_seen(self, name, by, wrong, monkeypatch):
        def read(estimator, kind):
            model = read_linear(estimator, kind)
            assert model is not None
            first = np.arange(len(model.intercept)) == 0  # softmax is blind to all alike
            return replace(model, intercept=model.intercept + wrong * first)

        monkeypatch.setattr(import_module("pyinterp.whatif.linear").LinearWhatIf, "read", read)
        assert "does not reproduce" in whatif_of(pi.FittedModel(*self.far(name, by))).engine.reason

    @pytest.mark.parametrize("name", OTHERS)
    def test_they_have_the_numbers_of_copies(self, name):
        model, response, engine = OTHERS[name]
        fitted = model() if callable(model) else model.fit(X, Y[response])
        equal_model(fitted, X, Y[response], engine)

    def test_predictions_that_are_altered_only_beyond_the_rows_as_they_are(self):
        # No row's own prediction is below 0, but some what-if copies' are.
        y = Y["number"]
        rows, y = X[:, :3], y - np.quantile(LinearRegression().fit(X, y).predict(X), 0.3)
        model = NotNegative().fit(rows, y)
        above = LinearRegression.predict(model, rows) > 0
        equal_model(model, rows[above], y[above], engine="")

    def test_classes_decided_pair_by_pair_in_rows_of_one_class(self):
        # These rows' own predictions are all the same.
        model = SVC(kernel="linear").fit(X, Y["three"])
        for k in range(3):
            rows = X[model.predict(X) == k]
            equal_model(model, rows, np.full(len(rows), k), engine="")


class TestChoice:
    @pytest.mark.parametrize(
        ("model", "response", "why"),
        [
            (RandomForestRegressor(3), "number", "it is not a linear model"),
            (MODIFIED_HUBER, "two", "the linear engine does not reproduce its predictions"),
            (NotNegative(), "number", ""),
        ],
    )
    def test_it_says_why_it_can_not_serve_a_model(self, model, response, why):
        model, y = clone(model).fit(X, Y[response]), Y[response]
        words = f'engine="linear"` can\'t serve {type(model).__name__}: {why}'
        with pytest.raises(OptionError, match=words):
            pi.FittedModel(model, X, y, engine="linear").pfi()
        if model.__class__ is SGDClassifier:
            text = words_of(pi.FittedModel(model, X, y).pfi(), notes="full")
            assert f"Engine: batched ({why})." in text

    def test_sparse_coefficients_are_predicted_in_batches(self):
        model = LogisticRegression().fit(X[:, :3], Y["two"]).sparsify()
        whatif = whatif_of(pi.FittedModel(model, X[:, :3], Y["two"]))
        assert whatif.engine.name == "batched"
        compare_each(whatif)
