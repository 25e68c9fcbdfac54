"""Estimators from other libraries: statsmodels models as learners, and what estimators require."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from statsmodels.base.model import Model
from statsmodels.tools.sm_exceptions import ValueWarning

from pyinterp._typing import FloatArray
from pyinterp.checks import check_mapping
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.models.copies import fresh
from pyinterp.models.final_step import innermost
from pyinterp.models.row_options import check_row_options

# Parameters of scikit-learn, XGBoost, LightGBM and CatBoost that may hold positions of columns.
_BY_COLUMN = re.compile(
    r"(cat|categorical|embedding|text)_features|feature_weights|interaction_(constraints|cst)|"
    r"monotone_constraints|monotonic_cst"
)


class _StatsmodelsBase(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A statsmodels model class with its options, as an estimator."""

    needs_intercept = True

    def __init__(
        self,
        model: type[Any],
        options: Mapping[str, Any] | None = None,
        fit_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.options = options
        self.fit_options = fit_options

    @property
    def learner_name(self) -> str:
        family = (self.options or {}).get("family")
        name: str = self.model.__name__
        return f"{name}({type(family).__name__})" if family is not None else name

    def _fit(self, X: FloatArray, y: FloatArray, offset: FloatArray | None) -> None:
        options = {"options": self.options or {}, "fit_options": self.fit_options or {}}
        check_row_options(options, self.learner_name, {len(y)})
        if offset is not None:
            options["options"] = {**options["options"], "offset": offset}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "unknown kwargs", ValueWarning)
            self.results_ = self.model(y, X, **options["options"]).fit(**options["fit_options"])

    def _predictions(self, X: npt.ArrayLike, offset: FloatArray | None) -> FloatArray:
        check_is_fitted(self, "results_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        beside = {} if offset is None else {"offset": offset}
        return np.asarray(self.results_.predict(rows, **beside), dtype=np.float64)


class StatsmodelsRegressor(RegressorMixin, _StatsmodelsBase):  # type: ignore[misc]  # untyped
    """A statsmodels model that predicts a mean."""

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, offset: FloatArray | None = None
    ) -> StatsmodelsRegressor:
        """Fit the model; the results are in ``results_``."""
        rows, response = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        self._fit(rows, np.asarray(response, dtype=np.float64), offset)
        return self

    def predict(self, X: npt.ArrayLike, offset: FloatArray | None = None) -> FloatArray:
        """Predict the mean response."""
        return self._predictions(X, offset)


class StatsmodelsClassifier(ClassifierMixin, _StatsmodelsBase):  # type: ignore[misc]  # untyped
    """A statsmodels model that predicts class probabilities; the last of two classes is 1."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several
        return tags

    @property
    def _several(self) -> bool:
        return self.model.__name__ == "MNLogit"

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, offset: FloatArray | None = None
    ) -> StatsmodelsClassifier:
        """Fit the model; the results are in ``results_``."""
        rows, response = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(response)
        self.classes_, codes = np.unique(response, return_inverse=True)
        if len(self.classes_) == 1:
            raise DataError(
                f"{self.learner_name} needs at least two classes, but the response has one class."
            )
        if len(self.classes_) != 2 and not self._several:
            raise DataError(
                f"Only binary classification is supported by {self.learner_name}, but the response "
                f"has {len(self.classes_)} classes; use statsmodels_learner(sm.MNLogit)."
            )
        self._fit(rows, codes.astype(np.float64), offset)
        return self

    def predict_proba(self, X: npt.ArrayLike, offset: FloatArray | None = None) -> FloatArray:
        """Predict the probability of every class."""
        predicted = self._predictions(X, offset)
        return predicted if predicted.ndim == 2 else np.column_stack([1 - predicted, predicted])

    def predict(self, X: npt.ArrayLike, offset: FloatArray | None = None) -> npt.NDArray[Any]:
        """Predict the most probable class."""
        best = np.argmax(self.predict_proba(X, offset), axis=1)
        classes: npt.NDArray[Any] = self.classes_[best]
        return classes


def statsmodels_learner(
    model: type[Any], *, fit: Mapping[str, Any] | None = None, **options: Any
) -> StatsmodelsRegressor | StatsmodelsClassifier:
    """Make a learner of a statsmodels model class.

    Logit, Probit, MNLogit and a GLM with a binomial family become classifiers; every other model
    becomes a regressor of the mean. The formula's intercept is passed on as a column, because
    statsmodels models do not add their own.

    Parameters
    ----------
    model : class
        A model class with ``Model(endog, exog, **options).fit(**fit)``, such as ``sm.OLS``,
        ``sm.GLM`` or ``sm.QuantReg``.
    fit : mapping, optional
        Options of its ``fit``, for example ``{"q": 0.9}``.
    **options
        Options of the model, for example ``family=sm.families.Poisson()``.

    Returns
    -------
    estimator
        With ``fit``, ``predict`` and, for classifiers, ``predict_proba``. After fitting,
        ``results_`` holds the statsmodels results.

    Examples
    --------
    >>> import statsmodels.api as sm
    >>> import pyinterp as pi
    >>> pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson()).learner_name
    'GLM(Poisson)'
    """
    if not isinstance(model, type) or not issubclass(model, Model):
        raise OptionError(
            f"`model` must be a statsmodels model class such as sm.GLM, not {quote(model)}; "
            "options of the model go in as keywords."
        )
    if model.__name__ == "OrderedModel":
        raise OptionError(
            "OrderedModel is no learner here: fit it, and pass its results to `pi.FittedModel`. "
            "Learners of ordered classes are classifiers, and R's `MASS::polr`."
        )
    if fit is not None:
        check_mapping("fit", fit, "{'maxiter': 200}", empty=True)
    family = options.get("family")
    classifies = model.__name__ in {"Logit", "Probit", "MNLogit"} or (
        family is not None and type(family).__name__ == "Binomial"
    )
    for keywords in (options, fit or {}):
        check_row_options(keywords, f"statsmodels_learner({model.__name__})", columns=True)
    kind = StatsmodelsClassifier if classifies else StatsmodelsRegressor
    if classifies and fit is None and model.__name__ != "GLM":
        fit = {"disp": 0}  # these models print their convergence otherwise
    return kind(model, options=options or None, fit_options=fit)


def needs_intercept(estimator: Any) -> bool:
    """Whether the estimator wants the intercept column because it fits no intercept."""
    final = innermost(estimator)
    return bool(
        getattr(final, "needs_intercept", False) or getattr(final, "fit_intercept", True) is False
    )


def fits_intercept(estimator: Any) -> bool:
    """Whether the estimator says that it fits an intercept."""
    return getattr(innermost(estimator), "fit_intercept", None) is True


def wants_codes(estimator: Any) -> bool:
    """Whether a classifier must be given class positions 0, 1, ... instead of labels."""
    return type(innermost(estimator)).__module__.startswith("xgboost")


def wants_frames(estimator: Any) -> bool:
    """Whether the estimator says that it encodes categories itself, and so wants data frames."""
    return bool(getattr(innermost(estimator), "wants_frames", False))


def one_thread(estimator: Any) -> bool:
    """Whether the estimator says that it can predict in one thread only."""
    return bool(getattr(innermost(estimator), "one_thread", False))


def suit(estimator: Any, response: pd.Series[Any]) -> Any:
    """Return ``estimator.for_response(response)``, or the estimator if it has no such method."""
    suit = getattr(estimator, "for_response", None)
    return estimator if suit is None else suit(response)


def column_positions(estimator: Any) -> str:
    """Return the parameter by which an estimator refers to columns by position; empty if none."""
    for name, value in estimator.get_params(deep=True).items():
        last = name.split("__")[-1]
        if last == "transformers":  # of a ColumnTransformer: (name, transformer, columns)
            parts = [part for part in value or () if isinstance(part, tuple) and len(part) == 3]
            by_position = any(_holds_numbers(columns) for _, _, columns in parts)
        else:
            as_text = isinstance(value, str) and value[:1] in ("(", "[")  # XGBoost's "(1, -1)"
            by_position = bool(_BY_COLUMN.fullmatch(last)) and (as_text or _holds_numbers(value))
        if by_position:
            return str(name)
    return ""


def without_columns(estimator: Any, left_out: Collection[str]) -> Any:
    """Return a copy of an estimator whose parameters name no columns that are left out.

    These are parameters by name of column, and the columns of a ColumnTransformer.
    """
    changed, reduced = dict[str, Any](), fresh(estimator)
    for name, value in reduced.get_params(deep=True).items():
        last = name.split("__")[-1]
        if last == "transformers":
            changed[name] = [(*part[:2], _rest(part[2], left_out)) for part in value]
        elif _BY_COLUMN.fullmatch(last) and (rest := _rest(value, left_out)) is not value:
            changed[name] = rest
    reduced.set_params(**changed)
    return reduced


def _rest(names: Any, left_out: Collection[str]) -> Any:
    """Return names, or a mapping from names, without some; what has none of these as it is."""
    every = [names] if isinstance(names, str) else names
    every = list(every) if isinstance(every, pd.Index | np.ndarray) else every
    if not isinstance(every, Mapping | list | tuple):
        return names
    kept = [name for name in every if not (isinstance(name, str) and name in left_out)]
    if len(kept) == len(every):
        return names
    return {name: every[name] for name in kept} if isinstance(every, Mapping) else type(every)(kept)


def _holds_numbers(value: Any) -> bool:
    """Whether columns are chosen by numbers or a mask; a mapping has names as keys."""
    if isinstance(value, slice):
        return _holds_numbers((value.start, value.stop))
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return any(_holds_numbers(part) for part in value)
    return isinstance(value, int | np.number | np.bool_)
