"""The settings of the battery: what is drawn, what learns, and what is asked.

Fixed before the rule of the default intervals was run on them; `held` ones were then run last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pyinterp as pi
from battery import processes
from battery.processes import Draw
from pyinterp.estimands.causal import causal_importance

Family = Literal["stable", "tree", "forest", "boosting", "other"]
R = pi.LearnerResults
Answer: TypeAlias = pi.EstimandResults | pd.DataFrame
Ask: TypeAlias = Callable[[pi.LearnerResults], Answer]
UNIFORM, NORMAL = (0.1, 0.3, 0.5, 0.7, 0.9), (-1.3, -0.6, 0.0, 0.6, 1.3)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One setting of the battery.

    Attributes
    ----------
    draw : callable
    learner : estimator, or function of n that returns one
    n : int
    asks : mapping of str to callable
    family : str
        Of the learner, for medians.
    nulls : tuple of str
        Features that do not matter.
    held : bool
        Whether it was run last.
    data_sets : int
    """

    draw: Draw
    learner: Any
    n: int
    asks: Mapping[str, Ask]
    family: Family
    nulls: tuple[str, ...] = ()
    held: bool = False
    data_sets: int = 200
    formula: str = "y ~ ."
    cluster: str | None = None
    weights: str | None = None

    def specified(self, frame: pd.DataFrame) -> pi.Learner:
        """Return the learner of a data set."""
        options: Any = {"weights": self.weights, "weights_type": "sampling"} if self.weights else {}
        return pi.Learner.from_formula(self.formula, frame, self.estimator(), **options)

    def estimator(self) -> Any:
        """Return the learner for the row's n."""
        return self.learner(self.n) if isinstance(self.learner, Size) else self.learner


@dataclass(frozen=True)
class Size:
    """A learner whose settings depend on n."""

    make: Callable[[int], Any]

    def __call__(self, n: int) -> Any:
        """Return the learner."""
        return self.make(n)


def pfi(*features: str, **options: Any) -> Ask:
    """Ask for PFI."""
    return partial(R.pfi, features=list(features) or None, **options)


def curve(x: str, grid: tuple[float, ...], **options: Any) -> Ask:
    """Ask for PD."""
    return partial(R.pd, features=x, grid=np.array(grid), **options)


def usual(x: str = "x1", grid: tuple[float, ...] = NORMAL, *features: str) -> dict[str, Ask]:
    """Ask for PFI as a difference and as a ratio, and for the PD of one feature."""
    return {"PFI": pfi(*features), "ratio": pfi(x, relation="ratio"), "PD": curve(x, grid)}


def noise(first: int, last: int) -> tuple[str, ...]:
    """Return the names of irrelevant features."""
    return tuple(f"x{j}" for j in range(first, last + 1))


LM = LinearRegression()
RPART = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.0118)
LEAF_5 = DecisionTreeRegressor(min_samples_leaf=5)
FOREST = RandomForestRegressor(100, min_samples_split=4, max_features=1 / 3)
LEAF_1 = RandomForestRegressor(30)
BOOST = GradientBoostingRegressor(n_estimators=50, max_depth=2)
SLOW = GradientBoostingRegressor(n_estimators=50, max_depth=2, learning_rate=0.02)
HIST = HistGradientBoostingRegressor(max_iter=30)
LIGHT = LGBMRegressor(n_estimators=30, n_jobs=1, verbose=-1)
RIDGE = Size(lambda n: Ridge(10 * n))
LASSO = make_pipeline(StandardScaler(), Lasso(0.2))
SPLINES = make_pipeline(
    SplineTransformer(5, extrapolation="linear"), RidgeCV(np.logspace(-3, 4, 8))
)
MLP = make_pipeline(
    StandardScaler(), MLPRegressor(hidden_layer_sizes=(5,), solver="lbfgs", alpha=1.0, max_iter=100)
)
STACK = StackingRegressor([("lm", LM), ("tree", LEAF_5)], final_estimator=RidgeCV(), cv=3)
FOREST_CLASSES = RandomForestClassifier(30, min_samples_leaf=5)
P = processes
NORMAL_4 = partial(P.normal)
NULLS_4 = noise(3, 4)


def paper(process: Draw, learner: Any, family: Family, held: bool, n: int, p: int) -> Row:
    """Return a row of Tables 1 and 2 of Molnar et al. (2021): PFI and PD of every feature."""
    curves = {f"PD x{j}": curve(f"x{j}", UNIFORM) for j in range(1, p + 1)}
    asks = {"PFI": pfi(), **curves}
    return Row(draw=process, learner=learner, n=n, asks=asks, family=family, held=held)


def mean_classes(*, losses: tuple[str, ...] = ("log", "brier")) -> dict[str, Ask]:
    """Ask for what practice asks of classifiers."""
    asks = {f"PFI {loss}": pfi(loss=loss) for loss in losses}
    return {
        **asks,
        "PD": curve("x1", NORMAL),
        "loss": R.loss,
        "AUC": partial(R.metric, metric="roc_auc"),
    }


def contrasts(results: pi.EstimandResults, *hypotheses: str) -> pd.DataFrame:
    """Return the table of contrasts."""
    return results.t_test(list(hypotheses)).summary_frame()


def plug_in(results: pi.LearnerResults) -> pi.EstimandResults:
    """Return MVIM and CVIM of a feature as mean squared effects."""
    importance = causal_importance(results.analysis.problem, "x2")
    return results.estimate(replace(importance, diagnostic=None))


def fit_other(results: pi.LearnerResults, other: Any) -> pi.LearnerResults:
    """Fit another learner to the same data."""
    frame = results.model.data.frame
    features = " + ".join(name for name in frame if name.startswith("x"))
    learner = pi.Learner.from_formula(f"y ~ {features}", frame, other)
    return learner.fit(results.resampling, seed=results.seed, progress=False)


GRID = np.array(NORMAL)
FEATURES = ("x1", "x2", "x3")
# Terms that begin so are the points of one band, which covers if all of its points do.
BAND = "band of "


def with_side(draw: Draw) -> Draw:
    """Return draws with a column that says whether x1 is above 0, for subgroups."""

    def draw_with_side(rng: np.random.Generator, n: int) -> pd.DataFrame:
        frame = draw(rng, n)
        return frame.assign(side=np.where(frame["x1"] > 0, "above", "below"))

    return draw_with_side


def all_estimands(other: Any, step: Any = None) -> dict[str, Ask]:
    """Ask for every estimand that has an interval, on the same refits.

    Curves are at a grid that does not depend on the data. Conditional measures, which take most of
    the time, have settings of their own.
    """
    grids = dict.fromkeys(("x1", "x2", "x3", "x4"), GRID)
    pairs = [("x1", "x2"), ("x1", "x3")]
    some: dict[str, Ask] = {
        "H": partial(R.h_statistic, features=["x1", "x2"]),
        "vint": partial(R.vint, features=pairs, grid=dict.fromkeys(FEATURES, GRID[::2])),
    }
    if step is None:  # an additive model has no interactions
        some = {"PFI R2": pfi(metric="r2")}
    return {
        **some,
        "PFI": pfi(),
        "ratio": pfi(relation="ratio"),
        "additive AMVIM": partial(R.amvim, method="additive"),
        "LOCO": R.loco,
        "FIRM given grid": partial(R.firm, grid=grids),
        "PD": curve("x1", NORMAL),
        "centered PD": curve("x1", NORMAL, kind="c-ice"),
        "ALE": partial(R.ale, features="x1", grid=GRID),
        "AME": partial(R.ame, step=step),
        "loss": R.loss,
        "explained": partial(R.loss, relation="explained"),
        "r2": partial(R.metric, metric="r2"),
        "rmse": partial(R.metric, metric="rmse"),
        "by": lambda r: r.pfi(by="side").summary_frame(),
        "compare": lambda r: pi.compare(r, fit_other(r, other)).summary_frame(),
        "compare PFI": lambda r: pi.compare(r.pfi(), fit_other(r, other).pfi()).summary_frame(),
        "contrast": lambda r: contrasts(r.pfi(), "x1 - x2", "x1 - x3"),
        "contrast of PD": lambda r: contrasts(
            r.pd("x1", grid=GRID), "x1[1.3] - x1[-1.3]", "x1[0.6] - x1[0]"
        ),
        "plug-in": plug_in,
        f"{BAND}PD": lambda r: r.pd("x1", grid=GRID, simultaneous=True),
        f"{BAND}PFI": lambda r: r.pfi(simultaneous=True),
    }


# A feature that matters and one that does not: samplers are learned in every refit, which is slow.
CONDITIONAL: dict[str, Ask] = {
    "CVIM": partial(R.cvim, features=["x1", "x3"]),
    "AMVIM": partial(R.amvim, features="x1"),
}
WEIGHTED: dict[str, Ask] = {
    **usual(),
    "LOCO": R.loco,
    "AME": partial(R.ame, step="sd"),
    "loss": R.loss,
}
LOSSES: dict[str, Ask] = {"loss": R.loss, "absolute": partial(R.loss, loss="absolute")}

SETTINGS: Mapping[str, Row] = {
    # The 24 rows of the paper: two processes, three learners, two sizes, PFI and PD.
    "lm linear 100": paper(P.LINEAR, LM, "stable", False, 100, 2),
    "lm linear 1000": paper(P.LINEAR, LM, "stable", True, 1000, 2),
    "lm non-linear 100": paper(P.NON_LINEAR, LM, "stable", True, 100, 4),
    "lm non-linear 1000": paper(P.NON_LINEAR, LM, "stable", False, 1000, 4),
    "tree linear 100": paper(P.LINEAR, RPART, "tree", True, 100, 2),
    "tree linear 1000": paper(P.LINEAR, RPART, "tree", False, 1000, 2),
    "tree non-linear 100": paper(P.NON_LINEAR, RPART, "tree", False, 100, 4),
    "tree non-linear 1000": paper(P.NON_LINEAR, RPART, "tree", True, 1000, 4),
    "forest linear 100": paper(P.LINEAR, FOREST, "forest", False, 100, 2),
    "forest linear 1000": paper(P.LINEAR, FOREST, "forest", True, 1000, 2),
    "forest non-linear 100": paper(P.NON_LINEAR, FOREST, "forest", True, 100, 4),
    "forest non-linear 1000": paper(P.NON_LINEAR, FOREST, "forest", False, 1000, 4),
    # Nulls.
    "lm nulls 10": Row(
        draw=P.FRIEDMAN_10,
        learner=LM,
        n=150,
        asks=usual(grid=UNIFORM),
        family="stable",
        nulls=noise(6, 10),
    ),
    "lm nulls 20": Row(
        draw=P.FRIEDMAN_20,
        learner=LM,
        n=200,
        asks=usual(grid=UNIFORM),
        family="stable",
        nulls=noise(6, 20),
        held=True,
    ),
    "boosting nulls 10": Row(
        draw=P.FRIEDMAN_10,
        learner=BOOST,
        n=150,
        asks=usual(grid=UNIFORM),
        family="boosting",
        nulls=noise(6, 10),
    ),
    "boosting nulls 20": Row(
        draw=P.FRIEDMAN_20,
        learner=BOOST,
        n=200,
        asks=usual(grid=UNIFORM),
        family="boosting",
        nulls=noise(6, 20),
        held=True,
    ),
    "forest nulls 10": Row(
        draw=P.FRIEDMAN_10,
        learner=RandomForestRegressor(30, min_samples_leaf=3),
        n=100,
        asks=usual(grid=UNIFORM),
        family="forest",
        nulls=noise(6, 10),
        held=True,
    ),
    "tree nulls 10": Row(
        draw=P.FRIEDMAN_10,
        learner=LEAF_5,
        n=150,
        asks=usual(grid=UNIFORM),
        family="tree",
        nulls=noise(6, 10),
    ),
    # Cliffs.
    "hist 75": Row(
        draw=NORMAL_4, learner=HIST, n=75, asks=usual(), family="boosting", nulls=NULLS_4
    ),
    "hist 110": Row(
        draw=NORMAL_4,
        learner=HIST,
        n=110,
        asks=usual(),
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    "lightgbm 64": Row(
        draw=NORMAL_4,
        learner=LIGHT,
        n=64,
        asks=usual(),
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    "lightgbm 120": Row(
        draw=NORMAL_4, learner=LIGHT, n=120, asks=usual(), family="boosting", nulls=NULLS_4
    ),
    "leaf 20, n 90": Row(
        draw=P.FRIEDMAN_10,
        learner=GradientBoostingRegressor(n_estimators=30, max_depth=4, min_samples_leaf=20),
        n=90,
        asks=usual(grid=UNIFORM),
        family="boosting",
        nulls=noise(6, 10),
    ),
    # Shrinkage.
    "ridge": Row(draw=NORMAL_4, learner=RIDGE, n=100, asks=usual(), family="stable", nulls=NULLS_4),
    "ridge 1n": Row(
        draw=NORMAL_4,
        learner=Size(Ridge),
        n=60,
        asks=usual(),
        family="stable",
        nulls=NULLS_4,
        held=True,
    ),
    "lasso": Row(
        draw=NORMAL_4, learner=LASSO, n=100, asks=usual(), family="stable", nulls=NULLS_4, held=True
    ),
    "small rate": Row(
        draw=NORMAL_4, learner=SLOW, n=150, asks=usual(), family="boosting", nulls=NULLS_4
    ),
    "small rate, Friedman": Row(
        draw=P.FRIEDMAN_10,
        learner=SLOW,
        n=100,
        asks=usual(grid=UNIFORM),
        family="boosting",
        nulls=noise(6, 10),
        held=True,
    ),
    # p near n/2 and p > n.
    "lm p 30 of 60": Row(
        draw=partial(P.normal, p=30),
        learner=LM,
        n=60,
        asks=usual("x1", NORMAL, "x1", "x2", "x3", "x4"),
        family="stable",
        nulls=noise(3, 4),
    ),
    "lm p 45 of 100": Row(
        draw=partial(P.normal, p=45),
        learner=LM,
        n=100,
        asks=usual("x1", NORMAL, "x1", "x2", "x3", "x4"),
        family="stable",
        nulls=noise(3, 4),
        held=True,
    ),
    "ridge p 100 of 60": Row(
        draw=partial(P.normal, p=100),
        learner=Ridge(10.0),
        n=60,
        asks=usual("x1", NORMAL, "x1", "x2", "x3", "x4"),
        family="stable",
        nulls=noise(3, 4),
        held=True,
    ),
    "lasso p 100 of 60": Row(
        draw=partial(P.normal, p=100),
        learner=LASSO,
        n=60,
        asks=usual("x1", NORMAL, "x1", "x2", "x3", "x4"),
        family="stable",
        nulls=noise(3, 4),
    ),
    # Interpolators.
    "1-NN": Row(
        draw=NORMAL_4,
        learner=KNeighborsRegressor(1),
        n=80,
        asks=usual(),
        family="other",
        nulls=NULLS_4,
        held=True,
    ),
    "5-NN": Row(
        draw=NORMAL_4,
        learner=KNeighborsRegressor(5),
        n=80,
        asks=usual(),
        family="other",
        nulls=NULLS_4,
    ),
    "deep tree": Row(
        draw=P.NON_LINEAR,
        learner=DecisionTreeRegressor(),
        n=100,
        asks=usual(grid=UNIFORM),
        family="tree",
    ),
    "leaf 5, n 80": Row(
        draw=NORMAL_4, learner=LEAF_5, n=80, asks=usual(), family="tree", nulls=NULLS_4
    ),
    "leaf 5, n 300": Row(
        draw=P.FRIEDMAN_10,
        learner=LEAF_5,
        n=300,
        asks=usual(grid=UNIFORM),
        family="tree",
        nulls=noise(6, 10),
        held=True,
    ),
    "forest leaf 1": Row(
        draw=NORMAL_4, learner=LEAF_1, n=80, asks=usual(), family="forest", nulls=NULLS_4
    ),
    "forest leaf 1, Friedman": Row(
        draw=P.FRIEDMAN_10,
        learner=LEAF_1,
        n=200,
        asks=usual(grid=UNIFORM),
        family="forest",
        nulls=noise(6, 10),
        held=True,
    ),
    # Tuned, stacked, smooth and small networks.
    "tuned lasso": Row(
        draw=P.FRIEDMAN_10,
        learner=LassoCV(cv=5, alphas=20),
        n=100,
        asks=usual(grid=UNIFORM),
        family="stable",
        nulls=noise(6, 10),
    ),
    "stack": Row(
        draw=NORMAL_4, learner=STACK, n=100, asks=usual(), family="other", nulls=NULLS_4, held=True
    ),
    "splines": Row(
        draw=P.FRIEDMAN_10,
        learner=SPLINES,
        n=120,
        asks=usual(grid=UNIFORM),
        family="stable",
        nulls=noise(6, 10),
        held=True,
    ),
    "kernel ridge": Row(
        draw=P.FRIEDMAN_10,
        learner=make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=0.05, alpha=0.5)),
        n=120,
        asks=usual(grid=UNIFORM),
        family="other",
        nulls=noise(6, 10),
    ),
    "network": Row(draw=P.NON_LINEAR, learner=MLP, n=100, asks=usual(grid=UNIFORM), family="other"),
    # Classification.
    "logistic 50%": Row(
        draw=partial(P.classes, intercept=0.0),
        learner=LogisticRegression(),
        n=150,
        asks=mean_classes(),
        family="stable",
        nulls=NULLS_4,
    ),
    "logistic 10%": Row(
        draw=partial(P.classes, intercept=-2.6),
        learner=LogisticRegression(),
        n=200,
        asks=mean_classes(),
        family="stable",
        nulls=NULLS_4,
    ),
    "logistic 3%": Row(
        draw=partial(P.classes, intercept=-4.1),
        learner=LogisticRegression(),
        n=400,
        asks=mean_classes(),
        family="stable",
        nulls=NULLS_4,
        held=True,
    ),
    "naive Bayes 10%": Row(
        draw=partial(P.classes, intercept=-2.6),
        learner=GaussianNB(),
        n=300,
        asks=mean_classes(),
        family="stable",
        nulls=NULLS_4,
        held=True,
    ),
    "forest 50%": Row(
        draw=partial(P.classes, intercept=0.0),
        learner=FOREST_CLASSES,
        n=150,
        asks=mean_classes(),
        family="forest",
        nulls=NULLS_4,
        held=True,
    ),
    "forest 10%": Row(
        draw=partial(P.classes, intercept=-2.6),
        learner=FOREST_CLASSES,
        n=200,
        asks=mean_classes(),
        family="forest",
        nulls=NULLS_4,
    ),
    "boosting 10%": Row(
        draw=partial(P.classes, intercept=-2.6),
        learner=GradientBoostingClassifier(n_estimators=30, max_depth=2),
        n=250,
        asks=mean_classes(),
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    # Counts.
    "Poisson": Row(
        draw=P.counts,
        learner=PoissonRegressor(alpha=1e-6),
        n=100,
        asks={**usual(), "PFI Poisson": pfi(loss="poisson"), "loss": R.loss},
        family="stable",
        nulls=NULLS_4,
    ),
    "Poisson boosting": Row(
        draw=P.counts,
        learner=HistGradientBoostingRegressor(loss="poisson", max_iter=20, min_samples_leaf=5),
        n=200,
        asks={**usual(), "PFI Poisson": pfi(loss="poisson"), "loss": R.loss},
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    # Noise.
    "lm t3": Row(
        draw=partial(P.normal, noise="t3"),
        learner=LM,
        n=60,
        asks={**usual(), **LOSSES},
        family="stable",
        nulls=NULLS_4,
    ),
    "tree t3": Row(
        draw=partial(P.normal, noise="t3"),
        learner=LEAF_5,
        n=60,
        asks={**usual(), **LOSSES},
        family="tree",
        nulls=NULLS_4,
        held=True,
    ),
    "lm lognormal noise": Row(
        draw=partial(P.normal, noise="lognormal"),
        learner=LM,
        n=100,
        asks={**usual(), **LOSSES},
        family="stable",
        nulls=NULLS_4,
        held=True,
    ),
    "boosting lognormal noise": Row(
        draw=partial(P.normal, noise="lognormal"),
        learner=BOOST,
        n=100,
        asks={**usual(), **LOSSES},
        family="boosting",
        nulls=NULLS_4,
    ),
    "lm heteroscedastic": Row(
        draw=partial(P.normal, noise="heteroscedastic"),
        learner=LM,
        n=80,
        asks={**usual(), **LOSSES},
        family="stable",
        nulls=NULLS_4,
    ),
    "forest heteroscedastic": Row(
        draw=partial(P.normal, noise="heteroscedastic"),
        learner=RandomForestRegressor(30, min_samples_leaf=3),
        n=100,
        asks={**usual(), **LOSSES},
        family="forest",
        nulls=NULLS_4,
        held=True,
    ),
    # Features.
    "lm lognormal features": Row(
        draw=partial(P.normal, features="lognormal"),
        learner=LM,
        n=100,
        asks=usual("x1", (0.3, 0.6, 1.0, 2.0, 4.0)),
        family="stable",
        nulls=NULLS_4,
    ),
    "tree lognormal features": Row(
        draw=partial(P.normal, features="lognormal"),
        learner=LEAF_5,
        n=150,
        asks=usual("x1", (0.3, 0.6, 1.0, 2.0, 4.0)),
        family="tree",
        nulls=NULLS_4,
        held=True,
    ),
    "lm dummies": Row(
        draw=partial(P.normal, features="dummy"),
        learner=LM,
        n=200,
        asks=usual("x1", (0.0, 2.0)),
        family="stable",
        nulls=NULLS_4,
        held=True,
    ),
    "boosting dummies": Row(
        draw=partial(P.normal, features="dummy"),
        learner=BOOST,
        n=200,
        asks=usual("x1", (0.0, 2.0)),
        family="boosting",
        nulls=NULLS_4,
    ),
    "lm near copies": Row(
        draw=partial(P.normal, copies=0.2),
        learner=LM,
        n=100,
        asks={
            **usual(),
            "CVIM": partial(R.cvim, features=["x1", "x3"]),
            "LOCO": partial(R.loco, features=["x1", "x3"]),
        },
        family="stable",
        nulls=NULLS_4,
    ),
    "forest near copies": Row(
        draw=partial(P.normal, copies=0.2),
        learner=RandomForestRegressor(30, min_samples_leaf=3),
        n=100,
        asks=usual(),
        family="forest",
        nulls=NULLS_4,
    ),
    # Clusters.
    "40 clusters": Row(
        draw=partial(P.clusters, number=40),
        learner=LM,
        n=200,
        asks=usual(),
        family="stable",
        nulls=("x3",),
        formula="y ~ x1 + x2 + x3",
        cluster="id",
    ),
    "60 clusters": Row(
        draw=partial(P.clusters, number=60),
        learner=LEAF_5,
        n=240,
        asks=usual(),
        family="tree",
        nulls=("x3",),
        formula="y ~ x1 + x2 + x3",
        cluster="id",
        held=True,
    ),
    # Populations that are real data sets.
    "wine boosting": Row(
        draw=P.WINE,
        learner=BOOST,
        n=300,
        asks={"PFI": pfi(), "PD": curve("alcohol", (9.0, 10.0, 11.0, 12.0))},
        family="boosting",
    ),
    "wine tree": Row(
        draw=P.WINE,
        learner=LEAF_5,
        n=300,
        asks={"PFI": pfi(), "PD": curve("alcohol", (9.0, 10.0, 11.0, 12.0))},
        family="tree",
        held=True,
    ),
    "concrete lm": Row(
        draw=P.CONCRETE,
        learner=LM,
        n=100,
        asks={"PFI": pfi(), "PD": curve("age", (7.0, 28.0, 56.0, 90.0))},
        family="stable",
    ),
    "concrete forest": Row(
        draw=P.CONCRETE,
        learner=RandomForestRegressor(30, min_samples_leaf=3),
        n=200,
        asks={"PFI": pfi(), "PD": curve("age", (7.0, 28.0, 56.0, 90.0))},
        family="forest",
        held=True,
    ),
    # Sizes.
    "lm 40": Row(
        draw=NORMAL_4, learner=LM, n=40, asks={**usual(), **LOSSES}, family="stable", nulls=NULLS_4
    ),
    "tree 40": Row(
        draw=NORMAL_4, learner=LEAF_5, n=40, asks=usual(), family="tree", nulls=NULLS_4, held=True
    ),
    "lm 5000": Row(
        draw=NORMAL_4, learner=LM, n=5000, asks=usual(), family="stable", nulls=NULLS_4, held=True
    ),
    "tree 2000": Row(
        draw=NORMAL_4, learner=LEAF_5, n=2000, asks=usual(), family="tree", nulls=NULLS_4
    ),
    "tree correlation .9": Row(
        draw=partial(P.normal, correlation=0.9),
        learner=LEAF_5,
        n=150,
        asks=usual(),
        family="tree",
        nulls=NULLS_4,
    ),
    "lm collinear": Row(
        draw=partial(P.normal, correlation=0.9, effect="first"),
        learner=LM,
        n=100,
        asks=usual(),
        family="stable",
        nulls=NULLS_4,
    ),
    "tree near copies": Row(
        draw=partial(P.normal, copies=0.2),
        learner=LEAF_5,
        n=150,
        asks=usual(),
        family="tree",
        nulls=NULLS_4,
        held=True,
    ),
    "tree interaction": Row(
        draw=partial(P.normal, effect="interaction"),
        learner=LEAF_5,
        n=200,
        asks=usual(),
        family="tree",
        nulls=NULLS_4,
    ),
    "boosting interaction": Row(
        draw=partial(P.normal, effect="interaction"),
        learner=BOOST,
        n=200,
        asks=usual(),
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    "5-NN, Friedman": Row(
        draw=P.FRIEDMAN_10,
        learner=make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
        n=200,
        asks=usual("x1", UNIFORM, "x1", "x4", "x6", "x10"),  # of all pairs of rows
        family="other",
        nulls=noise(6, 10),
    ),
    "hist leaf 6": Row(
        draw=P.FRIEDMAN_10,
        learner=HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=6),
        n=200,
        asks=usual(grid=UNIFORM),
        family="boosting",
        nulls=noise(6, 10),
    ),
    "naive Bayes copies": Row(
        draw=P.copies_of_one,
        learner=GaussianNB(),
        n=400,
        asks={"PFI log": pfi(loss="log")},
        family="stable",
    ),
    "logistic 15%": Row(
        draw=partial(P.classes, intercept=-2.1),
        learner=LogisticRegression(),
        n=250,
        asks={
            "PFI log": pfi(loss="log"),
            "PFI AUC": pfi(metric="roc_auc"),
            "PD": curve("x1", NORMAL),
        },
        family="stable",
        nulls=NULLS_4,
    ),
    "forest AUC": Row(
        draw=partial(P.classes, intercept=0.0),
        learner=FOREST_CLASSES,
        n=200,
        asks={"PFI AUC": pfi(metric="roc_auc"), "PFI log": pfi(loss="log")},
        family="forest",
        nulls=NULLS_4,
        held=True,
    ),
    "50 clusters": Row(
        draw=partial(P.clusters, number=50),
        learner=LM,
        n=250,
        asks=usual(),
        family="stable",
        nulls=("x3",),
        formula="y ~ x1 + x2 + x3",
        cluster="id",
    ),
    "tree dummies": Row(
        draw=partial(P.normal, features="dummy"),
        learner=LEAF_5,
        n=200,
        asks={"PFI": pfi()},
        family="tree",
        nulls=NULLS_4,
    ),
    "hist dummies": Row(
        draw=partial(P.normal, features="dummy"),
        learner=HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=10),
        n=200,
        asks={"PFI": pfi()},
        family="boosting",
        nulls=NULLS_4,
        held=True,
    ),
    "SVR": Row(
        draw=P.FRIEDMAN_10,
        learner=make_pipeline(StandardScaler(), SVR(C=10.0)),
        n=120,
        asks={"PFI": pfi()},
        family="other",
        nulls=noise(6, 10),
        held=True,
    ),
    "lm correlation .5, t4": Row(
        draw=partial(P.normal, p=10, correlation=0.5, noise="t4"),
        learner=LM,
        n=90,
        asks=usual(),
        family="stable",
        nulls=noise(3, 10),
        held=True,
    ),
    # All estimands, of whose intervals tables said that no simulation was of them.
    "all lm": Row(
        draw=with_side(partial(P.normal, correlation=0.5)),
        formula="y ~ x1 + x2 + x3 + x4",
        learner=LM,
        n=100,
        asks=all_estimands(LEAF_5),
        family="stable",
        nulls=NULLS_4,
    ),
    "all tree": Row(
        draw=with_side(partial(P.normal, correlation=0.5)),
        formula="y ~ x1 + x2 + x3 + x4",
        learner=LEAF_5,
        n=150,
        asks=all_estimands(LM, "sd"),
        family="tree",
        nulls=NULLS_4,
    ),
    "all logistic": Row(
        draw=partial(P.classes, intercept=-0.5),
        learner=LogisticRegression(),
        n=200,
        asks={
            "PFI log": pfi(loss="log"),
            "PFI AUC": pfi(metric="roc_auc"),
            "PD": curve("x1", NORMAL),
            "ALE": partial(R.ale, features="x1", grid=GRID),
            "AME": R.ame,
            "H": partial(R.h_statistic, features=["x1", "x2"]),
            "loss": R.loss,
            "explained": partial(R.loss, relation="explained"),
            "AUC": partial(R.metric, metric="roc_auc"),
        },
        family="stable",
        nulls=NULLS_4,
    ),
    # Samples in which some rows were likelier than others, and learners that state a law.
    "weights lm": Row(
        draw=P.sampled,
        formula="y ~ x1 + x2 + x3 + x4",
        weights="w",
        learner=LM,
        n=150,
        asks=WEIGHTED,
        family="stable",
        nulls=NULLS_4,
    ),
    "weights tree": Row(
        draw=P.sampled,
        formula="y ~ x1 + x2 + x3 + x4",
        weights="w",
        learner=LEAF_5,
        n=200,
        asks=WEIGHTED,
        family="tree",
        nulls=NULLS_4,
    ),
    "uncertainty logistic": Row(
        draw=partial(P.classes, intercept=-0.5, correlation=0.7),
        learner=LogisticRegression(),
        n=200,
        asks={"entropy": R.entropy_pfi, "likelihood": R.likelihood_pfi},
        family="stable",
        nulls=NULLS_4,
    ),
    "uncertainty tree": Row(
        draw=partial(P.classes, intercept=-0.5, correlation=0.7),
        learner=DecisionTreeClassifier(min_samples_leaf=15),
        n=300,
        asks={"entropy": R.entropy_pfi, "likelihood": R.likelihood_pfi},
        family="tree",
        nulls=NULLS_4,
    ),
    "conditional lm": Row(
        draw=partial(P.normal, correlation=0.5),
        learner=LM,
        n=100,
        asks=CONDITIONAL,
        family="stable",
        nulls=NULLS_4,
    ),
    "conditional tree": Row(
        draw=partial(P.normal, correlation=0.5),
        learner=LEAF_5,
        n=150,
        asks=CONDITIONAL,
        family="tree",
        nulls=NULLS_4,
    ),
}
# Learners that take seconds to fit, or to predict.
TAKE_SECONDS = ("lasso", "lasso p 100 of 60", "tuned lasso", "stack", "splines", "network")
ROWS: Mapping[str, Row] = {
    name: replace(row, data_sets=100)
    if row.family in ("forest", "boosting") or name in TAKE_SECONDS
    else row
    for name, row in SETTINGS.items()
}
