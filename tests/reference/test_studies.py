"""What the kept results of the studies must show.

Bars are those of the tables of Molnar et al. (2021) and Khan et al. (2025), and of half-sampling's
claim to cover.
"""

import importlib.util
import sys
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shared import module_of
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.inference.coverage import coverages
from pyinterp.learner.analysis import TOO_ALIKE
from pyinterp.results.footnotes import FEW_REFITS
from pyinterp.simulation import CoverageStudy, dgp_pfi
from pyinterp.simulation.records import StudyFile
from pyinterp_papers.processes import khan_regression, molnar_linear

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"


def script(name):
    """Import a script of the studies."""
    return module_of(STUDIES / f"{name}.py")


sys.path.insert(0, str(STUDIES))  # of scripts that import each other
settings, run, coverage_table = script("settings"), script("run"), script("coverage_table")
folds = script("folds")
low = importlib.import_module("battery.low")
STUDIES_OF = settings.STUDIES
PAPER = settings.paper_tables().set_index(["estimand", "process", "learner", "n"])
ROWS = list(PAPER.index)
REPETITIONS = {"lm": 1000, "tree": 1000, "rf": 300}
COLUMNS = {
    "boot": ("boot", "naive"),
    "boot*": ("boot", "corrected"),
    "subs": ("subs", "naive"),
    "subs*": ("subs", "corrected"),
    "ideal": ("ideal", "naive"),
}


def found(name):
    return pd.read_csv(STUDIES / "results" / f"{name}.csv")


INDEPENDENT = "PFI, 5 independent permutations"


def row(estimand, process, learner, n, column):
    """Return the terms of one cell of the two tables."""
    part = found(process).set_index(["learner", "n", "plan", "cov_type"])
    part = part[part.index == (learner, n, *COLUMNS[column])]
    if estimand == "PD":
        part = part[part["estimand"].str.startswith("PD")]
    else:
        part = part[part["estimand"] == INDEPENDENT]
    assert not part.empty, "not run: `make study` adds it"
    assert (part["repetitions"] >= REPETITIONS[learner]).all()
    return part


@pytest.mark.parametrize("name", list(STUDIES_OF))
def test_kept_lines_are_of_the_studies_as_they_are_set(name):
    """`make study` goes on from them; with other settings it would refuse."""
    study = STUDIES_OF[name]()
    records = run.records_of(STUDIES / "results" / f"{name}.jsonl")
    assert records
    for record in records:
        assert record.settings == study.settings(record.row)


@pytest.mark.parametrize("name", list(STUDIES_OF))
def test_kept_lines_are_written_again_as_they_are(name, tmp_path):
    """By way of a database, as `make study` does."""
    lines, database = STUDIES / "results" / f"{name}.jsonl", tmp_path / "study.sqlite"
    run.merge(STUDIES_OF[name](), database, [lines])
    run.keep(database, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == lines.read_bytes()
    assert not database.exists()


def test_files_of_other_machines_are_merged(tmp_path):
    def study(**options):
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
        run.keep(tmp_path / database, file)
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


def test_the_table_that_footnotes_quote_is_made_of_the_studies():
    """`studies/coverage_table.py` writes it."""
    names = ("paper", "battery", "uncertainty", "sage")
    made = sorted((row for n in names for row in getattr(coverage_table, f"of_{n}")()), key=str)
    assert [tuple(row) for row in coverages()] == [tuple(row) for row in made]


def test_the_page_of_plans_says_how_many_evaluation_rows_are_enough():
    page, table = (ROOT / "docs" / "resampling.md").read_text("utf-8"), found("evaluation_rows")
    assert "{:.0%} to {:.0%} of".format(*table["enough"].agg(["min", "max"])) in page
    assert "{:.1f} to {:.1f} times".format(*table["of a tenth"].agg(["min", "max"])) in page


def test_the_page_of_sage_says_what_its_study_found():
    page = (ROOT / "docs" / "recipes" / "sage.md").read_text(encoding="utf-8")
    covers = found("sage").groupby("cell")["plain_covers"].mean().round(3)
    assert f"Mean coverages are {covers.min():.3f} to {covers.max():.3f}".replace(" 0", " ") in page


def test_the_page_of_interactions_says_what_its_study_found():
    page = (ROOT / "docs" / "estimands" / "interaction.md").read_text(encoding="utf-8")
    nulls = found("interactions").query("null and sets > 190")
    assert f"reject at most {nulls['rejects'].max():.3f}".replace(" 0", " ") + " of 200" in page


def test_the_page_has_the_table_of_the_studies_of_uncertainty():
    page = (ROOT / "docs" / "estimands" / "uncertainty.md").read_text(encoding="utf-8")
    frame = pd.concat([found(f"uncertainty-{k}") for k in ("regression", "classification")])
    assert (frame["repetitions"] >= 300).all()
    for (learner, estimand), part in frame.groupby(["learner", "estimand"]):
        assert part["coverage"].mean() >= 0.93
        numbers = f"{part['coverage'].mean():.3f} | {part['coverage'].min():.3f}"
        assert f"| {learner} | {estimand} | {numbers} |" in page


@pytest.fixture(scope="module")
def battery():
    """Return the terms of the battery for which tables print no warning."""
    table = found("battery").query("warned < 0.2")
    return table[table["coverage"].notna()]


def test_half_samples_cover(battery):
    """By kind of learner, the mean over terms; single terms have too few data sets for a bar."""
    weights = battery["data_sets"]
    covered = (battery["coverage"] * weights).groupby(battery["family"]).sum()
    assert (covered / weights.groupby(battery["family"]).sum() >= 0.94).all()


def test_irrelevant_features_are_not_rejected_more_often_than_the_level_says(battery):
    """Mean size by family; terms of a data set are not independent."""
    table = battery[battery["null"] & battery["term"].str.startswith("PFI")]
    rows = table.groupby(["family", "row"]).agg(
        rejects=("rejects", "mean"), data_sets=("data_sets", "first")
    )
    sets = rows["data_sets"].groupby("family").sum()
    rejected = (rows["rejects"] * rows["data_sets"]).groupby("family").sum() / sets
    assert (rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / sets)).all()


def test_every_setting_of_the_battery_has_its_data_sets():
    """Two have no intervals: their halves are too small for a split."""
    battery = found("battery")
    drawn = (battery["data_sets"] / (1 - battery["refused"])).round()
    sets = {name: row.data_sets for name, row in coverage_table.ROWS.items()}
    assert set(sets) - set(battery["row"]) == {"hist 75", "lightgbm 64"}
    assert (drawn == battery["row"].map(sets)).all()
    assert (battery["truths"] == 400).all()  # fresh refits, none of them of these data sets


def test_terms_that_cover_improbably_little():
    """180 of 200 has a probability of 0.26% at 95%, and 182 of 200 one of 1.3%."""
    table = pd.DataFrame({"coverage": [0.9, 0.91, 1.0], "data_sets": 200}, index=["a", "b", "c"])
    assert list(low.improbable(table).index) == ["a"]
    assert low.improbable(table)["probability"]["a"] == pytest.approx(0.0026, abs=1e-4)
    rng = np.random.default_rng(1)
    for coverage in (0.95, 0.9, 0.85):
        drawn = rng.binomial(200, coverage, size=20_000) / 200
        share = len(low.improbable(pd.DataFrame({"coverage": drawn, "data_sets": 200}))) / 20_000
        assert low.power(table["data_sets"], coverage) == pytest.approx(share, abs=0.012)
    assert low.power(table["data_sets"], 0.95) < 0.01


def test_pages_and_tables_quote_marked_rows():
    """A level of 5% that trees seldom use, and lognormal features or noise."""
    table = found("battery").query("warned > 0.5")
    rare = table[table["row"].isin(["tree dummies", "hist dummies"])]
    sets = rare["data_sets"].sum()
    covered = (rare["coverage"] * rare["data_sets"]).sum() / sets
    assert f"covered {covered:.0%} of {sets} simulated data sets" in FEW_REFITS
    heavy = table[
        table["row"].str.match("lm (lognormal|t3)") & table["term"].str.match("PFI|loss|r")
    ]
    shares = (100 * heavy["coverage"]).round()
    page = (ROOT / "docs" / "limitations.md").read_text(encoding="utf-8")
    assert f"covered the truth in {shares.min():.0f}% to {shares.max():.0f}%" in page


def test_terms_that_cover_improbably_little_have_a_reason(battery):
    """The page prints it; a term that is new fails here, and one that is no more."""
    relevant = battery[~battery["null"]]
    listed = low.improbable(relevant)
    assert set(listed["row"] + ": " + listed["term"]) == set(low.REASONS)
    assert relevant["coverage"].mean() >= 0.95


def test_the_page_and_tables_name_kernel_ridge(battery):
    """Its tests of irrelevant features reject more often than the level says."""
    named = low.liberal(battery)
    assert named["probability"].idxmin() == "kernel ridge"
    assert set(named[named["probability"] < 0.01].index) == {"kernel ridge"}
    ridge, sets = named.loc["kernel ridge"], coverage_table.ROWS["kernel ridge"].data_sets
    page = " ".join((ROOT / "docs" / "inference.md").read_text("utf-8").split())
    assert (
        f"reject in {ridge['share']:.0%} of cases ({ridge['rejected']:.0f} of {ridge['tests']:.0f})"
        in page
    )
    data = pi.datasets.load_diabetes()
    learner = pi.Learner.from_formula("progression ~ bmi + bp", data, KernelRidge())
    notes = " ".join(learner.fit(seed=1, progress=False).pfi().summary().notes)
    words = f"rejected {ridge['share']:.0%} of irrelevant features"
    assert f"In {sets} simulations, tests of kernel ridge at 5% {words}" in notes


def test_pages_quote_tests_of_irrelevant_features(battery):
    null = battery[battery["null"] & battery["rejects"].notna()]
    null = null[~null["term"].str.startswith("contrast")]
    shares = null.groupby(["family", "row"])["rejects"].mean()
    trees, forests = (shares[family] for family in ("tree", "forest"))
    conservative = (
        f"irrelevant features in {trees.min():.0%} to {trees.max():.0%} of data sets, "
        f"and tests of forests in {forests.min():.0%} to {forests.max():.0%}."
    ).replace("% to", " to")
    for name in ("limitations", "one_row_by_hand"):
        assert conservative in (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    kernels = (
        f"kernel ridge reject irrelevant features in {shares['other', 'kernel ridge']:.0%} of data "
        f"sets, and tests of support vector machines in {shares['other', 'SVR']:.0%}."
    )
    assert kernels in (ROOT / "docs" / "one_row_by_hand.md").read_text(encoding="utf-8")


def test_harm_is_found(battery):
    """Copies of one feature in naive Bayes, whose true importances are below 0."""
    table = battery[battery["row"] == "naive Bayes copies"]
    assert (table["truth"] < 0).all()
    assert (table["harm"] >= 0.9 - 3 * np.sqrt(0.09 / table["data_sets"])).all()


@pytest.mark.parametrize(("estimand", "process", "learner", "n"), ROWS)
class TestTables:
    @pytest.mark.parametrize("column", ["boot", "boot*", "subs", "subs*"])
    def test_the_papers_intervals_cover_as_printed(self, estimand, process, learner, n, column):
        coverage = row(estimand, process, learner, n, column)["coverage"].mean()
        printed = PAPER.loc[(estimand, process, learner, n), column]
        assert abs(coverage - printed) <= (0.03 if learner == "lm" else 0.05)

    def test_fresh_data_cover(self, estimand, process, learner, n):
        assert 0.93 <= row(estimand, process, learner, n, "ideal")["coverage"].mean() <= 0.97

    def test_fresh_data_cover_by_other_measures(self, estimand, process, learner, n):
        """PFI over all pairs, and as a ratio, of which the paper has no table."""
        part = found(process).query("learner == @learner and n == @n and plan == 'ideal'")
        other = part["estimand"].str.startswith(estimand) & (part["estimand"] != INDEPENDENT)
        means = part[other].groupby(part["estimand"].str.replace(r"^PD .*", "PD", regex=True))
        assert means["coverage"].mean().between(0.93, 0.97).all()


KHAN = settings.khan_tables()
COMPONENTS = ["bias2_switch", "bias2_orig", "variance_switch", "variance_orig", "delta", "estimate"]
IMPORTANCES = [
    (name, learner) for name in ("mvim", "cvim") for learner in ("oracle", "additive", "xgboost")
]


def test_the_printed_components_add_up_to_the_printed_importance():
    """Every row as printed, of six numbers rounded to a hundredth: proof of the transcription."""
    assert len(KHAN) == 84
    switch, orig, var_switch, var_orig, delta, estimate = KHAN[COMPONENTS].to_numpy().T
    corrected = estimate + delta - (switch - orig) - (var_switch - var_orig)
    assert (np.abs(corrected - KHAN["corrected"]) < 0.035).all()


def importances(name, learner):
    """Return a learner's rows of a study of importances, with the scenario's name."""
    frame, study = found(name).query("learner == @learner"), settings.IMPORTANCES[name]
    (_, scenarios, features), options = study.args, study.keywords
    names = [khan_regression(scenario).name for scenario in scenarios]
    rows = set(product(names, settings.SIZES, features))
    assert set(zip(frame["process"], frame["n"], frame["feature"], strict=True)) == rows
    assert (frame["repetitions"] >= options["repetitions"][learner]).all()
    scenario = frame["process"].str.extract(r"khan (\w+)", expand=False)
    return frame.assign(scenario=scenario, blocks=frame["repetitions"] / options.get("block", 10))


def errors(frame):
    """Return what 4 standard errors are where the error is itself from blocks of models."""
    return stats.t.isf(stats.norm.sf(4), frame["blocks"] - 1)


@pytest.mark.parametrize(("name", "learner"), IMPORTANCES)
def test_corrected_importances_are_the_truth(name, learner):
    frame = importances(name, learner)
    away = np.abs(frame["corrected"] - frame["truth"])
    assert (away <= errors(frame) * frame["corrected_mcse"]).all()
    assert (frame["corrected_mcse"] < 0.02 + 0.02 * frame["truth"]).all()


@pytest.mark.parametrize("name", ["mvim", "cvim"])
def test_the_oracle_has_no_bias_and_no_delta(name):
    frame = importances(name, "oracle")
    for column in ("bias2_switch", "bias2_orig", "delta"):
        assert (np.abs(frame[column]) <= errors(frame) * frame[f"{column}_mcse"]).all()


@pytest.mark.parametrize("n", [500, 1000, 5000, 10_000])
def test_dependence_makes_the_mvim_of_boosting_too_small(n):
    """Tables 2 to 4: delta of X1 is much larger where X1 depends on others, that of noise is 0."""
    frame = importances("mvim", "xgboost").query("n == @n").set_index(["feature", "scenario"])
    x1 = frame.loc["X1"]
    dependent = x1.loc[["simple", "multivariate"]]
    assert (dependent["delta"] > 1.2 * x1.loc["independent", "delta"]).all()
    assert (dependent["estimate"] < 0.6 * dependent["truth"]).all()
    assert (frame.loc["X6", "delta"] == 0).all()


@pytest.mark.parametrize("feature", ["X1", "X5"])
def test_the_delta_of_mvim_vanishes_with_more_rows(feature):
    """Table 2: where features are independent."""
    frame = importances("mvim", "xgboost").query(
        "scenario == 'independent' and feature == @feature"
    )
    delta = frame.set_index("n")["delta"].sort_index()
    assert delta.iloc[:4].is_monotonic_decreasing
    assert delta[10_000] < 0.1 * delta[100]


@pytest.mark.parametrize(("feature", "share"), [("X1", 0.0), ("X5", 1.0)])
def test_an_additive_model_finds_what_is_additive(feature, share):
    """Figure 1: nothing of X1, whose slopes of opposite sign it averages, and all of X5."""
    rows = "scenario == 'independent' and n == 10_000 and feature == @feature"
    row = importances("mvim", "additive").query(rows).iloc[0]
    assert abs(row["estimate"] - share * row["truth"]) < 0.05 * row["truth"]


def test_boosting_credits_what_it_misses_to_a_copy():
    """Figure 2: X5, of correlation 0.9 with X1, has too large an MVIM from some size on."""
    row = importances("mvim", "xgboost").query("scenario == 'simple' and n == 10_000")
    x5 = row.set_index("feature").loc["X5"]
    assert x5["estimate"] - x5["truth"] > 4 * x5["estimate_mcse"]


@pytest.mark.parametrize("scenario", ["weak", "moderate", "strong"])
def test_the_delta_of_cvim_vanishes_with_more_rows(scenario):
    """Tables 5 to 7."""
    frame = importances("cvim", "xgboost").query("scenario == @scenario").sort_values("n")
    assert frame["delta"].is_monotonic_decreasing
    assert frame["estimate"].is_monotonic_increasing


@pytest.mark.parametrize("scenario", ["weak", "moderate", "strong"])
@pytest.mark.parametrize("n", [2000, 8000])
def test_adjusted_importance_is_nearer_to_the_truth(scenario, n):
    """Figures 10 to 12; the true MVIM of X1 is a closed form."""
    process = khan_regression(scenario)
    frame = found("adjusted").query("process == @process.name and n == @n").set_index("estimand")
    off = (frame["truth"] - dgp_pfi(process, "X1").value).abs()
    error = np.hypot(*frame.loc[["MVIM", "AMVIM"], "truth_mcse"])
    assert off["MVIM"] - off["AMVIM"] > 3 * error


def test_effects_over_folds_have_no_intervals_unless_asked():
    """Corrected ones are far too narrow, as the table and the page on plans say."""
    table = pd.read_csv(STUDIES / "results" / "folds.csv", index_col="plan")
    alike = table["covers"].loc["4 folds":"9 of 10 rows, 15 times"]  # the plans that are refused
    assert f"covered {alike.min():.0%} to {alike.max():.0%}" in TOO_ALIKE
    assert table.loc["half-sampling", "covers"] >= 0.92
    page = (ROOT / "docs" / "resampling.md").read_text(encoding="utf-8")
    assert f"{alike['5 folds']:.2f}"[1:] + " with 5 folds" in page
    assert f"{alike['10 folds']:.2f}"[1:] + " with 10" in page
    learner = pi.Learner.from_formula(
        "y ~ x1 + x2", folds.draw(np.random.default_rng(1)), LinearRegression()
    )
    res = learner.fit(pi.CrossValidation(5), seed=1, progress=False)
    for ask in (res.pd, res.ame):
        assert ask("x1").bse.isna().all()
        assert (ask("x1", cov_type="corrected").bse > 0).all()
    assert (res.pfi().bse > 0).all()
    assert (learner.fit(pi.Subsampling(5), seed=1, progress=False).ame().bse > 0).all()


def test_the_page_says_how_often_intervals_cover_with_many_columns():
    page = (ROOT / "docs" / "estimands" / "population.md").read_text(encoding="utf-8")
    for _, covers in pd.read_csv(STUDIES / "results" / "wide.csv").groupby("columns")["covers"]:
        assert f"in {covers.min():.2f} to {covers.max():.2f}".replace(" 0.", " .") in page
