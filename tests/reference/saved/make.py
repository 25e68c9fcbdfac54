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
    "loss": lambda r: r.loss(),
    "explained": lambda r: r.loss(relation="explained"),
    "metric": lambda r: r.metric("mae"),
    "pfi": lambda r: r.pfi(),
    "ratio": lambda r: r.pfi(relation="ratio"),
    "absolute": lambda r: r.pfi("x", loss="absolute"),
    "some permutations": lambda r: r.pfi("x", permutations=3),
    "metric pfi": lambda r: r.pfi("x", metric="rmse"),
    "by": lambda r: r.pfi("x", by="g"),
    "rows": lambda r: r.pfi("x", rows="z > -1"),
    "conditional": lambda r: r.pfi("x", sampler="conditional"),
    "mvim": lambda r: r.mvim("x"),
    "cvim": lambda r: r.cvim("x"),
    "amvim": lambda r: r.amvim("x"),
    "additive": lambda r: r.amvim("x", method="additive"),
    "loco": lambda r: r.loco("x"),
    "firm": lambda r: r.firm("x"),
    "firm ice": lambda r: r.firm("x", ice=True),
    "native": lambda r: r.native_importance(),
    "likelihood": lambda r: r.likelihood_pfi("x"),
    "entropy": lambda r: r.entropy_pfi("x"),
    "importance": lambda r: r.importance(["pfi", "mvim"]),
    "curve": lambda r: r.pd("x", points=3),
    "levels": lambda r: r.pd("g"),
    "surface": lambda r: r.pd(["x", "g"], points=2),
    "ice": lambda r: r.pd("x", points=2, kind="ice"),
    "derivative": lambda r: r.pd("x", points=2, kind="d-ice"),
    "ale": lambda r: r.ale("x", points=3),
    "ame": lambda r: r.ame(),
    "vint": lambda r: r.vint(["x", "z"]),
    "h": lambda r: r.h_statistic(),
    "positivity": lambda r: r.positivity("x"),
    "redundancy": lambda r: r.redundancy("x"),
    "causal": lambda r: r.causal("x", grid=[-1, 1]),
    "uncertainty": lambda r: r.uncertainty("x"),
}


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
    tables = {name: ask(fit) for name, ask in QUESTIONS.items()}
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
