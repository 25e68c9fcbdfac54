"""Questions to a fitted model: what the package answers, and what plain loops do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import naive
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from model_kinds import Fitted, Kind

import pyinterp as pi

EPS = np.finfo(float).eps
EPS_SINGLE = np.finfo(np.float32).eps
ZERO = 2e-12  # the package counts a spread below 1e-12 of the level as rounding, hence as none
TASKS = {
    "mean": ["squared", "absolute", "huber", "callable"],
    "count": ["squared", "absolute", "poisson", "callable"],
    "positive": ["squared", "absolute", "poisson", "gamma"],
    "probability": ["log", "brier", "zero_one"],
    "label": ["zero_one"],
}
OF_NUMBERS = ["rmse", "mae", "mse", "mape", "rsq", "rsq_trad"]
SCORES = {
    "mean": OF_NUMBERS,
    "count": OF_NUMBERS[:3],
    "positive": OF_NUMBERS,
    "probability": ["accuracy", "bal_accuracy", "logloss", "brier", "roc_auc"],
    "label": ["accuracy", "bal_accuracy"],
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked, drawn by hypothesis; `pick` chooses among what the model allows."""

    about: str
    pick: int
    relation: str
    cov_type: str
    kind: str
    order: str
    spread: str
    ice: bool
    grouped: bool
    clustered: bool

    def one_of(self, options):
        return options[self.pick % len(options)]


ABOUT = ["pfi", "pfi", "pfi", "pd", "pd", "surface", "loss", "mvim", "h", "firm", "vint", "metric"]


def questions():
    return st.builds(
        Question,
        about=st.sampled_from(ABOUT),
        pick=st.integers(0, 1000),
        relation=st.sampled_from(["difference", "difference", "ratio"]),
        cov_type=st.sampled_from(["ustat", "rows"]),
        kind=st.sampled_from(["pd", "ice", "c-ice", "d-ice"]),
        order=st.sampled_from(["overall", "pairwise", "total", "importance"]),
        spread=st.sampled_from(["sd", "mad", "iqr"]),
        ice=st.booleans(),
        grouped=st.booleans(),
        clustered=st.booleans(),
    )


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A number of the package, the oracle's, and how far rounding may take them apart."""

    what: str
    got: Any
    expected: Any
    tolerance: Any

    @property
    def agrees(self):
        got, expected = np.asarray(self.got, float), np.asarray(self.expected, float)
        return got.shape == expected.shape and bool(
            np.all(np.isnan(expected) | (np.abs(got - expected) <= self.tolerance))
        )


@dataclass(frozen=True)
class Asked:
    """One question to one fitted model."""

    question: Question
    kind: Kind
    fitted: Fitted

    # What the package is given -------------------------------------------------------------------

    @property
    def names(self):
        number = self.fitted.X.shape[1]
        return (
            self.fitted.names
            if isinstance(self.fitted.X, pd.DataFrame)
            else tuple(f"x{i + 1}" for i in range(number))
        )

    def columns(self, name):
        """The columns of a variable: its name in a frame, its position in an array."""
        if isinstance(self.fitted.X, pd.DataFrame):
            return [name]
        return [self.names.index(name)]

    @property
    def features(self):
        names = self.names
        if not self.question.grouped or len(names) < 2:
            return {name: self.columns(name) for name in names}
        joint = [c for name in names[:2] for c in self.columns(name)]
        return {"both": joint} | {name: self.columns(name) for name in names[2:]}

    @property
    def clusters(self):
        return np.arange(len(self.fitted.y)) // 2 if self.question.clustered else None

    def package(self):
        grouped = self.question.grouped and len(self.names) >= 2
        groups = {"both": list(self.names[:2])} if grouped else None
        return pi.FittedModel(
            self.fitted.handed,
            self.fitted.X,
            self.fitted.labels,
            groups=groups,
            cluster=self.clusters,
            seed=1,
            **self.fitted.options,
        )

    # Rounding -------------------------------------------------------------------------------------

    def rounding(self, predicted):
        """How far predictions may be apart: a share of their spread, and what rounding does.

        Inputs that move by one unit in the last place move the predictions of smooth models by as
        much as rounding may. Step functions are not allowed for the size of their predictions, be
        it in single precision: they are what they are, whatever their last digit is worth.
        """
        base = self.kind.rounding * np.ptp(predicted) + 64 * EPS * np.abs(predicted).max()
        if self.kind.steps:
            return float(base)
        if getattr(self.fitted.X, "dtype", None) == np.float32:
            base += 1e-5 * np.ptp(predicted) + 8 * EPS_SINGLE * np.abs(predicted).max()
        return float(base + 64 * self._condition())

    def _condition(self):
        X = self.fitted.X
        moved = _moved(X)
        return float(np.abs(self.fitted.model(moved) - self.fitted.model(X)).max())

    def loss_rounding(self, y, predicted, loss):
        """The same of losses, by moving the predictions."""
        by = self.rounding(predicted)
        at = loss(y, predicted)
        moved = max(np.abs(loss(y, predicted + d) - at).max() for d in (by, -by))
        moved = np.nan_to_num(moved)
        return float(self.kind.rounding * np.ptp(at) + 64 * EPS * np.abs(at).max() + moved)


def _moved(X):
    """Return rows whose floating-point numbers are one unit in the last place further from 0."""
    if isinstance(X, pd.DataFrame):
        return X.apply(lambda c: c * (1 + EPS) if c.dtype == np.float64 else c)
    return X * X.dtype.type(1 + np.finfo(X.dtype).eps)


# The questions ------------------------------------------------------------------------------------


def answers(asked):
    """Yield the package's numbers beside the oracle's."""
    return BY_NAME[asked.question.about](asked)


def _distance(y, prediction):
    return np.sqrt(np.abs(y - prediction))


def _losses(asked):
    """Return a loss as the package and as the oracle know it."""
    name = asked.question.one_of(TASKS[asked.kind.task])
    return (_distance, _distance) if name == "callable" else (name, naive.LOSSES[name])


def pfi(asked):
    name, loss = _losses(asked)
    return _pfi(asked, name, loss)


def mvim(asked):
    if asked.kind.task == "label":
        return pfi(asked)
    if asked.kind.task == "probability" and len(asked.fitted.classes) > 2:
        return pfi(asked)
    second = asked.kind.task == "probability"
    return _pfi(asked, None, naive.LOSSES["squared of second" if second else "squared"])


def _pfi(asked, name, loss):
    """PFI of all features, or MVIM if the loss has no name."""
    question, fitted, package = asked.question, asked.fitted, asked.package()
    relation = question.relation if name is not None else "difference"
    options = {"cov_type": question.cov_type, "permutations": "all"}
    if name is None:
        got = package.mvim(list(asked.features), **options)
    else:
        got = package.pfi(list(asked.features), loss=name, relation=relation, **options)
    original = loss(fitted.y, fitted.model(fitted.X))
    for feature, columns in asked.features.items():
        predicted = naive.all_pairs(fitted.model, fitted.X, columns)
        switched = loss(np.broadcast_to(fitted.y[:, None], predicted.shape[:2]), predicted)
        by = asked.loss_rounding(fitted.y[:, None], predicted, loss)
        by += _near_ties(predicted, name)
        value, variance = naive.pfi(switched, original, relation, question.cov_type, asked.clusters)
        if relation == "ratio":
            if not original.mean() > 1e3 * by:
                continue  # the quotient of two roundings
            by *= (1 + abs(value)) / original.mean()
        what = f"{'mvim' if name is None else 'pfi'} {name} {relation} of {feature}"
        yield Answer(what=what, got=got.params[feature], expected=value, tolerance=by)
        yield _error(what, got.bse[feature], variance, by, np.abs(switched).max())


def _near_ties(predicted, loss):
    """Share of rows whose class hangs on rounding: probabilities that nearly tie."""
    if loss != "zero_one":
        return 0.0
    first, second = np.sort(predicted, axis=-1)[..., ::-1][..., :2].transpose(2, 0, 1)
    return float(((first != second) & (first - second < 1e-6)).mean()) * 4


def _error(what, got, variance, by, level):
    """A standard error of numbers of this level."""
    return Answer(
        what=f"s.e. of {what}",
        got=got,
        expected=np.sqrt(variance),
        tolerance=2 * by + 1e-9 * np.sqrt(variance) + ZERO * level,
    )


def loss(asked):
    name, function = _losses(asked)
    fitted = asked.fitted
    got = asked.package().loss(name)
    predicted = fitted.model(fitted.X)
    rows = function(fitted.y, predicted)
    by = asked.loss_rounding(fitted.y, predicted, function)
    yield Answer(what=f"loss {name}", got=got.params.iloc[0], expected=rows.mean(), tolerance=by)
    variance = naive.variance_of_mean(rows, asked.clusters)
    yield _error("loss", got.bse.iloc[0], variance, by, np.abs(rows).max())


def _grid(asked, name, points):
    """Values that occur, and for floating-point numbers some that do not."""
    X = asked.fitted.X
    column = X[name] if isinstance(X, pd.DataFrame) else pd.Series(X[:, asked.columns(name)[0]])
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [v for v in column.cat.categories if v != "never"]
    values = sorted(set(column.tolist()))
    some = [values[i] for i in np.unique(np.linspace(0, len(values) - 1, points).astype(int))]
    if column.dtype == np.float64 and len(some) > 1:
        some = sorted({*some, (some[0] + some[1]) / 2})
    return some


def pd_(asked):
    name = asked.question.one_of(list(asked.names))
    grid = _grid(asked, name, 4)
    kind = asked.question.kind
    category = isinstance(grid[0], str)
    if kind == "d-ice" and (category or len(grid) < 2 or isinstance(grid[0], bool)):
        kind = "c-ice"
    options = {**_classes(asked), "cov_type": "rows"}
    got = asked.package().pd(name, grid=grid, kind=kind, **options)
    curves = naive.ice(asked.fitted.model, asked.fitted.X, asked.columns(name), [[v] for v in grid])
    by = asked.rounding(curves)
    if kind == "c-ice":
        curves = curves - curves[:, :1]
    if kind == "d-ice":
        steps = np.asarray(grid, float)
        curves, by = np.gradient(curves, steps, axis=1), 4 * by / np.diff(steps).min()
    yield from _curves(asked, f"{kind} of {name}", got, curves, by)


def surface(asked):
    first, second = _pair(asked)
    grids = {name: _grid(asked, name, 2) for name in (first, second)}
    options = {**_classes(asked), "cov_type": "rows"}
    got = asked.package().pd([first, second], grid=grids, **options)
    points = [[a, b] for b in grids[second] for a in grids[first]]
    columns = [*asked.columns(first), *asked.columns(second)]
    curves = naive.ice(asked.fitted.model, asked.fitted.X, columns, points)
    yield from _curves(asked, f"pd of {first}, {second}", got, curves, asked.rounding(curves))


def _pair(asked):
    names = list(asked.names)
    first = asked.question.one_of(names)
    return first, names[(names.index(first) + 1) % len(names)]


def _classes(asked):
    return {} if asked.fitted.classes is None else {"which_class": list(asked.fitted.classes)}


def _curves(asked, what, got, curves, by):
    """Means, errors and rows; of classes one after the other."""
    if asked.fitted.classes is not None:
        curves = np.concatenate(list(np.moveaxis(curves, 2, 0)), axis=1)
    mean, variance = curves.mean(axis=0), naive.variance_of_mean(curves, asked.clusters)
    yield Answer(what=what, got=got.params.to_numpy(), expected=mean, tolerance=by)
    yield _error(what, got.bse.to_numpy(), variance, by, np.abs(curves).max())
    rows = got.row_frame().to_numpy()
    yield Answer(what=f"rows of {what}", got=rows, expected=curves, tolerance=by)


def h(asked):
    order = asked.question.order
    asked = Asked(question=asked.question, kind=asked.kind, fitted=_first(asked.fitted, 20))
    if order == "pairwise" and len(asked.features) < 2:
        order = "overall"
    options = {"order": order, **_classes(asked)}
    package = asked.package()
    plain = package.h_statistic(list(asked.features), normalize=False, **options)
    share = package.h_statistic(list(asked.features), **options)
    expected = naive.h_squared(asked.fitted.model, asked.fitted.X, asked.features, order)
    above, below = (_by_class(asked, [pair[i] for pair in expected.values()]) for i in (0, 1))
    predicted = asked.fitted.model(asked.fitted.X)
    noise = 8 * asked.rounding(predicted) + ZERO * np.abs(predicted).max()
    by = noise**2 + 2 * noise * np.sqrt(above)
    yield Answer(what=f"H² {order}", got=plain.params, expected=above, tolerance=by)
    safe = below > 1e6 * noise**2  # elsewhere a share of rounding errors
    ratio = np.where(safe, above / np.where(safe, below, 1), np.nan)
    by = np.where(safe, 4 * by / np.where(safe, below, 1), np.inf) + 1e-9
    yield Answer(what=f"H² {order}, share", got=share.params, expected=ratio, tolerance=by)


def _first(fitted, n):
    X = fitted.X.iloc[:n] if isinstance(fitted.X, pd.DataFrame) else fitted.X[:n]
    values = vars(fitted) | {"X": X, "labels": fitted.labels[:n], "y": fitted.y[:n]}
    return Fitted(**values)


def _by_class(asked, values):
    """Order values by class, then by term, as the package does."""
    stacked = np.stack([np.atleast_1d(v) for v in values])
    return stacked.T.ravel() if asked.fitted.classes is not None else stacked.ravel()


def firm(asked):
    question, fitted = asked.question, asked.fitted
    names = [n for n in asked.names if len(_grid(asked, n, 4)) > 1]
    if not names:
        return
    name = question.one_of(names)
    grid = _grid(asked, name, 4)
    options = {"spread": question.spread, "ice": question.ice, **_classes(asked)}
    got = asked.package().firm(name, grid={name: grid}, **options)
    curves = naive.ice(fitted.model, fitted.X, asked.columns(name), [[v] for v in grid])
    by = 4 * asked.rounding(curves) + ZERO * np.abs(curves).max()
    levels = isinstance(grid[0], str)
    points = np.moveaxis(curves, 1, 0) if question.ice else curves.mean(axis=0)
    value = naive.flatness(points, question.spread, levels=levels)
    value = np.atleast_1d(value.mean(axis=0) if question.ice else value)
    what = f"firm of {name}, {question.spread}, ice={question.ice}"
    yield Answer(what=what, got=got.params, expected=value, tolerance=by)


def vint(asked):
    first, second = _pair(asked)
    grids = {name: _grid(asked, name, 3) for name in (first, second)}
    if min(len(grid) for grid in grids.values()) < 2:
        return
    got = asked.package().vint([(first, second)], grid=grids, **_classes(asked))
    points = [[a, b] for a in grids[first] for b in grids[second]]
    columns = [*asked.columns(first), *asked.columns(second)]
    curves = naive.ice(asked.fitted.model, asked.fitted.X, columns, points)
    mean = curves.mean(axis=0)
    mean = mean.reshape(len(grids[first]), len(grids[second]), *mean.shape[1:])
    value = np.atleast_1d(naive.vint(mean))
    by = 8 * asked.rounding(curves) + ZERO * np.abs(curves).max()
    yield Answer(what=f"vint {first}, {second}", got=got.params, expected=value, tolerance=by)


def metric(asked):
    fitted, question = asked.fitted, asked.question
    name = question.one_of(_scores(asked))
    rng, n = np.random.default_rng(question.pick), len(fitted.y)
    permutations = {f: np.stack([rng.permutation(n) for _ in range(3)], 1) for f in asked.features}
    got = asked.package().pfi(list(asked.features), metric=name, permutations=permutations)
    for feature, columns in asked.features.items():
        predicted = naive.all_pairs(fitted.model, fitted.X, columns)
        if not _defined(name, fitted.y, predicted):
            continue
        value = naive.metric_importance(
            fitted.model, fitted.X, fitted.y, columns, name, permutations[feature]
        )
        by = _metric_rounding(asked, name, predicted)
        yield Answer(
            what=f"{name} of {feature}", got=got.params[feature], expected=value, tolerance=by
        )


def _scores(asked):
    """Metrics that have a value for these rows: all classes must occur for some."""
    fitted = asked.fitted
    names = SCORES[asked.kind.task]
    if fitted.classes is None:
        return names
    present = len(set(fitted.y.tolist()))
    if present < len(fitted.classes) or len(fitted.classes) > 2:
        names = [n for n in names if n != "roc_auc"]
    return [n for n in names if n != "bal_accuracy" or present == len(fitted.classes)]


def _defined(name, y, predicted):
    """Whether the metric is more than a quotient of rounding errors."""
    if name in {"rsq", "rsq_trad"}:
        own = np.diagonal(predicted)
        return bool(min(own.std(), y.std()) > 1e-6 * max(1, *np.abs(own), *np.abs(y)))
    return name != "mape" or bool(np.abs(y).min() > 1e-9 * np.abs(y).max())


def _metric_rounding(asked, name, predicted):
    """How far metrics may be apart, given how far predictions may."""
    y = asked.fitted.y
    if name in {"accuracy", "bal_accuracy"}:
        return 1e-9 + len(y) * _near_ties(predicted, "zero_one")
    if name in {"brier", "logloss"}:
        loss = naive.LOSSES["log" if name == "logloss" else "brier"]
        return asked.loss_rounding(y[:, None], predicted, loss)
    if name == "roc_auc":
        return asked.kind.rounding
    return _error_rounding(name, y, predicted, asked.rounding(predicted))


def _error_rounding(name, y, predicted, by):
    largest = np.abs(predicted - y[:, None]).max()
    by = 2 * (1e-9 * largest + 64 * EPS * np.abs(predicted).max() + by)
    scale = min(y.std(), np.diagonal(predicted).std())
    factor = {"rmse": 1.0, "mae": 1.0, "mse": 2 * largest}
    if name == "mape":
        return float(100 * by / np.abs(y).min())
    if name in factor:
        return float(by * factor[name])
    return float(1e-9 + 50 * by / scale * (1 + (largest / y.std()) ** 2))


BY_NAME = {
    "pfi": pfi,
    "mvim": mvim,
    "pd": pd_,
    "surface": surface,
    "loss": loss,
    "h": h,
    "firm": firm,
    "vint": vint,
    "metric": metric,
}
