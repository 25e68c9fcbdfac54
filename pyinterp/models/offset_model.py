"""Models with an offset: the last column of their rows is a part of the linear predictor.

The column travels with the rows like any other, through designs, resamples and what-if copies, and
reaches the model as the offset that its library calls `offset`, `base_margin` or `init_score`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from statsmodels.genmod.families.links import Log

from pyinterp._typing import FloatArray, Matrix
from pyinterp.errors import OptionError
from pyinterp.models.copies import fresh
from pyinterp.models.model_reader import is_statsmodels
from pyinterp.models.predictor import is_classifier, learner_name
from pyinterp.models.sample_weight import weight_option

# Models of counts in statsmodels whose link is the logarithm.
COUNTS = {"Poisson", "NegativeBinomial", "NegativeBinomialP", "GeneralizedPoisson"}
LOG_LINKS = {"count:poisson", "reg:gamma", "reg:tweedie", "poisson", "gamma", "tweedie"}
IDENTITIES = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
# What libraries call an offset. Learners that take weights alone learn rates.
KEYWORDS = {"statsmodels": "offset", "xgboost": "base_margin", "lightgbm": "init_score"}
RATES = "rates"


def check_takes_offset(estimator: Any, *, exposure: bool) -> None:
    """Raise `OptionError` unless an estimator or statsmodels results take offsets or exposures."""
    if _keyword(estimator) == RATES and not exposure:
        raise OptionError(_refusal(estimator))
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
        exposure: a Poisson model of counts with the offset has the same score.
        """
        model = self.estimator_ = fresh(self.estimator)
        rows, offset = _apart(X)
        keyword = _keyword(model)
        if keyword == RATES:
            exposure, weight = np.exp(offset), str(weight_option(model))
            weights = exposure * options.pop(weight, 1.0)
            model.fit(rows, np.asarray(y) / exposure, **{weight: weights}, **options)
        else:
            model.fit(rows, y, **{keyword: offset}, **options)
        if keyword == "init_score":
            _inverse_link(model)  # refuses what can't be predicted
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
            return np.exp(offset) * np.asarray(predict(rows)).reshape(-1)
        if keyword != "init_score":
            return predict(rows, **{keyword: offset})
        # LightGBM's predictions leave the offset out: it is added before the inverse link.
        mean = _inverse_link(model)(model.predict(rows, raw_score=True) + offset)
        if not hasattr(model, "classes_"):
            return mean
        if method == "predict_proba":
            return np.column_stack([1 - mean, mean])
        return model.classes_[(mean > 0.5).astype(np.intp)]

    def __sklearn_tags__(self) -> Tags:
        if hasattr(self.estimator, "__sklearn_tags__"):
            return self.estimator.__sklearn_tags__()
        return super().__sklearn_tags__()


def _keyword(estimator: Any) -> str:
    """Return what the library of an estimator, or of results, calls the offset.

    `RATES` for regressors that take weights. Others raise `OptionError`.
    """
    package = type(estimator).__module__.partition(".")[0]
    if is_statsmodels(estimator) or hasattr(estimator, "fit_options"):
        package = "statsmodels" if _has_offset(estimator.model) else "none"
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
        "Logit, Poisson or NegativeBinomial, XGBoost and LightGBM, with at most two classes. "
        "Regressors that take `sample_weight` take an `exposure`."
    )


def _has_log_link(estimator: Any) -> bool:
    """Whether the offset of an exposure is its logarithm."""
    keyword = _keyword(estimator)
    if keyword != "offset":
        return keyword == RATES or estimator.get_params().get("objective") in LOG_LINKS
    model = estimator.model
    if isinstance(model, type):  # of `statsmodels_learner`
        kind, family = model.__name__, (estimator.options or {}).get("family")
    else:
        kind, family = type(model).__name__, getattr(model, "family", None)
    return kind in COUNTS or isinstance(getattr(family, "link", None), Log)


def _inverse_link(model: Any) -> Callable[[FloatArray], FloatArray]:
    """Return the inverse link of a fitted model of LightGBM."""
    objective, parameters = model.objective_, model.get_params()
    if objective in LOG_LINKS:
        return np.exp
    if objective == "binary":
        scale = float(parameters.get("sigmoid", 1.0))
        return lambda linear: np.asarray(special.expit(scale * linear))
    if objective in IDENTITIES and not parameters.get("reg_sqrt"):
        return lambda linear: linear
    raise OptionError(
        f"With an offset, the objective of LightGBM must be one of {', '.join(IDENTITIES)}, "
        f"binary, poisson, gamma and tweedie, but it is {objective!r}."
    )


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
