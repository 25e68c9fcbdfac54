"""What a prediction is: the default loss, what R² and D² compare with, words of PD, and refusals.

Each of the table's learners says in its own words what it predicts. Its explained share is compared
with scikit-learn's ``d2_*`` scores, and with the null deviance of statsmodels.
"""

from functools import partial

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from fits import fit_of, model_of, words_of
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
)
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, d2_tweedie_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVR
from sklearn.utils import all_estimators

import pyinterp as pi
from pyinterp.errors import LossError, OptionError
from pyinterp.losses.rowwise import loss_of
from pyinterp.models.aims import aim_of
from pyinterp.models.predictor import Predictor

families, links = sm.families, sm.families.links
CAT = {"iterations": 20, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
LGB = {"n_estimators": 20, "verbose": -1, "n_jobs": 1}
XGB = {"n_estimators": 20, "n_jobs": 1}
FEW = pi.HalfSampling(2, pairs=5)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    n = 200
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["time"] = rng.uniform(0.2, 3, n)
    frame["y"] = np.exp(0.5 * frame.x + 0.6 * rng.normal(size=n))
    frame["count"] = rng.poisson(frame.time * np.exp(0.4 * frame.x))
    frame["two"] = rng.uniform(size=n) < 1 / (1 + np.exp(-frame.x - np.log(frame.time)))
    return frame


class Own(RegressorMixin, BaseEstimator):
    """Learns the upper decile of the response, and has no word for it."""

    def fit(self, X, y):
        self.level_, self.n_features_in_ = np.quantile(y, 0.9), X.shape[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


class Declared(Own):
    """The same, with a word for it."""

    prediction = "quantile(.9)"


class Nearest(ClassifierMixin, BaseEstimator):
    """Says the class of the nearest row, without probabilities."""

    def fit(self, X, y):
        self.inside_ = KNeighborsClassifier(1).fit(X, y)
        self.classes_, self.n_features_in_ = self.inside_.classes_, X.shape[1]
        return self

    def predict(self, X):
        return self.inside_.predict(X)


class Support(SVR):
    """A class of the user's, of a library's."""


class Counts(PoissonRegressor):
    """The same of another."""


def shifted(regressor):
    return TransformedTargetRegressor(regressor, transformer=MinMaxScaler())


SHARES = {
    "squared error": r2_score,
    "absolute error": d2_absolute_error_score,
    "Poisson deviance": partial(d2_tweedie_score, power=1),
    "gamma deviance": partial(d2_tweedie_score, power=2),
}


def share_of(loss):
    """Return scikit-learn's share of a loss, which may end in a number."""
    kind, _, number = loss.partition(" = ")
    if kind == "pinball loss, q":
        return partial(d2_pinball_score, alpha=float(number))
    return SHARES.get(kind) or partial(d2_tweedie_score, power=float(number))


def deciles(q):
    return GradientBoostingRegressor(loss="quantile", alpha=q, n_estimators=9)


def rows_of(table):
    """Return the expressions of a table, each with the words above it."""
    rows, above = [], ""
    for line in table.strip().splitlines():
        if line[0] == " ":
            rows.append((line.strip(), above))
        else:
            above = line
    return rows


def learner_of(expression):
    named = {**dict(all_estimators()), **globals()}
    return eval(expression, named)  # noqa: S307 - tables of tests


def predicted_of(fitted):
    problem = fitted.analysis.problem
    return problem.predictor(problem.design.encode(problem.sample.variables))


# Learners by what they predict, the words of PD and the default loss.
NUMBERS = """
mean, expected value; squared error
    LinearRegression()
    KNeighborsRegressor()
    LassoLarsIC()
    RandomForestRegressor(5)
    RandomForestRegressor(5, criterion="poisson")
    MLPRegressor(hidden_layer_sizes=(3,), max_iter=3000, tol=0.01)
    GradientBoostingRegressor(n_estimators=9)
    TweedieRegressor(power=0)
    lightgbm.LGBMRegressor(**LGB)
    xgboost.XGBRegressor(**XGB)
    catboost.CatBoostRegressor(**CAT)
    VotingRegressor([("a", GammaRegressor()), ("b", LinearRegression())])
    StackingRegressor([("a", HuberRegressor())])
    TransformedTargetRegressor(LinearRegression(), transformer=StandardScaler())
    TransformedTargetRegressor(transformer=StandardScaler())
    shifted(PoissonRegressor())
    shifted(Pipeline([("scale", StandardScaler()), ("poisson", PoissonRegressor())]))
    GridSearchCV(shifted(PoissonRegressor()), {"regressor__alpha": [0.1, 1]})
    BaggingRegressor(shifted(HistGradientBoostingRegressor(loss="poisson", max_iter=9)), 3)
    VotingRegressor([("a", shifted(lightgbm.LGBMRegressor(objective="tweedie", **LGB)))])
    DummyRegressor()
    pi.statsmodels_learner(sm.OLS)
mean, expected value; Poisson deviance
    Counts()
    TransformedTargetRegressor(PoissonRegressor())
    HistGradientBoostingRegressor(loss="poisson", max_iter=9)
    PoissonRegressor()
    Pipeline([("scale", StandardScaler()), ("poisson", PoissonRegressor())])
mean, expected value; gamma deviance
    HistGradientBoostingRegressor(loss="gamma", max_iter=9)
    GammaRegressor()
    xgboost.XGBRegressor(objective="reg:gamma", **XGB)
    GridSearchCV(GammaRegressor(), {"alpha": [0.1, 1]})
mean, expected value; Tweedie deviance, p = 1.2
    lightgbm.LGBMRegressor(objective="tweedie", tweedie_variance_power=1.2, **LGB)
mean, expected value; Tweedie deviance, p = 1.4
    catboost.CatBoostRegressor(loss_function="Tweedie:variance_power=1.4", **CAT)
mean, expected value; Tweedie deviance, p = 1.5
    TweedieRegressor(power=1.5, alpha=0)
mean, expected value; Tweedie deviance, p = 3
    TweedieRegressor(power=3, alpha=0.1)
quantile, median; absolute error
    RandomForestRegressor(5, criterion="absolute_error")
    GradientBoostingRegressor(loss="absolute_error", n_estimators=9)
    QuantileRegressor(alpha=0)
    lightgbm.LGBMRegressor(objective="mae", **LGB)
    xgboost.XGBRegressor(objective="reg:absoluteerror", **XGB)
    catboost.CatBoostRegressor(loss_function="MAE", **CAT)
    BaggingRegressor(QuantileRegressor(alpha=0), 3)
    DummyRegressor(strategy="median")
quantile, 20% quantile; pinball loss, q = 0.2
    HistGradientBoostingRegressor(loss="quantile", quantile=0.2, max_iter=9)
quantile, 70% quantile; pinball loss, q = 0.7
    pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.7})
quantile, 80% quantile; pinball loss, q = 0.8
    xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.8, **XGB)
quantile, 90% quantile; pinball loss, q = 0.9
    QuantileRegressor(quantile=0.9, alpha=0)
    lightgbm.LGBMRegressor(objective="quantile", **LGB)
    catboost.CatBoostRegressor(loss_function="Quantile:alpha=0.9", **CAT)
    VotingRegressor([("a", deciles(0.9)), ("b", QuantileRegressor(quantile=0.9, alpha=0))])
    shifted(QuantileRegressor(quantile=0.9, alpha=0))
    DummyRegressor(strategy="quantile", quantile=0.9)
    Declared()
quantile, 95% quantile; pinball loss, q = 0.95
    deciles(0.95)
expectile, prediction; squared error
    catboost.CatBoostRegressor(loss_function="Expectile:alpha=0.9", **CAT)
other, prediction; squared error
    GradientBoostingRegressor(loss="huber", n_estimators=9)
    HuberRegressor()
    SGDRegressor(loss="epsilon_insensitive")
    Support()
    AdaBoostRegressor(n_estimators=3)
    lightgbm.LGBMRegressor(objective="mape", **LGB)
    lightgbm.LGBMRegressor(reg_sqrt=True, **LGB)
    xgboost.XGBRegressor(objective="reg:squaredlogerror", **XGB)
    catboost.CatBoostRegressor(loss_function="LogLinQuantile:alpha=0.5", **CAT)
    catboost.CatBoostRegressor(loss_function="Lq:q=1.2", **CAT)
    VotingRegressor([("a", deciles(0.1)), ("b", deciles(0.9))])
    VotingRegressor([("a", deciles(0.9)), ("b", LinearRegression())])
    TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    DummyRegressor(strategy="constant", constant=1.0)
    pi.statsmodels_learner(sm.RLM)
unknown, prediction; squared error
    Own()
"""


@pytest.mark.parametrize(("learner", "words"), rows_of(NUMBERS))
def test_a_learner_of_numbers(data, learner, words):
    fitted = model_of("y ~ x + z", data, learner_of(learner))
    found, (aim, loss) = fitted.analysis.problem.predictor.aim, words.split("; ")
    assert f"{found.name}, {found.phrase}" == aim
    assert found.name != "unknown" or not found.words
    share = fitted.loss(relation="explained")
    assert share.fit.name == loss
    single = learner.startswith("xgboost")  # precision of its own predictions
    expected = share_of(loss)(data["y"], predicted_of(fitted))
    assert share.params.iloc[0] == pytest.approx(expected, abs=1e-6 if single else 1e-10)
    assert f"ean {found.phrase} of `y`" in words_of(fitted.pd("x", points=2))


def test_what_is_read_of_learners_is_read_of_fits_and_files(data, tmp_path):
    given = "y ~ x", data, QuantileRegressor(quantile=0.9, alpha=0), FEW
    res = fit_of(*given)
    table = res.pd("x", points=2)
    res.save(tmp_path / "a.pyinterp")
    again = pi.load(tmp_path / "a.pyinterp")
    assert again.analysis.problem.predictor.aim == res.analysis.problem.predictor.aim
    assert str(again.pd("x", points=2).summary()) == str(table.summary())
    dropped = fit_of(*given, keep_models=False, measure=["loss"])
    assert dropped.loss().params.equals(res.loss().params)


CLASSES = """
probability
    LogisticRegression()
    GradientBoostingClassifier(n_estimators=3)
    CalibratedClassifierCV(LinearSVC())
    lightgbm.LGBMClassifier(**LGB)
    xgboost.XGBClassifier(**XGB)
    catboost.CatBoostClassifier(**CAT)
    pi.statsmodels_learner(sm.Logit)
class
    LinearSVC()
other
    RandomForestClassifier(3, class_weight="balanced")
    lightgbm.LGBMClassifier(unbalance=True, **LGB)
    xgboost.XGBClassifier(scale_pos_weight=3, **XGB)
    catboost.CatBoostClassifier(auto_class_weights="Balanced", **CAT)
    LinearDiscriminantAnalysis(priors=[0.5, 0.5])
    BernoulliNB(class_prior=[0.5, 0.5])
    SGDClassifier(loss="modified_huber")
"""


@pytest.mark.parametrize(("learner", "aim"), rows_of(CLASSES))
def test_a_classifier(data, learner, aim):
    fitted = model_of("two ~ x + z", data, learner_of(learner))
    found = fitted.analysis.problem.predictor.aim
    assert found.name == aim
    assert found.no_mean == (aim != "probability")
    assert fitted.loss().fit.name == ("zero-one loss" if aim == "class" else "log loss")


RESULTS = """
y
    Gamma(links.Log())
    InverseGaussian(links.Log())
    Gaussian()
    Gaussian(links.Log())
count
    Poisson()
    Tweedie(links.Log(), var_power=1.5)
    NegativeBinomial(alpha=0.7)
two
    Binomial()
    Binomial(links.Probit())
    Binomial(links.CLogLog())
"""


@pytest.mark.parametrize("exposed", [False, True])
@pytest.mark.parametrize(("family", "response"), rows_of(RESULTS))
def test_explained_deviance_is_that_of_statsmodels(data, family, response, exposed):
    """The null model has the offset too: a constant rate times exposure, where the link is log."""
    family = learner_of(f"families.{family}")
    data = data.assign(two=data["two"].astype(int), log_t=np.log(data["time"]))
    offset = {"offset": data["log_t"]} if exposed else {}
    results = smf.glm(f"{response} ~ x + z", data, family=family, **offset).fit()
    fitted = pi.FittedModel(results, data, response, **({"offset": "log_t"} if exposed else {}))
    expected = 1 - results.deviance / results.null_deviance
    found = fitted.loss(relation="explained")
    assert found.params.iloc[0] == pytest.approx(expected, abs=1e-9)
    rates = exposed and isinstance(family.link, links.Log)
    kind = "probability" if response == "two" else "rate per exposure" if rates else "mean"
    assert fitted.analysis.problem.predictor.aim.name == kind


RATES = """
    pi.statsmodels_learner(sm.GLM, family=families.Poisson())
    HistGradientBoostingRegressor(loss="poisson", max_iter=5)
    lightgbm.LGBMRegressor(objective="poisson", **LGB)
    xgboost.XGBRegressor(objective="count:poisson", **XGB)
"""


@pytest.mark.parametrize("learner", [learner.strip() for learner in RATES.strip().splitlines()])
def test_a_learner_of_rates_is_compared_with_a_constant_rate(data, learner):
    fitted = model_of("count ~ x", data, learner_of(learner), exposure="time")
    constant = data["time"] * data["count"].sum() / data["time"].sum()
    losses = [
        pi_loss(data["count"].to_numpy(float), f)
        for f in (predicted_of(fitted), constant.to_numpy())
    ]
    share = fitted.loss(relation="explained")
    assert share.params.iloc[0] == pytest.approx(1 - losses[0] / losses[1], abs=1e-9)
    weights = {"weights": "w", "weights_type": "sampling"}
    weighted = data.assign(w=1.0 + (data["x"] > 0))
    weighted = model_of("count ~ x", weighted, PoissonRegressor(), exposure="time", **weights)
    assert 0 < weighted.loss(relation="explained").params.iloc[0] < 1


def pi_loss(y, f):
    return float(np.mean(loss_of(aim_of(PoissonRegressor()))(y, f)))


def test_an_offset_of_an_identity_link_is_subtracted(data):
    booster = lightgbm.LGBMRegressor(objective="mae", **LGB)
    fitted = model_of("y ~ x", data, booster, offset="time")
    without = (y - data["time"] for y in (data["y"], predicted_of(fitted)))
    expected = d2_absolute_error_score(*without)
    assert fitted.loss(relation="explained").params.iloc[0] == pytest.approx(expected, abs=1e-10)


def test_a_user_says_what_is_predicted(data):
    losses = {
        "pinball loss, q = 0.9": ("quantile(.9)", "quantile(0.9)"),
        "absolute error": ("median",),
        "squared error": ("mean", "other", None),
    }
    for loss, prediction in ((loss, one) for loss, words in losses.items() for one in words):
        learner = pi.Learner.from_formula("y ~ x + z", data, Own(), prediction=prediction)
        rows = data[["x", "z"]]
        of_arrays = pi.Learner(data["y"], rows, Own(), prediction=prediction)
        model = Own().fit(rows.to_numpy(), data["y"])
        for fitted in (
            learner.fit(FEW, seed=1, progress=False),
            learner.fit_model(),
            of_arrays.fit_model(),
            pi.FittedModel(model, rows.to_numpy(), data["y"], prediction=prediction),
            pi.FittedModel(model.predict, rows, data["y"], prediction=prediction),
        ):
            assert fitted.loss().fit.name == loss


@pytest.mark.parametrize(
    "prediction", ["quantile", "quantile(2)", "quantile(.0)", "mode", 0.9, "quantile(.5", ""]
)
def test_other_words_are_refused(data, prediction):
    with pytest.raises(OptionError, match=r'must be "mean", "median", "quantile\(.95\)"'):
        pi.Learner.from_formula("y ~ x", data, Own(), prediction=prediction)


def test_classes_need_no_words(data):
    with pytest.raises(OptionError, match="leave it out, as the learner has classes"):
        pi.Learner.from_formula("two ~ x", data, LogisticRegression(), prediction="mean")
    model = LogisticRegression().fit(data[["x"]], data["two"])
    with pytest.raises(OptionError, match="leave it out"):
        pi.FittedModel(model, data[["x"]], data["two"], prediction="mean")


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ("squared", "R² below 0: one constant has a smaller squared error, but the learner predicts"
                    " the 95% quantile"),
        (None, "D² below 0: one constant 95% quantile predicts better. The table describes a "
               "learner that found nothing"),
    ],
)  # fmt: skip
def test_only_its_own_loss_says_that_a_learner_found_nothing(data, loss, said):
    noise = data.assign(y=np.random.default_rng(1).normal(size=len(data)))
    learner = GradientBoostingRegressor(loss="quantile", alpha=0.95, n_estimators=30, max_depth=5)
    res = fit_of("y ~ x + z", noise, learner, FEW)
    assert said in words_of(res.loss(loss))


def test_population_refuses_by_the_same_words(data):
    booster = catboost.CatBoostRegressor(loss_function="Lq:q=1.2", **CAT)
    for estimator, word in [(booster, "loss_function='Lq:q=1.2'"), (Declared(), "prediction=")]:
        res = fit_of("y ~ x + z", data, estimator, pi.CrossValidation(2))
        with pytest.raises(OptionError, match=word):
            res.population("x")


def test_an_error_offers_what_suits_the_prediction(data):
    def refused(learner):
        fitted = model_of("y ~ x", data, learner)
        with pytest.raises(LossError) as error:
            fitted.loss("log")
        return str(error.value)

    assert 'use "squared", "absolute", "huber"' in refused(LinearRegression())
    assert refused(QuantileRegressor(alpha=0)).endswith('use "absolute".')
    text = refused(QuantileRegressor(quantile=0.9, alpha=0))
    assert text.endswith("use the default, pinball loss, q = 0.9.")


def test_a_classifier_of_labels_found_nothing_by_its_own_loss(data):
    noise = data.assign(two=np.random.default_rng(2).uniform(size=len(data)) < 0.4)
    res = fit_of("two ~ x + z", noise, Nearest(), FEW)
    assert "D² below 0: one constant predicts better. The table" in words_of(res.loss())


@pytest.mark.parametrize("read", [False, True])
def test_native_boosters_say_it_too(data, read):
    X, y = data[["x", "z"]], data["y"]
    lgb = lightgbm.train(
        {"objective": "quantile", "alpha": 0.7, "verbose": -1, "num_threads": 1},
        lightgbm.Dataset(X, y), 9,
    )  # fmt: skip
    xgb = xgboost.train(
        {"objective": "reg:quantileerror", "quantile_alpha": 0.7}, xgboost.DMatrix(X, y), 9
    )
    own = xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.7, **XGB).fit(X, y)
    if read:
        lgb = lightgbm.Booster(model_str=lgb.model_to_string())
        xgb = xgboost.Booster(model_file=xgb.save_raw())
        raw, own = own.get_booster().save_raw(), xgboost.XGBRegressor()
        own.load_model(raw)
    models = {lgb: lgb.predict(X), xgb: xgb.predict(xgboost.DMatrix(X)), own: own.predict(X)}
    for booster, predicted in models.items():
        fitted = pi.FittedModel(booster, X, y)
        assert fitted.loss().fit.name == "pinball loss, q = 0.7"
        expected = d2_pinball_score(y, predicted, alpha=0.7)
        assert fitted.loss(relation="explained").params.iloc[0] == pytest.approx(expected, abs=1e-6)


def test_refits_that_predict_different_things_have_no_one_aim(data):
    model, grid = QuantileRegressor(alpha=0), {"quantile": [0.45, 0.55]}
    search = GridSearchCV(model, grid, scoring="neg_mean_absolute_error")
    res = fit_of("y ~ x + z", data, search, pi.HalfSampling(8, pairs=5))
    assert {refit.predictor.aim.q for refit in res.refits} == {0.45, 0.55}
    assert res.analysis.problem.predictor.aim.name == "other"
    assert res.loss().fit.name == "squared error"


def test_functions_and_boosters_without_words_say_so(data):
    assert aim_of(len).name == "unknown"
    assert Predictor.of(lambda X: X[:, 0]).aim.name == "unknown"
    assert Predictor.of(lambda X: X, classes=["a", "b"]).aim.name == "probability"
    assert aim_of(lightgbm.LGBMRegressor(app="quantile", alpha=0.3)).q == 0.3
    ranker = lightgbm.LGBMRegressor(objective="lambdarank")
    assert aim_of(ranker).name == "ranking"
    assert aim_of(lightgbm.LGBMRegressor(objective=lambda y, f: (f - y, y))).name == "other"
