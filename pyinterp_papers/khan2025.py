"""Khan, Saarela and Kustra (2025): marginal and conditional importance, and causal effects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import pyinterp as pi
from pyinterp_papers.importance import COLUMNS, importance_study
from pyinterp_papers.pictures import boxes, curves
from pyinterp_papers.processes import khan_regression
from pyinterp_papers.processes.khan import ORACLE
from pyinterp_papers.replication import Cell, Paper, long

if TYPE_CHECKING:
    from plotnine import ggplot
    from xgboost import XGBRegressor

MARGINAL, CONDITIONAL = ("independent", "simple", "multivariate"), ("weak", "moderate", "strong")
THREE = ("oracle", "XGBoost", "additive")
FEATURES = ("X1", "X2", "X3", "X4", "X5", "C1", "C2", "U1", "U2", "X6")
# Models by n, two thirds of which train.
MODELS = {100: 50, 500: 50, 1000: 50, 5000: 20, 10_000: 12, 20_000: 8}
# The tables' setting for all n, as `studies/khan_settings.py` found it. The paper prints ranges:
# 100 to 5000 trees of depth 2 to 6, at a rate of 0.05 to 0.3.
FOUND = {"n_estimators": 200, "learning_rate": 0.3, "max_depth": 2, "subsample": 0.5}
# Trees, rate and depth of the figures, from so many training rows on.
BOOSTING = {0: (1000, 0.05, 2), 1000: (2000, 0.05, 2), 5000: (1000, 0.1, 3)}
# Cubic splines of every column and a ridge for all, in the place of the paper's R package mgcv.
ADDITIVE = make_pipeline(
    SplineTransformer(n_knots=6, extrapolation="linear"), RidgeCV(np.logspace(-3, 4, 8))
)


def boosting(**settings: Any) -> XGBRegressor:
    """Return XGBoost."""
    from xgboost import XGBRegressor  # noqa: PLC0415 - an extra

    return XGBRegressor(**settings, n_jobs=1)


def truth(n: int = 1_000_000) -> pd.DataFrame:
    """Closed forms, with the Monte Carlo error that the paper's mean over n rows has."""
    values = []
    for offset in (0.1, 0.01):
        process = khan_regression("multivariate", offset=offset, noise_features=1)
        for feature in FEATURES:
            error = pi.simulation.dgp_pfi(process, feature, n=n, seed=1, method="monte-carlo").mcse
            values.append((feature, offset, process.pfi(feature), error))
    return pd.DataFrame(values, columns=["feature", "offset", "ours", "error"])


def components(measure: Any, scenario: Any, models: dict[int, int] = MODELS) -> pd.DataFrame:
    """Bias, variance and delta of XGBoost's importances by n; orig, of all features, once."""
    features = ["X1", "X5", "X6"] if measure == "mvim" else ["X1"]
    process = khan_regression(scenario)
    parts = [
        importance_study(
            process,
            boosting(**FOUND),
            features,
            measures=[measure],
            n=2 * n // 3,
            repetitions=repetitions,
            block=2,
            validation=2000,
        ).assign(n=n)
        for n, repetitions in models.items()
    ]
    frame, keys = pd.concat(parts), ["feature", "n"]
    columns = {
        name: frame[[*keys, name, f"{name}_mcse"]].set_axis([*keys, "ours", "error"], axis=1)
        for name in (*COLUMNS, "truth")
    }
    found = long(columns).sort_values(keys, kind="stable", ignore_index=True)
    of = found["feature"] + " " + found["quantity"]
    found["kind"] = np.select(
        [of.str.match("X6"), of.str.match(".*(corrected|truth)")], ["zero", "identity"], "number"
    )
    # f does not have X6: its bias and variance are orig again.
    found = found[~of.str.match("X5 .*_orig|X6 .*_")]
    return found[[*keys, "quantity", "kind", "ours", "error"]]


def draws(
    scenario: Any,
    learners: Sequence[str],
    measures: Sequence[str],
    features: Sequence[str],
    sizes: Sequence[int],
    repetitions: int,
) -> pd.DataFrame:
    """Importances of data sets: two thirds train, one third is permuted."""
    process = khan_regression(scenario)
    parts = {}
    for n, k in product(sizes, range(repetitions)):
        data = process.draw(3 * n // 2, seed=k)
        trees, rate, depth = BOOSTING[max(size for size in BOOSTING if size <= n)]
        xgboost = boosting(n_estimators=trees, learning_rate=rate, max_depth=depth)
        models = {
            "oracle": (ORACLE, LinearRegression()),
            "XGBoost": ("y ~ .", xgboost),
            "additive": ("y ~ .", ADDITIVE),
        }
        for name in learners:
            formula, model = models[name]
            learner = pi.Learner.from_formula(formula, data, model)
            res = learner.fit(pi.Holdout(fraction=2 / 3), seed=k)
            for measure in measures:
                found = getattr(res, measure.lower())(features, permutations=10)
                parts[n, name, measure, k] = found.params
    ours: pd.Series[float] = pd.concat(parts, names=["n", "learner", "measure", "draw", "feature"])
    return ours.rename("ours").reset_index().assign(error=np.nan)


def box_plots(scenario: Any, panel: str, result: pd.DataFrame) -> ggplot:
    """Draw importances of data sets by training rows, and the true ones."""
    process = khan_regression(scenario)
    keys = result[["learner", "measure", "feature"]].drop_duplicates()
    keys["ours"] = [
        process.cvim(x) if m == "CVIM" else process.pfi(x) for _, m, x in keys.to_numpy()
    ]
    return boxes(result, panel, keys, "importance")


def trajectory(result: pd.DataFrame) -> ggplot:
    """Draw delta and the estimate by training rows."""
    shown = result.query("quantity in ['delta', 'estimate', 'truth'] and feature != 'X6'")
    return curves(shown, "n", "quantity", "feature", "squared units of the response")


SECTION = (*((s, "MVIM") for s in MARGINAL), *((s, "CVIM") for s in CONDITIONAL))
CELLS = {
    "table 1": Cell(truth),
    **{
        f"table {k}": Cell(partial(components, measure.lower(), s))
        for k, (s, measure) in enumerate(SECTION, 2)
    },
    **{
        f"figure {k}": Cell(
            partial(draws, s, THREE, ("MVIM",), ("X1", "X5"), (100, 500, 1000, 5000), 6),
            partial(box_plots, s, "feature + learner"),
        )
        for k, s in enumerate(MARGINAL, 1)
    },
    **{f"figure {k}": Cell(draw=trajectory, of=f"table {k - 2}") for k in range(4, 10)},
    **{
        f"figure {k}": Cell(
            partial(
                draws, s, ("XGBoost",), ("MVIM", "AMVIM", "CVIM"), ("X1",), (500, 2000, 8000), 10
            ),
            partial(box_plots, s, "measure"),
        )
        for k, s in enumerate(CONDITIONAL, 10)
    },
}
PAPER = Paper("khan2025", CELLS)
