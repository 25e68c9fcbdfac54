"""The main job, offline: what drives diabetes progression, as a random forest sees it."""

import sys
from pathlib import Path

from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo_output")
    folder.mkdir(parents=True, exist_ok=True)

    data = pi.datasets.load_diabetes()
    learner = pi.Learner.from_formula("progression ~ .", data, RandomForestRegressor(100))
    res = learner.fit(seed=1, n_jobs=2)

    print(res.summary())
    print(res.pd("bmi", points=8).summary())
    plot = folder / "bmi.png"
    res.pd("bmi").plot().save(plot, width=6, height=4, dpi=150, verbose=False)
    print(f"\nPlot written to {plot}")
