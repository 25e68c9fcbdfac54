"""A damaged file is an error of ours or the same table, soon and in little memory.

A forged one may have other numbers, but nothing of it is run, and nothing is written.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("damaged_files.py")
SECONDS, MEGABYTES = 2.0, 500.0


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is counted by POSIX")
@pytest.mark.parametrize("number", [400, pytest.param(20_000, marks=pytest.mark.torture)])
def test_damaged_files_are_refused(number, tmp_path):
    """In a process whose memory counts nothing else; seed 1."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, str(PROGRAM), str(number), "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    outcome = json.loads(run.stdout)
    assert not outcome["failures"]
    assert not outcome["acts"]
    assert outcome["files"] == ["damaged.pyinterp"]
    assert outcome["slowest"] < SECONDS
    assert outcome["megabytes"] < MEGABYTES
