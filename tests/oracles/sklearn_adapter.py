"""scikit-learn's `permutation_importance` and `partial_dependence`, computed by our functions.

Signatures and what is returned are scikit-learn's, so that its tests can be run against ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats.mstats import mquantiles
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Bunch, check_random_state

import pyinterp as pi

# Weighted importances are of losses, over all pairs of rows.
LOSSES = {"neg_mean_absolute_error": "absolute", "neg_mean_squared_error": "squared"}


def permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    max_samples: float = 1.0,
) -> Any:
    """Return importances by feature and repeat; `n_jobs` is for refits, of which there are none."""
    rng = check_random_state(random_state)
    seed = rng.randint(np.iinfo(np.int32).max + 1)
    several = _several(scoring, estimator, X, y) or {"": scoring}
    n = len(np.asarray(y))
    most = max_samples if isinstance(max_samples, int) else int(max_samples * n)
    rows = np.isin(np.arange(n), rng.choice(n, most, replace=False)) if most != n else None
    weights = {} if sample_weight is None else _weights(sample_weight)
    model = pi.FittedModel(estimator, X, y, **weights)
    orders = _orders(most, n_repeats, seed)
    bunches = {
        name: _weighted(model, one, rows, n_repeats)
        if weights
        else _permuted(model, _metric(one, estimator), rows, orders)
        for name, one in several.items()
    }
    return bunches.get("", bunches)


def _metric(scoring: Any, estimator: Any) -> Any:
    """Return a scoring, or the default one."""
    if scoring is not None:
        return scoring
    return "accuracy" if is_classifier(estimator) else "rsq_trad"


def _permuted(model: pi.FittedModel, metric: Any, rows: Any, orders: Any) -> Bunch:
    """Return importances by every permutation."""
    names = list(model.analysis.problem.features)
    return _bunch(
        [
            model.pfi(metric=metric, permutations=dict.fromkeys(names, order[:, None]), rows=rows)
            .params.to_numpy()
            .copy()
            for order in orders
        ]
    )


def _weighted(model: pi.FittedModel, scoring: Any, rows: Any, n_repeats: int) -> Bunch:
    """Return weighted importances by all pairs of rows, which are the same in all repeats."""
    by = {"metric": scoring} if callable(scoring) else {"loss": LOSSES.get(scoring)}
    return _bunch([model.pfi(**by, rows=rows).params.to_numpy()] * n_repeats)


def _orders(n: int, repeats: int, seed: int) -> list[Any]:
    """Return permutations of rows as scikit-learn draws them, each after the other."""
    rng = np.random.RandomState(seed)
    step, order = np.arange(n), np.arange(n)
    orders = []
    for _ in range(repeats):
        rng.shuffle(step)
        order = order[step]
        orders.append(order)
    return orders


def partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: str = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    method: str = "auto",
    kind: str = "average",
) -> Bunch:
    """Return average and individual curves, shape (targets, [rows,] points of each feature)."""
    asked = _asked(features)
    names = [_name(feature, X) for feature in asked]
    categories = [_name(f, X) for f in _asked(categorical_features or [])]
    grid = {
        name: (custom_values or {})[feature]
        if feature in (custom_values or {})
        else _grid(_column(X, name), percentiles, grid_resolution, category=name in categories)
        for feature, name in zip(asked, names, strict=True)
        if name in _names(X)
    }
    parts = []
    for source, scale in _sources(estimator, X, response_method):
        engine = "trees" if method == "recursion" else "auto"
        weights = {} if kind == "individual" or sample_weight is None else _weights(sample_weight)
        model = pi.FittedModel(source, X, engine=engine, **weights)
        pd_options = {"kind": "pd" if kind == "average" else "ice", "scale": scale}
        parts.append(model.pd(names, grid=grid, **pd_options))
    axes = _axes(parts[0])
    shape = [len(axis) for axis in axes]
    bunch = Bunch(grid_values=axes)
    if kind != "individual":
        bunch["average"] = np.concatenate([_cube(p.params.to_numpy(), shape) for p in parts])
    if kind != "average":
        curves = [_cube(p.row_frame().to_numpy(), shape) for p in parts]
        bunch["individual"] = np.concatenate([np.moveaxis(c, 0, 1) for c in curves])
    return bunch


def partial_dependence_brute(
    estimator: Any, grid: Any, features: Any, X: Any, response_method: str = "auto"
) -> tuple[Any, Any]:
    """Return means and predictions at the points of one feature, as scikit-learn's helper does."""
    custom = {int(features[0]): np.ravel(grid)}
    options: dict[str, Any] = {"custom_values": custom, "response_method": response_method}
    both = partial_dependence(estimator, X, [int(features[0])], kind="both", **options)
    return both.average, both.individual


def not_ours(*_: Any, **__: Any) -> Any:
    """Stand for a private function of scikit-learn that has no counterpart."""
    raise NotImplementedError("a private function of scikit-learn")


def _bunch(repeats: Sequence[Any]) -> Bunch:
    importances = np.array(repeats).T
    return Bunch(
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
    )


def _several(scoring: Any, estimator: Any, X: Any, y: Any) -> dict[str, Any] | None:
    """Return scorings by name; None if there is only one."""
    if isinstance(scoring, Mapping):
        return dict(scoring)
    if isinstance(scoring, list | tuple):
        return {name: name for name in scoring}
    if callable(scoring) and isinstance(scores := scoring(estimator, X, y), Mapping):
        return {name: partial(_one_of, scoring, name) for name in scores}
    return None


def _one_of(scoring: Callable[..., Any], name: str, estimator: Any, X: Any, y: Any) -> Any:
    return scoring(estimator, X, y)[name]


def _weights(values: Any) -> dict[str, Any]:
    """Return options for weights: those that may be 0 are frequencies."""
    kind = "frequency" if (np.asarray(values) == 0).any() else "sampling"
    return {"weights": values, "weights_type": kind}


def _names(X: Any) -> list[str]:
    """Return the names of the variables: those of arrays are x1, x2, ..."""
    if isinstance(X, pd.DataFrame):
        return [str(column) for column in X.columns]
    return [f"x{j + 1}" for j in range(np.shape(X)[1])]


def _column(X: Any, name: str) -> Any:
    place = _names(X).index(name)
    return X.iloc[:, place] if isinstance(X, pd.DataFrame) else np.asarray(X)[:, place]


def _asked(features: Any) -> list[Any]:
    """Return features one by one: names, positions, or those of a mask."""
    if isinstance(features, str | int | np.integer):
        return [features]
    listed = list(features)
    if listed and all(isinstance(one, bool | np.bool_) for one in listed):
        return [place for place, one in enumerate(listed) if one]
    return listed


def _name(feature: Any, X: Any) -> str:
    """Return the name of a variable; that of a position which is not there is unknown too."""
    names = _names(X)
    if isinstance(feature, str):
        return feature
    return names[feature] if 0 <= feature < len(names) else f"x{feature + 1}"


def _grid(column: Any, percentiles: Any, points: int, *, category: bool) -> Any:
    values = pd.unique(pd.Series(column).dropna())
    if category or len(values) < points or not np.issubdtype(values.dtype, np.number):
        return values
    return np.linspace(*mquantiles(column, prob=percentiles), num=points)


def _sources(estimator: Any, X: Any, method: str) -> Iterable[tuple[Any, str | None]]:
    """Return models or functions whose partial dependences are asked for, and their scales."""
    if method == "decision_function":
        if hasattr(estimator, "_raw_predict"):  # boosting: the logit of two classes
            return [(estimator, "logit")]
        return [(estimator.decision_function, None)]
    outputs = _outputs(estimator, X)
    if outputs > 1:
        return [(partial(_output, estimator, k), None) for k in range(outputs)]
    return [(estimator, "probability" if method == "predict_proba" else None)]


def _outputs(estimator: Any, X: Any) -> int:
    """Return the number of a regressor's outputs; 1 if it can't predict."""
    if not is_regressor(estimator):
        return 1
    try:
        return int(np.shape(estimator.predict(X))[1:][0])
    except (ValueError, IndexError, AttributeError):
        return 1


def _output(estimator: Any, k: int, X: Any) -> Any:
    return estimator.predict(X)[:, k]


def _axes(results: Any) -> list[Any]:
    """Return the values of every feature, in order."""
    layout = results.estimand.terms.layout
    return [pd.unique(layout[axis]) for axis in results.estimand.terms.axes]


def _cube(values: Any, shape: Sequence[int]) -> Any:
    """Return terms, the last axis, as targets by points; the first feature varies fastest."""
    cube = values.reshape(*values.shape[:-1], -1, *shape[::-1])
    first = values.ndim  # of the features' axes
    return np.moveaxis(cube, range(first, cube.ndim), range(cube.ndim - 1, first - 1, -1))
