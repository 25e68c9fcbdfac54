"""Entropy-PFI beside log-loss PFI, of forests of the Pima data's classes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from paired import Pairs, pairs_of, table
from sklearn.ensemble import RandomForestClassifier

import pyinterp as pi

__all__ = ["uncertainty"]

TREES, REFITS = 500, 3
MOST = 1.5  # times the cost of log-loss PFI


def uncertainty(pairs: int) -> str:
    estimators = {
        f"forest of {TREES}": RandomForestClassifier(TREES, random_state=0),
        f"calibrated forest of {TREES}": pi.estimators.calibrated_forest(0, n_estimators=TREES),
    }
    rows = [
        _beside(f"{name}, {level}", fresh, pairs)
        for name, estimator in estimators.items()
        for level, fresh in (
            ("fitted", _fitted(estimator)),
            (f"{REFITS} refits", _refits(estimator)),
        )
    ]
    return f"""## Entropy beside log loss

Entropy-PFI ("ours") and log-loss PFI of all 8 features of the Pima data (768 rows), all pairs,
exact. The fitted model is evaluated on half of the rows. Each call has fresh results, which have
read no model yet. The goal is that entropy-PFI takes at most {MOST} times as long.

{table(rows, "log loss")}
"""


def _beside(work: str, fresh: Callable[[], Any], pairs: int) -> Pairs:
    results = [fresh() for _ in range(2 * pairs + 1)]
    return pairs_of(
        work,
        lambda: results.pop().entropy_pfi(),
        lambda: results.pop().pfi(loss="log"),
        pairs=pairs,
        goal=round(1 / MOST, 2),
    )


def _fitted(estimator: Any) -> Callable[[], pi.FittedModel]:
    data = pi.datasets.load_pima_diabetes()
    X, y = data.drop(columns="diabetes"), data["diabetes"]
    training = np.arange(len(X)) % 2 == 0
    model = estimator.fit(X[training], y[training])
    return lambda: pi.FittedModel(model, X[~training], y[~training])


def _refits(estimator: Any) -> Callable[[], Any]:
    learner = pi.Learner.from_formula("diabetes ~ .", pi.datasets.load_pima_diabetes(), estimator)
    kept = pickle.dumps(learner.fit(pi.Subsampling(REFITS), seed=1, progress=False))
    return lambda: pickle.loads(kept)  # noqa: S301 - written above
