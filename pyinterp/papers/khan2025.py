"""Khan, Saarela and Kustra (2025): marginal and conditional importance, and causal effects."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import pyinterp as pi
from pyinterp.papers.pictures import boxes, curves
from pyinterp.papers.replication import Cell, Paper, long

if TYPE_CHECKING:
    from plotnine import ggplot
    from xgboost import XGBRegressor

MARGINAL, CONDITIONAL = ("independent", "simple", "multivariate"), ("weak", "moderate", "strong")
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
# Cubic splines of every column and a ridge for all, in the place of the paper's R package mgcv.
ADDITIVE = make_pipeline(
    SplineTransformer(n_knots=6, extrapolation="linear"), RidgeCV(np.logspace(-3, 4, 8))
)


def boosting(_: pi.simulation.Process, n: int) -> XGBRegressor:
    """Return XGBoost with the settings for n training rows."""
    from xgboost import XGBRegressor  # noqa: PLC0415 - an extra

    trees, rate, depth = BOOSTING[max(size for size in BOOSTING if size <= n)]
    return XGBRegressor(n_estimators=trees, learning_rate=rate, max_depth=depth, n_jobs=1)


def truth(n: int = 1_000_000) -> pd.DataFrame:
    """Closed forms, with the Monte Carlo error that the paper's mean over n rows has."""
    values = []
    for offset in (0.1, 0.01):
        process = pi.simulation.khan_regression("multivariate", offset=offset, noise_features=1)
        for feature in FEATURES:
            error = pi.simulation.dgp_pfi(process, feature, n=n, seed=1, method="monte-carlo").mcse
            values.append((feature, offset, process.pfi(feature), error))
    return pd.DataFrame(values, columns=["feature", "offset", "ours", "error"])


def components(measure: Any, scenario: Any, models: dict[int, int] | None = None) -> pd.DataFrame:
    """Bias, variance and delta of XGBoost's importances."""
    parts = []
    for n, repetitions in (models or MODELS).items():
        study = pi.simulation.ImportanceStudy(
            dgps=[pi.simulation.khan_regression(scenario)],
            learners={"xgboost": boosting},
            features=["X1", "X5", "X6"] if measure == "mvim" else ["X1"],
            measures=[measure],
            n=[n],
            repetitions=repetitions,
            block=2,
        )
        with TemporaryDirectory() as folder:
            parts.append(study.run(Path(folder) / "study.sqlite", progress=False).frame)
    return tidy(pd.concat(parts))


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a study's components, a row each."""
    names = [str(c).removesuffix("_mcse") for c in frame if str(c).endswith("_mcse")]
    keys = frame[["feature", "n"]]
    parts = {name: keys.assign(ours=frame[name], error=frame[f"{name}_mcse"]) for name in names}
    return long(parts)[["feature", "n", "quantity", "ours", "error"]].sort_values(
        ["feature", "n"], kind="stable", ignore_index=True
    )


def draws(
    scenario: Any, sizes: tuple[int, ...] = (100, 500, 1000, 5000), repetitions: int = 6
) -> pd.DataFrame:
    """MVIM of data sets: two thirds train, one third is permuted."""
    process = pi.simulation.khan_regression(scenario)
    plan = pi.Holdout(fraction=2 / 3)
    parts = {}
    for n in sizes:
        learners = {
            "oracle": (process.oracle, LinearRegression()),
            "XGBoost": ("y ~ .", boosting(process, n)),
            "additive": ("y ~ .", ADDITIVE),
        }
        for k in range(repetitions):
            data = process.draw(3 * n // 2, seed=k)
            for name, (formula, estimator) in learners.items():
                res = pi.Learner.from_formula(formula, data, estimator).fit(plan, seed=k)
                parts[n, name, k] = res.mvim(["X1", "X5"], permutations=10).params
    frame = pd.concat(parts, names=["n", "learner", "draw", "feature"])
    return frame.rename("ours").reset_index().assign(error=np.nan)


def adjustment(
    scenario: Any, sizes: tuple[int, ...] = (500, 2000, 8000), repetitions: int = 10
) -> pd.DataFrame:
    """MVIM, CVIM and AMVIM of X1 by XGBoost, of data sets."""
    process = pi.simulation.khan_regression(scenario)
    parts = {}
    for n in sizes:
        for k in range(repetitions):
            data = process.draw(3 * n // 2, seed=k)
            learner = pi.Learner.from_formula("y ~ .", data, boosting(process, n))
            res = learner.fit(pi.Holdout(fraction=2 / 3), seed=k)
            few: Any = {"features": "X1", "permutations": 10}
            values = {"MVIM": res.mvim(**few), "AMVIM": res.amvim(**few), "CVIM": res.cvim(**few)}
            parts[n, k] = pd.Series({name: value.params["X1"] for name, value in values.items()})
    frame = pd.concat(parts, names=["n", "draw", "measure"])
    return frame.rename("ours").reset_index().assign(error=np.nan)


def theorems(n: int = 1_000_000) -> pd.DataFrame:
    """Importance of a known f by switching the feature, and by squared effects."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal(n)
    results = {}

    def both(theorem: str, f: Any, x: Any, new: Any, sides: dict[str, Any]) -> None:
        switched = np.square(f(new, z) - f(x, z))  # e_switch - e_orig of the true f
        every = {"switched": switched, **sides}
        results[theorem] = pd.DataFrame(
            [(k, v.mean(), v.std() / n**0.5) for k, v in every.items()],
            columns=["quantity", "ours", "error"],
        )

    def classes(k: int) -> tuple[Any, Any, Any, Any]:
        """Return probabilities given z, f of (class, z), classes, and classes given z again."""
        p = np.exp(np.outer(z, np.arange(k)))
        p /= p.sum(axis=1, keepdims=True)
        draw = [(p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1) for _ in range(2)]
        return p, lambda x, z: x**2 * (1 + 0.5 * z), *draw

    p, f, x, again = classes(3)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    shares, here = p.mean(axis=0), np.eye(3)[x]
    given = sum(here[:, a] * shares[b] * (f(a, z) - f(b, z)) ** 2 for a, b in pairs)
    both("theorem 1", f, x, rng.permutation(x), {"squared effects": given})
    given = sum(p[:, a] * p[:, b] * (f(a, z) - f(b, z)) ** 2 for a, b in pairs)
    sides = {"squared effects, without the factor 2": given, "as printed": 2 * given}
    both("theorem 4", f, x, again, sides)
    p, f, x, again = classes(2)
    given = 2 * p[:, 0] * p[:, 1] * (f(1, z) - f(0, z)) ** 2
    both("theorem 3", f, x, again, {"squared effects": given})
    noise = rng.standard_normal((2, n))
    x, again = 0.7 * z + noise  # f = x (1 + z): the effect of x against x* is (x - x*) (1 + z)
    other = 0.7 * rng.standard_normal(n) + rng.standard_normal(n)

    def slope(x: Any, z: Any) -> Any:
        return x * (1 + z)

    square = (1 + z) ** 2
    both("theorem 2", slope, x, rng.permutation(x), {"squared effects": (x - other) ** 2 * square})
    both("theorem 5", slope, x, again, {"squared effects": 2 * square})
    return long(results, "theorem").sort_values("theorem", kind="stable", ignore_index=True)


def equations(n: int = 20_000) -> pd.DataFrame:
    """Estimators with the oracle, in the scenario of weak dependence, beside closed forms."""
    process = pi.simulation.khan_regression("weak", noise_features=1)
    data = process.draw(n, seed=1)
    learner = pi.Learner.from_formula(process.oracle, data, LinearRegression())
    res = learner.fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False)
    some = learner.fit(pi.NestedBootstrap(10, splits=2), seed=1, progress=False)
    exact: Any = {x: process.pfi(x) for x in process.features}
    mvim, cvim = exact["X1"], 8.0
    results = {
        "equation 3": (res.mvim("X1"), mvim),
        "equation 6": (res.mvim("C2"), exact["C2"]),
        "equation 7": (res.loco("C2"), exact["C2"] / 2),
        "equation 17": (res.positivity("X1"), 1 - cvim / mvim),
        "equation 19": (res.cvim("X1"), cvim),
        "equation 33": (res.amvim("X1"), mvim),
        "algorithm 1": (some.mvim("X1"), mvim),
        "algorithm 2": (some.cvim("X1"), cvim),
    }
    values = [(k, r.params.iloc[0], r.bse.iloc[0], t) for k, (r, t) in results.items()]
    return pd.DataFrame(values, columns=["equation", "ours", "error", "true"])


def decomposition(n: int = 2000) -> pd.DataFrame:
    """Shares of V(Y): of the confounder, of a binary exposure, and of neither."""

    def draw(n: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(n)
        p = 1 / (1 + np.exp(-z))
        x = 1.0 * (rng.random(n) < p)
        y = z + x * (1 + z / 2) + rng.standard_normal(n)
        return pd.DataFrame({"x": x, "z": z, "y": y, "p": p})

    learner = pi.Learner.from_formula("y ~ x * z", draw(n, 1), LinearRegression())
    res = learner.fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False)
    causal = res.causal("x")
    z, p, y = (draw(1_000_000, 2)[name] for name in ("z", "p", "y"))
    between, others = (p * (1 - p) * (1 + z / 2) ** 2).mean(), (z + p * (1 + z / 2)).var()
    frame = pd.concat(
        [pd.DataFrame({"ours": r.params, "error": r.bse}) for r in (causal.share, causal.rest)]
    )
    true = np.array([between, others, 1, 0]) / y.var()
    return frame.assign(true=true).rename_axis("term").reset_index()


def box_plots(result: pd.DataFrame) -> ggplot:
    """Draw MVIM of data sets by training rows."""
    return boxes(result, "n", "feature + learner", pd.DataFrame({"ours": [8.0]}), "MVIM")


def adjustment_plots(scenario: Any, result: pd.DataFrame) -> ggplot:
    """Draw MVIM, AMVIM and CVIM of data sets by training rows."""
    process = pi.simulation.khan_regression(scenario)
    values = [process.pfi("X1"), process.pfi("X1"), process.cvim("X1")]
    exact = pd.DataFrame({"measure": ["MVIM", "AMVIM", "CVIM"], "ours": values})
    return boxes(result, "n", "measure", exact, "importance of X1")


def trajectory(result: pd.DataFrame) -> ggplot:
    """Draw delta and the estimate by training rows."""
    shown = result.query("quantity in ['delta', 'estimate', 'truth'] and feature != 'X6'")
    return curves(shown, "n", "quantity", "feature", "squared units of the response", log=True)


SECTION = (*((s, "MVIM") for s in MARGINAL), *((s, "CVIM") for s in CONDITIONAL))
EQUATIONS = ("equation 6", "equation 7", "equation 17", "equation 19", "equation 33")
CELLS = {
    "table 1": Cell(truth),
    **{
        f"table {k}": Cell(partial(components, measure.lower(), s))
        for k, (s, measure) in enumerate(SECTION, 2)
    },
    **{f"figure {k}": Cell(partial(draws, s), box_plots) for k, s in enumerate(MARGINAL, 1)},
    **{f"figure {k}": Cell(draw=trajectory, of=f"table {k - 2}") for k in range(4, 10)},
    **{
        f"figure {k}": Cell(partial(adjustment, s), partial(adjustment_plots, s))
        for k, s in enumerate(CONDITIONAL, 10)
    },
    "theorem 1": Cell(theorems, rows="theorem == 'theorem 1'"),
    **{f"theorem {k}": Cell(of="theorem 1", rows=f"theorem == 'theorem {k}'") for k in range(2, 6)},
    "equation 3": Cell(equations, rows="equation == 'equation 3'"),
    **{
        name: Cell(of="equation 3", rows=f"equation == '{name}'")
        for name in (*EQUATIONS, "algorithm 1", "algorithm 2")
    },
    "equation 23": Cell(decomposition),
    "equation 14": Cell(
        of="table 2", rows="quantity in ['delta', 'estimate', 'corrected', 'truth']"
    ),
}
PAPER = Paper("khan2025", CELLS)
