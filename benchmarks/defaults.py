"""Section on calls as users make them: what pyinterp does by default, against scikit-learn's 30."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from cases import FEW, Case, draw
from ensembles import REPEATS
from paired import Pairs, pairs_of, table
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

import pyinterp as pi

SQUARED, LOG = "neg_mean_squared_error", "neg_log_loss"


class Line(NamedTuple):
    """A line of the table: its name, its model and rows, their metric, and the goal."""

    name: str
    case: Case
    scoring: str
    goal: float | None


def defaults(pairs: int) -> str:
    rows = [_pfi(line, pairs) for line in [*_classes(), *_trees(), *_batched()]]
    rows += [_recursion(line, pairs) for line in _trees()]
    return f"""## Defaults against scikit-learn

`FittedModel(model, X, y).pfi()` without options, and `permutation_importance(n_repeats={REPEATS})`
with the loss that is ours by default: log loss of probabilities, else squared error. Exact engines
take all pairs of rows; other models {REPEATS} permutations. `method="recursion"` averages over the
training rows that reached a node: another estimand, without rows and without errors.

{table(rows, "scikit-learn")}
"""


def _classes() -> Iterator[Line]:
    for classes, n, goal in ((2, 10_000, 2.5), (5, 1_000, 2)):
        case = _case(LogisticRegression(max_iter=1000), n, classes=classes)
        yield Line(f"logistic regression, {classes} classes, {n:,} rows", case, LOG, goal)
    model = RandomForestClassifier(20, random_state=0, n_jobs=1)
    case = _case(model, 10_000, classes=10)
    yield Line("forest of 20, 10 classes, 10,000 rows", case, LOG, 5)


def _trees() -> Iterator[Line]:
    boosting = HistGradientBoostingRegressor(random_state=0)
    yield Line(
        "histogram boosting, 50 features, 1,000 rows", _case(boosting, 1_000, 50), SQUARED, 90
    )
    for n in (1_000, 10_000):
        case = _case(RandomForestRegressor(100, random_state=0, n_jobs=1), n)
        yield Line(f"forest of 100, its {n:,} training rows", case, SQUARED, None)


def _batched() -> Iterator[Line]:
    models = {
        "support vector machine": SVR(),
        "Gaussian process": GaussianProcessRegressor(alpha=1.0),
        "kernel ridge": KernelRidge(kernel="rbf"),
        "nearest neighbors": KNeighborsRegressor(),
        "neural network": MLPRegressor(max_iter=2_000, random_state=0),
    }
    for name, model in models.items():
        yield Line(f"{name}, {FEW} rows", _case(model, FEW), SQUARED, 0.8)


def _case(model: Any, rows: int, features: int = 10, classes: int = 0) -> Case:
    X, y = draw(rows)
    if features > X.shape[1]:
        more = np.random.default_rng(1).normal(size=(rows, features - X.shape[1]))
        X = np.column_stack([X, more.astype(np.float32)])
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
    return Case(model.fit(X, y), X, y)


def _pfi(line: Line, pairs: int) -> Pairs:
    def theirs() -> Any:
        options = {"n_repeats": REPEATS, "random_state": 0, "scoring": line.scoring}
        return permutation_importance(*line.case, **options)

    name = f"{line.name}: PFI"
    few = 1 if len(line.case.y) > 5_000 else pairs
    ours = lambda: pi.FittedModel(*line.case, seed=1).pfi().params  # noqa: E731
    return pairs_of(name, ours, theirs, pairs=few, goal=line.goal)


def _recursion(line: Line, pairs: int) -> Pairs:
    def ours() -> None:
        model = pi.FittedModel(*line.case)
        for j in range(10):
            model.pd(f"x{j + 1}", points=50)

    def theirs() -> None:
        for j in range(10):
            partial_dependence(
                line.case.model, line.case.X, [j], grid_resolution=50, method="recursion"
            )

    few = 1 if len(line.case.y) > 5_000 else pairs
    return pairs_of(f"{line.name}: PD, 10 x 50, recursion", ours, theirs, pairs=few)
