"""Tables: titles, footnotes, digits, folding, headers, and their exports."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import OptionError, PyinterpError

PLAN = pi.HalfSampling(3, pairs=6)
WIDEST = 104
DEFAULT = LinearRegression()


def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "z_1", "g% & #"])
    frame["k"] = rng.choice(["a, b", "c|d"], 60)
    frame["y"] = frame["x"] * 2 + frame["z_1"] + rng.normal(size=60)
    return frame


def fitted(estimator: Any = DEFAULT) -> pi.LearnerResults:
    learner = pi.Learner.from_formula("y ~ .", data(), estimator)
    return learner.fit(PLAN, seed=1, progress=False)


@pytest.fixture(scope="module")
def res() -> pi.LearnerResults:
    return fitted(RandomForestRegressor(4, min_samples_leaf=3))


@pytest.fixture(scope="module")
def pfi(res: pi.LearnerResults) -> pi.EstimandResults:
    return res.pfi()


def flat(table: object) -> str:
    return " ".join(str(table).split())


def test_a_title_replaces_the_usual_one(pfi: pi.EstimandResults) -> None:
    assert str(pfi.summary()).splitlines()[0].strip() == "Permutation feature importance, learner"
    assert str(pfi.summary(title="Wine")).splitlines()[0].strip() == "Wine"
    with pytest.raises(OptionError, match="title"):
        pfi.summary(title=3)  # type: ignore[arg-type]


def test_footnotes_are_short_full_or_none(pfi: pi.EstimandResults) -> None:
    short, full, none = (pfi.summary(notes=n) for n in ("short", "full", "none"))
    assert len(none.notes) == 0
    assert "[1]" not in str(none)
    assert len(short.notes) == 3
    assert len(short.notes) < len(full.notes)
    assert "t = PFI / (s.e. at 0), the standard error if the feature does not matter" in flat(short)
    assert "All pairs of rows" not in flat(short)
    assert "All pairs of rows" in flat(full)
    assert "for the learner trained on 63.2% of the data" in flat(short)
    assert str(pfi) == str(short)
    with pytest.raises(OptionError, match="notes"):
        pfi.summary(notes="long")  # type: ignore[arg-type]


@pytest.mark.parametrize("decimals", [0, 2, 7])
def test_decimals(pfi: pi.EstimandResults, decimals: int) -> None:
    (line,) = (x for x in str(pfi.summary(decimals=decimals)).splitlines() if x.startswith("x "))
    assert line.split()[1] == f"{pfi.params['x']:.{decimals}f}"
    assert line.split()[2] == f"{pfi.bse['x']:.{decimals}f}"
    for wrong in (-1, 1.5, "2", 99):
        with pytest.raises(OptionError, match="decimals"):
            pfi.summary(decimals=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1.0, 1e5, 1e12])
def test_digits_follow_the_size_of_numbers(size: float) -> None:
    frame = data()
    frame["y"] *= np.sqrt(size)
    learner = pi.Learner.from_formula("y ~ x + z_1", frame, LinearRegression())
    pfi = learner.fit(PLAN, seed=1, progress=False).pfi()
    for term in pfi.params.index:
        (line,) = (x for x in str(pfi.summary()).splitlines() if x.startswith(f"{term} "))
        estimate, error = map(float, line.split()[1:3])
        assert estimate == pytest.approx(pfi.params[term], rel=2e-2)
        assert error == pytest.approx(pfi.bse[term], rel=6e-2)
        assert len(line) <= WIDEST


def test_wide_tables_are_folded_and_keep_every_number(res: pi.LearnerResults) -> None:
    together = res.importance()
    table = together.summary()
    assert max(map(len, str(table).splitlines())) <= WIDEST
    text = flat(table)
    for label in ("MVIM", "CVIM", "AMVIM", "R²_j"):
        assert label in text
    rows = [line for line in str(table).splitlines() if line.startswith("x ")]
    assert len(rows) > 1
    cells = [cell for row in rows for cell in row.split()[1:]]
    whole = list(csv.reader(io.StringIO(table.as_csv())))
    (unfolded,) = (row for row in whole if row and row[0] == "x")
    assert cells == unfolded[1:]


def test_the_header_has_the_formula_and_settings_that_are_no_defaults() -> None:
    estimators = {
        "Ridge(alpha=2.5)": Ridge(alpha=2.5),
        "LinearRegression": LinearRegression(n_jobs=1),
        "Pipeline(StandardScaler, Ridge(alpha=0.5))": make_pipeline(
            StandardScaler(), Ridge(alpha=0.5, random_state=3)
        ),
    }
    for text, estimator in estimators.items():
        results = fitted(estimator)
        assert f"Learner: {text} " in flat(results.loss().summary())
        assert text in repr(results)
        assert text in repr(results.model)
        assert "Formula: y ~ . " in flat(results.loss().summary())
    long = Ridge(solver="sag", alpha=1.2345678901234, max_iter=12345, tol=1e-12, positive=False)
    header = str(fitted(long).loss().summary())
    assert max(map(len, header.splitlines())) <= WIDEST
    assert "alpha=1.2345678901234" in header.replace("\n", "")


def test_csv_is_quoted(pfi: pi.EstimandResults) -> None:
    rows = list(csv.reader(io.StringIO(pfi.summary().as_csv())))
    assert rows[0] == ["Permutation feature importance, learner"]
    (heading,) = (row for row in rows if "PFI" in row)
    (row,) = (row for row in rows if row and row[0] == "g% & #")
    assert len(row) == len(heading)
    assert float(row[1]) == pytest.approx(pfi.params["g% & #"], abs=1e-3)


def test_markdown_has_one_row_per_term() -> None:
    curve = fitted().pd("k")
    text = curve.to_markdown()
    rows = [line for line in text.splitlines() if line.startswith("| k")]
    assert rows[1].startswith("| k\\[c\\|d\\]") or rows[1].startswith("| k[c\\|d]")
    cells = {len(re.split(r"(?<!\\)\|", line)) for line in text.splitlines() if line[:1] == "|"}
    assert len(cells) == 1
    assert "[1]" not in curve.to_markdown(notes="none").replace("\\", "").split("|")[-1]


def test_latex(pfi: pi.EstimandResults) -> None:
    text = pfi.to_latex(caption="Importance", label="tab:pfi")
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
    assert r"\begin{tablenotes}" not in pfi.to_latex(notes="none")
    with pytest.raises(OptionError, match="label"):
        pfi.to_latex(label="a}b")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_compiles(pfi: pi.EstimandResults, tmp_path: Path) -> None:
    head = r"\documentclass{article}\usepackage{booktabs,threeparttable}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{pfi.to_latex()}\n\\end{{document}}\n")
    subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"],  # noqa: S607
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


def test_names_are_no_formulas_of_excel(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"=cmd()": rng.normal(size=30), "b": rng.normal(size=30)})
    model = pi.FittedModel(lambda rows: rows["=cmd()"].to_numpy(), frame, frame["b"])
    path = tmp_path / "t.xlsx"
    model.pfi().to_excel(path)
    cells = [c for row in load_workbook(path)["estimates"].iter_rows() for c in row]
    assert [c.data_type for c in cells if str(c.value).startswith("=")] == ["s"]


def test_excel_has_full_precision(pfi: pi.EstimandResults, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    pfi.to_excel(path)
    sheets = pd.read_excel(path, sheet_name=None)
    assert set(sheets) == {"estimates", "about"}
    np.testing.assert_allclose(sheets["estimates"]["estimate"], pfi.params, rtol=1e-14)
    with pytest.raises(PyinterpError, match=r"\.xlsx"):
        pfi.to_excel(tmp_path / "t.csv")


def test_html_escapes_names(pfi: pi.EstimandResults) -> None:
    html = pfi.summary().as_html()
    assert "g% &amp; #" in html
    assert "Formula:" in html
    assert "Formula:" not in pfi.summary().as_html(header=False)
    assert "[1]" in pfi.summary().as_html(header=False)


def test_a_missing_number_is_empty_and_no_seed_is_shown_for_what_has_none() -> None:
    frame = data()[["x", "z_1", "y"]].assign(c=1.0)
    fit = LinearRegression().fit(frame[["x", "z_1", "c"]], frame["y"])
    table = str(pi.FittedModel(fit, frame[["x", "z_1", "c"]], frame["y"], seed=1).pfi().summary())
    assert "nan" not in table
    assert "inf" not in table.replace("inference", "")
