"""Every cell of every paper: what `replicate` returns, and what the paper says of it."""

import ast
import importlib
import logging
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plotnine import ggplot
from sklearn.linear_model import LinearRegression

import pyinterp as pi
import pyinterp_papers
from pyinterp_papers import khan2025, molnar2021, replicate
from pyinterp_papers.replication import AGREE, PAPERS, STATUSES, Cell, paper_of

sys.path.insert(0, str(Path(__file__).parent))
from claims import CLAIMS, holds, right

CELLS = [(paper, cell) for paper in PAPERS for cell in paper_of(paper).cells]
FILES = sorted(Path(str(pyinterp_papers.__file__)).parent.rglob("*.py"))
STATED = [
    (paper, cell, claim)
    for paper, cell in CELLS
    for claim in paper_of(paper).words[cell].get("says", [])
]


@pytest.mark.parametrize(("paper", "cell"), CELLS)
def test_every_cell_has_a_frame_or_a_picture(paper, cell):
    found = replicate(paper, cell)
    if isinstance(found, ggplot):
        found = found.data
    else:
        numbers = ["ours", "printed", "error", "difference", "erratum", "status"]
        assert list(found.columns[-6:]) == numbers
        assert not found.duplicated(found.columns[:-6]).any()
    assert len(found) > 0
    assert np.isfinite(paper_of(paper).numbers(cell)["ours"]).all()


@pytest.mark.parametrize(("paper", "cell", "claim"), STATED)
def test_what_the_paper_says_holds_or_is_called_broken(paper, cell, claim):
    one = paper_of(paper)
    broken = one.words[cell].get("broken", [])
    assert holds(paper, cell, claim, one.numbers(cell)) == (claim not in broken)


def test_every_claim_is_said_of_a_cell_and_every_cell_has_words():
    for paper in PAPERS:
        assert {claim for p, _, claim in STATED if p == paper} == set(CLAIMS[paper])
        one = paper_of(paper)
        assert set(one.words) == {"title", *one.cells}
        for cell in one.cells.values():
            assert (cell.compute is None) == bool(cell.of)


@pytest.mark.parametrize(("paper", "cell", "claim"), STATED)
def test_a_check_can_fail(paper, cell, claim):
    """One that holds does not hold of reversed, sorted or random numbers in the same rows."""
    one = paper_of(paper)
    if claim in one.words[cell].get("broken", []):
        return
    frame, rng = one.numbers(cell), np.random.default_rng(1)
    ours, error = frame["ours"], frame["error"]
    low, high = ours.min(), ours.max()
    values = [low + high - ours, np.sort(ours)[::-1], *rng.uniform(low, high, (20, len(frame)))]
    others = [frame.assign(ours=new, error=rng.permutation(error)) for new in values]
    assert not all(holds(paper, cell, claim, other) for other in others)


def test_the_status_of_a_cell_is_that_of_its_numbers():
    """And of its statements; a figure has that of the table that it draws."""
    for name in PAPERS:
        paper = paper_of(name)
        frame = paper.frame().set_index("cell")
        for cell, row in frame.iterrows():
            words, of = paper.words[cell], paper.cells[cell].of
            assert (row["printed"], row["agree"]) == paper.counts(cell)
            if words.get("broken") or "differs" in words:
                assert row["status"] == "differs"
            elif row["printed"]:
                assert "smaller" not in words
                agree = row["agree"] / row["printed"] >= AGREE
                assert row["status"] == ("numbers agree" if agree else "differs")
            elif "smaller" in words:
                assert row["status"] == "shown, smaller run"
            elif of and frame.loc[of, "printed"]:
                assert row["status"] == frame.loc[of, "status"]
            else:
                assert row["status"] == "shown"


@pytest.mark.parametrize("k", range(4, 10))
def test_a_figure_that_draws_a_table_has_its_status(k):
    frame = replicate("khan2025")
    assert isinstance(frame, pd.DataFrame)
    status = frame.set_index("cell")["status"]
    assert status[f"figure {k}"] == status[f"table {k - 2}"] == "differs"


def test_papers_are_listed_with_their_numbers_and_cells():
    papers = replicate()
    assert list(papers["paper"]) == list(PAPERS)
    assert papers["cells"].sum() == len(CELLS)
    assert (papers[list(STATUSES)].sum(axis=1) == papers["cells"]).all()
    for paper in PAPERS:
        frame = replicate(paper)
        assert list(frame.columns) == ["cell", "what", "status", "printed", "agree", "why"]
        assert (frame.query("status in ['differs', 'shown, smaller run']")["why"] != "").all()
        numbers = papers.set_index("paper").loc[paper, ["printed", "agree"]]
        assert list(frame[["printed", "agree"]].sum()) == list(numbers)


def test_a_printed_number_counts_once():
    """Khan prints the true value and orig per block, and Table 2's block of X6 is Table 3's."""
    for k in range(2, 8):
        table = replicate("khan2025", f"table {k}").query("status != ''")
        assert list(table.query("quantity == 'truth'")["n"].unique()) == [100]
        assert set(table[table["quantity"].str.contains("orig")]["feature"]) == {"X1"}
        assert not table.query("feature == 'X6'")["quantity"].str.contains("switch").any()
    table = replicate("khan2025", "table 2").query("feature == 'X6'")
    assert set(table["status"]) == {""}
    assert set(table["erratum"]) == {"13"}


def test_the_setting_of_khans_tables_is_the_one_that_the_search_found():
    path = Path(__file__).parents[2] / "studies" / "results" / "khan_settings.csv"
    names = {"rate": "learning_rate", "depth": "max_depth", "rows": "subsample"}
    scores = pd.read_csv(path).rename(columns=names | {"trees": "n_estimators"})
    best = scores.loc[scores["score"].idxmin(), list(khan2025.FOUND)]
    assert best.to_dict() == khan2025.FOUND


def test_networks_of_greenwells_figure_4_err_as_often_as_is_said():
    paper = paper_of("greenwell2018")
    found = right(paper.numbers("figure 4"))
    assert found["FIRM"] == 20
    said = f"Garson errs in {20 - found['Garson']}, Olden in {20 - found['Olden']}"
    assert said in paper.words["figure 4"]["why"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_papers_use_the_public_api(path):
    """Names of `pyinterp`, of its folders that are public, and errors."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").split(".")[0] == "pyinterp"]
    public = [f"pyinterp.{name}" for name in pi.__all__]
    assert {node.module for node in ours} <= {"pyinterp", "pyinterp.errors", *public}
    for node in ours:
        home = importlib.import_module(str(node.module))
        names = {alias.name for alias in node.names}
        assert names <= set(getattr(home, "__all__", vars(home)))


def test_a_difference_is_in_standard_errors_and_rounding():
    found = replicate("khan2025", "table 5").query("quantity == 'estimate' and n == 100")
    row = found.iloc[0]
    assert row["printed"] == 0.39
    error = np.hypot(row["error"], 0.01 / np.sqrt(12))
    assert row["difference"] == pytest.approx((row["ours"] - 0.39) / error)
    assert (row["status"] == "agrees") == (abs(row["difference"]) <= 3)


def test_an_erratum_stands_at_the_number():
    table = replicate("khan2025", "table 1").set_index(["feature", "offset"])
    assert table.loc[("X2", 0.1), "erratum"] == "7"
    assert table.loc[("X2", 0.1), "status"] == ""
    assert table.loc[("X2", 0.01), "status"] == "agrees"
    assert table.loc[("X5", 0.1), "erratum"] == ""


@pytest.mark.parametrize(
    ("cell", "claim"),
    [
        ("figure 6", "age is most important for the likelihood"),
        ("figure 10", "it peaks between 150 and 175"),
    ],
)
def test_it_is_the_network_that_differs(cell, claim):
    frame = paper_of("wood2024").numbers(cell)
    found = {
        name: CLAIMS["wood2024"][claim](pd.concat([part, part.assign(model="again")]))
        for name, part in frame.groupby("model")
    }
    assert [name for name, holds in found.items() if holds] in (
        ["Gaussian process"],
        ["calibrated forest"],
    )


# Cells that take less than four minutes, those of more than some seconds in `make acceptance`.
ANEW = [
    pytest.param(paper, cell, marks=pytest.mark.acceptance if seconds > 3.5 else ())
    for paper, cell in CELLS
    if paper_of(paper).cells[cell].compute and (seconds := paper_of(paper).seconds(cell)) < 240
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("paper", "cell"), ANEW)
def test_what_holds_of_kept_numbers_holds_of_numbers_that_are_computed_anew(paper, cell):
    one = paper_of(paper)
    if "model" in one.numbers(cell):  # one of two is a network
        pytest.importorskip("torch")
    try:
        frame = one.numbers(cell, one.cells[cell].part(one.compute(cell)))
    except pi.errors.DataError as error:
        pytest.skip(str(error))
    for claim in one.words[cell].get("says", []):
        broken = claim in one.words[cell].get("broken", [])
        assert holds(paper, cell, claim, frame) != broken, claim


def test_components_of_a_few_models_are_those_of_the_table():
    """Twelve models at n = 100, in units of both errors; blocks of two have wide ones."""
    pytest.importorskip("xgboost")
    few = khan2025.components("cvim", "weak", {100: 12}).set_index("quantity")
    stored = replicate("khan2025", "table 5").query("n == 100").set_index("quantity")
    for name in ("bias2_orig", "variance_orig", "delta", "estimate", "corrected"):
        error = np.hypot(few.loc[name, "error"], stored.loc[name, "error"])
        assert abs(few.loc[name, "ours"] - stored.loc[name, "ours"]) < 6 * error, name


def test_five_permutations_agree_with_all_pairs():
    """In the mean over draws, but for 1/n: the paper's permutations may leave a row as it is."""
    data = molnar2021.PROCESSES["linear"].draw(400, seed=1)
    model = LinearRegression().fit(data[["x1", "x2"]][:200], data["y"][:200])
    cases = [pi.FittedModel(model, data[200:], "y", seed=k) for k in range(40)]
    draws = [molnar2021.five_permutations(case).params["x1"] for case in cases]
    exact = cases[0].pfi("x1").params.iloc[0] * (1 - 1 / 200)
    assert abs(np.mean(draws) - exact) < 4 * np.std(draws) / np.sqrt(40)


def test_five_permutations_exchange_evaluation_rows():
    """Half of the rows have values ten times as large: as donors of the others they would show."""
    data = molnar2021.PROCESSES["linear"].draw(400, seed=1)
    data.loc[200:, "x1"] *= 10
    res = pi.Learner.from_formula("y ~ .", data, LinearRegression()).fit(
        pi.Splits([(range(200), range(200, 400)), (range(200, 400), range(200))]), seed=1
    )
    values = molnar2021.five_permutations(res).refit_frame()["x1"]
    assert np.allclose(values, res.pfi().refit_frame()["x1"], rtol=0.5)


def test_coverage_of_a_few_data_sets_has_the_tables_columns():
    found = molnar2021.coverage(6, 60, {"lm": LinearRegression()}, sizes=(60,))
    part = molnar2021.CELLS["table 2"].part(found)
    assert set(part["quantity"]) == {"boot", "boot*", "subs", "subs*", "ideal"}
    means = part.groupby("quantity")["ours"].mean()
    assert means["boot*"] > means["boot"]


def test_a_rerun_says_its_time_and_computes_anew(caplog, monkeypatch):
    paper = paper_of("greenwell2018")
    new = paper.result("table 1").assign(ours=7.0)
    monkeypatch.setitem(paper.cells, "table 1", Cell(lambda: new))
    with caplog.at_level(logging.WARNING, "pyinterp"):
        again = replicate("greenwell2018", "table 1", rerun=True)
    seconds = paper.seconds("table 1")
    assert caplog.messages == [f"greenwell2018, table 1 took about {seconds:.0f} s on one core."]
    assert set(again["ours"]) == {7.0}
    assert list(again["printed"]) == list(paper.numbers("table 1")["printed"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("khan2024",), "`paper` must be one of .* Did you mean `khan2025`"),
        (("khan2025", "tabel 4"), "`cell` must be one of table 1, .* Did you mean `table 4`"),
        ((None, "table 4"), "needs its paper"),
        ((3,), "`paper` must be one of"),
        (("khan2025", 3), "`cell` must be one of table 1, .*got 3"),
    ],
)
def test_errors_name_what_there_is(arguments, message):
    with pytest.raises(ValueError, match=message):
        replicate(*arguments)


def test_rerun_is_for_one_cell():
    with pytest.raises(ValueError, match="`rerun=True` is for one cell"):
        replicate("khan2025", rerun=True)
