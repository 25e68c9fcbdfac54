"""What a prediction is: the default loss, what R² and D² compare with, words of PD, and refusals.

Each of the table's learners says in its own words what it predicts. Its explained share is compared
with scikit-learn's ``d2_*`` scores, and with the null deviance of statsmodels.
"""

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from fits import words_of
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, d2_tweedie_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVC

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


def pinball(q):
    def share(y, f):
        return d2_pinball_score(y, f, alpha=q)

    return share


def tweedie(power):
    def share(y, f):
        return d2_tweedie_score(y, f, power=power)

    return share


SQUARED, ABSOLUTE = ("squared error", r2_score), ("absolute error", d2_absolute_error_score)
POISSON, GAMMA = ("Poisson deviance", tweedie(1)), ("gamma deviance", tweedie(2))


def at(q):
    return f"pinball loss, q = {q}", pinball(q)


def of(power):
    return f"Tweedie deviance, p = {power}", tweedie(power)


def deciles(q):
    return GradientBoostingRegressor(loss="quantile", alpha=q, n_estimators=9)


# By learner: what it predicts, the words of PD, the default loss, and scikit-learn's share.
MEAN, OTHER = ("mean", "expected value"), ("other", "prediction")
MEDIAN, NONE = ("quantile", "median"), ("unknown", "prediction")
NUMBERS = [
    (LinearRegression(), MEAN, SQUARED),
    (KNeighborsRegressor(), MEAN, SQUARED),
    (LassoLarsIC(), MEAN, SQUARED),
    (RandomForestRegressor(5), MEAN, SQUARED),
    (RandomForestRegressor(5, criterion="absolute_error"), MEDIAN, ABSOLUTE),
    (RandomForestRegressor(5, criterion="poisson"), MEAN, SQUARED),
    (MLPRegressor(hidden_layer_sizes=(3,), max_iter=3000, tol=0.01), MEAN, SQUARED),
    (GradientBoostingRegressor(n_estimators=9), MEAN, SQUARED),
    (GradientBoostingRegressor(loss="absolute_error", n_estimators=9), MEDIAN, ABSOLUTE),
    (
        GradientBoostingRegressor(loss="quantile", alpha=0.95, n_estimators=9),
        ("quantile", "95% quantile"),
        at(0.95),
    ),
    (GradientBoostingRegressor(loss="huber", n_estimators=9), OTHER, SQUARED),
    (
        HistGradientBoostingRegressor(loss="quantile", quantile=0.2, max_iter=9),
        ("quantile", "20% quantile"),
        at(0.2),
    ),
    (HistGradientBoostingRegressor(loss="gamma", max_iter=9), MEAN, GAMMA),
    (HistGradientBoostingRegressor(loss="poisson", max_iter=9), MEAN, POISSON),
    (QuantileRegressor(quantile=0.9, alpha=0), ("quantile", "90% quantile"), at(0.9)),
    (QuantileRegressor(alpha=0), MEDIAN, ABSOLUTE),
    (PoissonRegressor(), MEAN, POISSON),
    (GammaRegressor(), MEAN, GAMMA),
    (TweedieRegressor(power=1.5, alpha=0), MEAN, of(1.5)),
    (TweedieRegressor(power=3, alpha=0.1), MEAN, of(3)),
    (TweedieRegressor(power=0), MEAN, SQUARED),
    (HuberRegressor(), OTHER, SQUARED),
    (SGDRegressor(loss="epsilon_insensitive"), OTHER, SQUARED),
    (Support(), OTHER, SQUARED),
    (AdaBoostRegressor(n_estimators=3), OTHER, SQUARED),
    (lightgbm.LGBMRegressor(**LGB), MEAN, SQUARED),
    (lightgbm.LGBMRegressor(objective="mae", **LGB), MEDIAN, ABSOLUTE),
    (lightgbm.LGBMRegressor(objective="quantile", **LGB), ("quantile", "90% quantile"), at(0.9)),
    (lightgbm.LGBMRegressor(objective="tweedie", tweedie_variance_power=1.2, **LGB), MEAN, of(1.2)),
    (lightgbm.LGBMRegressor(objective="mape", **LGB), OTHER, SQUARED),
    (lightgbm.LGBMRegressor(reg_sqrt=True, **LGB), OTHER, SQUARED),
    (xgboost.XGBRegressor(**XGB), MEAN, SQUARED),
    (
        xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.8, **XGB),
        ("quantile", "80% quantile"),
        at(0.8),
    ),
    (xgboost.XGBRegressor(objective="reg:absoluteerror", **XGB), MEDIAN, ABSOLUTE),
    (xgboost.XGBRegressor(objective="reg:gamma", **XGB), MEAN, GAMMA),
    (xgboost.XGBRegressor(objective="reg:squaredlogerror", **XGB), OTHER, SQUARED),
    (catboost.CatBoostRegressor(**CAT), MEAN, SQUARED),
    (
        catboost.CatBoostRegressor(loss_function="Quantile:alpha=0.9", **CAT),
        ("quantile", "90% quantile"),
        at(0.9),
    ),
    (catboost.CatBoostRegressor(loss_function="MAE", **CAT), MEDIAN, ABSOLUTE),
    (catboost.CatBoostRegressor(loss_function="Tweedie:variance_power=1.4", **CAT), MEAN, of(1.4)),
    (
        catboost.CatBoostRegressor(loss_function="Expectile:alpha=0.9", **CAT),
        ("expectile", "prediction"),
        SQUARED,
    ),
    (catboost.CatBoostRegressor(loss_function="LogLinQuantile:alpha=0.5", **CAT), OTHER, SQUARED),
    (catboost.CatBoostRegressor(loss_function="Lq:q=1.2", **CAT), OTHER, SQUARED),
    (make_pipeline(StandardScaler(), PoissonRegressor()), MEAN, POISSON),
    (GridSearchCV(GammaRegressor(), {"alpha": [0.1, 1]}), MEAN, GAMMA),
    (BaggingRegressor(QuantileRegressor(alpha=0), 3), MEDIAN, ABSOLUTE),
    (VotingRegressor([("a", GammaRegressor()), ("b", LinearRegression())]), MEAN, SQUARED),
    (VotingRegressor([("a", deciles(0.1)), ("b", deciles(0.9))]), OTHER, SQUARED),
    (VotingRegressor([("a", deciles(0.9)), ("b", LinearRegression())]), OTHER, SQUARED),
    (
        VotingRegressor([("a", deciles(0.9)), ("b", QuantileRegressor(quantile=0.9, alpha=0))]),
        ("quantile", "90% quantile"),
        at(0.9),
    ),
    (StackingRegressor([("a", HuberRegressor())]), MEAN, SQUARED),
    (TransformedTargetRegressor(LinearRegression(), transformer=StandardScaler()), MEAN, SQUARED),
    (
        TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp),
        OTHER,
        SQUARED,
    ),
    (pi.statsmodels_learner(sm.QuantReg, fit={"q": 0.7}), ("quantile", "70% quantile"), at(0.7)),
    (pi.statsmodels_learner(sm.RLM), OTHER, SQUARED),
    (pi.statsmodels_learner(sm.OLS), MEAN, SQUARED),
    (Own(), NONE, SQUARED),
    (Declared(), ("quantile", "90% quantile"), at(0.9)),
]


def named(value):
    return str(value).replace("\n", "")[:60] if isinstance(value, BaseEstimator) else ""


@pytest.mark.parametrize(("learner", "aim", "loss"), NUMBERS, ids=named)
def test_a_learner_of_numbers(data, learner, aim, loss):
    fitted = pi.Learner.from_formula("y ~ x + z", data, learner).fit_model(seed=1)
    found = fitted.analysis.problem.predictor.aim
    assert (found.name, found.phrase) == aim
    assert found.name != "unknown" or not found.words
    share = fitted.loss(relation="explained")
    expected = loss[1](
        data["y"],
        fitted.analysis.problem.predictor(
            fitted.analysis.problem.design.encode(fitted.analysis.problem.sample.variables)
        ),
    )
    assert share.fit.name == loss[0]
    single = type(learner).__module__.startswith("xgboost")  # precision of its own predictions
    assert share.params.iloc[0] == pytest.approx(expected, abs=1e-6 if single else 1e-10)
    assert f"ean {aim[1]} of `y`" in words_of(fitted.pd("x", points=2))


def test_what_is_read_of_learners_is_read_of_fits_and_files(data, tmp_path):
    res = pi.Learner.from_formula("y ~ x", data, QuantileRegressor(quantile=0.9, alpha=0)).fit(
        FEW, seed=1, progress=False
    )
    table = res.pd("x", points=2)
    res.save(tmp_path / "a.pyinterp")
    again = pi.load(tmp_path / "a.pyinterp")
    assert again.analysis.problem.predictor.aim == res.analysis.problem.predictor.aim
    assert str(again.pd("x", points=2).summary()) == str(table.summary())
    dropped = pi.Learner.from_formula("y ~ x", data, QuantileRegressor(quantile=0.9, alpha=0)).fit(
        FEW, seed=1, progress=False, keep_models=False, measure=["loss"]
    )
    assert dropped.loss().params.equals(res.loss().params)


CLASSES = [
    (LogisticRegression(), "probability"),
    (GradientBoostingClassifier(n_estimators=3), "probability"),
    (CalibratedClassifierCV(LinearSVC()), "probability"),
    (lightgbm.LGBMClassifier(**LGB), "probability"),
    (xgboost.XGBClassifier(**XGB), "probability"),
    (catboost.CatBoostClassifier(**CAT), "probability"),
    (pi.statsmodels_learner(sm.Logit), "probability"),
    (LinearSVC(), "class"),
    (RandomForestClassifier(3, class_weight="balanced"), "other"),
    (lightgbm.LGBMClassifier(unbalance=True, **LGB), "other"),
    (xgboost.XGBClassifier(scale_pos_weight=3, **XGB), "other"),
    (catboost.CatBoostClassifier(auto_class_weights="Balanced", **CAT), "other"),
    (LinearDiscriminantAnalysis(priors=[0.5, 0.5]), "other"),
    (BernoulliNB(class_prior=[0.5, 0.5]), "other"),
    (SGDClassifier(loss="modified_huber"), "other"),
]


@pytest.mark.parametrize(("learner", "aim"), CLASSES, ids=named)
def test_a_classifier(data, learner, aim):
    fitted = pi.Learner.from_formula("two ~ x + z", data, learner).fit_model(seed=1)
    found = fitted.analysis.problem.predictor.aim
    assert found.name == aim
    assert found.no_mean == (aim != "probability")
    assert fitted.loss().fit.name == ("zero-one loss" if aim == "class" else "log loss")


RESULTS = {
    "poisson": ("count", families.Poisson()),
    "gamma": ("y", families.Gamma(links.Log())),
    "inverse Gaussian": ("y", families.InverseGaussian(links.Log())),
    "gaussian": ("y", families.Gaussian()),
    "gaussian, log": ("y", families.Gaussian(links.Log())),
    "Tweedie": ("count", families.Tweedie(links.Log(), var_power=1.5)),
    "negative binomial": ("count", families.NegativeBinomial(alpha=0.7)),
    "binomial": ("two", families.Binomial()),
    "probit": ("two", families.Binomial(links.Probit())),
    "cloglog": ("two", families.Binomial(links.CLogLog())),
}


@pytest.mark.parametrize("exposed", [False, True])
@pytest.mark.parametrize("name", RESULTS)
def test_explained_deviance_is_that_of_statsmodels(data, name, exposed):
    """The null model has the offset too: a constant rate times exposure, where the link is log."""
    response, family = RESULTS[name]
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


@pytest.mark.parametrize(
    "learner",
    [
        pi.statsmodels_learner(sm.GLM, family=families.Poisson()),
        HistGradientBoostingRegressor(loss="poisson", max_iter=5),
        lightgbm.LGBMRegressor(objective="poisson", **LGB),
        xgboost.XGBRegressor(objective="count:poisson", **XGB),
    ],
    ids=named,
)
def test_a_learner_of_rates_is_compared_with_a_constant_rate(data, learner):
    res = pi.Learner.from_formula("count ~ x", data, learner, exposure="time")
    fitted = res.fit_model(seed=1)
    predicted = fitted.analysis.problem.predictor(
        fitted.analysis.problem.design.encode(fitted.analysis.problem.sample.variables)
    )
    constant = data["time"] * data["count"].sum() / data["time"].sum()
    losses = [pi_loss(data["count"].to_numpy(float), f) for f in (predicted, constant.to_numpy())]
    share = fitted.loss(relation="explained")
    assert share.params.iloc[0] == pytest.approx(1 - losses[0] / losses[1], abs=1e-9)
    weighted = pi.Learner.from_formula(
        "count ~ x", data.assign(w=1.0 + (data["x"] > 0)), PoissonRegressor(), exposure="time",
        weights="w", weights_type="sampling",
    ).fit_model()  # fmt: skip
    assert 0 < weighted.loss(relation="explained").params.iloc[0] < 1


def pi_loss(y, f):
    return float(np.mean(loss_of(aim_of(PoissonRegressor()))(y, f)))


def test_an_offset_of_an_identity_link_is_subtracted(data):
    booster = lightgbm.LGBMRegressor(objective="mae", **LGB)
    fitted = pi.Learner.from_formula("y ~ x", data, booster, offset="time").fit_model(seed=1)
    problem = fitted.analysis.problem
    predicted = problem.predictor(problem.design.encode(problem.sample.variables))
    expected = d2_absolute_error_score(data["y"] - data["time"], predicted - data["time"])
    assert fitted.loss(relation="explained").params.iloc[0] == pytest.approx(expected, abs=1e-10)


def test_a_user_says_what_is_predicted(data):
    for prediction, loss in [
        ("quantile(.9)", "pinball loss, q = 0.9"),
        ("quantile(0.9)", "pinball loss, q = 0.9"),
        ("median", "absolute error"),
        ("mean", "squared error"),
        ("other", "squared error"),
        (None, "squared error"),
    ]:
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
    res = pi.Learner.from_formula("y ~ x + z", noise, learner).fit(FEW, seed=1, progress=False)
    assert said in words_of(res.loss(loss))


def test_population_refuses_by_the_same_words(data):
    booster = catboost.CatBoostRegressor(loss_function="Lq:q=1.2", **CAT)
    for estimator, word in [(booster, "loss_function='Lq:q=1.2'"), (Declared(), "prediction=")]:
        res = pi.Learner.from_formula("y ~ x + z", data, estimator).fit(
            pi.CrossValidation(2), seed=1, progress=False
        )
        with pytest.raises(OptionError, match=word):
            res.population("x")


def test_an_error_offers_what_suits_the_prediction(data):
    def refused(learner, **options):
        fitted = pi.Learner.from_formula("y ~ x", data, learner, **options).fit_model()
        with pytest.raises(LossError) as error:
            fitted.loss("log")
        return str(error.value)

    assert 'use "squared", "absolute", "huber"' in refused(LinearRegression())
    assert refused(QuantileRegressor(alpha=0)).endswith('use "absolute".')
    text = refused(QuantileRegressor(quantile=0.9, alpha=0))
    assert text.endswith("use the default, pinball loss, q = 0.9.")


def test_a_classifier_of_labels_found_nothing_by_its_own_loss(data):
    noise = data.assign(two=np.random.default_rng(2).uniform(size=len(data)) < 0.4)
    res = pi.Learner.from_formula("two ~ x + z", noise, Nearest()).fit(FEW, seed=1, progress=False)
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
    if read:
        lgb = lightgbm.Booster(model_str=lgb.model_to_string())
        xgb = xgboost.Booster(model_file=xgb.save_raw())
    for booster, predicted in [(lgb, lgb.predict(X)), (xgb, xgb.predict(xgboost.DMatrix(X)))]:
        fitted = pi.FittedModel(booster, X, y)
        assert fitted.loss().fit.name == "pinball loss, q = 0.7"
        expected = d2_pinball_score(y, predicted, alpha=0.7)
        assert fitted.loss(relation="explained").params.iloc[0] == pytest.approx(expected, abs=1e-6)


def test_functions_and_boosters_without_words_say_so(data):
    assert aim_of(len).name == "unknown"
    assert Predictor.of(lambda X: X[:, 0]).aim.name == "unknown"
    assert Predictor.of(lambda X: X, classes=["a", "b"]).aim.name == "probability"
    assert aim_of(lightgbm.LGBMRegressor(app="quantile", alpha=0.3)).q == 0.3
    ranker = lightgbm.LGBMRegressor(objective="lambdarank")
    assert aim_of(ranker).name == "ranking"
    assert aim_of(lightgbm.LGBMRegressor(objective=lambda y, f: (f - y, y))).name == "other"
