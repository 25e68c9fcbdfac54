"""Coverage of Tables 1 and 2 of Molnar et al. (2021), with half-sampling beside their intervals.

``make study`` runs what the files in ``studies/results`` do not hold yet, and rewrites the
tables of results beside them. A kill loses at most the blocks under way.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp import simulation

RESULTS = Path(__file__).with_name("results")
GRID = (0.1, 0.3, 0.5, 0.7, 0.9)
# rpart's defaults: cp is relative to the variance of the response, 1.17 and 1.19 here.
TREE = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.0118)
# randomForest's defaults, but for 100 trees instead of 500.
FOREST = RandomForestRegressor(100, min_samples_leaf=5, max_features=1 / 3)


def asks(process: simulation.Process) -> dict[str, Any]:
    """Return the estimands: PFI over all pairs and, as in the paper, over 5 permutations; PD."""
    grids = {
        f"PD {x}": partial(pi.LearnerResults.pd, features=x, grid=GRID) for x in process.features
    }
    return {
        "PFI": pi.LearnerResults.pfi,
        "PFI, ratio": partial(pi.LearnerResults.pfi, relation="ratio"),
        "PFI, 5 permutations": partial(pi.LearnerResults.pfi, permutations=5),
        **grids,
    }


def tables(process: simulation.Process) -> simulation.CoverageStudy:
    """Return the study of one process of Tables 1 and 2."""
    return simulation.CoverageStudy(
        dgps=[process],
        learners={"lm": LinearRegression(), "tree": TREE, "rf": FOREST},
        estimands=asks(process),
        n=[100, 1000],
        resamplings={
            "boot": pi.Bootstrap(15),
            "subs": pi.Subsampling(15),
            "ideal": simulation.ideal(15),
            "half": pi.HalfSampling(),
        },
        cov_types={
            "boot": ["naive", "corrected"],
            "subs": ["naive", "corrected"],
            "ideal": ["naive"],
            "half": ["half-sample"],
        },
        repetitions={"lm": 1000, "tree": 1000, "rf": 300},
        truth_refits={"lm": 10_000, "tree": 10_000, "rf": 1000},
    )


STUDIES = {
    "linear": partial(tables, simulation.molnar_linear()),
    "non-linear": partial(tables, simulation.molnar_nonlinear()),
}


def main() -> None:
    """Run the studies named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(STUDIES), help=", ".join(STUDIES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--learners", nargs="*", help="only these")
    arguments = parser.parse_args()
    for name in arguments.names:
        study = STUDIES[name]()
        only = arguments.learners or list(study.learners)
        part = replace(study, learners={k: v for k, v in study.learners.items() if k in only})
        part.run(RESULTS / f"{name}.jsonl", arguments.jobs)
        results = study.load(RESULTS / f"{name}.jsonl")
        results.frame.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")
        print(results.rows.to_string())


if __name__ == "__main__":
    main()
