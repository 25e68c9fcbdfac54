"""Fitting and prediction of regressors and classifiers that are networks with drawn weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pyinterp._typing import FloatArray, IntArray
from pyinterp.errors import DataError
from pyinterp.estimators.networks import Networks, Scale, probabilities
from pyinterp.random import Seeds

__all__ = ["NetworkClassifier", "NetworkRegressor"]


class NetworkRegressor(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """A regressor whose prediction is a mixture of normal distributions, one per draw of weights.

    Attributes
    ----------
    networks_ : Networks
    response_scale_ : Scale
        Of the response: networks predict it standardized.
    noise_ : float
        Standard deviation of a response around a network's mean.
    """

    random_state: Any

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NetworkRegressor:
        """Train the networks; PyTorch is needed for this alone."""
        rows, response = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        self._learn(rows, np.asarray(response, dtype=np.float64), seeds_of(self.random_state))
        return self

    @abstractmethod
    def _learn(self, X: FloatArray, y: FloatArray, seeds: Seeds) -> None:
        """Set `networks_`, `response_scale_` and `noise_`."""

    networks_: Networks
    response_scale_: Scale
    noise_: float

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the mean of the mixture, and its standard deviation if asked for.

        Parameters
        ----------
        X : array or frame of shape (n, features)
        return_std : bool
            Whether the standard deviation, noise included, is returned too.

        Returns
        -------
        array of shape (n,), or two of them
        """
        parts = [(block.mean(axis=0), block.std(axis=0)) for block in self._outputs(X)]
        center, spread = (np.concatenate(part)[:, 0] for part in zip(*parts, strict=True))
        mean = self.response_scale_.restore(center)
        if not return_std:
            return mean
        return mean, np.hypot(self.response_scale_.spread * spread, self.noise_)

    def predict_components(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the mixture: means and standard deviations of its equally likely parts.

        Parameters
        ----------
        X : array or frame of shape (n, features)

        Returns
        -------
        means, sds : arrays of shape (n, draws)
            Of normal distributions. The sds include the noise of an observation.
        """
        outputs = np.concatenate([block[:, :, 0].T for block in self._outputs(X)])
        means = self.response_scale_.restore(outputs)
        return means, np.full_like(means, self.noise_)

    def _outputs(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
        rows = checked_rows(self, X)
        return self.networks_.outputs(rows)


class NetworkClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """A classifier whose probabilities are means over draws of a network's weights.

    Attributes
    ----------
    networks_ : Networks
    classes_ : array of shape (classes,)
    """

    random_state: Any

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NetworkClassifier:
        """Train the networks; PyTorch is needed for this alone."""
        rows, response = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(response)
        self.classes_, codes = np.unique(response, return_inverse=True)
        if len(self.classes_) == 1:
            raise DataError(
                f"{type(self).__name__} needs at least two classes, but the response has one class."
            )
        self._learn(rows, codes, seeds_of(self.random_state))
        return self

    @abstractmethod
    def _learn(self, X: FloatArray, y: IntArray, seeds: Seeds) -> None:
        """Set `networks_`; `y` are positions in `classes_`."""

    networks_: Networks

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """Return class probabilities, means over the draws, shape (n, classes)."""
        rows = checked_rows(self, X)
        blocks = (probabilities(block).mean(axis=0) for block in self.networks_.outputs(rows))
        return np.concatenate(list(blocks))

    def predict_proba_draws(self, X: npt.ArrayLike) -> FloatArray:
        """Return the class probabilities of every draw, shape (draws, n, classes)."""
        rows = checked_rows(self, X)
        blocks = [probabilities(block) for block in self.networks_.outputs(rows)]
        return np.concatenate(blocks, axis=1)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable classes."""
        best = np.argmax(self.predict_proba(X), axis=1)
        classes: npt.NDArray[Any] = self.classes_[best]
        return classes


def seeds_of(random_state: Any) -> Seeds:
    """Return the root of a fit's random streams, for what scikit-learn takes as `random_state`."""
    return Seeds(int(check_random_state(random_state).randint(np.iinfo(np.int32).max)))


def checked_rows(estimator: BaseEstimator, X: npt.ArrayLike) -> FloatArray:
    """Return the rows to predict, their columns compared with those of the fit."""
    check_is_fitted(estimator)
    return np.asarray(validate_data(estimator, X, reset=False, dtype=np.float64))
