"""The main job, offline: what drives diabetes progression, as a random forest sees it."""

import sys
from pathlib import Path

WORDS = """\
What drives diabetes progression, as a random forest of 100 trees sees it: 45 fits of 442 patients,
then importances with intervals, the effect of bmi, and its plot in {}.
It takes half a minute on two idle cores, and a minute more the first time, when code is compiled.
"""

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo_output")
    print(WORDS.format(folder), flush=True)  # before imports, which take seconds

    from sklearn.ensemble import RandomForestRegressor

    import pyinterp as pi

    folder.mkdir(parents=True, exist_ok=True)
    data = pi.datasets.load_diabetes()
    learner = pi.Learner.from_formula("progression ~ .", data, RandomForestRegressor(100))
    res = learner.fit(seed=1, n_jobs=2)

    print(res.summary())
    print(res.pd("bmi", points=8).summary())
    plot = folder / "bmi.png"
    res.pd("bmi").plot().save(plot, width=6, height=4, dpi=150, verbose=False)
    print(f"\nPlot written to {plot}")
