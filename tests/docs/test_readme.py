"""The README's Python runs, and prints what the README says it prints.

Run as a script, this file writes what is printed now into the README.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "PYINTERP_DATA"
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of Python and the block of text right after it, if any."""

    code: str
    output: str | None


def blocks():
    """Return the README's Python blocks with the output that it claims for them."""
    found = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    following = [*found[1:], ("", "")]
    return [
        Block(code, text if kind == "text" else None)
        for (language, code), (kind, text) in zip(found, following, strict=True)
        if language == "python"
    ]


def is_slow(block):
    """Whether a block fits a forest of 500 trees, 45 times."""
    return "load_wine_quality" in block.code


def comparable(text):
    """Return the lines of a table without space at line ends."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def printed(block, namespace):
    """Execute a block and return what it prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(block.code, "README.md", "exec"), namespace)  # noqa: S102 - our own README
    return stream.getvalue()


def run(block, namespace):
    """Execute a block and compare what it prints with what the README says it prints."""
    found = printed(block, namespace)
    if block.output is not None:
        assert comparable(found) == comparable(block.output)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    """Examples need no file, and no data but those that come with the packages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def test_there_is_a_wine_example_and_there_are_quick_examples():
    kinds = [is_slow(block) for block in blocks()]
    assert kinds.count(True) == 1
    assert kinds.count(False) >= 1
    assert all(block.output for block in blocks())


def test_it_is_short_and_has_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 124
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert (ROOT / picture).stat().st_size > 0


def test_the_page_quotes_what_corrected_intervals_covered_in_the_paper_and_here():
    page = " ".join((ROOT / "docs" / "inference.md").read_text("utf-8").split())
    papers = ROOT / "pyinterp_papers"
    printed = pd.read_csv(papers / "printed" / "molnar2021_table_2.csv").query("learner == 'lm'")
    ours = pd.read_csv(papers / "results" / "molnar2021_table_1.csv")
    ours = ours.query("measure == 'coverage' and estimand == 'PFI' and learner == 'lm'")
    ours = ours[ours["quantity"].str.endswith("*")]
    assert len(ours) == printed[["boot*", "subs*"]].size
    for numbers in (printed[["boot*", "subs*"]].to_numpy(), ours["ours"].to_numpy()):
        assert f"{numbers.min():.0%} to {numbers.max():.0%}" in page


def test_our_own_coverage_is_what_the_battery_says():
    readme, paper = (
        " ".join((ROOT / name).read_text("utf-8").split()) for name in ("README.md", "paper.md")
    )
    battery = pd.read_csv(ROOT / "studies" / "results" / "battery.csv")
    relevant = battery[battery["coverage"].notna() & ~battery["null"]]
    usual = relevant[relevant["warned"] < 0.2]
    for name in ("PFI", "PD"):
        terms = usual.loc[usual["term"].str.startswith(f"{name} "), "coverage"]
        words = f"{terms.mean():.1%} for {name} ({len(terms)} terms, the lowest {terms.min():.0%})"
        assert words in readme
        assert f"{terms.mean():.1%}" in paper
    sets = usual.groupby("row")["data_sets"].first()
    words = f"settings with {sets.sum():,} data sets"
    assert f"{len(sets)} {words}" in readme
    assert f"{len(sets)} simulated {words}" in paper
    null = battery[battery["null"] & (battery["warned"] < 0.2)]
    rejects = null.loc[null["term"].str.startswith("PFI "), "rejects"].mean()
    assert f"rejected {rejects:.1%} of irrelevant features" in readme
    assert f"the lowest coverage there was {relevant['coverage'].min():.0%}" in readme


def test_a_table_is_the_same_on_another_day():
    for text in (block.output for block in blocks() if block.output is not None):
        later = re.sub(r"\w{3}, \d\d \w{3} \d{4}", "Mon, 01 Feb 2027", text)
        assert comparable(later) == comparable(text)


def test_the_quick_examples_run_and_print_what_is_shown():
    namespace = {}
    exec("import pyinterp as pi", namespace)  # noqa: S102 - stands in the wine example
    for block in blocks():
        if not is_slow(block):
            run(block, namespace)


@pytest.mark.acceptance
def test_the_wine_example_prints_what_is_shown():
    (example,) = (block for block in blocks() if is_slow(block))
    run(example, {})


def rewrite():
    """Write what the blocks print now into the README."""
    readme, namespace = ROOT / "README.md", dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        outputs = [(block, printed(block, namespace)) for block in blocks()]
    page = readme.read_text(encoding="utf-8")
    for block, output in outputs:
        if block.output is not None:
            shown = "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
            page = page.replace(f"```text\n{block.output}```", f"```text\n{shown}\n```")
    readme.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
