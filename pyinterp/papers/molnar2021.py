"""Molnar et al. (2021): PD and PFI as estimators of properties of the data-generating process."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.papers.pictures import bars, bundle, curves, segments
from pyinterp.papers.replication import Cell, Paper, long

GRID = (0.1, 0.3, 0.5, 0.7, 0.9)
REFITS = (2, 5, 10, 15, 20, 30)
PROCESSES = {
    "linear": pi.simulation.molnar_linear(),
    "non-linear": pi.simulation.molnar_nonlinear(),
}
# rpart's defaults; its cp is relative to the variance of the response, 1.17 and 1.19. randomForest
# counts copies of a row, scikit-learn distinct ones: 4 are 6.3 with their copies.
LEARNERS = {
    "lm": LinearRegression(),
    "tree": DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.0118),
    "rf": RandomForestRegressor(100, min_samples_split=4, max_features=1 / 3),
}
PLANS = {"boot": pi.Bootstrap, "subs": pi.Subsampling}


def five_permutations(res: Any, cov_type: Any = None) -> pi.EstimandResults:
    """PFI by five independent permutations, as in the code behind the tables."""
    names = [str(name) for name in res.pfi().params.index]

    def measure(case: Any) -> dict[str, pi.Estimate]:
        n, columns = len(case.y), []
        for name in names:
            draws = np.column_stack([case.draw(name).permutation(n) for _ in range(5)])
            donors = case.sample.variables[[name]]
            changed = case.whatif.of([name]).pairs(np.arange(n), draws, donors)
            columns.append(np.square(case.y[:, None] - changed).mean(axis=1))
        losses = np.square(case.y - case.whatif.factual)
        return {"pfi": pi.Estimate.of_rows(np.column_stack(columns) - losses[:, None])}

    words = pi.Words(label="PFI", title="PFI", quantity="PFI", meaning="By 5 permutations.")
    estimand = pi.Estimand(
        key="five permutations",
        terms=pi.Terms.plain(names),
        measure=measure,
        read=itemgetter("pfi"),
        words=words,
        parameter=pi.Parameter(),
    )
    result: pi.EstimandResults = res.estimate(estimand, cov_type=cov_type)
    return result


def coverage(
    repetitions: int = 1000,
    truth_refits: int = 10_000,
    learners: Any = LEARNERS,
    sizes: tuple[int, ...] = (100, 1000),
) -> pd.DataFrame:
    """Coverage and relative width of intervals for PD and PFI, mean over features and grid."""
    parts = []
    for process in PROCESSES.values():
        pds = {
            f"PD {x}": partial(pi.LearnerResults.pd, features=x, grid=GRID)
            for x in process.features
        }
        study = pi.simulation.CoverageStudy(
            dgps=[process],
            learners=learners,
            estimands={"PFI": five_permutations, **pds},
            n=sizes,
            resamplings={
                **{name: plan(15) for name, plan in PLANS.items()},
                "ideal": pi.simulation.ideal(15),
            },
            cov_types={**{name: ["naive", "corrected"] for name in PLANS}, "ideal": ["naive"]},
            repetitions=repetitions,
            truth_refits=truth_refits,
        )
        with TemporaryDirectory() as folder:
            parts.append(study.run(Path(folder) / "study.sqlite", progress=False).rows)
    return summary_of(pd.concat(parts))


def summary_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's columns: means over estimands; errors as if these depended fully."""
    star = rows["cov_type"].map({"naive": "", "corrected": "*"})
    rows = rows.assign(
        estimand=rows["estimand"].str.split(" ").str[0], quantity=rows["plan"] + star
    )
    keys = ["estimand", "process", "learner", "n", "quantity"]
    means = rows.groupby(keys, sort=False)[["coverage", "coverage_mcse", "relative_width"]].mean()
    held = means.set_axis(["ours", "error", ""], axis=1)[["ours", "error"]].reset_index()
    width = means["relative_width"].rename("ours").reset_index()
    return long({"coverage": held, "width": width}, "measure")


def refit_values(res: pi.LearnerResults) -> pd.DataFrame:
    """Return PD on the grid and PFI of all features, a row per refit."""
    pfi = res.pfi().refit_frame().add_prefix("PFI ")
    frames = [res.pd(x, grid=GRID).refit_frame() for x in res.pfi().params.index]
    values: pd.DataFrame = pd.concat([*(f.add_prefix("PD ") for f in frames), pfi], axis=1)
    return values


def by_refits(
    repetitions: dict[str, int] | None = None, sizes: tuple[int, ...] = (100, 1000)
) -> pd.DataFrame:
    """Coverage and width of intervals from the first m of 30 refits."""
    counts = repetitions or {"lm": 8, "tree": 8, "rf": 2}
    parts = {}
    for process in PROCESSES.values():
        for n in sizes:
            for name, count in counts.items():
                fresh = pi.FreshDraws(
                    partial(process.draw, 2 * round(0.632 * n)), 1000, fraction=0.5
                )
                ask = [
                    pi.Learner.from_formula("y ~ .", process.draw(n, seed=k), LEARNERS[name])
                    for k in range(count + 1)
                ]
                true = refit_values(ask[0].fit(fresh, seed=0)).mean()
                for k, learner in enumerate(ask[1:], 1):
                    for plan, kind in PLANS.items():
                        values = refit_values(learner.fit(kind(30), seed=k, progress=False))
                        parts[process.name, n, name, k, plan] = intervals(values, true)
    keys = ["process", "n", "learner", "draw", "plan"]
    frame = pd.concat(parts, names=keys).reset_index()
    names = ["estimand", "measure", "process", "n", "learner", "interval", "refits"]
    frame["interval"] = frame["plan"] + frame["interval"]
    draws = frame.groupby([*names, "draw"])["ours"].mean().groupby(names)
    return pd.DataFrame({"ours": draws.mean(), "error": draws.sem()}).reset_index()


def intervals(values: pd.DataFrame, true: pd.Series[float]) -> pd.DataFrame:
    """Return whether intervals of the first m refits hold the truth, and how wide they are."""
    rows = []
    for m in REFITS:
        mean, variance = values[:m].mean(), values[:m].var()
        for star, c in {"": 0.0, "*": 0.368 / 0.632}.items():
            half = stats.t.isf(0.025, m - 1) * np.sqrt((1 / m + c) * variance)
            for kind in ("PD", "PFI"):
                at = [name for name in values if str(name).startswith(f"{kind} ")]
                held = ((mean - true).abs() <= half)[at].mean()
                rows.append((kind, "coverage", star, m, held))
                rows.append((kind, "width", star, m, 2 * half[at].mean()))
    return pd.DataFrame(rows, columns=["estimand", "measure", "interval", "refits", "ours"])


def toy(repetitions: int = 100) -> pd.DataFrame:
    """PD of refits of a tree, their mean, and the true PD."""
    process = pi.simulation.molnar_figure2()
    grid = np.linspace(0.5, 9.5, 19).tolist()
    tree = DecisionTreeRegressor(min_samples_leaf=10)
    plan = pi.FreshDraws(partial(process.draw, 400), repetitions, fraction=0.5)
    res = pi.Learner.from_formula("y ~ .", process.draw(400, seed=1), tree).fit(plan, seed=1)
    refits = res.pd("x1", grid=grid).refit_frame().set_axis(grid, axis=1)
    frame = pd.concat([refits[:15], refits.mean().to_frame("mean").T])
    frame.loc["true"] = process.pd("x1", grid)
    long_frame = (
        frame.rename_axis("curve").reset_index().melt("curve", var_name="x1", value_name="ours")
    )
    return long_frame.assign(error=np.nan)


def wine(trees: int = 100) -> pd.DataFrame:
    """PFI of all features and PD of alcohol, of 15 forests and of one."""
    data = pi.datasets.load_wine_quality()
    learner = pi.Learner.from_formula("quality ~ .", data, RandomForestRegressor(trees))
    fits = {
        "learner": learner.fit(pi.Bootstrap(15), seed=1, progress=False),
        "model": learner.fit(pi.Holdout(), seed=1),
    }
    parts = {}
    for level, res in fits.items():
        results = {"PFI": res.pfi(), "PD of alcohol": res.pd("alcohol", points=12)}
        for what, result in results.items():
            parts[level, what] = pd.DataFrame({"ours": result.params, "error": result.bse})
    return pd.concat(parts, names=["level", "what", "term"]).reset_index()


def losses(trees: int = 100) -> pd.DataFrame:
    """Losses of three learners of wine on 15 bootstrap samples, and limits of their differences."""
    data = pi.datasets.load_wine_quality()
    alpha = 0.01 * data["quality"].var()
    estimators = {
        "forest": RandomForestRegressor(trees, max_features="sqrt"),
        "lm": LinearRegression(),
        "tree": DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=alpha),
    }
    fits = {
        name: pi.Learner.from_formula("quality ~ .", data, estimator).fit(
            pi.Bootstrap(15), seed=1, progress=False
        )
        for name, estimator in estimators.items()
    }
    # Errors are those of 15 samples of these data: 15 values have a spread with 14 df.
    means = []
    for name, res in fits.items():
        naive_loss = res.loss(cov_type="naive")
        means.append((f"loss of {name}", naive_loss.params.iloc[0], naive_loss.bse.iloc[0]))
    limits, naive = (
        pi.compare(*fits.values(), names=list(fits), cov_type=kind).summary_frame()
        for kind in (None, "naive")
    )
    ends = limits[["conf_low", "conf_high"]]
    errors = np.hypot(naive["std_error"], ends.diff(axis=1)["conf_high"] / 2 / np.sqrt(28))
    for name, (low, high) in zip(limits.index, ends.to_numpy(), strict=True):
        means += [(f"{name}, low", low, errors[name]), (f"{name}, high", high, errors[name])]
    return pd.DataFrame(means, columns=["quantity", "ours", "error"])


FIGURES = [
    (kind, n, measure)
    for kind in ("PD", "PFI")
    for n in (100, 1000)
    for measure in ("coverage", "width")
]
COVERAGE = "measure == 'coverage' and estimand == '{}'"
CELLS = {
    "figure 2": Cell(toy, partial(bundle, x="x1", group="curve", color="curve", panel="", y="PD")),
    "table 1": Cell(coverage, rows=COVERAGE.format("PD")),
    "table 2": Cell(of="table 1", rows=COVERAGE.format("PFI")),
    "figure 3": Cell(draw=segments, of="table 1", rows="quantity != 'ideal'"),
    "figure 4": Cell(draw=segments, of="table 1", rows="quantity in ['boot*', 'subs*']"),
    "figure 5": Cell(
        draw=partial(curves, x="refits", color="interval", panel="measure + n"),
        of="figure 7",
        rows="learner == 'rf' and process == 'non-linear' and estimand == 'PD'",
    ),
    "figure 6": Cell(wine, partial(bars, term="term", panel="what + level")),
    "section 9": Cell(losses),
    **{
        f"figure {k}": Cell(
            by_refits if k == 7 else None,
            partial(curves, x="refits", color="interval", panel="process + learner", y=measure),
            of="" if k == 7 else "figure 7",
            rows=f"estimand == '{kind}' and n == {n} and measure == '{measure}'",
        )
        for k, (kind, n, measure) in enumerate(FIGURES, 7)
    },
}
PAPER = Paper("molnar2021", CELLS)
