"""What the kept results of the studies must show.

Bars are those of the tables of Molnar et al. (2021) and Khan et al. (2025), and of half-sampling's
claim to cover.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.inference.coverage import Coverage, coverages
from pyinterp.simulation import CoverageStudy, dgp_pfi, khan_regression, molnar_linear
from pyinterp.simulation.studies import text
from pyinterp.simulation.studies.database import StudyFile

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
    return pd.read_csv(STUDIES / "results" / f"{name}.csv")


IRRELEVANT = [f"x{j}" for j in range(6, 21)]  # of Friedman 1 with 5 or 15 more
INDEPENDENT = "PFI, 5 independent permutations"


def row(estimand: str, process: str, learner: str, n: int, column: str) -> pd.DataFrame:
    """Return the terms of one cell of the two tables."""
    part = found(process).set_index(["learner", "n", "plan", "cov_type"])
    part = part[part.index == (learner, n, *COLUMNS[column])]
    if estimand == "PD":
        part = part[part["estimand"].str.startswith("PD")]
    else:
        part = part[part["estimand"] == ("PFI" if column == "half" else INDEPENDENT)]
    assert not part.empty, "not run: `make study` adds it"
    assert (part["repetitions"] >= REPETITIONS[learner]).all()
    return part


@pytest.mark.parametrize("name", list(STUDIES_OF))
def test_kept_lines_are_of_the_studies_as_they_are_set(name: str) -> None:
    """`make study` goes on from them; with other settings it would refuse."""
    study = STUDIES_OF[name]()
    records = StudyFile(STUDIES / "results" / f"{name}.jsonl").records()
    assert records
    for record in records:
        assert record.settings == study.settings(record.row)


@pytest.mark.parametrize("name", list(STUDIES_OF))
def test_kept_lines_are_written_again_as_they_are(name: str, tmp_path: Path) -> None:
    """By way of a database, as `make study` does."""
    lines, database = STUDIES / "results" / f"{name}.jsonl", tmp_path / "study.sqlite"
    run.merge(STUDIES_OF[name](), database, [lines])
    run.keep(database, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == lines.read_bytes()
    assert not database.exists()


def test_the_null_variance_test_is_an_estimand(tmp_path: Path) -> None:
    lm = {"lm": LinearRegression()}
    small = {"learners": lm, "n": [60], "repetitions": 2, "truth_refits": 2, "block": 2}
    study = replace(STUDIES_OF["nulls"](), **small)
    rows = study.run(tmp_path / "nulls.sqlite", progress=False).rows.set_index("estimand")
    same = ["coverage", "width"]
    pd.testing.assert_frame_equal(
        *(rows.loc[[name], same].reset_index(drop=True) for name in rows.index)
    )
    assert rows["rejected"].nunique() == 2


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
        one, database = study(estimands={name: estimands[name]}, repetitions=2), f"{name}.sqlite"
        one.run(tmp_path / database, progress=False)
        text.write(file, StudyFile(tmp_path / database).records())
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        old = [json.dumps({k: v for k, v in line.items() if k != "settings"}) for line in lines]
        file.write_text("\n".join(old) + "\n", encoding="utf-8")
    path = tmp_path / "study.sqlite"
    run.merge(study(), path, [*files, *files])  # a second time nothing is new
    assert len(StudyFile(path).records()) == 4
    found = study().run(path, progress=False)
    whole = study().run(tmp_path / "whole.sqlite", progress=False)
    pd.testing.assert_frame_equal(
        *(r.frame.sort_values(["estimand", "term"], ignore_index=True) for r in (found, whole)),
        rtol=1e-9,
    )
    with pytest.raises(SystemExit, match=r"'seed': 1.* and the study .*'seed': 2"):
        run.merge(study(seed=2), path, [tmp_path / "whole.sqlite"])


REPEATED = [row for row in coverages() if row.source == "repeated"]


@pytest.mark.parametrize("quoted", REPEATED, ids=lambda row: f"{row.cov_type}, {row.plan}")
def test_tables_quote_the_coverage_that_was_found(quoted: Coverage) -> None:
    """What tables of PFI over all pairs say about intervals that are not half-sampling's."""
    assert quoted.estimand == "PFI over all pairs"
    cov_type, plan = quoted.cov_type, quoted.plan
    frame = pd.concat([found("linear"), found("non-linear")])
    frame = frame[(frame["estimand"] == "PFI") & (frame["cov_type"] == cov_type)]
    frame = frame[frame["plan"] == {"bootstrap": "boot", "subsampling": "subs"}[plan]]
    means = 100 * frame.groupby(["process", "learner", "n"])["coverage"].mean()
    exact = (
        f"{means.min():.1f} to {means.max():.1f}: change coverage.csv, README, docs/inference.md"
    )
    assert abs(means.min() - quoted.lowest) <= 0.5 + 1e-9, exact
    assert abs(means.max() - quoted.highest) <= 0.5 + 1e-9, exact


def test_pages_quote_the_coverage_that_tables_quote() -> None:
    page = (ROOT / "docs" / "inference.md").read_text(encoding="utf-8")
    for quoted in REPEATED:
        assert quoted.share in page
    corrected = [quoted for quoted in REPEATED if quoted.cov_type == "corrected"]
    ends = [end for quoted in corrected for end in (quoted.lowest, quoted.highest)]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{min(ends)}% to {max(ends)}%" in " ".join(readme.split())


def test_the_page_quotes_what_half_sampling_covered() -> None:
    rows = [row(*key, "half")["coverage"].mean() for key in ROWS]
    linear = [
        row(*key, "half")["coverage"].mean() for key in ROWS if (key[0], key[2]) == ("PD", "lm")
    ]
    page = (ROOT / "docs" / "inference.md").read_text(encoding="utf-8")
    assert f"covered {100 * min(rows):.1f}-{100 * max(rows):.1f}%" in page
    assert f"model {100 * min(linear):.1f}-{100 * max(linear):.1f}%)" in page


def half_samples() -> pd.DataFrame:
    """Return what the default intervals covered in all studies, term by term."""
    names = ["linear", "non-linear", "nulls", "large", "clusters", "tuned", "conditional"]
    frame = pd.concat([found(name).assign(study=name) for name in names]).query("plan == 'half'")
    kind = frame["estimand"].str.replace(r"^PD .*", "PD", regex=True)
    irrelevant = frame["study"].isin(["nulls", "tuned"]) & frame["term"].isin(IRRELEVANT)
    return frame.assign(kind=kind, irrelevant=irrelevant)


MEANS = ["study", "learner", "n", "kind", "irrelevant"]


def test_tables_quote_what_the_paper_printed() -> None:
    quoted = [row for row in coverages() if row.source == "published"]
    assert len(quoted) == 8
    for one in quoted:
        estimand = "PD" if one.estimand == "PD" else "PFI"
        plan = {"bootstrap": "boot", "subsampling": "subs"}[one.plan]
        printed = PAPER.loc[estimand, plan + "*" * (one.cov_type == "corrected")]
        assert (one.lowest, one.highest) == (round(100 * printed.min()), round(100 * printed.max()))


@pytest.mark.parametrize(
    "quoted", [row for row in coverages() if row.source == "studied"], ids=lambda row: row.estimand
)
def test_tables_quote_what_half_sampling_covered(quoted: Coverage) -> None:
    frame = half_samples()
    frame = frame[frame["kind"] == ("PD" if quoted.estimand == "PD" else "PFI")]
    means = 100 * frame.groupby(MEANS)["coverage"].mean()
    assert quoted.share == f"{np.floor(means.min()):.0f}-{np.ceil(means.max()):.0f}%"


UNCERTAINTY = [row for row in coverages() if row.source == "uncertainty"]


def uncertainty() -> pd.DataFrame:
    """Return what the default intervals of predictive uncertainty covered, term by term."""
    names = ["uncertainty-regression", "uncertainty-classification"]
    return pd.concat([found(name) for name in names])


@pytest.mark.parametrize("quoted", UNCERTAINTY, ids=lambda row: row.estimand)
def test_tables_quote_what_intervals_of_uncertainty_covered(quoted: Coverage) -> None:
    frame = uncertainty().query("estimand == @quoted.estimand")
    assert frame["learner"].nunique() == 4
    assert (frame["repetitions"] >= 300).all()
    covered = 100 * frame["coverage"]
    assert quoted.share == f"{np.floor(covered.min()):.0f}-{np.ceil(covered.max()):.0f}%"
    assert (frame.groupby("learner")["coverage"].mean() >= 0.93).all()


def test_the_page_has_the_table_of_the_studies_of_uncertainty() -> None:
    page = (ROOT / "docs" / "estimands" / "uncertainty.md").read_text(encoding="utf-8")
    for (learner, estimand), part in uncertainty().groupby(["learner", "estimand"]):
        numbers = f"{part['coverage'].mean():.3f} | {part['coverage'].min():.3f}"
        assert f"| {learner} | {estimand} | {numbers} |" in page


def test_the_page_quotes_what_half_sampling_covered_elsewhere() -> None:
    whole = half_samples()
    frame = whole[~whole["study"].isin(["linear", "non-linear"])]
    means = frame.groupby(MEANS)["coverage"].mean()
    page = (ROOT / "docs" / "inference.md").read_text(encoding="utf-8")
    assert f"covered {100 * means.min():.1f}-{100 * means.max():.1f}%" in page
    sizes = frame["repetitions"]
    assert f"{sizes.min():,} to {sizes.max():,} data sets" in page
    assert f"terms were down to {100 * whole['coverage'].min():.1f}%" in " ".join(page.split())


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

    def test_fresh_data_cover_by_other_measures(
        self, estimand: str, process: str, learner: str, n: int
    ) -> None:
        """PFI over all pairs, and as a ratio, of which the paper has no table."""
        part = found(process).query("learner == @learner and n == @n and plan == 'ideal'")
        other = part["estimand"].str.startswith(estimand) & (part["estimand"] != INDEPENDENT)
        means = part[other].groupby(part["estimand"].str.replace(r"^PD .*", "PD", regex=True))
        assert means["coverage"].mean().between(0.93, 0.97).all()

    def test_half_samples_cover(self, estimand: str, process: str, learner: str, n: int) -> None:
        coverage = row(estimand, process, learner, n, "half")["coverage"].mean()
        assert coverage >= 0.93
        if (estimand, learner) == ("PD", "lm"):
            assert coverage <= 0.97


@pytest.mark.parametrize("learner", ["lm", "boosting"])
def test_irrelevant_features_are_rarely_rejected(learner: str) -> None:
    part = found("nulls").query("learner == @learner")
    noise = part[part["term"].isin(IRRELEVANT)]
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
    frame, study = found(name).query("learner == @learner"), STUDIES_OF[name]()
    rows = set(product((process.name for process in study.dgps), study.n, study.features))
    assert set(zip(frame["process"], frame["n"], frame["feature"], strict=True)) == rows
    assert (frame["repetitions"] >= study.repetitions[learner]).all()
    scenario = frame["process"].str.extract(r"khan (\w+)", expand=False)
    return frame.assign(scenario=scenario, blocks=frame["repetitions"] / study.block)


def errors(frame: pd.DataFrame) -> np.ndarray:
    """Return what 4 standard errors are where the error is itself from blocks of models."""
    return stats.t.isf(stats.norm.sf(4), frame["blocks"] - 1)


@pytest.mark.parametrize(("name", "learner"), IMPORTANCES)
def test_corrected_importances_are_the_truth(name: str, learner: str) -> None:
    frame = importances(name, learner)
    away = np.abs(frame["corrected"] - frame["truth"])
    assert (away <= errors(frame) * frame["corrected_mcse"]).all()
    assert (frame["corrected_mcse"] < 0.02 + 0.02 * frame["truth"]).all()


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


@pytest.mark.parametrize("feature", ["X1", "X5"])
def test_the_delta_of_mvim_vanishes_with_more_rows(feature: str) -> None:
    """Table 2: where features are independent."""
    frame = importances("mvim", "xgboost").query(
        "scenario == 'independent' and feature == @feature"
    )
    delta = frame.set_index("n")["delta"].sort_index()
    assert delta.iloc[:4].is_monotonic_decreasing
    assert delta[10_000] < 0.1 * delta[100]


@pytest.mark.parametrize(("feature", "share"), [("X1", 0.0), ("X5", 1.0)])
def test_an_additive_model_finds_what_is_additive(feature: str, share: float) -> None:
    """Figure 1: nothing of X1, whose slopes of opposite sign it averages, and all of X5."""
    rows = "scenario == 'independent' and n == 10_000 and feature == @feature"
    row = importances("mvim", "additive").query(rows).iloc[0]
    assert abs(row["estimate"] - share * row["truth"]) < 0.05 * row["truth"]


def test_boosting_credits_what_it_misses_to_a_copy() -> None:
    """Figure 2: X5, of correlation 0.9 with X1, has too large an MVIM from some size on."""
    row = importances("mvim", "xgboost").query("scenario == 'simple' and n == 10_000")
    x5 = row.set_index("feature").loc["X5"]
    assert x5["estimate"] - x5["truth"] > 4 * x5["estimate_mcse"]


@pytest.mark.parametrize("scenario", ["weak", "moderate", "strong"])
def test_the_delta_of_cvim_vanishes_with_more_rows(scenario: str) -> None:
    """Tables 5 to 7."""
    frame = importances("cvim", "xgboost").query("scenario == @scenario").sort_values("n")
    assert frame["delta"].is_monotonic_decreasing
    assert frame["estimate"].is_monotonic_increasing


@pytest.mark.parametrize("scenario", ["weak", "moderate", "strong"])
@pytest.mark.parametrize("n", [2000, 8000])
def test_adjusted_importance_is_nearer_to_the_truth(scenario: str, n: int) -> None:
    """Figures 10 to 12; the true MVIM of X1 is a closed form."""
    process = khan_regression(scenario)
    frame = found("adjusted").query("process == @process.name and n == @n").set_index("estimand")
    off = (frame["truth"] - dgp_pfi(process, "X1").value).abs()
    error = np.hypot(*frame.loc[["MVIM", "AMVIM"], "truth_mcse"])
    assert off["MVIM"] - off["AMVIM"] > 3 * error
