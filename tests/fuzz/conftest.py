"""No data folder, and an empty folder to write into: any text is a path to some calls."""

import pytest


@pytest.fixture(autouse=True)
def _offline(monkeypatch, tmp_path):
    monkeypatch.setenv("PYINTERP_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
