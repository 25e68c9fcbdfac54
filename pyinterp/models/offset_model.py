"""Models with an offset: the last column of their rows is a part of the linear predictor.

The column travels with the rows like any other, through designs, resamples and what-if copies, and
reaches the model as the offset that its library calls `offset`, `base_margin` or `init_score`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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
from pyinterp.models.column_names import is_statsmodels
from pyinterp.models.copies import fresh
from pyinterp.models.predictor import is_classifier, learner_name
from pyinterp.models.sample_weight import weight_option

__all__ = ["OffsetModel", "check_takes_offset"]

# Models of counts in statsmodels whose link is the logarithm.
COUNTS = {"Poisson", "NegativeBinomial", "NegativeBinomialP", "GeneralizedPoisson"}
LOG_LINKS = {"count:poisson", "reg:gamma", "reg:tweedie", "poisson", "gamma", "tweedie"}
TAKERS = "statsmodels_learner of GLM, Logit, Poisson or NegativeBinomial, XGBoost and LightGBM"


class _Way(ABC):
    """How a library is given an offset."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    @abstractmethod
    def log_link(self) -> bool:
        """Whether the offset of an exposure is its logarithm."""

    @abstractmethod
    def fit(self, rows: Matrix, y: Any, offset: FloatArray, **options: Any) -> None:
        """Train the estimator."""

    @abstractmethod
    def predict(self, rows: Matrix, offset: FloatArray, method: str) -> Any:
        """Return what `method` of the estimator predicts with the offset."""


class _Statsmodels(_Way):
    """`statsmodels_learner`, and results of statsmodels models."""

    @property
    def log_link(self) -> bool:
        if is_statsmodels(self.estimator):
            model = self.estimator.model
            kind, family = type(model).__name__, getattr(model, "family", None)
        else:
            kind, family = (
                self.estimator.model.__name__,
                (self.estimator.options or {}).get("family"),
            )
        return kind in COUNTS or isinstance(getattr(family, "link", None), Log)

    def fit(self, rows: Matrix, y: Any, offset: FloatArray, **options: Any) -> None:
        self.estimator.fit(rows, y, offset=offset, **options)

    def predict(self, rows: Matrix, offset: FloatArray, method: str) -> Any:
        return getattr(self.estimator, method)(rows, offset=offset)


class _Xgboost(_Way):
    @property
    def log_link(self) -> bool:
        return self.estimator.get_params().get("objective") in LOG_LINKS

    def fit(self, rows: Matrix, y: Any, offset: FloatArray, **options: Any) -> None:
        self.estimator.fit(rows, y, base_margin=offset, **options)

    def predict(self, rows: Matrix, offset: FloatArray, method: str) -> Any:
        return getattr(self.estimator, method)(rows, base_margin=offset)


class _Lightgbm(_Way):
    """LightGBM, whose predictions leave the offset out: it is added before the inverse link."""

    @property
    def log_link(self) -> bool:
        return self.estimator.get_params().get("objective") in LOG_LINKS

    def fit(self, rows: Matrix, y: Any, offset: FloatArray, **options: Any) -> None:
        self.estimator.fit(rows, y, init_score=offset, **options)
        self._inverse()

    def predict(self, rows: Matrix, offset: FloatArray, method: str) -> Any:
        linear = self.estimator.predict(rows, raw_score=True) + offset
        mean = self._inverse()(linear)
        if not hasattr(self.estimator, "classes_"):
            return mean
        if method == "predict_proba":
            return np.column_stack([1 - mean, mean])
        return self.estimator.classes_[(mean > 0.5).astype(np.intp)]

    def _inverse(self) -> Callable[[FloatArray], FloatArray]:
        objective, parameters = self.estimator.objective_, self.estimator.get_params()
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


class _Rates(_Way):
    """Learners that take weights alone: of rates, count / exposure, each weighted by exposure.

    A Poisson model of the counts with the logarithm of the exposure as offset has the same score.
    """

    log_link = True

    def fit(self, rows: Matrix, y: Any, offset: FloatArray, **options: Any) -> None:
        exposure, name = np.exp(offset), str(weight_option(self.estimator))
        weights = exposure * options.pop(name, 1.0)
        self.estimator.fit(rows, np.asarray(y) / exposure, **{name: weights}, **options)

    def predict(self, rows: Matrix, offset: FloatArray, method: str) -> Any:
        return np.exp(offset) * np.asarray(getattr(self.estimator, method)(rows)).reshape(-1)


IDENTITIES = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
WAYS: Mapping[str, type[_Way]] = {
    "statsmodels": _Statsmodels,
    "xgboost": _Xgboost,
    "lightgbm": _Lightgbm,
}


def check_takes_offset(estimator: Any, *, exposure: bool) -> None:
    """Raise `OptionError` unless an estimator or statsmodels results take offsets or exposures."""
    way = _way(estimator)
    if isinstance(way, _Rates) and not exposure:
        raise OptionError(
            f"{learner_name(estimator)} takes no offset; those that do are {TAKERS}, with at most "
            "two classes. Regressors that take `sample_weight` take an `exposure`."
        )
    if exposure and not way.log_link:
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
        if isinstance(_way(self.inside), _Xgboost):
            return (
                f"{name} is taken to be trained with `base_margin`, which replaces its base score."
            )
        if not isinstance(_way(self.inside), _Rates):
            return ""
        return f"{name} is taken to predict rates: predictions are these times the exposure."

    @property
    def log_link(self) -> bool:
        """Whether predictions are rates times the exposure, whose logarithm the offset is."""
        return _way(self.inside).log_link

    @property
    def learner_name(self) -> str:
        """What tables call it."""
        return f"{learner_name(self.estimator)}, offset {self.name}"

    @property
    def classes_(self) -> Any:
        """The classes of the fitted model, if it has some."""
        return self.inside.classes_

    def fit(self, X: Matrix, y: npt.ArrayLike, **options: Any) -> OffsetModel:
        """Fit a copy of the estimator, with options of its own `fit`."""
        self.estimator_ = fresh(self.estimator)
        rows, offset = _apart(X)
        _way(self.estimator_).fit(rows, y, offset, **options)
        return self

    def predict(self, X: Matrix) -> Any:
        """Predict with the offset."""
        rows, offset = _apart(X)
        return _way(self.inside).predict(rows, offset, "predict")

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Matrix) -> Any:
        """Predict probabilities of classes with the offset."""
        rows, offset = _apart(X)
        return _way(self.inside).predict(rows, offset, "predict_proba")

    def __sklearn_tags__(self) -> Tags:
        if hasattr(self.estimator, "__sklearn_tags__"):
            return self.estimator.__sklearn_tags__()
        return super().__sklearn_tags__()


def _way(estimator: Any) -> _Way:
    package = type(estimator).__module__.partition(".")[0]
    if is_statsmodels(estimator) or hasattr(estimator, "fit_options"):
        package = "statsmodels"
    if package == "statsmodels" and not _has_offset(estimator.model):
        package = ""
    if package in WAYS and getattr(estimator, "n_classes_", 2) <= 2:
        return WAYS[package](estimator)
    predicts = callable(getattr(estimator, "predict", None)) and not is_classifier(estimator)
    trained = not hasattr(estimator, "fit") or weight_option(estimator) is not None
    if package in ("", *WAYS) or not predicts or not trained:
        raise OptionError(
            f"{learner_name(estimator)} takes no offset; those that do are {TAKERS}, with at most "
            "two classes. Regressors that take `sample_weight` take an `exposure`."
        )
    return _Rates(estimator)


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
