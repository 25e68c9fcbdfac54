"""The worlds of the study: what is drawn, and what learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

Estimator: TypeAlias = Any


class Tree(RegressorMixin, BaseEstimator):
    """A tree whose ties between splits are decided alike in all refits."""

    def __init__(self, min_samples_leaf: int = 5) -> None:
        self.min_samples_leaf = min_samples_leaf

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the tree."""
        self.n_features_in_ = np.shape(X)[1]
        leaf = self.min_samples_leaf
        self.tree_ = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0).fit(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the means of leaves."""
        return np.asarray(self.tree_.predict(X))


class Neighbors(KNeighborsRegressor):
    """Nearest neighbors that keep their training rows in public."""

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows."""
        self.rows_, self.responses_ = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        super().fit(X, y)
        return self


class LinearBesideTree(RegressorMixin, BaseEstimator):
    """Least squares on the first feature, and a deep tree of its residuals on the others."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.n_features_in_ = X.shape[1]
        self.linear_ = LinearRegression().fit(X[:, :1], y)
        self.tree_ = Tree(2).fit(X[:, 1:], y - self.linear_.predict(X[:, :1]))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the sum of both."""
        X = np.asarray(X, dtype=float)
        return np.asarray(self.linear_.predict(X[:, :1]) + self.tree_.predict(X[:, 1:]))


@dataclass(frozen=True, kw_only=True)
class World:
    """Independent normal features, but for `correlated`, with linear effects and more.

    Attributes
    ----------
    slopes : tuple of float
    n : int
    estimator : estimator
    sets : int
        Data sets of an edition, at most.
    fits : int
        Fresh fits of the truth.
    correlated : tuple of (int, int, float)
        A feature is correlated by so much with another.
    more : callable
        What is added to the linear effects.
    spread : bool
        Whether errors are t with 3 df, with a scale that grows with the first feature.
    exact : bool
        Whether importances are 2 slope², as those of unbiased slopes of independent features are.
    """

    slopes: tuple[float, ...]
    n: int
    estimator: Estimator
    sets: int = 400
    fits: int = 3000
    correlated: tuple[tuple[int, int, float], ...] = ()
    more: Callable[[np.ndarray], np.ndarray] | None = None
    spread: bool = False
    exact: bool = False

    @property
    def nulls(self) -> list[int]:
        """Features without effect and independent of others."""
        pairs = {j for pair in self.correlated for j in pair[:2]}
        return [j for j, slope in enumerate(self.slopes) if slope == 0 and j not in pairs]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return features and responses."""
        X = rng.normal(size=(n, len(self.slopes)))
        for j, k, rho in self.correlated:
            X[:, j] = rho * X[:, k] + np.sqrt(1 - rho**2) * X[:, j]
        signal = X @ np.array(self.slopes) + (self.more(X) if self.more else 0.0)
        if self.spread:
            return X, signal + 0.7 * rng.standard_t(3, size=n) * (0.2 + np.abs(X[:, 0]))
        return X, signal + rng.normal(size=n)

    def train(self, X: np.ndarray, y: np.ndarray) -> Estimator:
        """Return the learner, trained."""
        return clone(self.estimator).fit(X, y)


def replaced(model: Estimator, X: np.ndarray, j: int) -> np.ndarray:
    """Return predictions of every row i with the value of feature j in every row k, shape (n, n).

    Models that are additive, and kernels and distances that are products or sums over features,
    need no n² rows.
    """
    n, x = len(X), X[:, j]
    linear = getattr(model, "linear_", model) if j == 0 else model
    if hasattr(linear, "coef_") and not isinstance(linear, SVR):
        slope = np.ravel(linear.coef_)[j]
        return np.asarray(model.predict(X)[:, None] + slope * (x[None, :] - x[:, None]))
    if isinstance(model, KernelRidge | SVR):
        is_svr = isinstance(model, SVR)
        centres = model.support_vectors_ if is_svr else model.X_fit_
        weights = model.dual_coef_.ravel() if is_svr else model.dual_coef_
        distances = np.square(X[:, None, :] - centres[None, :, :])
        others = np.exp(-model.gamma * (distances.sum(axis=2) - distances[:, :, j]))
        values = (others * weights) @ np.exp(-model.gamma * distances[:, :, j]).T
        return np.asarray(values + (model.intercept_ if is_svr else 0.0))
    if isinstance(model, Neighbors):
        distances = np.square(X[:, None, :] - model.rows_[None, :, :])
        others = distances.sum(axis=2) - distances[:, :, j]
        every = others[:, None, :] + distances[None, :, :, j]
        k = model.n_neighbors
        nearest = np.argpartition(every, k, axis=2)[:, :, :k]
        return np.asarray(model.responses_[nearest].mean(axis=2))
    rows = np.repeat(X, n, axis=0)
    rows[:, j] = np.tile(x, n)
    return np.asarray(model.predict(rows)).reshape(n, n)


SWEEP = (1.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.0, 0.0)
WORLDS = {
    "lm": World(slopes=SWEEP, n=100, estimator=LinearRegression(), sets=1000, exact=True),
    "lm, spread": World(
        slopes=(1.0, 0.4, 0.0, 0.0),
        n=60,
        estimator=LinearRegression(),
        sets=800,
        spread=True,
        exact=True,
    ),
    "ridge": World(
        slopes=(1.0, 0.4, 0.2, 0.0, 0.0, 0.0),
        n=80,
        estimator=Ridge(40.0),
        sets=800,
        correlated=((1, 0, 0.5),),
    ),
    "kernel ridge 6": World(
        slopes=(1.0, 0.15, 0.3, 0.0, 0.0, 0.0),
        n=100,
        estimator=KernelRidge(alpha=0.5, kernel="rbf", gamma=1 / 6),
        sets=600,
        more=lambda X: np.sin(2 * X[:, 0]),
    ),
    "kernel ridge 8": World(
        slopes=(1.0, 0.5, 0.1, 0.25, 0.0, 0.0, 0.0, 0.0),
        n=150,
        estimator=KernelRidge(alpha=1.0, kernel="rbf", gamma=0.1),
        more=lambda X: X[:, 0] * X[:, 1] / 2,
    ),
    "SVR": World(
        slopes=(1.0, 0.5, 0.25, 0.0, 0.0, 0.0), n=100, estimator=SVR(C=1.0, gamma=0.2), sets=400
    ),
    "kNN": World(
        slopes=(1.0, 0.6, 0.3, 0.0, 0.0),
        n=100,
        estimator=Neighbors(5, algorithm="brute"),
        fits=1500,
    ),
    "tree": World(slopes=(1.0, 0.2, 0.3, 0.4, 0.6, 0.0), n=100, estimator=Tree(5)),
    "tree, correlated": World(
        slopes=(1.0, 0.5, 0.0, 0.0),
        n=120,
        estimator=Tree(5),
        correlated=((2, 0, 0.8),),
        more=lambda X: 0.7 * X[:, 0] * X[:, 1],
    ),
} | {
    f"linear beside tree, {slope}": World(
        slopes=(slope, 0.0, 0.0, 0.0), n=100, estimator=LinearBesideTree(), exact=True
    )
    for slope in (0.1, 0.15, 0.2, 0.3)
}
