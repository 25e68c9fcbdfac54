"""Data that many tests share."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn

from pyinterp.simulation.records import StudyFile

# Seconds for a test that is not run by `make test`; `pyproject.toml` has those of all others.
SLOW = 3 * 3600

# All tests with scikit-learn's routing of metadata, as users may have it (`make matrix`).
ROUTING = "PYINTERP_TEST_ROUTING"


def pytest_configure():
    if os.environ.get(ROUTING):
        sklearn.set_config(enable_metadata_routing=True)


def pytest_collection_modifyitems(items):
    for item in items:
        if any(item.get_closest_marker(name) for name in ("calibration", "acceptance", "torture")):
            item.add_marker(pytest.mark.timeout(SLOW))


@pytest.fixture
def data():
    """60 rows: response `y`, numbers `x` and `z` > 0, strings `g` of three levels."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=60), rng.uniform(1, 3, size=60)
    g = rng.permutation(np.repeat(["a", "b", "c"], 20))
    y = x + np.log(z) + (g == "b") + rng.normal(size=60)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g})


STOPPING = """
import sys, time
sys.path[:0] = {path!r}
from {module} import study
from pyinterp.simulation.records import StudyFile
add, left = StudyFile.add, {blocks}
def stopping(self, records):
    global left
    add(self, records)
    left -= bool(records)  # the first call has none
    if not left:
        time.sleep(600)  # to be killed
StudyFile.add = stopping
study(**{options!r}).run({file!r}, progress=False)
"""


@pytest.fixture
def run_and_kill():
    """Run `study` of a test module in a process of its own and kill it in the middle."""

    def run(module, file, *, blocks, **options):
        """Kill it once so many blocks are there, before the next, and return their number."""
        path = [str(Path(__file__).parent / "studies"), *sys.path]
        code = STOPPING.format(
            path=path, module=module, options=options, file=str(file), blocks=blocks
        )
        running = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 - our own code
        try:
            while _blocks(file) < blocks:
                assert running.poll() is None
                time.sleep(0.02)
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
        return _blocks(file)

    return run


def _blocks(file):
    return len({(record.row, *record.blocks) for record in StudyFile(file).records()})
