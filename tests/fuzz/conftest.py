"""No data folder, and an empty folder to write into: any text is a path to some calls."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYINTERP_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
