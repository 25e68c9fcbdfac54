"""Greenwell, Boehmke and McCarthy (2018): importance by the flatness of partial dependence."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

import pyinterp as pi
from pyinterp_papers.pictures import bars, curves
from pyinterp_papers.processes import friedman1
from pyinterp_papers.replication import Cell, Paper, long, over_seeds, values

if TYPE_CHECKING:
    from plotnine import ggplot

NETWORK = MLPRegressor(
    hidden_layer_sizes=(8,),
    activation="logistic",
    solver="lbfgs",
    alpha=0.01,
    max_iter=5000,
    random_state=1,
)
TREES = GradientBoostingRegressor(n_estimators=300, learning_rate=0.1, max_depth=3)
# Which of the 2,930 houses are the paper's 1,460: Kaggle's, by these columns.
SOLD = ["Lot_Area", "Year_Built", "Gr_Liv_Area", "Garage_Area", "Mo_Sold", "Sale_Price"]


def friedman(estimator: Any, n: int = 500) -> pi.Learner:
    """Return a learner of Friedman's data with five features of noise."""
    return pi.Learner.from_formula("y ~ .", friedman1().draw(n, seed=1), estimator)


def network(k: int = 20) -> pd.DataFrame:
    """FIRM, Garson's and Olden's importances of k networks with other data and first weights."""
    parts = []
    for seed in range(k):
        data = friedman1().draw(500, seed=seed)
        one = clone(NETWORK).set_params(random_state=seed)
        model = pi.Learner.from_formula("y ~ .", data, one).fit_model(seed=1)
        results = {
            "FIRM": model.firm(),
            "Garson": model.native_importance("garson"),
            "Olden": model.native_importance("olden"),
        }
        frame = long({m: values(r, "feature") for m, r in results.items()}, "method")
        parts.append(frame.assign(network=seed))
    return pd.concat(parts, ignore_index=True)


def interactions() -> pd.DataFrame:
    """The interaction statistic of all pairs, with standard errors over half-samples."""
    res = friedman(NETWORK).fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False)
    return values(res.vint(points=8), "pair")


def boosting() -> pd.DataFrame:
    """H and the interaction statistic of boosted trees, all pairs."""
    model = friedman(TREES).fit_model(seed=1)
    pairs = list(combinations(model.firm().params.index, 2))
    results = {
        "H": model.h_statistic(pairs, order="pairwise", squared=False, most_rows=100),
        "interaction statistic": model.vint(points=8),
    }
    return long({k: values(r, "pair") for k, r in results.items()}, "method")


def houses(trees: int = 200) -> pd.DataFrame:
    """FIRM and impurity of all features in a forest, boosting and their stack; PD of boosting."""
    from lightgbm import LGBMRegressor  # noqa: PLC0415 - an extra

    encoder = make_column_transformer(
        (TargetEncoder(), make_column_selector(dtype_include="category")), remainder="passthrough"
    )
    forest = make_pipeline(encoder, RandomForestRegressor(100, max_features=1 / 3))
    # It splits categories itself, as h2o does.
    boosting = LGBMRegressor(
        n_estimators=trees, max_depth=5, importance_type="gain", n_jobs=1, verbose=-1
    )
    base = [("forest", forest), ("boosting", boosting)]
    stack = StackingRegressor(base, LinearRegression(), cv=3)
    kaggle, data = pi.datasets.load("ames_kaggle_train"), pi.datasets.load_ames()
    sold = kaggle.rename(columns={name.replace("_", ""): name for name in SOLD})[SOLD]
    data = data.merge(sold).drop_duplicates(SOLD, ignore_index=True)
    data["Log_Sale_Price"] = np.log(data.pop("Sale_Price"))
    parts = {}
    for name, estimator in (*base, ("stack", stack)):
        learner = pi.Learner.from_formula("Log_Sale_Price ~ .", data, estimator, design="frame")
        res = learner.fit_model(seed=1)
        firm = res.firm()
        parts[name] = values(firm, "feature")
        if name != "stack":
            parts[f"impurity, {name}"] = values(res.native_importance("impurity"), "feature")
        if name == "boosting":
            order = firm.params.sort_values(ascending=False).index
            for feature in (str(x) for x in (*order[:3], *order[-3:])):
                frame = res.pd(feature, points=15).summary_frame()
                curve = frame["estimate"].reset_index(drop=True).rename("ours").to_frame()
                parts[f"PD of {feature}"] = curve.assign(feature=feature, error=np.nan)
    frame = long(parts, "what")
    return frame.assign(place=frame.groupby("what").cumcount())[
        ["what", "feature", "place", "ours", "error"]
    ]


def airfoil(seed: int) -> pi.LearnerResults:
    """Return a stack of a forest, extremely random trees, boosted trees, a network and a line."""
    network = MLPRegressor(
        hidden_layer_sizes=(50, 50), alpha=0.01, learning_rate_init=0.01, max_iter=300
    )
    base = [
        ("forest", RandomForestRegressor(100)),
        ("extra", ExtraTreesRegressor(100)),
        ("boosting", GradientBoostingRegressor(n_estimators=500, max_depth=5, subsample=0.7)),
        ("network", make_pipeline(StandardScaler(), network)),
        ("line", LinearRegression()),
    ]
    stack = StackingRegressor(base, LinearRegression(), cv=5)
    learner = pi.Learner.from_formula("sound_pressure ~ .", pi.datasets.load_airfoil(), stack)
    return learner.fit(pi.Holdout(0.9), seed=seed, progress=False)


@over_seeds
def sound(seed: int) -> pd.DataFrame:
    """FIRM of five features, over their distinct values, and R² of the stack."""
    res = airfoil(seed)
    firm = values(res.firm(grid="unique"), "feature")
    r2 = values(res.metric("r2"), "feature").assign(feature="R²")
    return pd.concat([firm, r2], ignore_index=True)


def noise() -> pd.DataFrame:
    """PD of five features of the stack."""
    res, parts = airfoil(0), {}
    for feature in map(str, pi.datasets.load_airfoil().columns[:-1]):
        frame = res.pd(feature, points=20).summary_frame()
        parts[feature] = frame[["value"]].assign(ours=frame["estimate"], error=np.nan)
    return long(parts, "feature")


def top(panel: str, term: str, k: int, result: pd.DataFrame) -> ggplot:
    """Draw the largest numbers of every panel."""
    size = result["ours"].abs()
    place = (size.groupby(result[panel]) if panel else size).rank(ascending=False)
    return bars(result.assign(ours=size)[place <= k], term, panel)


def first(result: pd.DataFrame) -> ggplot:
    """Draw the importances of the first network."""
    return top("method", "feature", 10, result.query("network == 0"))


CELLS = {
    "figure 1": Cell(
        draw=partial(top, "what", "feature", 15),
        of="figure 8",
        rows="what in ['boosting', 'impurity, boosting']",
    ),
    "figure 2": Cell(
        draw=partial(curves, x="place", panel="feature", y="log price"),
        of="figure 8",
        rows="what.str.startswith('PD')",
    ),
    "figure 4": Cell(network, first),
    "figure 5": Cell(interactions, partial(top, "", "pair", 10)),
    "figure 7": Cell(boosting, partial(top, "method", "pair", 10)),
    "figure 8": Cell(
        houses,
        partial(top, "what", "feature", 15),
        rows="what in ['impurity, forest', 'impurity, boosting', 'forest', 'boosting', 'stack']",
    ),
    "table 1": Cell(sound),
    "figure 9": Cell(noise, partial(curves, x="value", panel="feature", y="sound pressure, dB")),
}
PAPER = Paper("greenwell2018", CELLS)
