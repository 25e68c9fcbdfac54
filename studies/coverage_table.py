"""Make the table of coverages that footnotes quote, ``pyinterp/inference/coverage.csv``.

    python studies/coverage_table.py

From what Molnar et al. (2021) print, from our repetition of it, from the battery, and from the
studies of entropy and of `sage()`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from battery.rows import ROWS
from settings import paper_tables

from pyinterp.inference.coverage import Coverage
from pyinterp.models.specification import family_of

HERE = Path(__file__).parent
TABLE = HERE.parent / "pyinterp" / "inference" / "coverage.csv"
# Learners of the paper, as footnotes call them.
LEARNERS = {"lm": "linear models", "tree": "single trees", "rf": "forests"}
PLANS = {"boot": "bootstrap", "subs": "subsampling"}
REPETITIONS = 1000  # of the paper, and of our repetition
# What the battery asks, by the beginning of its terms.
ASKED = {
    "PFI": "PFI",
    "MVIM": "PFI",
    "ratio": "PFI, ratio",
    "conditional PFI": "conditional PFI",
    "CVIM": "conditional PFI",
    "LOCO": "LOCO",
    "PD": "PD",
    "FIRM given grid": "FIRM",
    "H": "H",
    "ALE": "ALE",
    "centered PD": "centered PD",
    "AME": "AME",
    "explained": "explained share",
    "r2": "r2",
    "rmse": "rmse",
    "PFI R2": "PFI by metric",
    "PFI AUC": "PFI by metric",
    "by": "PFI",
    "vint": "vint",
    "AMVIM": "AMVIM",
    "additive AMVIM": "additive AMVIM",
    "plug-in": "plug-in importance",
    "compare": "difference in loss",
    "compare PFI": "difference in PFI",
    "loss": "loss",
    "absolute": "loss",
    "AUC": "roc_auc",
    "entropy": "entropy-PFI",
    "likelihood": "likelihood-PFI",
}
OF_CLASSES = ("entropy-PFI", "likelihood-PFI")  # asked of classes alone
# A setting with fewer data sets is left out.
LEAST = 40
# Terms that tables mark, or warn of, in more than this share of data sets do not count.
OFTEN = 0.2


def nine_of_ten(coverage: pd.Series, data_sets: pd.Series | int) -> float:
    r"""Return the first decile of the coverages of terms, without their binomial noise.

    Every term is shrunk towards the mean m by :math:`B = \sqrt{\tau^2 / (\tau^2 + m (1 - m) / R)}`,
    with tau² the variance of coverages less its binomial part: the shrunken ones then vary as the
    true ones (Louis 1984, Journal of the American Statistical Association 79, 393-398).
    """
    mean = coverage.mean()
    binomial = mean * (1 - mean) / data_sets
    true = max(coverage.var(ddof=1) - np.mean(binomial), 0.0) if len(coverage) > 1 else 0.0
    shrinkage = np.sqrt(true / (true + binomial)) if true else 0.0
    return float(np.quantile(mean + shrinkage * (coverage - mean), 0.1))


def line(
    kind: str, loss: str, learners: str, variance: tuple[str, str], part: pd.DataFrame, source: str
) -> tuple[object, ...]:
    """Return a row of the table, from coverages of terms with their n and numbers of data sets."""
    nine = nine_of_ten(part["coverage"], part["data_sets"])
    data_sets = int(part.groupby("setting")["data_sets"].max().sum())
    counts = part["n"].min(), part["n"].max(), part["setting"].nunique(), len(part), data_sets
    shares = round(100 * part["coverage"].mean()), round(100 * nine)
    return kind, loss, learners, *variance, *counts, *shares, source


def of_paper() -> Iterator[tuple[object, ...]]:
    """Yield the rows of the paper's two tables, and of our repetition of the second."""
    paper = paper_tables().assign(data_sets=REPETITIONS)
    paper["setting"] = paper["process"] + paper["n"].astype(str)
    ours = pd.concat([pd.read_csv(HERE / "results" / f"{p}linear.csv") for p in ("", "non-")])
    ours = ours.assign(setting=ours["process"] + ours["n"].astype(str), data_sets=REPETITIONS)
    for name, learners in LEARNERS.items():
        for plan, long in PLANS.items():
            for cov_type, star in (("naive", ""), ("corrected", "*")):
                variance = cov_type, long
                for estimand, kind in (("PD", "PD"), ("PFI", "PFI by 5 permutations")):
                    rows = paper[(paper["learner"] == name) & (paper["estimand"] == estimand)]
                    loss = "squared error" if estimand == "PFI" else ""
                    part = rows.assign(coverage=rows[plan + star])
                    yield line(kind, loss, learners, variance, part, "published")
                rows = ours[
                    (ours["learner"] == name)
                    & (ours["plan"] == plan)
                    & (ours["cov_type"] == cov_type)
                    & (ours["estimand"] == "PFI")
                ]
                kind = "PFI over all pairs"
                yield line(kind, "squared error", learners, variance, rows, "repeated")


def asked(row: str, term: str) -> str | None:
    """Return the estimand of a term of a row of the battery."""
    for start in sorted(ASKED, key=len, reverse=True):
        if term.startswith(f"{start} "):
            classes = row.startswith(("logistic", "naive Bayes", "forest 10%", "forest 50%"))
            classes |= row in ("boosting 10%", "forest AUC", "all logistic")
            shares = classes and start == "PD"
            return f"{ASKED[start]} of probabilities" if shares else ASKED[start]
    return None


def of_battery() -> Iterator[tuple[object, ...]]:
    """Yield what the battery says of each kind of estimand and learner."""
    table = pd.read_csv(HERE / "results" / "battery.csv")
    table = table[(table["data_sets"] >= LEAST) & (table["warned"] < OFTEN)]
    learners = {name: family_of(row.estimator()) for name, row in ROWS.items()}
    two = table["term"].str.startswith("compare ")
    table = table.assign(
        setting=table["row"],
        kind=[asked(row, term) for row, term in zip(table["row"], table["term"], strict=True)],
        learners=table["row"].map(learners).where(~two, "pairs of learners"),
    )
    table = table[table["kind"].notna() & (table["learners"] != "")]
    # Of these there is a study of its own.
    own = (table["kind"] == "entropy-PFI") & (table["learners"] == "linear models")
    table = table[~own]
    groups, clusters = table["term"].str.startswith("by "), table["row"].str.contains("clusters")
    weights = table["row"].str.startswith("weights")
    for some, plan, source in (
        (table[~groups & ~clusters & ~weights], "half-sampling", "battery"),
        (table[groups], "half-sampling of some rows", "subgroups"),
        (table[clusters], "half-sampling of clusters", "clusters"),
        (table[weights], "half-sampling with sampling weights", "weights"),
    ):
        for (kind, family), part in some.groupby(["kind", "learners"]):
            loss = "log loss" if kind in OF_CLASSES else ""
            yield line(kind, loss, family, ("half-sample", plan), part, source)


def of_uncertainty() -> Iterator[tuple[object, ...]]:
    """Yield what the study of entropy-PFI says of each kind of learner."""
    names = {"bayesian ridge": "linear models", "logistic": "linear models", "rf": "forests"}
    losses = {"regression": "negative log likelihood", "classification": "log loss"}
    for kind, loss in losses.items():
        table = pd.read_csv(HERE / "results" / f"uncertainty-{kind}.csv")
        table = table.assign(setting=kind, data_sets=table["repetitions"])
        learners = table["learner"].map(names)  # a Gaussian process is of no kind
        for family, part in table.groupby(learners):
            variance = ("half-sample", "half-sampling")
            yield line("entropy-PFI", loss, family, variance, part, "uncertainty")


def of_sage() -> Iterator[tuple[object, ...]]:
    """Yield what the study of `sage()` says of each kind of learner."""
    table = pd.read_csv(HERE / "results" / "sage.csv", na_values=[""], keep_default_na=False)
    parts = table["cell"].str.split("/")
    table = table.assign(setting=table["cell"], n=parts.str[1].astype(int))
    table = table.assign(data_sets=table["sets"], coverage=table["plain_covers"])
    families = {"tree": "single trees", "boosting": "boosting"}  # others are linear
    for family, part in table.groupby(parts.str[0].map(families).fillna("linear models")):
        yield line("SAGE", "", family, ("half-sample", "half-sampling"), part, "battery")


def main() -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Coverage._fields)
        made = (*of_paper(), *of_battery(), *of_uncertainty(), *of_sage())
        writer.writerows(sorted(made, key=str))


if __name__ == "__main__":
    main()
