"""What the kept results of the studies must show; rows that are not there yet are named.

Bars are those of the tables of Molnar et al. (2021) and Khan et al. (2025), and of half-sampling's
claim to cover.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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


KHAN = pd.read_csv(STUDIES / "khan.csv")
COMPONENTS = ["bias2_switch", "bias2_orig", "variance_switch", "variance_orig", "delta", "estimate"]
IMPORTANCES = [
    (name, learner) for name in ("mvim", "cvim") for learner in ("oracle", "additive", "xgboost")
]


def test_the_printed_components_add_up_to_the_printed_importance() -> None:
    """Every row as printed, of six numbers rounded to a hundredth: proof of the transcription."""
    assert len(KHAN) == 84
    switch, orig, var_switch, var_orig, delta, estimate = KHAN[COMPONENTS].to_numpy().T
    corrected = estimate + delta - (switch - orig) - (var_switch - var_orig)
    assert (np.abs(corrected - KHAN["corrected"]) < 0.035).all()


def importances(name: str, learner: str) -> pd.DataFrame:
    """Return a learner's rows of a study of importances, with the scenario's name."""
    frame = found(name).query("learner == @learner")
    if frame.empty:
        pytest.skip(f"{learner} of the study {name!r} has not been run")
    assert (frame["repetitions"] >= 200).all()
    return frame.assign(scenario=frame["process"].str.extract(r"khan (\w+)", expand=False))


def errors(frame: pd.DataFrame) -> np.ndarray:
    """Return what 4 standard errors are where the error is itself from blocks of 10 models."""
    return stats.t.isf(stats.norm.sf(4), frame["repetitions"] / 10 - 1)


@pytest.mark.parametrize(("name", "learner"), IMPORTANCES)
def test_corrected_importances_are_the_truth(name: str, learner: str) -> None:
    frame = importances(name, learner)
    away = np.abs(frame["corrected"] - frame["truth"])
    assert (away <= errors(frame) * frame["corrected_mcse"]).all()
    assert (frame["corrected_mcse"] < 0.2).all()


@pytest.mark.parametrize("name", ["mvim", "cvim"])
def test_the_oracle_has_no_bias_and_no_delta(name: str) -> None:
    frame = importances(name, "oracle")
    for column in ("bias2_switch", "bias2_orig", "delta"):
        assert (np.abs(frame[column]) <= errors(frame) * frame[f"{column}_mcse"]).all()


@pytest.mark.parametrize("n", [500, 1000, 5000, 10_000])
def test_dependence_makes_the_mvim_of_boosting_too_small(n: int) -> None:
    """Tables 2 to 4: delta of X1 is much larger where X1 depends on others, that of noise is 0."""
    frame = importances("mvim", "xgboost").query("n == @n").set_index(["feature", "scenario"])
    x1 = frame.loc["X1"]
    dependent = x1.loc[["simple", "multivariate"]]
    assert (dependent["delta"] > 1.2 * x1.loc["independent", "delta"]).all()
    assert (dependent["estimate"] < 0.6 * dependent["truth"]).all()
    assert (frame.loc["X6", "delta"] == 0).all()


@pytest.mark.parametrize("scenario", ["weak", "moderate", "strong"])
def test_the_delta_of_cvim_vanishes_with_more_rows(scenario: str) -> None:
    """Tables 5 to 7."""
    frame = importances("cvim", "xgboost").query("scenario == @scenario").sort_values("n")
    assert frame["delta"].is_monotonic_decreasing
    assert frame["estimate"].is_monotonic_increasing
