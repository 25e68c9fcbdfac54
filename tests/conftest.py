"""Data that many tests share."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def data() -> pd.DataFrame:
    """60 rows: response `y`, numbers `x` and `z` > 0, strings `g` of three levels."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=60), rng.uniform(1, 3, size=60)
    g = rng.permutation(np.repeat(["a", "b", "c"], 20))
    y = x + np.log(z) + (g == "b") + rng.normal(size=60)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g})


SLOWLY = """
import sys, time
sys.path[:0] = {path!r}
from {module} import study
from pyinterp.simulation.studies.ledger import Ledger
add = Ledger.add
def slowly(self, line):
    add(self, line)
    time.sleep(0.2)
Ledger.add = slowly
study(**{options!r}).run({file!r}, progress=False)
"""


@pytest.fixture
def run_and_kill() -> Callable[..., int]:
    """Run `study` of a test module in a process of its own and kill it in the middle."""

    def run(module: str, file: Path, *, lines: int, **options: object) -> int:
        """Kill it after so many lines, leave one cut off, and return how many are whole."""
        path = [str(Path(__file__).parent / "unit"), *sys.path]
        code = SLOWLY.format(path=path, module=module, options=options, file=str(file))
        running = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 - our own code
        deadline = time.monotonic() + 120
        while not file.exists() or file.read_bytes().count(b"\n") < lines:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
        done = file.read_bytes().count(b"\n")
        with file.open("a", encoding="utf-8") as out:
            out.write('{"row": ["cover')  # the line that was being written
        return done

    return run
