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
from pyinterp_papers.importance import importance_study
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
# Models by training rows.
MODELS = {100: 50, 500: 50, 1000: 50, 5000: 50, 10_000: 50, 20_000: 20, 50_000: 12}
# Trees, learning rate and depth from so many training rows on. The paper says of its settings: 100
# to 5000 trees of depth 2 to 6, rate 0.05 to 0.3, small rates and many trees for small sizes. These
# have about the least error in that range; more trees do not improve on them.
BOOSTING = {
    0: (1000, 0.05, 2),
    1000: (2000, 0.05, 2),
    5000: (1000, 0.1, 3),
    10_000: (700, 0.15, 3),
    20_000: (700, 0.2, 3),
    50_000: (500, 0.2, 4),
}
# What the text says of small training sets, but for the depth, and models by rows.
TEXT, TEXT_MODELS = (5000, 0.05, 2), {100: 30, 500: 10}
# Cubic splines of every column and a ridge for all, in the place of the paper's R package mgcv.
ADDITIVE = make_pipeline(
    SplineTransformer(n_knots=6, extrapolation="linear"), RidgeCV(np.logspace(-3, 4, 8))
)


def boosting(n: int, settings: tuple[int, float, int] | None = None) -> XGBRegressor:
    """Return XGBoost with the settings for n training rows, or with these."""
    from xgboost import XGBRegressor  # noqa: PLC0415 - an extra

    trees, rate, depth = settings or BOOSTING[max(size for size in BOOSTING if size <= n)]
    return XGBRegressor(n_estimators=trees, learning_rate=rate, max_depth=depth, n_jobs=1)


def truth(n: int = 1_000_000) -> pd.DataFrame:
    """Closed forms, with the Monte Carlo error that the paper's mean over n rows has."""
    values = []
    for offset in (0.1, 0.01):
        process = khan_regression("multivariate", offset=offset, noise_features=1)
        for feature in FEATURES:
            error = pi.simulation.dgp_pfi(process, feature, n=n, seed=1, method="monte-carlo").mcse
            values.append((feature, offset, process.pfi(feature), error))
    return pd.DataFrame(values, columns=["feature", "offset", "ours", "error"])


def tables(measure: Any, scenario: Any) -> pd.DataFrame:
    """Bias, variance and delta of XGBoost's importances, by our settings and the text's."""
    text = components(measure, scenario, TEXT_MODELS, TEXT)
    text = text.rename(columns={"ours": "text", "error": "text_error"})
    return components(measure, scenario).merge(text, "left", ["feature", "n", "quantity"])


def components(
    measure: Any, scenario: Any, models: dict[int, int] = MODELS, settings: Any = None
) -> pd.DataFrame:
    """Bias, variance and delta by training rows."""
    features = ["X1", "X5", "X6"] if measure == "mvim" else ["X1"]
    options: dict[str, Any] = {"measures": [measure], "block": 2}
    process = khan_regression(scenario)
    parts = [
        importance_study(
            process, boosting(n, settings), features, n=n, repetitions=repetitions, **options
        )
        for n, repetitions in models.items()
    ]
    frame = pd.concat(parts)
    names = [str(c).removesuffix("_mcse") for c in frame if str(c).endswith("_mcse")]
    keys = ["feature", "n"]
    columns = {
        name: frame[keys].assign(ours=frame[name], error=frame[f"{name}_mcse"]) for name in names
    }
    return long(columns)[[*keys, "quantity", "ours", "error"]].sort_values(
        keys, kind="stable", ignore_index=True
    )


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
        models = {
            "oracle": (ORACLE, LinearRegression()),
            "XGBoost": ("y ~ .", boosting(n)),
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
        f"table {k}": Cell(partial(tables, measure.lower(), s))
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
