"""Tables are recomputed from their files without the package: in R, and by the page's NumPy code.

The R script and the code are those of `docs/file_format.md`.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ["estimate", "std_error", "conf_low", "conf_high"]
LEARNERS = {"ridge": Ridge(), "neighbors": KNeighborsRegressor(3)}


@pytest.fixture(scope="module", params=LEARNERS)
def saved(request: Any, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Any]]:
    """Return files and the tables that they hold: PFI with two features without effect, and PD."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("xzuv"))
    data["y"] = 2 * data["x"] + data["z"] + rng.normal(size=90)
    learner = pi.Learner.from_formula("y ~ x + z + u + v", data, LEARNERS[request.param])
    fit, folder = learner.fit(seed=1, progress=False), tmp_path_factory.mktemp("files")
    tables = {"pfi": fit.pfi(), "pd": fit.pd("x", points=3)}
    files = [(folder / f"{name}.pyinterp", table) for name, table in tables.items()]
    for path, table in files:
        table.save(path)
    return files


def test_in_numpy(saved: list[tuple[Path, Any]]) -> None:
    page = (DOCS / "file_format.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```\{code-cell\} ipython3\n(from scipy.*?)\nprint", page, re.DOTALL)
    names: dict[str, Any] = {"np": np, "json": __import__("json")}
    exec(code, names)  # noqa: S102 - our own page
    for path, table in saved:
        found, expected = names["table_of"](path), table.summary_frame()[COLUMNS].to_numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=0)


@pytest.fixture(scope="module")
def program() -> str:
    found = shutil.which("Rscript")
    if found is None:
        pytest.skip("R is not installed")
    asked = [found, "-e", "stopifnot(requireNamespace('jsonlite', quietly = TRUE))"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("R's package jsonlite is not installed")
    return found


def test_in_r(saved: list[tuple[Path, Any]], program: str) -> None:
    script = str(DOCS / "read_file.R")
    for path, table in saved:
        run = subprocess.run(  # noqa: S603 - our own script
            [program, script, str(path)], capture_output=True, text=True, check=True
        )
        found, expected = pd.read_csv(io.StringIO(run.stdout)), table.summary_frame()
        assert found["term"].tolist() == expected.index.tolist()
        np.testing.assert_allclose(
            found[["estimate", "std_error", "low", "high"]], expected[COLUMNS], rtol=1e-9
        )
        if "p" in found:
            np.testing.assert_allclose(found["p"], expected["p_value"], rtol=1e-7)
