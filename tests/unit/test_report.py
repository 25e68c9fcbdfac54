"""One page on an analysis: it stands alone, and its numbers are those of the tables."""

import base64
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi
from pyinterp.errors import OptionError

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Reads a page: cells of tables, texts by tag, addresses; raises if tags do not match."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.tables = []
        self.texts = []
        self.addresses = []
        self.tags = set()
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open:
            return
        self.texts.append((self.open[-1], data.strip()))
        if self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data.strip()

    def text(self, tag):
        return " ".join(text for one, text in self.texts if one == tag)


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["x", "z", "w & <v>"])
    frame["y"] = frame["x"] * 2 + frame["z"] + rng.normal(size=80) / 2
    return frame


def cells(table, term):
    (row,) = (row for row in table if row and row[0] == term)
    return row[1:]


def as_shown(number, cell):
    """Round a number to the digits of a cell."""
    text = f"{number:.{len(cell.partition('.')[2])}f}"
    return text.lstrip("-") if float(text) == 0 else text


@pytest.fixture(scope="module")
def results():
    return fit_of("y ~ .", data(), LinearRegression(), pi.HalfSampling(3, pairs=6))


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "page.html"
    assert pi.report(results, path, top=2) == path
    return Reader(path.read_text(encoding="utf-8"))


def test_it_needs_nothing_from_elsewhere(page):
    assert page.tags.isdisjoint({"script", "link", "iframe", "object"})
    assert page.addresses
    for address in page.addresses:
        head, picture = address.split(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_numbers_are_those_of_the_tables(results, page):
    for ask in (results.loss(), results.pfi(), results.pd("x"), results.pd("z")):
        frame = ask.summary_frame()
        (table,) = (t for t in page.tables if any(r and r[0] == str(frame.index[0]) for r in t))
        assert {row[0] for row in table if row} >= set(map(str, frame.index))
        for term, row in frame.iterrows():
            shown = cells(table, str(term))
            exact = row[["estimate", "std_error", "conf_low", "conf_high"]]
            assert shown[:4] == [as_shown(n, c) for n, c in zip(exact, shown[:4], strict=True)]


def test_curves_are_of_the_most_important_features(page):
    labels = [text for tag, text in page.texts if tag == "summary"]
    assert labels == ["Table of PD of x", "Table of PD of z"]
    assert "x:z" in [row[0] for table in page.tables for row in table if row]


def test_methods_say_what_was_computed(page):
    text = page.text("p")
    for part in (
        "The response y was analyzed in 80 observations.",
        "LinearRegression, with the formula “y ~ .”",
        "trained 3 times",
        "6 pairs of refits on complementary halves",
        "Intervals (half-sample, 6 df)",
        "Seed: 1.",
    ):
        assert part in text
    papers = page.text("li")
    assert "Molnar" in papers
    assert "Nadeau" not in papers
    assert "scikit-learn" in page.text("footer")


def test_one_page_from_one_seed(results, tmp_path):
    one, two = (pi.report(results, tmp_path / n, features="x") for n in ("a.html", "b.html"))
    assert one.read_bytes() == two.read_bytes()


def test_a_model_without_response_has_importance_by_flatness(tmp_path):
    frame = data()
    fit = KNeighborsRegressor().fit(frame[["x", "z"]], frame["y"])
    model = pi.FittedModel(fit, frame[["x", "z"]], seed=1)
    read = Reader(pi.report(model, tmp_path / "a.html").read_text(encoding="utf-8"))
    assert "Greenwell" in read.text("li")
    assert "Fisher" not in read.text("li")
    assert "Molnar" not in read.text("li")
    assert "Interactions" not in read.text("h2")  # predicted in batches
    assert "loss" not in read.text("h2")
    assert "A model was analyzed in 80 observations." in read.text("p")


def test_classes_groups_and_titles_with_signs(tmp_path):
    frame = data()
    frame["c"] = pd.cut(frame.pop("y"), 3, labels=["low", "mid", "high"])
    res = fit_of(
        "c ~ .",
        frame,
        RandomForestClassifier(5, random_state=0),
        pi.CrossValidation(3),
        groups={"both": ["x", "z"]},
    )
    text = pi.report(res, tmp_path / "a.html", title="a < b & <c>").read_text(encoding="utf-8")
    read = Reader(text)
    assert read.text("h1") == "a < b & <c>"
    assert "Table of PD of w & <v>" in read.text("summary")
    assert "both" in [row[0] for table in read.tables for row in table if row]
    assert "Nadeau" in read.text("li")


def test_mistakes(results, tmp_path):
    with pytest.raises(OptionError, match=r"of the results of `Learner\.fit`"):
        pi.report(results.pfi(), tmp_path / "a.html")
    with pytest.raises(OptionError, match=r"folder of .* must exist"):
        pi.report(results, tmp_path / "no" / "a.html")
    assert list(tmp_path.iterdir()) == []
