"""Sections against scikit-learn: tree ensembles, and models that are predicted in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from cases import (
    EVALUATE,
    FEATURES,
    FEW,
    FOREST,
    NAMES,
    TRAIN,
    Case,
    column_pipeline,
    linear,
    others,
    trees,
)
from paired import Pairs, pairs_of, table
from sklearn.inspection import partial_dependence, permutation_importance

import pyinterp as pi

__all__ = ["REPEATS", "any_model", "ensembles", "their_pfi"]

REPEATS, POINTS = 30, 50
SCORING = "neg_mean_squared_error"


def ensembles(pairs: int) -> str:
    rows: list[Pairs] = []
    for name, case in trees().items():
        pfi_goal, pd_goal = (20, 40) if name == FOREST else (5, 10)
        match = repeats_to_match(case)
        rows += [
            pfi_pairs(name, case, "auto", pairs=pairs, goal=pfi_goal, notes=(match,)),
            pd_pairs(name, case, pairs=pairs, goal=pd_goal, notes=("",)),
        ]
    return f"""## Tree ensembles against scikit-learn

{TRAIN:,} training rows, {EVALUATE:,} evaluation rows, {FEATURES} features;
`permutation_importance(n_repeats={REPEATS})` and `partial_dependence(method="brute", kind="both")`.
Ours is the mean over all pairs of rows. "Repeats to match": permutations after which the Monte
Carlo error of scikit-learn's estimate is 1% of the sampling error of PFI (median over features);
ours has none.

{table(rows, "scikit-learn", ("repeats to match",))}
"""


def any_model(pairs: int) -> str:
    rows: list[Pairs] = []
    for name, case in others().items():
        rows += [
            pfi_pairs(name, case, REPEATS, pairs=pairs, goal=1),
            pd_pairs(name, case, pairs=pairs, goal=1),
        ]
    name, case = "columns, then neural network", column_pipeline()
    rows += [
        pfi_pairs(name, case, REPEATS, pairs=pairs, goal=2),
        pd_pairs(name, case, pairs=pairs, goal=2),
    ]
    name, case = "linear model", linear()
    rows += [pfi_pairs(name, case, "auto", pairs=pairs), pd_pairs(name, case, pairs=pairs)]
    return f"""## Any model against scikit-learn

The batched engine with the same number of permutations on both sides: 500 training rows, {FEW}
evaluation rows, {FEATURES} features. "Columns, then neural network" is a pipeline of a
`ColumnTransformer` (scaling of 5 columns, one-hot encoding of a column of strings) and a neural
network, on a data frame. The linear model has a closed form and more rows ({TRAIN:,} and
{EVALUATE:,}).

{table(rows, "scikit-learn")}
"""


def pfi_pairs(name: str, case: Case, permutations: Any, **options: Any) -> Pairs:
    def ours() -> pd.Series[float]:
        model = pi.FittedModel(*case, seed=1)
        return model.pfi(permutations=permutations).params

    what = "exact PFI" if permutations == "auto" else f"PFI, {permutations} permutations"
    return pairs_of(f"{name}: {what}", ours, lambda: their_pfi(case, REPEATS), **options)


def pd_pairs(name: str, case: Case, **options: Any) -> Pairs:
    features = list(case.X.columns) if isinstance(case.X, pd.DataFrame) else NAMES
    levels = _levels(case.X)

    def ours() -> None:
        model = pi.FittedModel(*case)
        for feature in features:
            model.pd(feature, points=POINTS, kind="ice")

    def theirs() -> None:
        for j in range(len(features)):
            partial_dependence(
                case.model, case.X, [j], grid_resolution=POINTS, kind="both", method="brute",
                categorical_features=levels,
            )  # fmt: skip

    return pairs_of(f"{name}: PD and ICE, {len(features)} x {POINTS}", ours, theirs, **options)


def their_pfi(case: Case, repeats: int) -> Any:
    return permutation_importance(*case, n_repeats=repeats, random_state=0, scoring=SCORING)


def repeats_to_match(case: Case) -> str:
    """Return the repeats after which permutation noise is 1% of the sampling error, on average."""
    noise = their_pfi(case, 10).importances.std(axis=1, ddof=1)
    error = pi.FittedModel(*case).pfi().bse.to_numpy()
    used = error > 0
    return f"{int(np.median((noise[used] / (0.01 * error[used])) ** 2)):,}"


def _levels(X: Any) -> list[str] | None:
    """Return the columns that are not numbers."""
    if not isinstance(X, pd.DataFrame):
        return None
    return list(X.columns[[not pd.api.types.is_numeric_dtype(t) for t in X.dtypes]])
