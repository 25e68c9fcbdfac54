"""Makes the files of this folder, for a new schema; those of older ones are refused in words.

Run ``python tests/reference/saved/make.py`` with the version that writes the schema.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import BayesianRidge

import pyinterp as pi
from pyinterp.learner.on_file import findings
from pyinterp.storage.archive import SCHEMA

HERE = Path(__file__).parent
# Every estimand that a fit answers, once with its defaults or nearly.
QUESTIONS = {
    "loss": "loss()",
    "explained": 'loss(relation="explained")',
    "metric": 'metric("mae")',
    "pfi": "pfi()",
    "ratio": 'pfi(relation="ratio")',
    "absolute": 'pfi("x", loss="absolute")',
    "some permutations": 'pfi("x", permutations=3)',
    "metric pfi": 'pfi("x", metric="rmse")',
    "by": 'pfi("x", by="g")',
    "rows": 'pfi("x", rows="z > -1")',
    "conditional": 'pfi("x", sampler="conditional")',
    "mvim": 'mvim("x")',
    "cvim": 'cvim("x")',
    "amvim": 'amvim("x")',
    "additive": 'amvim("x", method="additive")',
    "loco": 'loco("x")',
    "firm": 'firm("x")',
    "firm ice": 'firm("x", ice=True)',
    "native": "native_importance()",
    "likelihood": 'likelihood_pfi("x")',
    "entropy": 'entropy_pfi("x")',
    "importance": 'importance(["pfi", "mvim"])',
    "curve": 'pd("x", points=3)',
    "levels": 'pd("g")',
    "surface": 'pd(["x", "g"], points=2)',
    "ice": 'pd("x", points=2, kind="ice")',
    "derivative": 'pd("x", points=2, kind="d-ice")',
    "conditional curve": 'pd("g", sampler="conditional")',
    "m-plot": 'm_plot("x", points=3)',
    "ale": 'ale("x", points=3)',
    "slopes": 'slopes("x", points=2)',
    "ame": "ame()",
    "vint": 'vint(["x", "z"])',
    "h": "h_statistic()",
    "positivity": 'positivity("x")',
    "redundancy": 'redundancy("x")',
    "causal": 'causal("x", grid=[-1, 1])',
    "uncertainty": 'uncertainty("x")',
}


def ask(fit, name):
    """Return the answer to a question by its name."""
    return eval(f"fit.{QUESTIONS[name]}", {"fit": fit})  # noqa: S307 - the table above


def learner():
    """Return a learner of 40 rows that states a distribution."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(40, 2)).round(2), columns=["x", "z"])
    rows["g"] = np.resize(["a", "b"], 40)
    rows["y"] = (rows["x"] + rng.normal(size=40)).round(2)
    return pi.Learner.from_formula("y ~ x + z + g", rows, BayesianRidge())


def frame_of(table):
    """Return the numbers of a table as JSON holds them."""
    return json.loads(table.tidy().to_json(double_precision=15))


def main():
    """Save a fit with everything measured, seed 1, some results of it, and their tables."""
    fit = learner().fit(pi.HalfSampling(2, pairs=5), seed=1, progress=False)
    tables = {name: ask(fit, name) for name in QUESTIONS}
    fit.save(HERE / f"fit_{SCHEMA}.pyinterp")
    tables["importance"].save(HERE / f"importance_{SCHEMA}.pyinterp")
    test = tables["pfi"].t_test("x = z")
    test.save(HERE / f"test_{SCHEMA}.pyinterp")
    frames = {name: frame_of(table) for name, table in tables.items()}
    frames["test"] = str(test)
    (HERE / f"tables_{SCHEMA}.json").write_text(json.dumps(frames) + "\n")
    requests = "\n".join(sorted(findings(fit.analysis)))
    (HERE / f"requests_{SCHEMA}.txt").write_text(requests + "\n")


if __name__ == "__main__":
    main()
