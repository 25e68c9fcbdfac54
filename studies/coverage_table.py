"""Make the table of coverages that footnotes quote, ``pyinterp/inference/coverage.csv``.

    python studies/coverage_table.py

From what Molnar et al. (2021) print, from our repetition of it, and from the battery, of whose
terms the worst one counts.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from battery.printed import PRINTED
from battery.rows import ROWS

from pyinterp.inference.coverage import Coverage
from pyinterp.models.families import FORESTS, LINEAR, TREES, family_of

HERE = Path(__file__).parent
TABLE = HERE.parent / "pyinterp" / "inference" / "coverage.csv"
# Learners of the paper, as footnotes call them.
LEARNERS = {"lm": LINEAR, "tree": TREES, "rf": FORESTS}
PLANS = {"boot": "bootstrap", "subs": "subsampling"}
# What the battery asks: the estimand and its loss, if that is not the squared error.
ASKED = {
    "PFI": ("PFI", "squared error"),
    "PFI log": ("PFI", "log loss"),
    "PFI brier": ("PFI", "Brier score"),
    "ratio": ("PFI, ratio", "squared error"),
    "conditional PFI": ("conditional PFI", "squared error"),
    "LOCO": ("LOCO", "squared error"),
    "PD": ("PD", ""),
    "CVIM": ("conditional PFI", "squared error"),  # under its defaults
    "FIRM given grid": ("FIRM", ""),
    "vint": ("vint", ""),
    "AMVIM": ("AMVIM", "squared error"),
    "additive AMVIM": ("additive AMVIM", "squared error"),
    "plug-in": ("plug-in importance", "squared error"),
    "compare": ("difference in loss", "squared error"),
    "compare PFI": ("difference in PFI", "squared error"),
    "loss": ("loss", "squared error"),
    "absolute": ("loss", "absolute error"),
    "AUC": ("roc_auc", ""),
}
# Settings whose response is a class.
CLASSES = ("logistic", "naive Bayes", "forest 10%", "forest 50%", "boosting 10%")
# A setting with fewer data sets says little of its worst term.
LEAST = 50
# Terms for which tables print a warning in more than this share of data sets do not count.
OFTEN = 0.2


def of_paper() -> Iterator[tuple[object, ...]]:
    """Yield the rows of the paper's two tables, and of our repetition of the second."""
    paper = pd.read_csv(HERE / "paper.csv")
    ours = pd.concat([pd.read_csv(HERE / "results" / f"{p}linear.csv") for p in ("", "non-")])
    for name, learners in LEARNERS.items():
        for plan, long in PLANS.items():
            for cov_type, star in (("naive", ""), ("corrected", "*")):
                for estimand, kind in (("PD", "PD"), ("PFI", "PFI by 5 permutations")):
                    rows = paper[(paper["learner"] == name) & (paper["estimand"] == estimand)]
                    loss = "squared error" if estimand == "PFI" else ""
                    share = 100 * rows[plan + star]
                    ends = round(share.min()), round(share.max())
                    yield kind, loss, learners, cov_type, long, 100, 1000, *ends, 0, "published"
                rows = ours[
                    (ours["learner"] == name)
                    & (ours["plan"] == plan)
                    & (ours["cov_type"] == cov_type)
                    & (ours["estimand"] == "PFI")
                ]
                share = 100 * rows.groupby(["process", "n"])["coverage"].mean()
                ends = round(share.min()), round(share.max())
                row = ("PFI over all pairs", "squared error", learners, cov_type, long)
                yield *row, 100, 1000, *ends, 0, "repeated"


def asked(row: str, term: str) -> tuple[str, str] | None:
    """Return the estimand and the loss of a term of a row of the battery."""
    for start in sorted(ASKED, key=len, reverse=True):
        if term.startswith(f"{start} "):
            estimand, loss = ASKED[start]
            classes = row.startswith(CLASSES)
            if estimand == "PD":
                return ("PD of probabilities" if classes else "PD"), loss
            return (estimand, "log loss" if classes and start == "loss" else loss)
    return None


def of_battery() -> Iterator[tuple[object, ...]]:
    """Yield the worst term of the battery for each kind of estimand, loss and learner."""
    table = pd.read_csv(HERE / "results" / "battery.csv")
    table = table[(table["candidate"] == "default") & (table["data_sets"] >= LEAST)]
    table = table[table["warned"] < OFTEN]
    kinds = [asked(row, term) for row, term in zip(table["row"], table["term"], strict=True)]
    learners = {name: family_of(row.estimator()) for name, row in ROWS.items()}
    learners |= {name: family_of(row.learner) for name, row in PRINTED.items()}
    two = table["term"].str.startswith("compare ")
    table = table.assign(
        kind=kinds,
        learners=table["row"].map(learners).where(~two, "pairs of learners"),
        n=[(ROWS | PRINTED)[row].n for row in table["row"]],
    )
    table = table[table["kind"].notna() & (table["learners"] != "")]
    for (kind, family), part in table.groupby(["kind", "learners"]):
        ends = np.floor(100 * part["coverage"].min()), np.ceil(100 * part["coverage"].max())
        row = (*kind, family, "half-sample", "half-sampling")
        sets = part["data_sets"].min()
        yield *row, part["n"].min(), part["n"].max(), int(ends[0]), int(ends[1]), sets, "battery"


def of_uncertainty() -> Iterator[tuple[object, ...]]:
    """Yield the lowest and highest coverage of single features' entropy-PFI."""
    names = {"bayesian ridge": LINEAR, "logistic": LINEAR, "rf": FORESTS}
    losses = {"regression": "negative log likelihood", "classification": "log loss"}
    for kind, loss in losses.items():
        table = pd.read_csv(HERE / "results" / f"uncertainty-{kind}.csv")
        learners = table["learner"].map(names)  # a Gaussian process is of no kind
        for family, part in table.groupby(learners):
            low, high = np.floor(100 * part["coverage"].min()), 100 * part["coverage"].max()
            row = ("entropy-PFI", loss, family, "half-sample", "half-sampling")
            n = part["n"].min()
            sets = part["repetitions"].min()
            yield *row, n, n, int(low), int(np.ceil(high)), sets, "uncertainty"


def main() -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Coverage._fields)
        writer.writerows(sorted([*of_paper(), *of_battery(), *of_uncertainty()], key=str))


if __name__ == "__main__":
    main()
