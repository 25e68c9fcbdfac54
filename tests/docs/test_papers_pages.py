"""Pages of the papers are those that their script writes."""

import re
from pathlib import Path

import pandas as pd
import pytest
from shared import module_of

from pyinterp_papers import replicate
from pyinterp_papers.replication import PAPERS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "papers"


@pytest.fixture(scope="module")
def script():
    return module_of(FOLDER / "write_pages.py")


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_are_up_to_date(script, paper):
    """`python docs/papers/write_pages.py` writes them."""
    assert (FOLDER / f"{paper}.md").read_text(encoding="utf-8") == script.page(paper)


def test_all_pages_are_in_the_index():
    index = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    assert set(index) >= {*PAPERS, "errata"}


def test_theorems_of_the_index_have_tests():
    """The row of a paper names what the tests of its file are named after, some after two."""
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\|[^|]*\|([^|]*)\| `(tests/papers/test_\w+20\d\d\.py)` \|$", index, re.MULTILINE
    )
    named = {}
    for words, file in rows:
        for part in words.split(";"):
            kind, numbers = part.split(maxsplit=1)
            for number in numbers.split(","):
                named[file, f"{kind.rstrip('s')}_{number.strip()}".replace(".", "_")] = part
    kinds = "theorem|equation|algorithm|proposition|section"
    tests = {
        (file, f"{kind}_{number}")
        for _, file in rows
        for kind, *numbers in re.findall(
            rf"^def test_({kinds})s?_(\d+(?:_\d+)?)_(?:and_(\d+)_)?",
            (ROOT / file).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        for number in filter(None, numbers)
    }
    assert len(rows) == len(PAPERS)
    assert set(named) == tests
    assert f"Tests check {len(tests)} theorems, equations and algorithms" in index


def test_the_index_counts_printed_numbers():
    papers = replicate()
    assert isinstance(papers, pd.DataFrame)
    table = papers.set_index("paper")[["printed", "agree"]]
    printed, agree = table.sum()
    parts = [
        f"{name.rstrip('0123456789').capitalize()} {row['agree']} of {row['printed']}"
        for name, row in table.iterrows()
        if row["printed"]
    ]
    sentence = f"Of {printed} printed numbers {agree} agree: {', '.join(parts)}"
    assert sentence in " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())
    assert not table.loc["wood2024", "printed"]
