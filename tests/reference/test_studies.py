"""What the kept results of the studies must show; rows that are not there yet are named.

Bars are those of the tables of Molnar et al. (2021) and Khan et al. (2025), and of half-sampling's
claim to cover.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.estimands.permutation import SHARES
from pyinterp.simulation import CoverageStudy, molnar_linear
from pyinterp.simulation.ledger import Ledger

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"


def script(name: str) -> ModuleType:
    """Import a script of the studies."""
    spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


settings, run = script("settings"), script("run")
STUDIES_OF = settings.STUDIES
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


# Rows whose lines have other estimands so far: run before the permutations were independent.
AWAITED = {("linear", "tree")}
INDEPENDENT = "PFI, 5 independent permutations"


def row(estimand: str, process: str, learner: str, n: int, column: str) -> pd.DataFrame:
    """Return the terms of one cell of the two tables."""
    part = found(process).set_index(["learner", "n", "plan", "cov_type"])
    part = part[part.index == (learner, n, *COLUMNS[column])]
    if part.empty:
        pytest.skip(f"{learner}, n = {n}, of the study {process!r} has not been run")
    if estimand == "PD":
        part = part[part["estimand"].str.startswith("PD")]
    else:
        wanted = "PFI" if column == "half" else INDEPENDENT
        part = part[part["estimand"] == wanted]
        if part.empty and wanted == INDEPENDENT and (process, learner) in AWAITED:
            pytest.skip(f"{wanted} of {learner} is being added to the study {process!r}")
    assert not part.empty, "the learner has been run without this estimand: `make study` adds it"
    assert (part["repetitions"] >= REPETITIONS[learner]).all()
    return part


@pytest.mark.parametrize("name", list(STUDIES_OF))
def test_kept_lines_are_of_the_studies_as_they_are_set(name: str) -> None:
    """`make study` goes on from them; with other settings it would refuse."""
    path = STUDIES / "results" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"the study {name!r} has not been run")
    study = STUDIES_OF[name]()
    for line in Ledger(path).lines:
        assert line.settings == study.settings(line.row)


def test_files_of_other_machines_and_versions_are_merged(tmp_path: Path) -> None:
    def study(**options: Any) -> CoverageStudy:
        whole = {
            "PFI": pi.LearnerResults.pfi,
            "PD": partial(pi.LearnerResults.pd, features="x1", grid=(0.1, 0.9)),
        }
        given = {"estimands": whole, "repetitions": 3, **options}
        return CoverageStudy(
            dgps=[molnar_linear()],
            learners={"lm": LinearRegression()},
            n=[60],
            resamplings={"subs": pi.Subsampling(3)},
            cov_types={"subs": ["naive"]},
            truth_refits=20,
            block=1,
            **given,
        )

    estimands = study().estimands
    files = [tmp_path / f"{name}.jsonl" for name in estimands]
    for name, file in zip(estimands, files, strict=True):
        study(estimands={name: estimands[name]}, repetitions=2).run(file, progress=False)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        old = [json.dumps({k: v for k, v in line.items() if k != "settings"}) for line in lines]
        file.write_text("\n".join(old) + "\n", encoding="utf-8")
    path = tmp_path / "study.jsonl"
    run.merge(study(), path, [*files, *files])  # a second time nothing is new
    assert len(Ledger(path).lines) == 2
    found = study().run(path, progress=False)
    whole = study().run(tmp_path / "whole.jsonl", progress=False)
    pd.testing.assert_frame_equal(
        *(r.frame.sort_values(["estimand", "term"], ignore_index=True) for r in (found, whole)),
        rtol=1e-9,
    )
    with pytest.raises(SystemExit, match=r"'seed': 1.* and the study .*'seed': 2"):
        run.merge(study(seed=2), path, [tmp_path / "whole.jsonl"])


@pytest.mark.parametrize("key", list(SHARES))
def test_tables_quote_the_coverage_that_was_found(key: tuple[str, str]) -> None:
    """What tables of PFI over all pairs say about intervals that are not half-sampling's."""
    cov_type, plan = key
    frame = pd.concat([found("linear"), found("non-linear")])
    frame = frame[(frame["estimand"] == "PFI") & (frame["cov_type"] == cov_type)]
    frame = frame[frame["plan"] == {"bootstrap": "boot", "subsampling": "subs"}[plan]]
    means = 100 * frame.groupby(["process", "learner", "n"])["coverage"].mean()
    low, high = (float(v) for v in re.findall(r"\d+", SHARES[key]))
    exact = f"{means.min():.1f} to {means.max():.1f}: change `SHARES`, README and docs/inference.md"
    assert abs(means.min() - low) <= 0.5 + 1e-9, exact
    assert abs(means.max() - high) <= 0.5 + 1e-9, exact


def test_pages_quote_the_coverage_that_tables_quote() -> None:
    page = (ROOT / "docs" / "inference.md").read_text(encoding="utf-8")
    for share in SHARES.values():
        assert share in page
    ends = [
        int(number)
        for (cov_type, _), share in SHARES.items()
        for number in re.findall(r"\d+", share)
        if cov_type == "corrected"
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{min(ends)}% to {max(ends)}%" in " ".join(readme.split())


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
