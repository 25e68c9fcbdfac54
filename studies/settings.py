"""The studies whose results are kept in ``studies/results``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import pyinterp as pi
from pyinterp import simulation
from pyinterp.data.features import Features
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import some_pairs
from pyinterp.estimands.importance.permutation import permutation_importance
from pyinterp.inference import CovType
from pyinterp.losses.rowwise import LOSSES
from pyinterp_papers.importance import importance_study
from pyinterp_papers.khan2025 import ADDITIVE, SECTION, boosting
from pyinterp_papers.processes import (
    khan_regression,
    molnar_linear,
    molnar_nonlinear,
    wood_classification,
    wood_regression,
)
from pyinterp_papers.processes.khan import ORACLE, Scenario

SIZES = (100, 500, 1000, 5000, 10_000)
GRID = (0.1, 0.3, 0.5, 0.7, 0.9)
# rpart's defaults: cp is relative to the variance of the response, 1.17 and 1.19 here.
TREE = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.0118)
# randomForest(ntree = 100), as in the code behind the paper: a third of the features per split, and
# nodes of more than 5 rows are split. It counts copies of a row, scikit-learn distinct rows: 4 are
# 6.3 with their copies.
FOREST = RandomForestRegressor(100, min_samples_split=4, max_features=1 / 3)
HALF: Mapping[str, Any] = {
    "resamplings": {"half": pi.HalfSampling()},
    "cov_types": {"half": ["half-sample"]},
}


PRINTED = files("pyinterp_papers") / "printed"


def paper_tables() -> pd.DataFrame:
    """Return Tables 1 and 2 of Molnar et al. (2021) as printed."""
    tables = {"PD": "molnar2021_table_1", "PFI": "molnar2021_table_2"}
    return _printed(tables, ["estimand"])


def khan_tables() -> pd.DataFrame:
    """Return Tables 2 to 7 of Khan et al. (2025) as printed."""
    tables = {(m.lower(), s): f"khan2025_table_{k}" for k, (s, m) in enumerate(SECTION, 2)}
    return _printed(tables, ["measure", "scenario"])


def _printed(tables: Mapping[Any, str], names: list[str]) -> pd.DataFrame:
    frames = {key: pd.read_csv(str(PRINTED / f"{name}.csv")) for key, name in tables.items()}
    return pd.concat(frames, names=names).reset_index(names).reset_index(drop=True)


def curves(features: tuple[str, ...], grid: tuple[float, ...] = GRID) -> dict[str, Any]:
    """Return the PD of every feature."""
    curve = partial(pi.LearnerResults.pd, grid=grid)
    return {f"PD {x}": partial(curve, features=x) for x in features}


def independent(case: ModelOnRows, *, features: Features, loss: pi.Loss) -> Measurement:
    """Measure losses after 5 independent permutations, fixed points allowed, as the paper did."""
    losses = loss(case.y, case.whatif.factual)
    pairs = []
    for name, whatif in case.whatif.of_all(features):
        rng = case.draw(name)
        index = np.column_stack([rng.permutation(len(losses)) for _ in range(5)])
        pairs.append(some_pairs(whatif, case.y, losses, loss, index))
    switched, original = zip(*pairs, strict=True)
    return {"changed": Estimate.stack(switched), "original": Estimate.stack(original)}


def by_permutations(
    results: pi.LearnerResults, cov_type: CovType | None = None
) -> pi.EstimandResults:
    """Ask for PFI by 5 independent permutations."""
    problem = results.analysis.problem
    pfi = permutation_importance(problem, permutations=5)
    measure = partial(independent, features=dict(problem.features), loss=LOSSES["squared"])
    estimand = replace(pfi, key=("independent", *pfi.key[1:]), measure=measure)
    return results.estimate(estimand, cov_type=cov_type)


def tables(process: simulation.Process) -> simulation.CoverageStudy:
    """Tables 1 and 2 of Molnar et al. (2021): PFI over all pairs and, as there, 5 permutations."""
    return simulation.CoverageStudy(
        dgps=[process],
        learners={"lm": LinearRegression(), "tree": TREE, "rf": FOREST},
        estimands={
            "PFI": pi.LearnerResults.pfi,
            "PFI, ratio": partial(pi.LearnerResults.pfi, relation="ratio"),
            "PFI, 5 independent permutations": by_permutations,
            **curves(process.features),
        },
        n=[100, 1000],
        resamplings={
            "boot": pi.Bootstrap(15),
            "subs": pi.Subsampling(15),
            "ideal": simulation.ideal(15),
        },
        cov_types={
            "boot": ["naive", "corrected"],
            "subs": ["naive", "corrected"],
            "ideal": ["naive"],
        },
        repetitions={"lm": 1000, "tree": 1000, "rf": 300},
        truth_refits={"lm": 10_000, "tree": 10_000, "rf": 1000},
    )


def refits() -> simulation.CoverageStudy:
    """Width and coverage against the number of refits, as in Figure 5, there of a forest."""
    boot = {f"boot {m}": pi.Bootstrap(m) for m in (2, 5, 10, 15, 20, 30)}
    process = molnar_nonlinear()
    return simulation.CoverageStudy(
        dgps=[process],
        learners={"lm": LinearRegression(), "tree": TREE},
        estimands={"PFI": pi.LearnerResults.pfi, **curves(process.features)},
        n=[100],
        resamplings=boot,
        cov_types={name: ["corrected"] for name in boot},
        repetitions=200,
        truth_refits=10_000,
    )


def importances(
    measure: str,
    scenarios: tuple[Scenario, ...],
    features: tuple[str, ...],
    *,
    repetitions: Mapping[str, int],
    block: int = 10,
) -> Iterator[pd.DataFrame]:
    """Bias, variance and delta of MVIM and CVIM: Khan et al. (2025), Tables 2 to 4 and 5 to 7."""
    learners: Mapping[str, Callable[[int], Any]] = {
        "oracle": lambda _: (ORACLE, LinearRegression()),
        "additive": lambda _: ADDITIVE,
        "xgboost": boosting,
    }
    for scenario, (name, learner), n in product(scenarios, learners.items(), SIZES):
        frame = importance_study(
            khan_regression(scenario),
            learner(n),
            features,
            measures=[measure],
            n=n,
            repetitions=repetitions[name],
            block=block,
        )
        frame.insert(1, "learner", name)
        yield frame


def adjusted_importances() -> simulation.CoverageStudy:
    """Mean MVIM, CVIM and AMVIM of X1 as users get them: Khan et al. (2025), Figures 10 to 12."""
    return simulation.CoverageStudy(
        dgps=[khan_regression(s) for s in ("weak", "moderate", "strong")],
        learners={"xgboost": XGBRegressor(n_estimators=700, learning_rate=0.1, max_depth=3)},
        estimands={
            "MVIM": partial(pi.LearnerResults.mvim, features="X1"),
            "CVIM": partial(pi.LearnerResults.cvim, features="X1"),
            "AMVIM": partial(pi.LearnerResults.amvim, features="X1"),
            "AMVIM, additive": partial(pi.LearnerResults.amvim, features="X1", method="additive"),
            "R²_j": partial(pi.LearnerResults.positivity, features="X1"),
        },
        n=[500, 2000, 8000],
        resamplings={},
        cov_types={},
        repetitions=0,
        truth_refits=60,
        block=1,
    )


# Bounds of the length and of the noise wide enough for every draw of the data sets.
GAUSSIAN_PROCESS = GaussianProcessRegressor(
    1.0 * RBF(3.0, (1e-2, 1e6)) + WhiteKernel(0.3, (1e-8, 1e2)), normalize_y=True
)


def uncertainty(process: simulation.Process, n: int, **learners: Any) -> simulation.CoverageStudy:
    """Entropy-PFI, of Wood et al. (2024), with its default intervals."""
    return simulation.CoverageStudy(
        dgps=[process],
        learners=learners,
        estimands={"entropy-PFI": pi.LearnerResults.entropy_pfi},
        n=[n],
        repetitions=300,
        truth_refits=1000,
        **HALF,
    )


STUDIES: Mapping[str, Callable[[], simulation.CoverageStudy]] = {
    "linear": partial(tables, molnar_linear()),
    "non-linear": partial(tables, molnar_nonlinear()),
    "refits": refits,
    "adjusted": adjusted_importances,
    "uncertainty-regression": partial(
        uncertainty,
        wood_regression(),
        100,
        **{"bayesian ridge": BayesianRidge(), "gaussian process": GAUSSIAN_PROCESS},
    ),
    "uncertainty-classification": partial(
        uncertainty,
        wood_classification("x1"),
        200,
        logistic=LogisticRegression(),
        rf=RandomForestClassifier(20, min_samples_leaf=5),
    ),
}


IMPORTANCES: Mapping[str, Callable[[], Iterator[pd.DataFrame]]] = {
    "mvim": partial(
        importances,
        "mvim",
        ("independent", "simple", "multivariate"),
        ("X1", "X5", "X6"),
        repetitions={"oracle": 200, "additive": 50, "xgboost": 50},
        block=5,
    ),
    "cvim": partial(
        importances,
        "cvim",
        ("weak", "moderate", "strong"),
        ("X1",),
        repetitions={"oracle": 200, "additive": 100, "xgboost": 100},
    ),
}


def only(
    study: simulation.CoverageStudy, learners: list[str] | None, n: list[int] | None
) -> simulation.CoverageStudy:
    """Return the study of some of its learners, and of other sizes."""
    kept = {k: v for k, v in study.learners.items() if not learners or k in learners}
    return replace(study, learners=kept, n=n or study.n)
