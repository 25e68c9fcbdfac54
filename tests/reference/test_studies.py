"""What the kept results of the coverage studies must show; rows that are not there yet are named.

Bars are those of the paper's Tables 1 and 2 and of half-sampling's claim to cover.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

STUDIES = Path(__file__).parents[2] / "studies"
PAPER = pd.read_csv(STUDIES / "paper.csv").set_index(["estimand", "process", "learner", "n"])
ROWS = list(PAPER.index)
REPETITIONS = {"lm": 1000, "tree": 1000, "rf": 300}
COLUMNS = {
    "boot": ("boot", "naive"),
    "boot*": ("boot", "corrected"),
    "subs": ("subs", "naive"),
    "subs*": ("subs", "corrected"),
    "ideal": ("ideal", "naive"),
    "half": ("half", "half-sample"),
}


def found(name: str) -> pd.DataFrame:
    path = STUDIES / "results" / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the study {name!r} has not been run")
    return pd.read_csv(path)


def row(estimand: str, process: str, learner: str, n: int, column: str) -> pd.DataFrame:
    """Return the terms of one cell of the two tables."""
    part = found(process).set_index(["learner", "n", "plan", "cov_type"])
    part = part[part.index == (learner, n, *COLUMNS[column])]
    if estimand == "PD":
        part = part[part["estimand"].str.startswith("PD")]
    else:
        half = column == "half"
        part = part[part["estimand"] == ("PFI" if half else "PFI, 5 independent permutations")]
    if part.empty:
        pytest.skip(f"{learner}, n = {n}, of the study {process!r} has not been run")
    assert (part["repetitions"] >= REPETITIONS[learner]).all()
    return part


@pytest.mark.parametrize(("estimand", "process", "learner", "n"), ROWS)
class TestTables:
    @pytest.mark.parametrize("column", ["boot", "boot*", "subs", "subs*"])
    def test_the_papers_intervals_cover_as_printed(
        self, estimand: str, process: str, learner: str, n: int, column: str
    ) -> None:
        coverage = row(estimand, process, learner, n, column)["coverage"].mean()
        printed = PAPER.loc[(estimand, process, learner, n), column]
        assert abs(coverage - printed) <= (0.03 if learner == "lm" else 0.05)

    def test_fresh_data_cover(self, estimand: str, process: str, learner: str, n: int) -> None:
        assert 0.93 <= row(estimand, process, learner, n, "ideal")["coverage"].mean() <= 0.97

    def test_half_samples_cover(self, estimand: str, process: str, learner: str, n: int) -> None:
        coverage = row(estimand, process, learner, n, "half")["coverage"].mean()
        assert coverage >= 0.93
        if (estimand, learner) == ("PD", "lm"):
            assert coverage <= 0.97


@pytest.mark.parametrize("learner", ["lm", "boosting"])
def test_irrelevant_features_are_rarely_rejected(learner: str) -> None:
    part = found("nulls").query("learner == @learner")
    noise = part[part["term"].isin([f"x{j}" for j in range(6, 21)])]
    if noise.empty:
        pytest.skip(f"{learner} of the study 'nulls' has not been run")
    rejected = noise.groupby("estimand")["rejected"].mean()
    assert noise["term"].nunique() == 15
    assert rejected["PFI"] <= 0.05
    if learner == "lm":
        assert 0.03 <= rejected["PFI, null-variance test"] <= 0.08
