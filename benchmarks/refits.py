"""Sections on refits: a study against the fits that it needs anyway; entropy beside log loss."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from cases import FOREST, draw, wine
from paired import Line, table
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import pyinterp as pi

Results = Any


def refits() -> str:
    X, y = draw(200, 6)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(6)])
    linear = _Study(pi.Learner(y, frame, LinearRegression()), LinearRegression(), frame, y)
    by_name = pi.Learner.from_formula("y ~ .", frame.assign(y=y), LinearRegression())
    formula = _Study(by_name, LinearRegression(), frame, y, "linear model by formula")
    frame, y = wine()
    forest = _Study(pi.Learner(y, frame, FOREST), FOREST, frame, y)
    lines = [
        linear.line("fit", linear.fit, fitted=False),
        linear.line("first PFI", lambda res: res.pfi()),
        linear.line("fit, PFI and its summary", lambda: linear.fit().pfi().summary(), fitted=False),
        linear.line("six PD", lambda res: [res.pd(name) for name in linear.frame]),
        linear.line("six PD and summaries", lambda res: _curves(res, linear.frame)),
        formula.line(
            "fit, PFI and its summary", lambda: formula.fit().pfi().summary(), fitted=False
        ),
        formula.line("six PD and summaries", lambda res: _curves(res, linear.frame)),
        linear.line("ALE", lambda res: res.ale("x1")),
        linear.line("FIRM", lambda res: res.firm()),
        linear.line("H", lambda res: res.h_statistic()),
        linear.line("AME", lambda res: res.ame()),
        linear.line("CVIM", lambda res: res.cvim()),
        forest.line("PFI and its summary", lambda res: res.pfi().summary()),
        forest.line("eleven PD and summaries", lambda res: _curves(res, forest.frame)),
        forest.line("CVIM and its summary", lambda res: res.cvim().summary()),
    ]
    return f"""
The 45 refits of the default plan, against a loop that fits copies of the learner to the same rows.
The linear model has 200 rows and 6 features, the forest of 100 as many rows and features as the red
wine data (1,599 and 11). Ratios are multiples of the bare fits; what `fit` does is not counted
again in the lines of estimands.

{table(lines, "45 bare fits", ours_over_theirs=True)}
"""


class _Study:
    def __init__(
        self, learner: pi.Learner, estimator: Any, frame: pd.DataFrame, y: Any, name: str = ""
    ) -> None:
        self.learner, self.estimator, self.frame, self.y = learner, estimator, frame, y
        kind = "linear model" if isinstance(estimator, LinearRegression) else "forest"
        self.name = name or kind
        fitted = self.fit()
        self.rows = [refit.train_rows for refit in (*fitted.refits, *fitted.halves)]
        self.kept = pickle.dumps(fitted)

    def fit(self) -> Results:
        return self.learner.fit(seed=1, progress=False)

    def line(self, work: str, ours: Callable[..., Any], *, fitted: bool = True) -> Line:
        fresh = (lambda: (pickle.loads(self.kept),)) if fitted else tuple  # noqa: S301
        return Line(f"{self.name}: {work}", ours, self._bare, fresh)

    def _bare(self, *_: Any) -> None:
        for rows in self.rows:
            clone(self.estimator).fit(self.frame.iloc[rows], self.y[rows])


def _curves(res: Results, frame: pd.DataFrame) -> None:
    for name in frame:
        res.pd(name).summary()


def entropy() -> str:
    estimators = {
        "forest of 500": RandomForestClassifier(500, random_state=0),
        "calibrated forest of 500": pi.estimators.calibrated_forest(0, n_estimators=500),
    }
    lines = [
        Line(
            f"{name}, {level}", lambda res: res.entropy_pfi().bse,
            lambda res: res.pfi(loss="log").bse, fresh,
        )
        for name, estimator in estimators.items()
        for level, fresh in (("fitted", _fitted(estimator)), ("3 refits", _refits(estimator)))
    ]  # fmt: skip
    return f"""
Entropy-PFI ("ours") and log-loss PFI of all 8 features of the Pima data (768 rows), all pairs,
exact. The fitted model is evaluated on half of the rows. Each call has fresh results, which have
read no model yet.

{table(lines, "log loss", ours_over_theirs=True)}
"""


def _fitted(estimator: Any) -> Callable[[], tuple[Any]]:
    data = pi.datasets.load_pima_diabetes()
    X, y = data.drop(columns="diabetes"), data["diabetes"]
    training = np.arange(len(X)) % 2 == 0
    model = clone(estimator).fit(X[training], y[training])
    return lambda: (pi.FittedModel(model, X[~training], y[~training]),)


def _refits(estimator: Any) -> Callable[[], tuple[Any]]:
    learner = pi.Learner.from_formula("diabetes ~ .", pi.datasets.load_pima_diabetes(), estimator)
    kept = pickle.dumps(learner.fit(pi.Subsampling(3), seed=1, progress=False))
    return lambda: (pickle.loads(kept),)  # noqa: S301 - written above
