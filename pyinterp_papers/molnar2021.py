"""Molnar et al. (2021): PD and PFI as estimators of properties of the data-generating process."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp_papers.pictures import bars, bundle, curves, segments
from pyinterp_papers.processes import molnar_figure2, molnar_linear, molnar_nonlinear
from pyinterp_papers.replication import Cell, Paper, long, over_seeds, values

GRID = (0.1, 0.3, 0.5, 0.7, 0.9)
REFITS = (2, 5, 10, 15, 20, 30)
FEW = {"lm": 8, "tree": 8, "rf": 2}
PROCESSES = {"linear": molnar_linear(), "non-linear": molnar_nonlinear()}
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
    pfi = res.pfi().estimand

    def measure(case: Any) -> dict[str, pi.Estimate]:
        n, columns = len(case.y), []
        for name in pfi.terms.names:
            draws = np.column_stack([case.draw(name).permutation(n) for _ in range(5)])
            donors = case.evaluation.variables[[name]]
            changed = case.whatif.of([name]).pairs(np.arange(n), draws, donors)
            columns.append(np.square(case.y[:, None] - changed).mean(axis=1))
        losses = np.square(case.y - case.whatif.factual)
        return {"pfi": pi.Estimate.of_rows(np.column_stack(columns) - losses[:, None])}

    own = {"key": "five permutations", "measure": measure, "read": itemgetter("pfi")}
    estimand = replace(pfi, **own, parameter=pi.Parameter())
    result: pi.EstimandResults = res.estimate(estimand, cov_type=cov_type)
    return result


def coverage(
    repetitions: Any = 1000,
    truth_refits: int = 10_000,
    learners: Any = LEARNERS,
    sizes: tuple[int, ...] = (100, 1000),
    refits: tuple[int, ...] = (),
) -> pd.DataFrame:
    """Coverage and width of intervals for PD and PFI, mean over features and grid.

    By number of refits, PFI over all pairs; or of 15 refits, with the ideal, by 5 permutations,
    and then widths are relative.
    """
    plans = {f"{k} {m}" if refits else k: v(m) for k, v in PLANS.items() for m in refits or (15,)}
    ideal = {} if refits else {"ideal": pi.simulation.ideal(15)}
    parts = []
    for process in PROCESSES.values():
        pds = {
            f"PD {x}": partial(pi.LearnerResults.pd, features=x, grid=GRID)
            for x in process.features
        }
        study = pi.simulation.CoverageStudy(
            dgps=[process],
            learners=learners,
            estimands={"PFI": pi.LearnerResults.pfi if refits else five_permutations, **pds},
            n=sizes,
            resamplings={**plans, **ideal},
            cov_types={name: ["naive", "corrected"] for name in plans}
            | {name: ["naive"] for name in ideal},
            repetitions=repetitions,
            truth_refits=truth_refits,
        )
        with TemporaryDirectory() as folder:
            parts.append(study.run(Path(folder) / "study.sqlite", progress=False).rows)
    return summary_of(pd.concat(parts), "width" if refits else "relative_width")


def summary_of(rows: pd.DataFrame, width: str) -> pd.DataFrame:
    """Return the paper's columns: means over estimands; errors as if these depended fully."""
    rows = rows.assign(
        estimand=rows["estimand"].str.split(" ").str[0],
        quantity=rows["plan"].str.split(" ").str[0]
        + rows["cov_type"].map({"naive": "", "corrected": "*"}),
    )
    keys = ["estimand", "process", "learner", "n", "refits", "quantity"]
    means = rows.groupby(keys, sort=False)[["coverage", "coverage_mcse", width]].mean()
    means.columns = pd.Index(["ours", "error", "width"])
    widths = means["width"].rename("ours").reset_index()
    return long({"coverage": means[["ours", "error"]].reset_index(), "width": widths}, "measure")


def toy(repetitions: int = 100) -> pd.DataFrame:
    """PD of refits of a tree, their mean, and the true PD."""
    process = molnar_figure2()
    grid = np.linspace(0.5, 9.5, 19).tolist()
    tree = DecisionTreeRegressor(min_samples_leaf=10)
    plan = pi.FreshDraws(partial(process.draw, 400), repetitions, fraction=0.5)
    res = pi.Learner.from_formula("y ~ .", process.draw(400, seed=1), tree).fit(plan, seed=1)
    refits: pd.DataFrame = res.pd("x1", grid=grid).refit_frame().set_axis(grid, axis=1)
    frame = pd.concat([refits[:15], refits.mean().to_frame("mean").T])
    frame.loc["true"] = process.pd("x1", grid)
    frame = frame.rename_axis("curve").reset_index()
    return frame.melt("curve", var_name="x1", value_name="ours").assign(error=np.nan)


def wine(trees: int = 100) -> pd.DataFrame:
    """PFI and PD of alcohol, of 15 forests, and means of ten forests alone and of their errors."""
    data = pi.datasets.load_wine_quality()
    learner = pi.Learner.from_formula("quality ~ .", data, RandomForestRegressor(trees))
    fits = [("learner", learner.fit(pi.Bootstrap(15), seed=1, progress=False))]
    fits += [("model", learner.fit(pi.Holdout(), seed=seed)) for seed in range(10)]
    parts = [
        values(result, "term").assign(level=level, what=what)
        for level, res in fits
        for what, result in (("PFI", res.pfi()), ("PD of alcohol", res.pd("alcohol", points=12)))
    ]
    return pd.concat(parts).groupby(["level", "what", "term"], sort=False).mean().reset_index()


@over_seeds
def losses(seed: int, trees: int = 100) -> pd.DataFrame:
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
            pi.Bootstrap(15), seed=seed, progress=False
        )
        for name, estimator in estimators.items()
    }
    found = {f"loss of {name}": res.loss().params.iloc[0] for name, res in fits.items()}
    limits = pi.compare(*fits.values(), names=list(fits)).conf_int()
    for name, (low, high) in zip(limits.index, limits.to_numpy(), strict=True):
        found |= {f"{name}, low": low, f"{name}, high": high}
    return pd.Series(found).rename_axis("quantity").rename("ours").reset_index()


FIGURES = product(("PD", "PFI"), (100, 1000), ("coverage", "width"))
COVERAGE = "measure == 'coverage' and estimand == '{}'"
CELLS = {
    "figure 2": Cell(toy, partial(bundle, x="x1", group="curve", color="", panel="", y="PD")),
    "table 1": Cell(coverage, rows=COVERAGE.format("PD")),
    "table 2": Cell(of="table 1", rows=COVERAGE.format("PFI")),
    "figure 3": Cell(draw=segments, of="table 1", rows="quantity != 'ideal'"),
    "figure 4": Cell(draw=segments, of="table 1", rows="quantity in ['boot*', 'subs*']"),
    "figure 5": Cell(
        draw=partial(curves, x="refits", color="quantity", panel="measure + n"),
        of="figure 7",
        rows="learner == 'rf' and process == 'non-linear' and estimand == 'PD'",
    ),
    "figure 6": Cell(wine, partial(bars, term="term", panel="what + level")),
    "section 9": Cell(losses),
    **{
        f"figure {k}": Cell(
            partial(coverage, FEW, 500, refits=REFITS) if k == 7 else None,
            partial(curves, x="refits", color="quantity", panel="process + learner", y=measure),
            of="" if k == 7 else "figure 7",
            rows=f"estimand == '{kind}' and n == {n} and measure == '{measure}'",
        )
        for k, (kind, n, measure) in enumerate(FIGURES, 7)
    },
}
PAPER = Paper("molnar2021", CELLS)
