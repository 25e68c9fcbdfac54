"""Terms whose intervals cover improbably little, and what finding none would have shown."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from scipy import stats

NOMINAL, CHANCE = 0.95, 0.01
# Tests at 5% of irrelevant features that reject more often than this are named.
LIBERAL = 0.06
# Why terms cover improbably little, by settings and terms: what their data sets show.
REASONS = {
    r"ridge.*": "the penalty is fixed: halves shrink more than other refits, and vary less",
    r".*: (M-plot|ALE) .*": "few evaluation rows are near the value",
    r".*: (ratio|plug-in) .*": "the standard error is smallest where the estimate is too small",
    r"(lightgbm|boosting).*: PD .*": "halves have few leaves at either end, or few rows decide",
    r"logistic.*: PD .*": "few events: halves have other coefficients",
}


def improbable(table: pd.DataFrame) -> pd.DataFrame:
    """Return terms whose coverage has probability below 1% if the true one is 95%, lowest first."""
    hits = (table["coverage"] * table["data_sets"]).round()
    tail = stats.binom.cdf(hits, table["data_sets"], NOMINAL)
    return table.assign(probability=tail)[tail < CHANCE].sort_values("coverage")


def reason(row: str, term: str) -> str:
    """Return why a term covers improbably little; empty if it is not known."""
    found = (why for case, why in REASONS.items() if re.fullmatch(case, f"{row}: {term}"))
    return next(found, "")


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
