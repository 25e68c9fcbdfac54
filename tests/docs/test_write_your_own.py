"""The code of the page that adds to the package from outside runs, block after block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyinterp.whatif.dispatch import ENGINES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write_your_own.md"
CELL = re.compile(r"^```\{code-cell\} python3\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """All that the page defines, by name."""
    before, defined = dict(ENGINES), {"__name__": "page"}
    for cell in CELL.findall(PAGE.read_text(encoding="utf-8")):
        exec(compile(cell, str(PAGE), "exec"), defined)  # noqa: S102
    yield defined
    ENGINES.clear()
    ENGINES.update(before)


def test_the_engine_of_the_page_serves(names: dict[str, Any]) -> None:
    assert names["res"].pfi(["bmi"]).engine.name == "kernel ridge, exact"
