"""Whether `sample_size` of a pilot is right: widths and powers at the sizes that it names.

Run ``python studies/sample_size.py CACHE``. It goes on where it was stopped: what was
computed is in the file CACHE, a line per data set.

y = .7 a + .35 b + .25 c + e, four standard normal features of which d is null. Learners: a linear
model, a tree with 5 rows in a leaf, 5 neighbors. Pilots have 120 rows.

Widths: PD at 0 and 1, PFI of a, and of b and c given their true importance. `rows` is the median of
the sizes that pilots name for the width that intervals have with 240 and 480 rows (root mean
square over data sets); `width` the root of its inverse share, predicted over true; `holds` how many
of the pilots' ranges hold the true number. Powers: of b and c, for the importance that the learner
finds with 480 rows; `rows` is the median of the pilots, `power` the share of rejections among data
sets of this size. Writes studies/results/sample_size.csv.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

FILE = Path(__file__).with_name("results") / "sample_size.csv"
# By name: the learner, and how many data sets.
LEARNERS = {
    "lm": (LinearRegression(), 100),
    "tree": (DecisionTreeRegressor(min_samples_leaf=5, random_state=0), 100),
    "neighbors": (KNeighborsRegressor(5), 24),
}
PILOT, SIZES = 120, (240, 480)


def fit(name: str, rows: int, s: int) -> pi.LearnerResults:
    """Return the fit of data set s of so many rows."""
    rng = np.random.default_rng([s, rows, 46])
    X = rng.normal(size=(rows, 4))
    y = X @ [0.7, 0.35, 0.25, 0.0] + rng.normal(size=rows)
    data = pd.DataFrame(X, columns=list("abcd"))
    return pi.Learner(y, data, LEARNERS[name][0]).fit(seed=s, progress=False)


def asked(name: str, rows: int, s: int) -> dict[str, list[float]]:
    """Return estimates, widths and P of data set s."""
    res = fit(name, rows, s)
    pfi, curve = res.pfi(), res.pd("a", grid=[0.0, 1.0])
    width = [each.conf_int().diff(axis=1)[1].tolist() for each in (pfi, curve)]
    return {"pfi": pfi.params.tolist(), "p": pfi.pvalues.tolist(), "pfi width": width[0],
            "pd width": width[1]}  # fmt: skip


def of_pilot(name: str, s: int, targets: dict[str, Any]) -> list[Any]:
    """Return what a pilot says of the targets: n, n_low and n_high of each."""
    res = fit(name, PILOT, s)
    results = {"pfi": res.pfi(), "pd": res.pd("a", grid=[0.0, 1.0])}
    said = []
    for of, k, options in targets.values():
        said.append(results[of].sample_size(**options).iloc[k].tolist())
    return said


def cached(path: Path, key: str, make: Any) -> Any:
    """Return what a file has under a key, or make it and add it."""
    found = dict(json.loads(line) for line in path.open()) if path.exists() else {}
    if key not in found:
        found[key] = make()
        with path.open("a") as file:
            file.write(json.dumps([key, found[key]]) + "\n")
    return found[key]


def every(name: str, rows: int, sets: int, path: Path) -> list[dict[str, list[float]]]:
    """Return what data sets of so many rows give."""
    return [
        cached(path, f"{name} {rows} {s}", lambda s=s: asked(name, rows, s)) for s in range(sets)
    ]


def study(name: str, sets: int, path: Path) -> list[dict[str, Any]]:
    """Return the rows of a learner."""
    at = {n: every(name, n, sets, path) for n in SIZES}
    mean = np.mean([each["pfi"] for each in at[480]], axis=0)
    targets: dict[str, Any] = {}
    for n in SIZES:
        for k, point in enumerate("01"):
            width = float(np.sqrt(np.mean([each["pd width"][k] ** 2 for each in at[n]])))
            targets[f"PD {point}, {n}"] = ("pd", k, {"width": width})
        for k, term in enumerate("abc"):
            width = float(np.sqrt(np.mean([each["pfi width"][k] ** 2 for each in at[n]])))
            options = {"width": width, "effect": float(mean[k])}
            targets[f"PFI {term}, {n}"] = ("pfi", k, options)
    for k, term in enumerate("bc", start=1):
        targets[f"power {term}"] = ("pfi", k, {"effect": float(mean[k])})
    said = np.array(
        [
            cached(path, f"{name} pilot {s}", lambda s=s: of_pilot(name, s, targets))
            for s in range(sets)
        ],
        dtype=float,
    )
    lines = []
    for j, (target, (_, k, options)) in enumerate(targets.items()):
        numbers = said[~np.isnan(said[:, j, 0]), j]
        rows = int(np.median(numbers[:, 0]))
        line = {"learner": name, "target": target, "data_sets": sets, "pilots": len(numbers)}
        line |= {"rows": rows, **options}
        if "width" in options:
            n = int(target.partition(", ")[2])
            line["width_ratio"] = np.sqrt(rows / n)
            line["holds"] = ((numbers[:, 1] <= n) & (n <= numbers[:, 2])).mean()
        else:
            made = every(name, rows, sets, path)
            line["power"] = np.mean([each["p"][k] < 0.05 for each in made])
            line["true"] = np.mean([each["pfi"][k] for each in made])
        lines.append(line)
    return lines


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines: list[dict[str, Any]] = []
    for learner, (_, number) in LEARNERS.items():
        lines += study(learner, number, Path(sys.argv[1]))
        pd.DataFrame(lines).round(4).to_csv(FILE, index=False)
