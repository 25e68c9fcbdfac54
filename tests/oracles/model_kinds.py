"""Kinds of models: how each is fitted, and its own predictions as a function of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from model_situations import LABELS, Situation, table
from naive import Model
from sklearn import ensemble, linear_model, neighbors, neural_network, svm, tree
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted model with the rows that evaluate it.

    `handed` is what `FittedModel` gets, `model` the same as a plain function; `y` holds numbers or,
    for classes, positions in `classes`, and `labels` what `FittedModel` gets.
    """

    handed: Any
    model: Model
    X: Any
    labels: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    classes: tuple[Any, ...] | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How to fit one kind of model.

    `task` is "mean", "positive", "count", "probability" or "label"; `rounding` the relative error
    of its arithmetic; `steps` says whether predictions are step functions of the features.
    """

    task: str
    fit: Callable[[Situation, Kind], Fitted]
    estimator: Any = None
    tame: bool = False
    levels: bool = False
    frame: bool = False
    two: bool = False
    steps: bool = False
    rounding: float = 1e-9

    def fitted(self, case):
        """Fit in silence: what a library says of its own convergence is not at stake."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.fit(case, self)


def response(case, signal, kind):
    """Make a numeric response of a standardized one."""
    rng = np.random.default_rng(case.seed + len(signal))
    if kind.task == "count":
        return rng.poisson(np.exp(np.clip(signal, -3, 3) / 2) * min(case.y_scale, 1e6) + 1.0) + (
            max(case.y_offset, 0.0)
        )
    if kind.task == "positive":
        return max(case.y_offset, 0.0) + case.y_scale * np.exp(np.clip(signal, -3, 3) / 2)
    return case.y_offset + case.y_scale * signal


def codes(case, data, number):
    """Cut the response into classes, all of which train; the last may be lost in evaluation."""
    order = np.argsort(np.argsort(data.signal_train, kind="stable"), kind="stable")
    train = order * number // len(order)
    edges = [data.signal_train[train == k].max() for k in range(number - 1)]
    evaluation = np.searchsorted(edges, data.signal)
    if case.same_rows:
        evaluation = train
    elif case.lose_class and number == 3:
        evaluation = np.minimum(evaluation, 1)
    return train, evaluation


# scikit-learn and its like ------------------------------------------------------------------------


def _rows(case, kind):
    return table(case, tame=kind.tame, levels=kind.levels, frame=kind.frame)


def fit_mean(case, kind):
    data = _rows(case, kind)
    estimator = clone(kind.estimator)
    estimator.fit(data.train, response(case, data.signal_train, kind))
    y = response(case, data.signal, kind)
    model = lambda rows: np.asarray(estimator.predict(rows), float)  # noqa: E731 - one line
    return Fitted(handed=estimator, model=model, X=data.X, labels=y, y=y, names=data.names)


def fit_classes(case, kind):
    data = _rows(case, kind)
    number = 2 if kind.two else case.classes
    known = sorted(LABELS[case.labels])[:number]
    number = len(known)
    train, evaluation = codes(case, data, number)
    labels = np.array(known, object if isinstance(known[0], str) else None)
    estimator = clone(kind.estimator)
    if isinstance(estimator, xgboost.XGBClassifier):
        labels = np.arange(number)  # it takes no others
    estimator.fit(data.train, labels[train])
    classes = tuple(estimator.classes_.tolist())
    return Fitted(
        handed=estimator,
        model=_probabilities(estimator, kind, classes),
        X=data.X,
        labels=labels[evaluation],
        y=evaluation,
        names=data.names,
        classes=classes,
    )


def _probabilities(estimator, kind, classes):
    if kind.task == "probability":
        return lambda rows: np.asarray(estimator.predict_proba(rows), float)
    known = np.array(classes)
    return lambda rows: (np.asarray(estimator.predict(rows))[:, None] == known).astype(float)


# Functions ----------------------------------------------------------------------------------------


def _product(rows):
    x = np.asarray(rows, float)
    return x[:, 0] * x[:, 1] + np.abs(x[:, 2])


def fit_function(case, kind):
    data = _rows(case, kind)
    y = response(case, data.signal, kind)
    return Fitted(handed=_product, model=_product, X=data.X, labels=y, y=y, names=data.names)


def _softmax(rows):
    x = np.asarray(rows, float)
    score = np.stack([x[:, 0], x[:, 1] * x[:, 2], np.zeros(len(x))], axis=1)
    score = np.exp(score - score.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def fit_softmax(case, kind):
    """Three classes in an order that is not alphabetical."""
    data = _rows(case, kind)
    classes = LABELS[case.labels] if case.labels != "bools" else LABELS["strings"]
    y = codes(case, data, 3)[1]
    return Fitted(
        handed=_softmax,
        model=_softmax,
        X=data.X,
        labels=np.array(classes)[y],
        y=y,
        names=data.names,
        classes=classes,
        options={"classes": classes},
    )


# statsmodels --------------------------------------------------------------------------------------


def _statsmodels(fit, *, formula=""):
    """Return how to fit results of arrays, or of a formula of `a`, `b`, `c` and `g`."""

    def of(case, kind):
        data = _rows(case, kind)
        train, X, names = _for_statsmodels(data, formula)
        labels, y_train, y, classes = _response_of(case, data, kind)
        target = train.assign(y_=y_train) if formula else train
        results = fit(y_train, target)
        return Fitted(
            handed=results,
            model=_predictions(results, classes),
            X=X,
            labels=labels,
            y=y,
            names=names,
            classes=classes,
            options={"classes": classes} if classes and len(classes) > 2 else {},
        )

    return of


def _for_statsmodels(data, formula):
    if formula:
        names = dict(zip(data.names, ("a", "b", "c", "g"), strict=False))
        used = tuple(name for name in names.values() if name in formula)
        return data.train.rename(columns=names), data.X.rename(columns=names), used
    if isinstance(data.X, pd.DataFrame):
        train, X = (rows.astype(float) for rows in (data.train, data.X))
        train.insert(0, "const", 1.0)
        X.insert(0, "const", 1.0)
        return train, X, ("const", *data.names)
    return *(np.column_stack([np.ones(len(x)), x]) for x in (data.train, data.X)), ()


def _response_of(case, data, kind):
    if kind.task == "probability":
        number = 2 if kind.two else 3
        train, y = codes(case, data, number)
        return y, train, y, tuple(range(number))
    y = response(case, data.signal, kind)
    return y, response(case, data.signal_train, kind), y, None


def _predictions(results, classes):
    def model(rows):
        predicted = np.asarray(results.predict(rows), float)
        if classes is not None and predicted.ndim == 1:
            return np.stack([1 - predicted, predicted], axis=1)
        return predicted

    return model


def _by_formula(call, rhs, **options):
    fit_options = options.pop("fit", {})
    return _statsmodels(
        lambda _, rows: call(f"y_ ~ {rhs}", rows, **options).fit(**fit_options), formula=rhs
    )


def _by_arrays(call, **options):
    fit_options = options.pop("fit", {})
    return _statsmodels(lambda y, X: call(y, X, **options).fit(**fit_options))


# The list -----------------------------------------------------------------------------------------

QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 3, "n_estimators": 8}
SMALL = {"max_iter": 8, "min_samples_leaf": 3, "early_stopping": False}
BOOST = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}
FOREST = {"n_estimators": 8, "max_depth": 4, "random_state": 0}
BINOMIAL = sm.families.Binomial
links = sm.families.links


def _encoded(estimator):
    """Encode the last of four columns, the category."""
    onehot = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        ColumnTransformer([("g", onehot, [3])], remainder="passthrough"), estimator
    )


def named(make, *estimators, **options):
    """Return kinds of estimators that are called as their class."""
    return {type(one).__name__: make(one, **options) for one in estimators}


def mean(estimator, task="mean", **options):
    return Kind(task=task, fit=fit_mean, estimator=estimator, **options)


def probability(estimator, **options):
    return Kind(task="probability", fit=fit_classes, estimator=estimator, **options)


def label(estimator, **options):
    return Kind(task="label", fit=fit_classes, estimator=estimator, **options)


def results(fit, task="mean", **options):
    return Kind(task=task, fit=fit, tame=True, **options)


STEPS = {"steps": True}
SINGLE = {"steps": True, "rounding": 1e-5}
FORMULA = {"frame": True}
NETWORK = {"hidden_layer_sizes": (4,), "max_iter": 30, "random_state": 0, "solver": "lbfgs"}
SEED = {"random_state": 0}
LINE, TREE = linear_model.Ridge(), tree.DecisionTreeRegressor(**SEED)
CLASSES = [("a", GaussianNB()), ("b", tree.DecisionTreeClassifier(random_state=0))]
MEANS = [("a", LINE), ("b", TREE)]

KINDS = {
    # smooth models
    **named(mean, linear_model.LinearRegression(), LINE, svm.SVR(), DummyRegressor()),
    **named(
        mean,
        linear_model.HuberRegressor(),
        linear_model.SGDRegressor(**SEED),
        neural_network.MLPRegressor(**NETWORK),
        GaussianProcessRegressor(alpha=0.1),
        tame=True,
    ),
    "PoissonRegressor": mean(linear_model.PoissonRegressor(), "count", tame=True),
    "GammaRegressor": mean(linear_model.GammaRegressor(), "positive", tame=True),
    **named(
        probability,
        linear_model.LogisticRegression(),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        QuadraticDiscriminantAnalysis(reg_param=0.1),
        neural_network.MLPClassifier(**NETWORK),
        CalibratedClassifierCV(svm.LinearSVC(**SEED), cv=2),
        tame=True,
    ),
    "SGDClassifier, log": probability(
        linear_model.SGDClassifier(loss="log_loss", **SEED), tame=True
    ),
    **named(label, linear_model.RidgeClassifier(), svm.LinearSVC(**SEED), svm.SVC(), tame=True),
    "SGDClassifier, hinge": label(linear_model.SGDClassifier(**SEED), tame=True),
    "DummyClassifier": probability(DummyClassifier()),
    # neighbors and trees
    **named(
        mean,
        neighbors.KNeighborsRegressor(3, algorithm="kd_tree"),
        TREE,
        ensemble.RandomForestRegressor(**FOREST),
        ensemble.ExtraTreesRegressor(**FOREST),
        ensemble.GradientBoostingRegressor(n_estimators=8, **SEED),
        ensemble.HistGradientBoostingRegressor(**SMALL),
        lightgbm.LGBMRegressor(**QUIET),
        ensemble.AdaBoostRegressor(n_estimators=5, **SEED),
        ensemble.BaggingRegressor(**SEED),
        steps=True,
    ),
    **named(
        probability,
        neighbors.KNeighborsClassifier(3, algorithm="kd_tree"),
        tree.DecisionTreeClassifier(max_depth=4, **SEED),
        ensemble.RandomForestClassifier(**FOREST),
        ensemble.ExtraTreesClassifier(**FOREST),
        ensemble.GradientBoostingClassifier(n_estimators=8, **SEED),
        ensemble.HistGradientBoostingClassifier(**SMALL),
        lightgbm.LGBMClassifier(**QUIET),
        ensemble.AdaBoostClassifier(n_estimators=5, **SEED),
        ensemble.BaggingClassifier(**SEED),
        steps=True,
    ),
    "HistGradientBoostingRegressor, categories": mean(
        ensemble.HistGradientBoostingRegressor(**SMALL), levels=True, **STEPS
    ),
    "HistGradientBoostingRegressor, poisson": mean(
        ensemble.HistGradientBoostingRegressor(loss="poisson", **SMALL), "count", **STEPS
    ),
    "HistGradientBoostingClassifier, categories": probability(
        ensemble.HistGradientBoostingClassifier(**SMALL), levels=True, **STEPS
    ),
    "XGBRegressor": mean(xgboost.XGBRegressor(**BOOST), **SINGLE),
    "XGBRegressor, categories": mean(
        xgboost.XGBRegressor(enable_categorical=True, **BOOST), levels=True, **SINGLE
    ),
    "XGBRegressor, poisson": mean(
        xgboost.XGBRegressor(objective="count:poisson", **BOOST), "count", **SINGLE
    ),
    "XGBClassifier": probability(xgboost.XGBClassifier(**BOOST), **SINGLE),
    "LGBMRegressor, categories": mean(
        lightgbm.LGBMRegressor(min_data_per_group=3, **QUIET), levels=True, **STEPS
    ),
    # ensembles and pipelines
    **named(
        mean, ensemble.VotingRegressor(MEANS), ensemble.StackingRegressor(MEANS, cv=2), tame=True
    ),
    **named(
        probability,
        ensemble.VotingClassifier(CLASSES, voting="soft"),
        ensemble.StackingClassifier(CLASSES, cv=2),
        tame=True,
    ),
    "scaled Ridge": mean(make_pipeline(StandardScaler(), LINE)),
    "scaled forest": mean(
        make_pipeline(StandardScaler(), ensemble.RandomForestRegressor(**FOREST)),
        tame=True,
        **STEPS,
    ),
    "encoded LinearRegression": mean(
        _encoded(linear_model.LinearRegression()), levels=True, tame=True
    ),
    "encoded forest": mean(
        _encoded(ensemble.RandomForestRegressor(**FOREST)), levels=True, **STEPS
    ),
    "encoded LogisticRegression": probability(
        _encoded(linear_model.LogisticRegression()), levels=True, tame=True
    ),
    "polynomial LinearRegression": mean(
        make_pipeline(PolynomialFeatures(2), linear_model.LinearRegression()), tame=True
    ),
    "spline Ridge": mean(make_pipeline(SplineTransformer(n_knots=3), LINE), tame=True),
    "TransformedTargetRegressor, log": mean(
        TransformedTargetRegressor(LINE, func=np.log, inverse_func=np.exp), "positive", tame=True
    ),
    "TransformedTargetRegressor, scaled": mean(
        TransformedTargetRegressor(TREE, transformer=StandardScaler()), **STEPS
    ),
    "GridSearchCV, forest": mean(
        GridSearchCV(ensemble.RandomForestRegressor(**FOREST), {"max_depth": [2, 3]}, cv=2), **STEPS
    ),
    # functions
    "function": Kind(task="mean", fit=fit_function, tame=True),
    "function of classes": Kind(task="probability", fit=fit_softmax, tame=True),
    # statsmodels
    "OLS, formula": results(_by_formula(smf.ols, "a + b + c"), **FORMULA),
    "OLS, squares and factor": results(
        _by_formula(smf.ols, "a + I(b**2) + a:c + C(g)"), levels=True
    ),
    "WLS, formula": results(
        _statsmodels(
            lambda _, rows: smf.wls(
                "y_ ~ a*b + c", rows, weights=np.linspace(1, 2, len(rows))
            ).fit(),
            formula="a*b + c",
        ),
        **FORMULA,
    ),
    "GLM Poisson, formula": results(
        _by_formula(smf.glm, "a + b + c", family=sm.families.Poisson()), "count", **FORMULA
    ),
    "GLM Gamma, formula": results(
        _by_formula(smf.glm, "a + b + C(g)", family=sm.families.Gamma(links.Log())),
        "positive",
        levels=True,
    ),
    "GLM logit, formula": results(
        _by_formula(smf.glm, "a + b", family=BINOMIAL()), "probability", two=True, **FORMULA
    ),
    "GLM probit, arrays": results(
        _by_arrays(sm.GLM, family=BINOMIAL(links.Probit())), "probability", two=True
    ),
    "GLM cloglog, arrays": results(
        _by_arrays(sm.GLM, family=BINOMIAL(links.CLogLog())), "probability", two=True
    ),
    "Logit, formula": results(
        _by_formula(smf.logit, "a + b", fit={"disp": 0, "method": "bfgs"}),
        "probability",
        two=True,
        **FORMULA,
    ),
    "Probit, formula": results(
        _by_formula(smf.probit, "a + I(b**2)", fit={"disp": 0, "method": "bfgs"}),
        "probability",
        two=True,
        **FORMULA,
    ),
    "MNLogit, arrays": results(
        _by_arrays(sm.MNLogit, fit={"disp": 0, "method": "bfgs", "maxiter": 20}), "probability"
    ),
    "QuantReg, formula": results(_by_formula(smf.quantreg, "a + b + c"), **FORMULA),
    "OLS, arrays": results(_by_arrays(sm.OLS)),
    "GLM Poisson, arrays": results(_by_arrays(sm.GLM, family=sm.families.Poisson()), "count"),
    "RLM, arrays": results(_by_arrays(sm.RLM)),
}
