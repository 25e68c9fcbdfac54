"""An estimator of the user's own with the predictive distribution that it implies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin

from pyinterp._typing import FloatArray
from pyinterp.checks import check_callable
from pyinterp.distributions import Distribution, Normal
from pyinterp.errors import OptionError, PredictionError, quote
from pyinterp.models.copies import fresh
from pyinterp.models.predictor import is_classifier, learner_name
from pyinterp.representation import call


class Distributional(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """A regressor together with the distribution that it predicts.

    Parameters
    ----------
    estimator : object
        With ``fit`` and ``predict``, or with ``predict`` alone if it is fitted.
    parameters : callable
        ``parameters(fitted, X)`` returns the parameters of the distribution of each row, shape
        (n, P), in the order of ``distribution.parameters``; for the Normal mean and standard
        deviation. A function of the top level of a module, so that results can be pickled.
    distribution : Distribution
        A family of ``pyinterp.distributions``; by default the Normal.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> def constant_error(fitted, X):
    ...     mean = fitted.predict(X)
    ...     return np.column_stack([mean, np.full(len(mean), 54.0)])
    >>> learner = pi.Distributional(LinearRegression(), constant_error)
    >>> data = pi.datasets.load_diabetes()
    >>> res = pi.Learner.from_formula("progression ~ bmi + bp", data, learner).fit(seed=1)
    >>> res.entropy_pfi().params.tolist()
    [0.0, 0.0]
    """

    def __init__(
        self,
        estimator: Any,
        parameters: Callable[[Any, Any], npt.ArrayLike],
        distribution: Distribution | None = None,
    ) -> None:
        self.estimator = estimator
        self.parameters = parameters
        self.distribution = distribution

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = {"estimator": self.estimator, "parameters": self.parameters}
        if self.distribution is not None:
            settings["distribution"] = self.distribution
        return call(type(self).__name__, settings)

    @property
    def learner_name(self) -> str:
        """What tables call it: the name of the estimator."""
        return learner_name(self.estimator)

    @property
    def predictive_distribution(self) -> Distribution:
        """The family."""
        family = Normal() if self.distribution is None else self.distribution
        if not isinstance(family, Distribution):
            raise OptionError(
                "`distribution` must be a family such as pi.distributions.Normal(), not "
                f"{quote(family)}."
            )
        return family

    def fit(self, X: Any, y: npt.ArrayLike) -> Distributional:
        """Fit a copy of the estimator.

        Examples
        --------
        >>> fitted = learner.fit(data[["bmi", "bp"]], data["progression"])
        >>> fitted.n_features_in_
        2
        """
        self._check()
        self.estimator_ = fresh(self.estimator).fit(X, y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions of the estimator.

        Examples
        --------
        >>> fitted = learner.fit(data[["bmi", "bp"]], data["progression"])
        >>> fitted.predict(data[["bmi", "bp"]].head(2)).round(1).tolist()
        [209.7, 100.9]
        """
        return np.asarray(self._fitted_estimator.predict(X), np.float64)

    def predict_parameters(self, X: Any) -> FloatArray:
        """Return the parameters of the distribution of each row, shape (n, P).

        Examples
        --------
        >>> fitted = learner.fit(data[["bmi", "bp"]], data["progression"])
        >>> fitted.predict_parameters(data[["bmi", "bp"]].head(2)).round(1).tolist()
        [[209.7, 54.0], [100.9, 54.0]]
        """
        self._check()
        parameters = np.asarray(self.parameters(self._fitted_estimator, X), np.float64)
        expected = (len(X), len(self.predictive_distribution.parameters))
        if parameters.shape != expected:
            names = " and ".join(self.predictive_distribution.parameters)
            raise PredictionError(
                f"`parameters` must return the {names} of each row, shape {expected}; it returned "
                f"shape {parameters.shape}."
            )
        return parameters

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns that the estimator was fitted to, if it knows them."""
        return self._fitted_estimator.feature_names_in_

    @property
    def n_features_in_(self) -> int:
        """Number of columns that the estimator was fitted to, if it knows it."""
        return int(self._fitted_estimator.n_features_in_)

    def _check(self) -> None:
        """Raise unless `parameters` is a function and the estimator a regressor."""
        check_callable("parameters", self.parameters, "lambda fitted, X: ...")
        if is_classifier(self.estimator):
            raise OptionError(
                f"The estimator of Distributional must be a regressor, but {self.learner_name} is "
                "a classifier, whose probabilities are its distribution; pass it as it is."
            )

    @property
    def _fitted_estimator(self) -> Any:
        """The estimator that was trained, or was fitted before."""
        return getattr(self, "estimator_", self.estimator)
