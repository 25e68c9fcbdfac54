"""Pages of the papers are those that their script writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from pyinterp.papers.replication import PAPERS

FOLDER = Path(__file__).parents[2] / "docs" / "papers"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_pages", FOLDER / "write_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_are_up_to_date(script: ModuleType, paper: str) -> None:
    """`python docs/papers/write_pages.py` writes them."""
    assert (FOLDER / f"{paper}.md").read_text(encoding="utf-8") == script.page(paper)


def test_all_pages_are_in_the_index() -> None:
    index = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    assert set(index) >= {*PAPERS, "errata"}
