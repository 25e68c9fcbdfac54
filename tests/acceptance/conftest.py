"""Real data sets, which are not in the repository."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the data sets, announced to the package; skipped without one."""
    beside = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("PYINTERP_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("real data sets are not at hand: set PYINTERP_DATA")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYINTERP_DATA", str(folder))
        yield folder
