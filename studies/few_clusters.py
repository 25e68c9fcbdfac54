"""Coverage and size of default intervals with few clusters.

Run ``python studies/few_clusters.py SETS [FIRST]``.

Features and errors have a part that a cluster shares (intraclass correlation .5). Cells: 12, 20 and
30 clusters, equal and unequal in size, of a linear model; 12 of a tree with 10 rows in a leaf.
y = x1 + x2 / 2 + error; x3 and x4 are null. The truth of a cell is the mean over learners that are
trained on 63.2% of new clusters, and evaluated on a large sample. Writes
studies/results/few_clusters.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

FILE = Path(__file__).with_name("results") / "few_clusters.csv"
# By name: the learner, how many make the truth, and numbers of clusters.
LEARNERS: dict[str, tuple[Callable[[], Any], int, tuple[int, ...]]] = {
    "lm": (LinearRegression, 3000, (12, 20, 30)),
    "tree": (lambda: DecisionTreeRegressor(min_samples_leaf=10, random_state=0), 400, (12,)),
}
NAMES, POINTS = ["x1", "x2", "x3", "x4"], [0.0, 1.0]
ROWS = 8  # of a cluster, in the mean


def draw(rng: np.random.Generator, clusters: int, *, equal: bool) -> pd.DataFrame:
    """Return the rows of clusters, with the cluster of each."""
    more = np.full(clusters, ROWS - 1) if equal else rng.poisson(rng.gamma(1.0, ROWS - 1, clusters))
    cluster = np.repeat(np.arange(clusters), more + 1)

    def shared(columns: int) -> Any:
        parts = (
            rng.normal(size=(clusters, columns))[cluster],
            rng.normal(size=(len(cluster), columns)),
        )
        return np.sqrt(0.5) * (parts[0] + parts[1])

    rows = pd.DataFrame(shared(4), columns=NAMES)
    rows["y"] = rows["x1"] + rows["x2"] / 2 + shared(1)[:, 0]
    rows["cluster"] = cluster
    return rows


def truth(make: Callable[[], Any], clusters: int, number: int, *, equal: bool) -> np.ndarray:
    """Return the mean loss, PFI and PD of learners that are trained on new clusters."""
    rng, train = np.random.default_rng(7), round(0.632 * clusters)
    big = draw(rng, 2500, equal=equal)
    X, y = big[NAMES].to_numpy(), big["y"].to_numpy()
    swapped = rng.permutation(len(X))
    total = np.zeros(1 + 4 + len(POINTS))
    for _ in range(number):
        rows = draw(rng, train, equal=equal)
        model = make().fit(rows[NAMES].to_numpy(), rows["y"].to_numpy())
        loss = np.mean((y - model.predict(X)) ** 2)
        values = [loss]
        for j in range(4):
            other = X.copy()
            other[:, j] = X[swapped, j]
            values.append(np.mean((y - model.predict(other)) ** 2) - loss)
        for point in POINTS:
            other = X.copy()
            other[:, 0] = point
            values.append(model.predict(other).mean())
        total += values
    return total / number


def main(sets: int, first: int) -> None:
    """Append one row per cell, estimand and term."""
    lines = []
    for name, (make, number, several) in LEARNERS.items():
        for clusters in several:
            for equal in (True, False):
                true = truth(make, clusters, number, equal=equal)
                covers, rejects, df = np.zeros((sets, len(true))), np.zeros((sets, 4)), []
                for s in range(sets):
                    rows = draw(
                        np.random.default_rng([first + s, clusters, equal]), clusters, equal=equal
                    )
                    learner = pi.Learner(rows["y"], rows[NAMES], make())
                    plan = pi.HalfSampling(cluster=rows["cluster"].to_numpy())
                    fit = learner.fit(plan, seed=s, progress=False)
                    parts = [fit.loss(), fit.pfi(), fit.pd("x1", grid=POINTS)]
                    limits = np.concatenate([part.conf_int().to_numpy() for part in parts])
                    covers[s] = (limits[:, 0] <= true) & (true <= limits[:, 1])
                    rejects[s] = parts[1].pvalues < 0.05
                    df.append(parts[1].df_resid)
                terms = ["loss", *(f"PFI {x}" for x in NAMES), *(f"PD {p:g}" for p in POINTS)]
                tests = [np.nan, *rejects.mean(axis=0), *[np.nan] * len(POINTS)]
                for term, covered, rejected in zip(terms, covers.mean(axis=0), tests, strict=True):
                    cell = {"learner": name, "clusters": clusters, "equal": equal, "term": term}
                    lines.append({**cell, "covers": covered, "rejects": rejected,
                                  "df": np.mean(df), "data_sets": sets})  # fmt: skip
                print(
                    name,
                    clusters,
                    equal,
                    covers.mean(axis=0).round(3),
                    rejects.mean(axis=0),
                    flush=True,
                )
    pd.DataFrame(lines).round(4).to_csv(FILE, index=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
