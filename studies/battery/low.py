"""Terms whose intervals cover improbably little, and what finding none would have shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

NOMINAL, CHANCE = 0.95, 0.01
# Tests at 5% of irrelevant features that reject more often than this are named.
LIBERAL = 0.06
# What the data sets of terms show that cover improbably little.
BY_PENALTY = (
    "halves shrink more by a fixed penalty: the standard error is .74 to .86 of the true one"
)
WITH_ESTIMATE = (
    "the standard error is too small where the estimate is: they correlate by .76 to .87"
)
TOO_SMALL = "the standard error is .8 to .9 of the true one"
UNKNOWN = "not known; chance lists about as many at this probability"
REASONS = {
    "ridge 1n: PFI x1": BY_PENALTY,
    "ridge 1n: ratio x1": BY_PENALTY,
    "ridge: ratio x1": BY_PENALTY,
    "boosting dummies: ratio x1": WITH_ESTIMATE,
    "boosting lognormal noise: PD x1[1.3]": WITH_ESTIMATE,
    "all lm: plug-in CVIM": WITH_ESTIMATE,
    "all logistic: ALE x1[0]": TOO_SMALL,
    "lightgbm 120: PD x1[-1.3]": TOO_SMALL,
    "logistic 10%: PD x1[-0.6]": UNKNOWN,
}


def improbable(table: pd.DataFrame) -> pd.DataFrame:
    """Return terms whose coverage has probability below 1% if the true one is 95%, lowest first."""
    hits = (table["coverage"] * table["data_sets"]).round()
    tail = stats.binom.cdf(hits, table["data_sets"], NOMINAL)
    return table.assign(probability=tail)[tail < CHANCE].sort_values("coverage")


def power(data_sets: pd.Series, coverage: float) -> float:
    """Return the share of terms that `improbable` would return if all truly covered so much."""
    # The largest number of hits whose tail is below 1%.
    most = stats.binom.ppf(CHANCE, data_sets, NOMINAL)
    most = most - (stats.binom.cdf(most, data_sets, NOMINAL) >= CHANCE)
    return float(np.mean(stats.binom.cdf(most, data_sets, coverage)))


def liberal(table: pd.DataFrame) -> pd.DataFrame:
    """Return settings whose tests at 5% reject irrelevant features too often, with their counts.

    All features and data sets of a setting together; `probability` is that of so many rejections
    at 5%, as if tests were independent.
    """
    null = table[
        table["null"] & table["rejects"].notna() & ~table["term"].str.startswith("contrast")
    ]
    null = null.assign(rejected=(null["rejects"] * null["data_sets"]).round())
    rows = null.groupby("row").agg(tests=("data_sets", "sum"), rejected=("rejected", "sum"))
    rows["share"] = rows["rejected"] / rows["tests"]
    rows["probability"] = stats.binom.sf(rows["rejected"] - 1, rows["tests"], 0.05)
    return rows[rows["share"] > LIBERAL].sort_values("share", ascending=False)
