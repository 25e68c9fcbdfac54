"""A damaged file is an error of ours, soon and in little memory; nothing is written or run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("damaged_files.py")
SECONDS, MEGABYTES = 2.0, 500.0


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is counted by POSIX")
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("results", 400),
        ("models", 100),
        pytest.param("results", 20_000, marks=pytest.mark.torture),
        pytest.param("models", 3000, marks=pytest.mark.torture),
    ],
)
def test_damaged_files_are_refused(kind: str, number: int, tmp_path: Path) -> None:
    """In a process whose memory counts nothing else; seed 1."""
    if kind == "models":
        pytest.importorskip("skops")
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "ignore", str(PROGRAM), str(number), "1", kind],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert sum(found["counts"].values()) == number
    assert not found["failures"]
    assert not found["acts"]
    assert not found["files"]
    assert found["slowest"] < SECONDS, found["slow"]
    assert found["megabytes"] < MEGABYTES
