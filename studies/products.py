"""How often `products()` rejects, in the worlds of `studies/interactions.py`.

    python studies/products.py RAW SECONDS [CELL ...]

Every data set adds a line per product to the file RAW, and what is there is not done again; after
so many CPU seconds it stops. The cells, such as `300/linear`, take turns. The learner is boosting.
Their summary goes to `studies/results/products.csv`. The standard errors were chosen on seeds of
another number.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from interactions import LEVEL, World, worlds  # beside this file
from population import LEARNERS

import pyinterp as pi
from pyinterp.estimands.interactions import products

SUMMARY = Path(__file__).parent / "results" / "products.csv"
OFFSET = 585  # of seeds
SIZES = 300, 1000
SETS = 400


def one_set(world: World, n: int, k: int) -> pd.DataFrame:
    """Return the products of x in one data set."""
    data = world.draw(np.random.default_rng([n, k, OFFSET]), n)
    model = pi.Learner.from_formula("y ~ .", data, LEARNERS["boosting"][world.classifier])
    res = model.fit(pi.CrossValidation(5), seed=k, progress=False)
    found = res.estimate(replace(products(res.analysis.problem, "x"), diagnostic=None))
    values = {"estimate": found.params, "se": found.bse, "p_value": found.pvalues}
    return pd.DataFrame(values).rename_axis("term").reset_index()


def run(raw: Path, seconds: float, chosen: list[str]) -> None:
    """Add data sets to a file, cell by cell in turn, until the time is over."""
    done: set[tuple[int, str, int]] = set()
    if raw.exists():
        before = pd.read_csv(raw)[["n", "world", "set"]]
        done = set(before.itertuples(index=False, name=None))
    every, start = worlds(), time.process_time()
    for k, n, name in product(range(SETS), SIZES, every):
        if chosen and not f"{n}/{name}".startswith(tuple(chosen)):
            continue
        if (n, name, k) in done or name == "blocks":
            continue
        if time.process_time() - start > seconds:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = one_set(every[name], n, k).assign(n=n, world=name, set=k)
        rows.to_csv(raw, mode="a", header=not raw.exists(), index=False)


def summarize(raw: Path) -> pd.DataFrame:
    """Return, for every cell, shares of products and of data sets, and their numbers."""
    data, every, cell = pd.read_csv(raw), worlds(), ["n", "world"]
    data["null"] = data["world"].map({name: one.null for name, one in every.items()})
    data["rejects"] = data["p_value"] < LEVEL
    data["square"] = np.square(data["estimate"] / data["se"])
    smallest = data.groupby([*cell, "set"])["p_value"].agg(["min", "size"]).prod(axis=1)
    table = data.groupby(cell, sort=False).agg(
        null=("null", "first"),
        sets=("set", "nunique"),
        products=("term", "size"),
        rejected=("rejects", "mean"),
        mean_square_of_t=("square", "mean"),
    )
    table["any_by_bonferroni"] = (smallest < LEVEL).groupby(cell).mean()
    return table.round(4).reset_index().sort_values(["n", "null", "world"])


if __name__ == "__main__":
    path, most = Path(sys.argv[1]), float(sys.argv[2])
    run(path, most, sys.argv[3:])
    result = summarize(path)
    result.to_csv(SUMMARY, index=False)
    print(result.to_string())
