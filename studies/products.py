"""How often `products()` rejects, in the worlds of `studies/interactions.py`.

It is run as `studies/turns.py` says. The learner is boosting. The summary goes to
`studies/results/products.csv`. The standard errors were chosen on seeds of another number.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from interactions import LEVEL, worlds  # beside this file
from population import LEARNERS
from turns import fitted, main

from pyinterp.estimands.interactions import products

SUMMARY = Path(__file__).parent / "results" / "products.csv"
OFFSET = 585  # of seeds
CELLS = [("boosting", *each) for each in product((300, 1000), worlds()) if each[1] != "blocks"]


def one_set(learner: str, n: int, world: str, k: int) -> pd.DataFrame:
    """Return the products of x in one data set."""
    _, res = fitted(worlds()[world], LEARNERS[learner], n, k, OFFSET)
    found = res.estimate(replace(products(res.analysis.problem, "x"), diagnostic=None))
    values = {"estimate": found.params, "se": found.bse, "p_value": found.pvalues}
    return pd.DataFrame(values).rename_axis("term").reset_index()


def summarize(data: pd.DataFrame) -> pd.DataFrame:
    """Return, for every cell, shares of products and of data sets, and their numbers."""
    every, cell = worlds(), ["n", "world"]
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
    main(SUMMARY, CELLS, one_set, ["term", "estimate", "se", "p_value"], summarize)
