"""Tables: titles, footnotes, digits, blocks, headers, and their exports."""

import csv
import io
import re
import shutil
import subprocess
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from openpyxl import load_workbook
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.results.table import FORMATS, _rows

PLAN = pi.HalfSampling(3, pairs=6)
WIDEST = 104
DEFAULT = LinearRegression()


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "z_1", "g% & #"])
    frame["k"] = rng.choice(["a, b", "c|d"], 60)
    frame["y"] = frame["x"] * 2 + frame["z_1"] + rng.normal(size=60)
    return frame


def fitted(estimator=DEFAULT):
    return fit_of("y ~ .", data(), estimator, PLAN)


@pytest.fixture(scope="module")
def res():
    return fitted(RandomForestRegressor(4, min_samples_leaf=3))


@pytest.fixture(scope="module")
def pfi(res):
    return res.pfi()


def flat(table):
    return " ".join(str(table).split())


def test_a_title_replaces_the_usual_one(pfi):
    assert str(pfi.summary()).splitlines()[0].strip() == "Permutation feature importance, learner"
    assert str(pfi.summary(title="Wine")).splitlines()[0].strip() == "Wine"


def test_footnotes_are_short_full_or_none(pfi):
    short, full, none = (pfi.summary(notes=n) for n in ("short", "full", "none"))
    assert len(none.notes) == 0
    assert "[1]" not in str(none)
    assert "All pairs of rows" not in flat(short)
    assert "All pairs of rows" in flat(full)
    assert "for the learner trained on 63.2% of the rows" in flat(short)
    assert str(pfi) == str(short)


QUESTIONS = {
    "pfi": lambda r: r.pfi(),
    "conditional": lambda r: r.pfi(["x", "z"], sampler="residual"),
    "causal": lambda r: r.causal("x"),
    "native": lambda r: r.native_importance(),
    "cvim": lambda r: r.cvim(),
    "loco": lambda r: r.loco(),
    "together": lambda r: r.importance(),
    "firm": lambda r: r.firm(),
    "h": lambda r: r.h_statistic(),
    "pd": lambda r: r.pd("x", points=3),
    "ame": lambda r: r.ame(),
    "loss": lambda r: r.loss(),
    "groups": lambda r: r.pfi(["x", "z"], by="k"),
    "compare": lambda r: pi.compare({"one": r, "other": other_learner()}),
}


@cache
def plain_data():
    """Data without rare levels and far rows, of which no table warns."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.uniform(-1, 1, size=(240, 2)), columns=["x", "z"])
    frame["k"] = rng.choice(["u", "v"], 240)
    frame["y"] = 2 * frame["x"] + frame["z"] + (frame["k"] == "u") + rng.uniform(-1, 1, 240)
    return frame


@cache
def plain(estimator="linear"):
    chosen = {"linear": LinearRegression(), "ridge": Ridge(5.0)}[estimator]
    return fit_of("y ~ x + z + k", plain_data(), chosen, pi.HalfSampling(5, pairs=15))


def other_learner():
    return plain("ridge")


# What is said of this fit alone, of LOCO, or of draws given the others, beside the two footnotes
# that stand under every table.
OF_THIS_FIT = (
    "No interval for",
    "No simulations say",
    "Monte Carlo standard error",
    "No P:",
    "P is about",
)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_table_has_five_columns_and_two_footnotes_of_two_lines(name):
    table = QUESTIONS[name](plain()).summary()
    standing = [note for note in table.notes if not any(words in note for words in OF_THIS_FIT)]
    assert len(standing) <= 2, table.notes
    below = str(table).split("\n\n")[-1].splitlines()
    assert below[0].startswith("[1]")
    assert len(below) <= 2 * len(table.notes)
    assert max(map(len, below)) <= table.width
    starts = [k for k, line in enumerate(below) if line.startswith("[")]
    assert all(b - a <= 2 for a, b in pairwise([*starts, len(below)]))

    # Columns are five, and rules as wide as the table.
    lines = str(table).splitlines()
    rules = {len(line) for line in lines if line and set(line) <= {"=", "-"}}
    assert rules == {table.width}
    assert all(len(line) <= table.width for line in lines)
    body = str(table).split("\n\n")[0].splitlines()
    # Blocks below each other have their columns at the same places.
    assert len({line.index("std err") for line in body if "std err" in line}) == 1
    for block in table.tables:
        _, label, *others = _cells(block)[0]
        names = [name for name in others if name]
        if label in ("R²_j", "permuted"):  # without standard errors
            assert names == []
            continue
        names.remove("std err")
        assert names in (
            ["[0.025", "0.975]", "t", "P>|t|"],
            ["[0.025", "0.975]"],
            ["corrected", "[0.025", "0.975]"],
        )


def test_p_values_below_the_last_digit_are_said_in_every_format(tmp_path):
    pfi = plain().pfi()
    assert pfi.pvalues["x"] < 0.0005
    assert "<0.001" in str(pfi)
    assert "<td>&lt;0.001</td>" in pfi.summary().as_html().replace(" ", "")
    assert "$<$0.001" in pfi.to("latex")
    assert "\\<0.001" in pfi.to("markdown")
    assert "<0.001" in pfi.summary().as_csv()
    pfi.to(tmp_path / "t.xlsx")
    numbers = pd.read_excel(tmp_path / "t.xlsx")["p_value"]
    np.testing.assert_allclose(numbers, pfi.pvalues, rtol=1e-12)


def test_blocks_show_every_measure_with_its_test():
    together = plain().importance()
    table = together.summary(sort=False)
    blocks = [_cells(block) for block in table.tables]
    assert [block[0][1] for block in blocks] == ["MVIM", "CVIM", "AMVIM", "R²_j"]
    for block, results in zip(blocks, together.results.values(), strict=False):
        alone = _cells(results.summary(sort=False).tables[0])
        assert block == alone
    assert [row[0] for row in blocks[3][1:]] == ["x", "z", "k"]
    assert table.as_latex().count(r"\begin{tabular}") == 1
    assert table.as_html().count("<table") == 2  # header and blocks
    assert table.as_html().count("<th>std err</th>") == 3
    single = plain().cvim().summary()
    assert [_cells(block)[0][1] for block in single.tables] == ["CVIM", "R²_j"]


def _cells(table):
    return [[str(cell.data).strip() for cell in row] for row in table]


def test_measures_of_unlike_terms_show_each_their_terms():
    together = plain().importance(["pfi", "native"])
    pfi, native = (_cells(block) for block in together.summary().tables)
    assert {row[0] for row in pfi[1:]} == {"x", "z", "k"}
    assert {row[0] for row in native[1:]} == set(together["native"].params.index)


def rare():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=150), "far": rng.normal(size=150)})
    frame["dummy"] = (np.arange(150) % 25 == 0).astype(float)
    frame.loc[0, "far"] = 25.0
    noise = rng.normal(size=150) * 0.5
    frame["y"] = frame["x"] + 3 * frame["dummy"] + frame["far"] + noise
    return frame


def test_rows_that_are_not_to_be_trusted_carry_the_number_of_their_footnote():
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    results = fit_of("y ~ x + far + dummy", rare(), tree)
    pfi = results.pfi()
    shares, g = pfi.replicates.idle_share, pfi.replicates.skewness
    table = pfi.summary()
    marked = {}
    for note in table.notes:
        number, _, text = note.partition(" ")
        if text.startswith("Share of refits on halves that never use"):
            marked |= {t: number for t, s in zip(pfi.params.index, shares, strict=True) if s > 0.1}
            assert "covered 76% of 201 simulated data sets" in text
            assert f"dummy ({shares[2]:.0%})" in text
        if text.startswith("Few rows decide"):
            marked["far"] = number
            assert f"far ({g[1]:.2f})" in text
    assert {"dummy", "far"} <= set(marked)
    for term, number in marked.items():
        k = int(number.strip("[]"))
        assert f"{term} $^{k}$" in table.as_latex()
        for text in (str(table), table.as_html(), table.as_csv()):
            assert f"{term} {'⁰¹²³⁴⁵⁶⁷⁸⁹'[k]}" in text
    unmarked = " ".join(row[0] for row in _cells(pfi.summary(notes="none").tables[0]))
    assert not re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹]", unmarked)
    block = _cells(results.importance(["mvim", "loco"]).summary().tables[0])
    assert any(re.fullmatch("dummy [⁰¹²³⁴⁵⁶⁷⁸⁹]", row[0]) for row in block)


def test_one_sided_p_values_of_squares_are_explained():
    text = flat(plain().pfi(alternative="greater"))
    assert "a square has no sign, so P is the two-sided P" in text
    assert "a square has no sign" not in flat(plain().ame(alternative="greater"))


def test_adjustments_of_several_measures_are_within_each():
    names, options = ["mvim", "loco"], {"p_adjust": "holm"}
    together = plain().importance(names, **options)
    for name in names:
        np.testing.assert_array_equal(
            together.pvalues[name], getattr(plain(), name)(**options).pvalues
        )
    assert "over the 3 terms of each measure, not over all measures" in flat(together)
    assert "over all 3 terms together" in flat(plain().mvim(**options))


def long(p=24):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(120, p)), columns=[f"x{j}" for j in range(p)])
    frame["y"] = 50 * frame["x0"] + rng.normal(size=120)
    return fit_of("y ~ .", frame, Ridge(1.0), pi.HalfSampling(3, pairs=6)).pfi()


def test_long_tables():
    pfi = long()
    table = pfi.summary()
    assert "Of 24 tests at 5% about 1 reject by chance" in flat(table)
    assert "use `p_adjust`" not in flat(plain().pfi())
    few = pfi.summary(top=3)
    assert "Terms: 3 of 24 shown" in flat(few)
    rows = _cells(few.tables[0])[1:]
    assert [r[0].split()[0] for r in rows] == list(pfi.params.sort_values().index[::-1][:3])
    # The largest has four digits or five, although the median error is far smaller.
    largest = _cells(table.tables[0])[1][1]
    assert sum(c.isdigit() for c in largest) <= 5
    groups = plain().pfi(by="k").summary(top=1)
    assert len(_cells(groups.tables[0])) == 1 + 2
    with pytest.raises(OptionError, match="`top` must"):
        pfi.summary(top=0)
    with pytest.raises(OptionError, match="`top` is for tables of one value per feature"):
        plain().pd("x", points=3).summary(top=1)


def test_headers_have_clusters():
    frame = plain_data().assign(c=np.arange(240) % 60)
    plan = pi.HalfSampling(3, pairs=6, cluster="c")
    clustered = fit_of("y ~ x", frame, LinearRegression(), plan)
    assert "Clusters: c (60)" in flat(clustered.pfi())
    model = LinearRegression().fit(frame[["x"]], frame["y"])
    by_array = pi.FittedModel(model, frame[["x"]], frame["y"], cluster=np.arange(240) % 12)
    assert "Clusters: 12" in flat(by_array.pfi())
    for name in ("Weights:", "Clusters:", "Offset:"):
        assert name not in str(plain().pfi())


def test_what_is_not_drawn_has_no_seed():
    frame = plain_data()
    model = pi.FittedModel(
        LinearRegression().fit(frame[["x", "z"]], frame["y"]), frame[["x", "z"]], frame["y"]
    )
    for exact in (model.pfi(), model.pd("x", points=3), model.ame(), model.loss()):
        assert "Seed:" not in str(exact)
        assert "Software:" in str(exact)
    for drawn in (model.pfi(permutations=3), model.cvim(), plain().pfi()):
        assert "Seed:" in str(drawn)
        assert "Date:" not in str(drawn)


@pytest.mark.parametrize("decimals", [0, 2, 7])
def test_decimals(pfi, decimals):
    (line,) = (x for x in str(pfi.summary(decimals=decimals)).splitlines() if x.startswith("x "))
    assert line.split()[1] == f"{pfi.params['x']:.{decimals}f}"
    assert line.split()[2] == f"{pfi.bse['x']:.{decimals}f}"
    with pytest.raises(OptionError, match="decimals"):
        pfi.summary(decimals=-1)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1.0, 1e5, 1e12])
def test_digits_follow_the_size_of_numbers(size):
    frame = data()
    frame["y"] *= np.sqrt(size)
    pfi = fit_of("y ~ x + z_1", frame, LinearRegression(), PLAN).pfi()
    for term in pfi.params.index:
        (line,) = (x for x in str(pfi.summary()).splitlines() if x.startswith(f"{term} "))
        estimate, error = map(float, line.split()[1:3])
        assert estimate == pytest.approx(pfi.params[term], rel=2e-2)
        assert error == pytest.approx(pfi.bse[term], rel=6e-2)
        assert len(line) <= WIDEST


def test_the_header_has_the_formula_and_settings_that_are_no_defaults():
    estimators = {
        "Ridge(alpha=2.5)": Ridge(alpha=2.5),
        "Pipeline(StandardScaler, Ridge(alpha=0.5))": make_pipeline(
            StandardScaler(), Ridge(alpha=0.5, random_state=3)
        ),
    }
    for text, estimator in estimators.items():
        results = fitted(estimator)
        assert f"Learner: {text} " in flat(results.loss().summary())
        assert "Formula: y ~ . " in flat(results.loss().summary())
    long = Ridge(solver="sag", alpha=1.2345678901234, max_iter=12345, tol=1e-12, positive=False)
    header = str(fitted(long).loss().summary())
    assert max(map(len, header.splitlines())) <= WIDEST
    assert "alpha=1.2345678901234" in header.replace("\n", "")


def test_csv_is_quoted(pfi):
    rows = list(csv.reader(io.StringIO(pfi.summary().as_csv())))
    assert rows[0] == ["Permutation feature importance, learner"]
    (heading,) = (row for row in rows if "PFI" in row)
    (row,) = (row for row in rows if row and row[0] == "g% & #")
    assert len(row) == len(heading)
    assert float(row[1]) == pytest.approx(pfi.params["g% & #"], abs=1e-3)


RUN = ["=1+1", "+1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "x\r=1", " =1", "＝1", "－1+1"]


@pytest.mark.parametrize("name", RUN)
def test_csv_has_no_text_that_spreadsheets_run(name):
    """Names of features, of the response and titles come from data, which strangers may make."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=60), "x": rng.normal(size=60)})
    y = pd.Series(5 - 3 * X["x"] - 2 * X[name], name=f"{name} y")
    fit = pi.Learner(y, X, LinearRegression()).fit(pi.HalfSampling(3, pairs=5), seed=1)
    ame = fit.ame()
    texts = [
        ame.summary(title=name).as_csv(),
        pi.summary_col([ame, fit.pfi()]).as_csv(),
        fit.pd(name).summary().as_csv(),
        fit.importance().summary().as_csv(),
    ]
    named = negative = 0
    for cell in (cell for text in texts for row in csv.reader(io.StringIO(text)) for cell in row):
        if cell.strip()[:1] in tuple("=+-@＝－"):
            float(cell)  # numbers, and nothing else
            negative += 1
        named += cell.strip("' \t\n") == name.replace("\r", " ").strip()
    assert named >= 4
    assert negative >= 4  # effects of -2 and -3, which need no quote


def test_markdown_has_one_row_per_term():
    curve = fitted().pd("k")
    text = curve.to("markdown")
    rows = [line for line in text.splitlines() if line.startswith("| k")]
    assert rows[1].startswith("| k\\[c\\|d\\]") or rows[1].startswith("| k[c\\|d]")
    cells = {len(re.split(r"(?<!\\)\|", line)) for line in text.splitlines() if line[:1] == "|"}
    assert len(cells) == 1
    assert "[1]" not in curve.to("markdown", notes="none").replace("\\", "").split("|")[-1]


def test_latex(pfi):
    text = pfi.to("latex", caption="Importance", label="tab:pfi")
    for part in (r"\toprule", r"\bottomrule", r"\caption{Importance}", r"\label{tab:pfi}"):
        assert text.count(part) == 1
    assert r"g\% \& \#" in text
    assert r"z\_1" in text
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + len(pfi.params)
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(rows[0].split(" & ")) - 1}
    assert r"\begin{tablenotes}" not in pfi.to("latex", notes="none")
    with pytest.raises(OptionError, match="label"):
        pfi.to("latex", label="a}b")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_compiles(pfi, tmp_path):
    head = r"\documentclass{article}\usepackage{booktabs,threeparttable}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{pfi.to('latex')}\n\\end{{document}}\n")
    subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"],  # noqa: S607
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF")


def test_names_are_no_formulas_of_excel(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"=cmd()": rng.normal(size=30), "b": rng.normal(size=30)})
    model = pi.FittedModel(lambda rows: rows["=cmd()"].to_numpy(), frame, frame["b"])
    path = tmp_path / "t.xlsx"
    model.pfi().to(path)
    cells = [c for row in load_workbook(path)["estimates"].iter_rows() for c in row]
    assert [c.data_type for c in cells if str(c.value).startswith("=")] == ["s"]


def test_excel_has_full_precision(pfi, tmp_path):
    path = tmp_path / "t.xlsx"
    pfi.to(path)
    sheets = pd.read_excel(path, sheet_name=None)
    assert set(sheets) == {"estimates", "about"}
    np.testing.assert_allclose(sheets["estimates"]["estimate"], pfi.params, rtol=1e-14)


def test_html_escapes_names(pfi):
    html = pfi.summary().as_html()
    assert "g% &amp; #" in html
    assert "Formula:" in html
    assert "Formula:" not in pfi.summary().as_html(header=False)


def test_files_have_the_text_of_their_format(pfi, tmp_path):
    for form, ending in FORMATS.items():
        path = tmp_path / f"table{ending}"
        assert pfi.to(path) == path
        part, whole = str(pfi.to(form)), path.read_text("utf-8")
        assert part.rstrip() in whole
        assert ("<style>" in whole) == (form == "html")  # a whole page
    with pytest.raises(OptionError, match=r"`target` must be .* or a file that ends in .*not"):
        pfi.to(tmp_path / "table.doc")
    with pytest.raises(OptionError, match=r"`caption` and `label` are of LaTeX"):
        pfi.to("html", caption="Importance")


def test_word_files_have_the_table_with_its_intervals_units_and_footnotes(tmp_path):
    docx = pytest.importorskip("docx")
    results = plain().importance(["mvim", "loco"])
    results.to(tmp_path / "table.docx")
    document, summary = docx.Document(str(tmp_path / "table.docx")), results.summary()
    found = [[[cell.text for cell in row.cells] for row in table.rows] for table in document.tables]
    assert found == [[list(row) for row in _rows(table)] for table in summary.tables]
    assert found[0][0][3:5] == ["[0.025", "0.975]"]
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts[0] == summary.title
    assert set(summary.notes) <= set(texts)
    assert "units of y²" in " ".join(texts)
    assert "half-sampling" in " ".join(texts)


def test_word_files_need_a_package(tmp_path, monkeypatch):
    monkeypatch.setattr("pyinterp.results.table.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'python-docx.*to\("table.html"\)'):
        plain().pfi().to(tmp_path / "table.docx")
