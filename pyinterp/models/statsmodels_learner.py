"""Models of statsmodels as learners."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from statsmodels.base.model import Model
from statsmodels.tools.sm_exceptions import ValueWarning

from pyinterp._typing import FloatArray
from pyinterp.checks import check_mapping
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.models.library import Aim
from pyinterp.models.row_options import check_row_options
from pyinterp.models.statsmodels import aim_of_model, takes_offset

# Models that predict no mean, and what to do.
NO_LEARNERS = {
    "OrderedModel": "fit it, and pass its results to `pi.FittedModel`. Learners of ordered classes "
    "are classifiers, and R's `MASS::polr`.",
    "PHReg": "it predicts hazards of several kinds. Pass a function of its results to "
    '`pi.FittedModel`, as the page "Survival" does, or take a learner of that page.',
}


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
        """The model's class with its family, as tables print it."""
        family = (self.options or {}).get("family")
        name = self.model.__name__
        return f"{name}({type(family).__name__})" if family is not None else name

    @property
    def takes_offset(self) -> bool:
        """Whether the model of statsmodels takes an offset."""
        return takes_offset(self.model)

    @property
    def aim(self) -> Aim:
        """What the model predicts."""
        family = (self.options or {}).get("family", getattr(self.model, "family", None))
        return aim_of_model(self.model.__name__, family, (self.fit_options or {}).get("q", 0.5))

    def _fit(self, X: FloatArray, y: FloatArray, offset: FloatArray | None) -> None:
        """Fit the model of statsmodels to rows; raise for options that it does not know."""
        options = {"options": self.options or {}, "fit_options": self.fit_options or {}}
        check_row_options(options, self.learner_name, {len(y)})
        if offset is not None:
            options["options"] = {**options["options"], "offset": offset}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "unknown kwargs", ValueWarning)
            self.results_ = self.model(y, X, **options["options"]).fit(**options["fit_options"])

    def _predictions(self, X: npt.ArrayLike, offset: FloatArray | None) -> FloatArray:
        """Return predictions of rows: means, shape (n,), or probabilities, shape (n, classes)."""
        check_is_fitted(self, "results_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        beside = {} if offset is None else {"offset": offset}
        return np.asarray(self.results_.predict(rows, **beside), np.float64)


class StatsmodelsRegressor(RegressorMixin, _StatsmodelsBase):  # type: ignore[misc]  # untyped
    """A statsmodels model that predicts a mean."""

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, offset: FloatArray | None = None
    ) -> StatsmodelsRegressor:
        """Fit the model; the results are in ``results_``."""
        rows, response = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        self._fit(rows, np.asarray(response, np.float64), offset)
        return self

    def predict(self, X: npt.ArrayLike, offset: FloatArray | None = None) -> FloatArray:
        """Predict the mean response."""
        return self._predictions(X, offset)


class StatsmodelsClassifier(ClassifierMixin, _StatsmodelsBase):  # type: ignore[misc]  # untyped
    """A statsmodels model that predicts class probabilities; the last of two classes is 1."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.model.__name__ == "MNLogit"
        return tags

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
        if len(self.classes_) != 2 and self.model.__name__ != "MNLogit":
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
    >>> pi.statsmodels_learner(sm.QuantReg, q=0.9)
    Traceback (most recent call last):
        ...
    pyinterp.errors.OptionError: `q` is an option of the `fit` of QuantReg: write `fit={'q': 0.9}`.
    """
    if not isinstance(model, type) or not issubclass(model, Model):
        raise OptionError(
            f"`model` must be a statsmodels model class such as sm.GLM, not {quote(model)}; "
            "options of the model go in as keywords."
        )
    if model.__name__ in NO_LEARNERS:
        raise OptionError(f"{model.__name__} is no learner here: {NO_LEARNERS[model.__name__]}")
    if fit is not None:
        check_mapping("fit", fit, "{'maxiter': 200}", empty=True)
    for name in signature(model.fit).parameters.keys() & options:
        raise OptionError(
            f"`{name}` is an option of the `fit` of {model.__name__}: write "
            f"`fit={{{name!r}: {quote(options[name])}}}`."
        )
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
