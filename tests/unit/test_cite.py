"""What results rest on, in BibTeX: the right papers, each once, from one file."""

import re
from pathlib import Path

import pytest
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import BayesianRidge, LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.inference import COV_TYPES
from pyinterp.report_page.citations import FIELDS, as_text, references
from pyinterp.results.header import versions_of_packages

CITATION = Path(__file__).parents[2] / "CITATION.cff"


@pytest.fixture(scope="module")
def res():
    rng, frame = normal_rows(60, "x z")
    frame["y"] = frame["x"] * (1 + frame["z"]) + rng.normal(size=60)
    return fit_of("y ~ x * z", frame, BayesianRidge(), pi.HalfSampling(2, pairs=5))


def keys(*results):
    return re.findall(r"^@\w+\{(\w+),$", pi.cite(*results), re.MULTILINE)


@pytest.mark.parametrize(
    ("method", "options", "papers"),
    [
        ("pfi", {}, "breiman2001 efron1981 fisher2019 molnar2021"),
        ("pfi", {"cov_type": "corrected"}, "breiman2001 fisher2019 molnar2021 nadeau2003"),
        ("pd", {"features": "x"}, "efron1981 friedman2001 molnar2021"),
        ("ale", {"features": "x"}, "apley2020 efron1981 molnar2021"),
        ("firm", {}, "efron1981 greenwell2018 molnar2021"),
        ("sage", {}, "covert2020 efron1981 molnar2021"),
        ("cvim", {}, "efron1981 khan2025 molnar2021"),
        ("entropy_pfi", {}, "efron1981 molnar2021 wood2024"),
        ("h_statistic", {"order": "pairwise"}, "efron1981 friedman2008 molnar2021"),
        ("loss", {}, "efron1981 molnar2021"),
        ("interactions", {}, "robinson1988 williamson2023"),
        ("products", {"feature": "x"}, "chernozhukov2018 robinson1988"),
        ("population", {}, "chernozhukov2018 khan2025 robinson1988 williamson2023"),
        (
            "importance",
            {"measures": ["pfi", "firm"]},
            "breiman2001 efron1981 fisher2019 greenwell2018 molnar2021",
        ),
    ],
)
def test_papers_are_of_the_estimand_the_variance_and_the_level(res, method, options, papers):
    assert keys(getattr(res, method)(**options)) == ["pyinterp", *papers.split()]


def test_a_learner_has_the_papers_of_its_variance(res):
    assert keys(res) == ["pyinterp", "efron1981", "molnar2021"]
    assert keys(res, res.pd("x"), res.pd("z")) == [
        "pyinterp", "efron1981", "friedman2001", "molnar2021"
    ]  # fmt: skip


def test_one_model_has_no_paper_on_learners():
    data = pi.datasets.load_diabetes()
    X, y = data[["bmi", "bp"]], data["progression"]
    fm = pi.FittedModel(LinearRegression().fit(X, y), X, y)
    assert keys(fm) == ["pyinterp"]
    assert keys(fm.pfi()) == ["pyinterp", "breiman2001", "fisher2019"]


def test_studies_have_the_papers_of_their_targets():
    names = {n for n in pi.simulation.__all__ if n in references()["studies"]}
    assert names == set(references()["studies"])


def test_loaded_results_rest_on_the_same(res, tmp_path):
    for results in (res.pfi(), res):
        results.save(tmp_path / "a.pyinterp")
        assert pi.cite(pi.load(tmp_path / "a.pyinterp")) == pi.cite(results)


def test_an_entry_is_bibtex(res):
    package, *papers = pi.cite(res.pfi()).split("\n\n")
    assert f"version {dict(versions_of_packages())['pyinterp-stats']}" in package
    assert papers[0] == (
        "@article{breiman2001,\n  author = {Breiman, Leo},\n  title = {Random forests},\n"
        "  journal = {Machine Learning},\n  year = {2001},\n  volume = {45},\n  number = {1},\n"
        "  pages = {5-32}\n}"
    )
    for entry in (package, *papers):
        assert entry.count("{") == entry.count("}")
    assert as_text("breiman2001") == (
        "Breiman (2001). Random forests. Machine Learning 45(1), 5-32."
    )


def test_every_paper_is_whole_and_serves_a_method():
    methods, papers = references(), dict(references()["papers"])
    tables = [table for name, table in methods.items() if name != "papers"]
    used = {key for table in tables for several in table.values() for key in several}
    assert used == set(papers) - {"pyinterp"}
    assert set(methods["variances"]) <= set(COV_TYPES)
    for key, paper in papers.items():
        assert set(paper) <= {*FIELDS, "type"}
        if key != "pyinterp":
            assert {"author", "title", "journal", "year"} <= set(paper)
            assert key.endswith(str(paper["year"]))


def test_the_package_and_its_four_papers_are_as_in_the_citation_file():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    package = references()["papers"]["pyinterp"]
    assert package["title"] == citation["title"]
    assert package["author"] == f"{{{citation['authors'][0]['name']}}}"
    titles = {paper["title"].lower() for paper in references()["papers"].values()}
    assert {reference["title"].lower() for reference in citation["references"]} <= titles


@pytest.mark.parametrize("wrong", [(), (3,), ("pfi",), (pi,)])
def test_other_things_are_refused(wrong):
    with pytest.raises(OptionError, match="cite"):
        pi.cite(*wrong)
