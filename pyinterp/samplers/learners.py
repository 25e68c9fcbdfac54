"""The learners of samplers: copies, training, and the default learners.

The default learners are a linear model and, where they help, trees on its residuals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController

from pyinterp._typing import FloatArray, TwoArrays
from pyinterp.errors import OptionError, RefitError, quote, reason
from pyinterp.models.copies import fresh, kept_streams, seeded_streams
from pyinterp.models.predictor import Predictor, learner_name
from pyinterp.models.sample_weight import weight_option
from pyinterp.samplers.encoding import blocks

MANY = 20_000  # rows
PENALTIES = np.logspace(-3, 3, 7)


def copy_estimator(sampler: object, kind: str, fits: Callable[[Any], bool]) -> None:
    """Replace `sampler.estimator` by a copy: learned distributions are kept by sampler."""
    estimator = getattr(sampler, "estimator", None)
    if estimator is None:
        return
    if isinstance(estimator, type) or not hasattr(estimator, "get_params") or not fits(estimator):
        raise OptionError(
            f"`{type(sampler).__name__}` needs a scikit-learn {kind}, not {quote(estimator)}."
        )
    object.__setattr__(sampler, "estimator", fresh(estimator))


def train_estimator(
    estimator: Any,
    others: FloatArray,
    target: npt.NDArray[Any],
    seed: int,
    classes: Sequence[int] | None = None,
    weights: FloatArray | None = None,
) -> Callable[[FloatArray], FloatArray]:
    """Train a copy of a sampler's estimator; return its predictions, checked as any model's.

    Parameters
    ----------
    estimator : scikit-learn estimator
    others : ndarray of shape (n, p)
    target : ndarray of shape (n,)
        Numbers, or codes of classes.
    seed : int
        For the estimator's ``random_state``, if it has one.
    classes : sequence of int, optional
        All codes, for a classifier: those that it does not know get probability 0.
    weights : ndarray of shape (n,), optional
        Sampling weights, which the estimator takes.

    Raises
    ------
    RefitError
        If it can't be trained.
    """
    model = fresh(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    option = None if weights is None else weight_option(model)
    try:
        with kept_streams(), seeded_streams(np.random.default_rng(seed)):
            model.fit(others, target, **({} if option is None else {option: weights}))
    except Exception as error:
        raise RefitError(
            f"The sampler's {learner_name(model)} can't be trained: {reason(error)}"
        ) from error
    return Predictor.of(model, classes)


class _ThenTrees(BaseEstimator):  # type: ignore[misc]  # untyped
    def __init__(self, random_state: int | None = None, *, trees: bool = True) -> None:
        self.random_state, self.trees = random_state, trees


class LinearThenTrees(RegressorMixin, _ThenTrees):  # type: ignore[misc]  # untyped
    """Ridge regression, then boosted trees on its residuals, stopped early.

    Parameters
    ----------
    random_state : int or None
        Seed of the rows that tell the trees when to stop.
    trees : bool
        Whether there are trees.
    """

    def fit(self, X: FloatArray, y: FloatArray, sample_weight: Any = None) -> LinearThenTrees:
        """Fit both parts."""
        self.linear_ = ridge(X, y, sample_weight)
        rest = [y - self.linear_(X)] if self.trees else []
        self.trees_ = [_trees(X, each, self.random_state, sample_weight) for each in rest]
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the sum of both parts."""
        with _few_threads(X):
            return np.asarray(self.linear_(X) + sum(trees.predict(X) for trees in self.trees_))


class LogisticThenTrees(ClassifierMixin, _ThenTrees):  # type: ignore[misc]  # untyped
    """Logistic regression, then boosted trees on the residuals of its probabilities.

    Parameters
    ----------
    random_state : int or None
        Seed of the rows that tell the trees when to stop.
    trees : bool
        Whether there are trees.
    """

    def fit(self, X: FloatArray, y: Any, sample_weight: Any = None) -> LogisticThenTrees:
        """Fit both parts, trees for every class."""
        with warnings.catch_warnings():
            # Levels may be rare: which variable is a category is known here.
            warnings.filterwarnings("ignore", message="The number of unique classes")
            self.linear_ = _on_one_scale(LogisticRegression(max_iter=1000), X, y, sample_weight)
        self.classes_ = self.linear_.classes_
        residuals = (np.asarray(y)[:, None] == self.classes_) - self.linear_.predict_proba(X)
        # Two classes' residuals are each other's opposites.
        targets = residuals[:, 1:] if len(self.classes_) == 2 else residuals
        rest = targets.T if self.trees else ()
        self.trees_ = [self._train_rest(X, column, sample_weight) for column in rest]
        return self

    def _train_rest(self, X: FloatArray, y: FloatArray, weights: Any) -> Any:
        """Return the regression of a class's residuals: boosted trees."""
        return _trees(X, y, self.random_state, weights)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return probabilities, shape (n, classes)."""
        linear = np.asarray(self.linear_.predict_proba(X))
        if not self.trees_:
            return linear
        with _few_threads(X):
            added = np.column_stack([trees.predict(X) for trees in self.trees_])
        if len(self.classes_) == 2:
            added = np.column_stack([-added, added])
        p = np.clip(linear + added, 0.0, 1.0)
        whole = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(whole > 0, p / np.where(whole > 0, whole, 1.0), linear))


def ridge(X: FloatArray, y: FloatArray, weights: Any) -> Any:
    """Return predictions by ridge regression."""
    found = regressions(np.column_stack([X, y]), weights)
    if found is None:
        return _on_one_scale(RidgeCV(PENALTIES), X, y, weights).predict
    center, coefficients = found
    return lambda rows: center[-1] + np.nan_to_num(rows - center[:-1]) @ coefficients[:-1, -1]


def regressions(columns: FloatArray, weights: FloatArray | None) -> TwoArrays | None:
    r"""Return means, (q,), and coefficients of deviations from them, (q, q), of ridge regressions.

    Column j of the coefficients regresses column j on all others, standardized. Its penalty has
    the smallest leave-one-out error, as in scikit-learn's ``RidgeCV``. One Gram matrix G serves
    all. With penalty h and :math:`P = (G + h I)^{-1}`, coefficients are
    :math:`-P_{kj} / P_{jj}`, residuals :math:`(Z P)_{ij} / P_{jj}` and leverages
    :math:`w_i / W + (Z P Z^T)_{ii} - (Z P)_{ij}^2 / P_{jj}`. None if values are missing, or there
    are no more rows than columns.

    Parameters
    ----------
    columns : ndarray of shape (n, q)
    weights : ndarray of shape (n,), optional
        Sampling weights.
    """
    n, q = columns.shape
    if n <= q or np.isnan(columns).any():
        return None
    rows_weigh = np.ones(n) if weights is None else weights
    center, scale = np.average(columns, axis=0, weights=weights), columns.std(axis=0)
    scale = np.where(scale > n * np.finfo(np.float64).eps * np.abs(center), scale, 1.0)
    Z = np.sqrt(rows_weigh)[:, None] * (columns - center) / scale
    P = np.linalg.inv(Z.T @ Z + PENALTIES[:, None, None] * np.eye(q))
    own, errors = np.diagonal(P, axis1=1, axis2=2)[:, None], np.zeros((len(P), q))
    for rows in blocks(n, P[0].size):
        product = Z[rows] @ P
        leverage = np.einsum("iq,piq->pi", Z[rows], product) + rows_weigh[rows] / rows_weigh.sum()
        residuals = product / own / (1 - leverage[:, :, None] + product**2 / own)
        errors += np.square(residuals).sum(axis=1)
    best = errors.argmin(axis=0), np.arange(q)
    coefficients = -(P[best] / own[best[0], 0, best[1]][:, None]).T * scale / scale[:, None]
    np.fill_diagonal(coefficients, 0.0)
    return center, coefficients


def _on_one_scale(model: Any, X: FloatArray, y: Any, weights: Any) -> Pipeline:
    """Return a fitted model of standardized columns, means in place of missing values."""
    imputer = [SimpleImputer(keep_empty_features=True)] if np.isnan(X).any() else []
    pipeline = make_pipeline(*imputer, StandardScaler(), model)
    # Routing, where it is on, takes no weights by the name of a step.
    model.fit(pipeline[:-1].fit_transform(X), y, weights)
    return pipeline


def _trees(X: FloatArray, y: Any, seed: int | None, weights: Any) -> HistGradientBoostingRegressor:
    """Return boosted trees, which stop where a fifth of the rows gains no more."""
    trees = HistGradientBoostingRegressor(
        max_iter=100,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=5,
        random_state=seed,
    )
    with _few_threads(X):
        return trees.fit(X, y, weights)


def _few_threads(X: FloatArray) -> AbstractContextManager[Any]:
    """Limit OpenMP to one thread for few rows, where several would wait for each other."""
    limits: AbstractContextManager[Any] = _libraries().limit(
        limits=1 if len(X) < MANY else None, user_api="openmp"
    )
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries with threads of this process, a search for which takes 10 ms."""
    return ThreadpoolController()
