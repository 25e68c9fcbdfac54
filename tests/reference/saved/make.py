"""Makes the files of this folder, for a new schema: old ones stay, and are read for ever.

Run ``python tests/reference/saved/make.py`` with the version that writes the schema.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.storage.archive import SCHEMA

HERE = Path(__file__).parent


def main() -> None:
    """Save results of 40 rows, seed 1, and the tables they have."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(40, 2)).round(2), columns=["x", "z"])
    rows["g"] = np.resize(["a", "b"], 40)
    rows["y"] = (rows["x"] + rng.normal(size=40)).round(2)
    learner = pi.Learner.from_formula("y ~ x + z + g", rows, LinearRegression())
    fit = learner.fit(pi.HalfSampling(2, pairs=5), seed=1, progress=False)
    tables = {
        "pfi": fit.pfi(),
        "curve": fit.pd("x", points=3),
        "by": fit.pfi("x", by="g"),
        "importance": fit.importance(["pfi", "mvim"]),
    }
    fit.save(HERE / f"fit_{SCHEMA}.pyinterp")
    tables["importance"].save(HERE / f"importance_{SCHEMA}.pyinterp")
    tables["pfi"].t_test("x = z").save(HERE / f"test_{SCHEMA}.pyinterp")
    frames = {name: json.loads(t.tidy().to_json(double_precision=15)) for name, t in tables.items()}
    by = frames.pop("by")
    frames["fit"] = {"pfi": frames["pfi"], "by": by, "importance": frames["importance"]}
    frames["test"] = str(tables["pfi"].t_test("x = z"))
    (HERE / f"tables_{SCHEMA}.json").write_text(json.dumps(frames, indent=1) + "\n")


if __name__ == "__main__":
    main()
