"""Models with an offset: the last column of their rows is a part of the linear predictor.

The column travels with the rows like any other, through designs, resamples and what-if copies, and
reaches the model as the offset that its library calls `offset`, `base_margin` or `init_score`.

Without an offset XGBoost and LightGBM start at the mean of the response. With one they start at the
offset itself, a rate of 1 per unit of exposure, so that the unit would decide what few trees learn.
They are therefore given the offset and a constant, which balances totals.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import optimize, special
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from statsmodels.genmod.families.links import Log

from pyinterp._typing import FloatArray, Matrix
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.models.copies import fresh
from pyinterp.models.early_stopping import booster_of
from pyinterp.models.final_step import final_step, innermost
from pyinterp.models.model_reader import is_statsmodels
from pyinterp.models.predictor import is_classifier, learner_name
from pyinterp.models.sample_weight import weight_option

# Models of counts in statsmodels whose link is the logarithm. Unless they are told otherwise, two
# add the exposure of their training rows to what they predict of others.
ADDS_TRAINING = {"NegativeBinomialP", "GeneralizedPoisson"}
COUNTS = {"Poisson", "NegativeBinomial", *ADDS_TRAINING}
COUNTS |= {f"ZeroInflated{kind}" for kind in COUNTS}
# Objectives of XGBoost and LightGBM as they are spelled, without what stands before a colon.
LOG_LINKS, LOGITS = ("poisson", "gamma", "tweedie"), ("binary", "logistic")
L2 = ("regression", "regression_l2", "l2", "mse", "rmse", "l2_root", "mean_squared_error",
      "root_mean_squared_error", "squarederror", "linear")  # fmt: skip
OTHERS = ("regression_l1", "l1", "mae", "mean_absolute_error", "mape", "huber", "fair", "quantile",
          "mean_absolute_percentage_error", "absoluteerror", "quantileerror",
          "pseudohubererror")  # fmt: skip
OBJECTIVES = (*LOG_LINKS, *LOGITS, *L2, *OTHERS)
# With canonical links scores are sums of response - prediction, so fits balance totals.
CANONICAL = ("poisson", *LOGITS, *L2)
FAR = 0.05  # of the sum of the response's sizes
# Parameters that name the objective: LightGBM takes the others for `objective`, if it has them.
NAMES = ("loss", "objective_type", "app", "application", "objective", "loss_function")
CLASS_BALANCE = ("is_unbalance", "unbalance", "unbalanced_sets")
# What libraries call an offset. Learners that take weights alone learn rates.
KEYWORDS = {"statsmodels": "offset", "xgboost": "base_margin", "lightgbm": "init_score"}
RATES = "rates"
# How the `predict` of boosters is asked for linear predictors.
LINEAR = {"base_margin": "output_margin", "init_score": "raw_score"}


def check_takes_offset(estimator: Any, *, exposure: bool, trained: bool = False) -> None:
    """Raise `OptionError` unless an estimator, or a trained model, takes offsets or exposures."""
    keyword = _keyword(estimator)
    catboost = type(innermost(estimator)).__module__.startswith("catboost")
    by_rates = keyword == RATES and exposure and (trained or not catboost)
    as_trained = trained and keyword == "base_margin"
    known = as_trained or keyword not in LINEAR or _objective(estimator) in OBJECTIVES
    if keyword == RATES and not by_rates:
        raise OptionError(_refusal(estimator))
    if not known:
        raise OptionError(
            f"With an offset the objective of {learner_name(estimator)} must be one of "
            f"{', '.join(OBJECTIVES)}, not {quote(_objective(estimator))}."
        )
    if exposure and not _has_log_link(estimator):
        raise OptionError(
            "`exposure` is for models with a logarithmic link, where its logarithm is the offset, "
            f"but {learner_name(estimator)} has another; pass `offset` on the scale of the linear "
            "predictor."
        )


class OffsetModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator, or a fitted model, that is given the last column of rows as its offset.

    Parameters
    ----------
    estimator : estimator
        Takes the other columns.
    name : str
        What tables call the offset.
    fitted : bool
        Whether `estimator` is fitted already.
    """

    def __init__(self, estimator: Any, name: str, *, fitted: bool = False) -> None:
        self.estimator = estimator
        self.name = name
        self.fitted = fitted

    @property
    def inside(self) -> Any:
        """The fitted model."""
        return self.estimator if self.fitted else self.estimator_

    @property
    def note(self) -> str:
        """Footnote on a model that knows no offset; empty if it takes one."""
        name = learner_name(self.estimator)
        notes = {
            "base_margin": f"{name} is taken to be trained with `base_margin`, which replaces its "
            "base score.",
            RATES: f"{name} is taken to predict rates: predictions are these times the exposure.",
        }
        return notes.get(_keyword(self.inside), "")

    @property
    def log_link(self) -> bool:
        """Whether predictions are rates times the exposure, whose logarithm the offset is."""
        return _has_log_link(self.inside)

    @property
    def learner_name(self) -> str:
        """What tables call it."""
        return f"{learner_name(self.estimator)}, offset {self.name}"

    @property
    def classes_(self) -> Any:
        """The classes of the fitted model, if it has some."""
        return self.inside.classes_

    def fit(self, X: Matrix, y: npt.ArrayLike, **options: Any) -> OffsetModel:
        """Fit a copy of the estimator, with options of its own `fit`.

        Learners that take weights alone are fitted to rates, count / exposure, each weighted by its
        exposure: a Poisson model of counts with the offset has the same score. Boosters are trained
        at the offset and a constant, `base_`. `total_` is the sum of their predictions by that of
        responses, if these are far apart although the loss balances them, and 1 otherwise.
        """
        model = self.estimator_ = fresh(self.estimator)
        rows, offset = _apart(X)
        keyword = _keyword(model)
        if keyword in LINEAR:
            if is_classifier(model) and len(np.unique(y)) > 2:
                raise OptionError(_refusal(model))
            response, weights = _loss_rows(model, y, options.get("sample_weight", 1.0))
            self.base_ = start_of(model, response, offset, weights)
            if keyword == "base_margin":  # `predict` adds the base score, which is to be 0
                booster_of(model).set_params(base_score=float(_links(model)[1](0.0)))
            model.fit(rows, y, **{keyword: offset + self.base_}, **options)
            sums = weights @ np.column_stack([self._mean(X), response, np.abs(response)])
            far = _objective(model) in CANONICAL and abs(sums[0] - sums[1]) > FAR * sums[2]
            self.total_ = float(sums[0] / sums[1]) if far and sums[1] else 1.0
        elif keyword == RATES:
            weight = str(weight_option(model))
            given = options.pop(weight, np.ones(len(offset)))
            # In units of the mean exposure: penalties and base scores then see no other.
            self.unit_ = float(np.average(np.exp(offset), weights=given))
            exposure = np.exp(offset) / self.unit_
            weights = exposure * given
            model.fit(rows, np.asarray(y) / exposure, **{weight: weights}, **options)
        else:
            model.fit(rows, y, **{keyword: offset}, **options)
        return self

    def predict(self, X: Matrix) -> Any:
        """Predict with the offset."""
        return self._predictions(X, "predict")

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Matrix) -> Any:
        """Predict probabilities of classes with the offset."""
        return self._predictions(X, "predict_proba")

    def _predictions(self, X: Matrix, method: str) -> Any:
        model, (rows, offset) = self.inside, _apart(X)
        keyword, predict = _keyword(model), getattr(model, method)
        if keyword == RATES:
            unit = 1.0 if self.fitted else self.unit_
            return np.exp(offset) / unit * np.asarray(predict(rows)).reshape(-1)
        if keyword == "offset" and type(getattr(model, "model", None)).__name__ in ADDS_TRAINING:
            return predict(rows, offset=offset, exposure=1)
        if keyword == "offset" or (self.fitted and keyword == "base_margin"):
            return predict(rows, **{keyword: offset})
        mean = self._mean(X)
        if not hasattr(model, "classes_"):
            return mean
        if method == "predict_proba":
            return np.column_stack([1 - mean, mean])
        return model.classes_[(mean > 0.5).astype(np.intp)]

    def _mean(self, X: Matrix) -> FloatArray:
        """Return the mean, or the second class's probability, that a booster predicts.

        The offset is added here: LightGBM leaves it out, and XGBoost has single precision.
        """
        model, (rows, offset) = self.inside, _apart(X)
        linear = model.predict(rows, **{LINEAR[_keyword(model)]: True})
        start = 0.0 if self.fitted else self.base_
        return np.asarray(_links(model)[1](np.asarray(linear, np.float64) + offset + start))

    def __sklearn_tags__(self) -> Tags:
        if hasattr(self.estimator, "__sklearn_tags__"):
            return self.estimator.__sklearn_tags__()
        return super().__sklearn_tags__()


def _keyword(estimator: Any) -> str:
    """Return what the library of an estimator, or of results, calls the offset.

    `RATES` for regressors that take weights. Others raise `OptionError`.
    """
    estimator = booster_of(estimator)
    package = type(estimator).__module__.partition(".")[0]
    if is_statsmodels(estimator) or hasattr(estimator, "fit_options"):
        package = "statsmodels" if _has_offset(estimator.model) else "none"
    if getattr(estimator, "takes_offset", False):  # of R
        return "offset"
    if package in KEYWORDS and getattr(estimator, "n_classes_", 2) <= 2:
        return KEYWORDS[package]
    predicts = callable(getattr(estimator, "predict", None)) and not is_classifier(estimator)
    trained = not hasattr(estimator, "fit") or weight_option(estimator) is not None
    if package in ("none", *KEYWORDS) or not predicts or not trained:
        raise OptionError(_refusal(estimator))
    return RATES


def _refusal(estimator: Any) -> str:
    return (
        f"{learner_name(estimator)} takes no offset; those that do are statsmodels_learner of GLM, "
        "Logit, Poisson or NegativeBinomial, R's glm, gam, bam and lm, XGBoost and LightGBM, "
        "with at most two classes. "
        "Other regressors that take `sample_weight` take an `exposure`, but CatBoost, which starts "
        "at a rate of 1 in any unit."
    )


def _has_log_link(estimator: Any) -> bool:
    """Whether the offset of an exposure is its logarithm."""
    return _keyword(estimator) == RATES or bool(mean_family(estimator))


def mean_family(given: Any) -> str:
    """Return the family of an estimator, or of results, that states a logarithmic link; else "".

    Its means are positive. "poisson" and "gamma" have a deviance by that name.
    """
    inside = given.estimator if isinstance(given, OffsetModel) else given
    model = booster_of(final_step(inside).model)
    name = getattr(model, "mean_family", "")
    kind, package = type(model).__name__, type(model).__module__.partition(".")[0]
    if is_statsmodels(model) or hasattr(model, "fit_options"):
        of, options = model.model, getattr(model, "options", None) or {}
        kind = of.__name__ if isinstance(of, type) else type(of).__name__
        family = options.get("family", getattr(of, "family", None))
        log = isinstance(getattr(family, "link", None), Log)
        name = kind if kind in COUNTS else type(family).__name__ if log else ""
    elif (stem := kind.removesuffix("Regressor").lower()) in LOG_LINKS:  # of scikit-learn
        link, power = getattr(model, "link", "auto"), getattr(model, "power", 1)
        name = stem if link == "log" or (link == "auto" and power > 0) else ""
    elif package in ("sklearn", "xgboost", "lightgbm", "catboost"):
        name = _objective(model) if _objective(model) in LOG_LINKS else ""
    return str(name).lower()


def _objective(model: Any) -> str:
    """Return the objective of a booster."""
    model = booster_of(model)
    parameters = model.get_params()
    given = [parameters[name] for name in NAMES if parameters.get(name) is not None]
    own = "binary" if "lightgbm" in type(model).__module__ and is_classifier(model) else "l2"
    parts = str(given[0] if given else own).lower().split(":")
    name = next((part for part in parts if part in LOG_LINKS), parts[-1])
    return f"{name} with reg_sqrt" if parameters.get("reg_sqrt") else name


def _links(model: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the link and the inverse link of a booster."""
    objective, sigmoid = (
        _objective(model),
        float(booster_of(model).get_params().get("sigmoid", 1.0)),
    )
    if objective in LOGITS:
        return lambda y: special.logit(y) / sigmoid, lambda linear: special.expit(sigmoid * linear)
    return (np.log, np.exp) if objective in LOG_LINKS else (np.positive, np.positive)


def _loss_rows(model: Any, y: npt.ArrayLike, weights: Any) -> tuple[FloatArray, FloatArray]:
    """Return responses as a booster learns them, and the weights of their losses, classes' too."""
    parameters = booster_of(model).get_params()
    numbers = np.unique(y, return_inverse=True)[1] if is_classifier(model) else y
    values = np.asarray(numbers, dtype=np.float64)
    if _objective(model) in LOGITS:
        equal = any(str(parameters.get(name)).lower() in ("true", "+") for name in CLASS_BALANCE)
        by_class = {False: 1.0, True: float(parameters.get("scale_pos_weight") or 1)}
        weights = weights * compute_sample_weight("balanced" if equal else by_class, values > 0)
    return values, weights * compute_sample_weight(parameters.get("class_weight"), y)


def start_of(model: Any, y: FloatArray, offset: FloatArray, weights: FloatArray) -> float:
    r"""Return the constant b that training of a booster adds to the offset.

    It balances totals, :math:`\sum w (y - \mu(\textrm{offset} + b)) = 0`, as the intercept of a
    generalized linear model without features. Where the user says where to start, it is that.
    """
    parameters, (link, inverse) = booster_of(model).get_params(), _links(model)
    at_0 = str(parameters.get("boost_from_average")).lower() in ("false", "-")
    score = inverse(0.0) if at_0 else parameters.get("base_score")
    mean = np.average(y, weights=weights) if score is None else np.ravel(score)[0]
    if not inverse(-np.inf) < mean < inverse(np.inf):
        raise DataError(
            f"With an offset, boosting can't start at a mean of {mean:g}, of training rows or as "
            "`base_score`; draw rows of several values into every refit (`strata=`), or leave "
            'refits without them out (`on_error="drop"`).'
        )
    start, surplus = float(link(mean)), lambda b: weights @ (y - inverse(offset + b))
    ends = start - offset.max() - 1, start - offset.min() + 1
    return start if score is not None else float(optimize.brentq(surplus, *ends, xtol=1e-14))


def _has_offset(model: Any) -> bool:
    """Whether a statsmodels model, or class of models, takes an offset."""
    kind = model if isinstance(model, type) else type(model)
    return any("offset" in signature(base).parameters for base in kind.__mro__[:-1])


def _apart(matrix: Matrix) -> tuple[Matrix, FloatArray]:
    """Return the columns of the model, and the offset."""
    if isinstance(matrix, pd.DataFrame):
        return matrix.iloc[:, :-1], matrix.iloc[:, -1].to_numpy(dtype=np.float64)
    if not isinstance(matrix, np.ndarray):
        frame = nw.from_native(cast(Any, matrix), eager_only=True)
        return frame[:, :-1].to_native(), frame[:, -1].to_numpy().astype(np.float64)
    # Copies, as LightGBM warns of slices.
    return matrix[:, :-1].copy(), matrix[:, -1].astype(np.float64)
