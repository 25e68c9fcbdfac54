"""Tables are recomputed from their files without the package: in R, and by the page's NumPy code.

The R script and the code are those of `docs/file_format.md`.
"""

import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ["estimate", "std_error", "conf_low", "conf_high"]
LEARNERS = {"ridge": Ridge(), "neighbors": KNeighborsRegressor(3)}


@pytest.fixture(scope="module", params=LEARNERS)
def saved(request, tmp_path_factory):
    """Return files and their tables: PFI with two features without effect, PD, of classes too."""
    rng, data = normal_rows(90, "x z u v")
    data["y"] = 2 * data["x"] + data["z"] + rng.normal(size=90)
    learner = pi.Learner.from_formula("y ~ x + z + u + v", data, LEARNERS[request.param])
    fit, folder = learner.fit(seed=1, progress=False), tmp_path_factory.mktemp("files")
    tables = {"pfi": fit.pfi(), "pd": fit.pd("x", points=3)}
    learner = pi.Learner.from_formula("c ~ x + z", data.assign(c=data["y"] > 2), GaussianNB())
    tables["probabilities"] = learner.fit(seed=1, progress=False).pd("x", points=3)
    files = [(folder / f"{name}.pyinterp", table) for name, table in tables.items()]
    for path, table in files:
        table.save(path)
    return files


# Tables that neither the page nor the script recomputes.
OTHERS = {
    "ratio": lambda fit: fit.pfi(relation="ratio"),
    "loss": lambda fit: fit.loss(),
    "groups": lambda fit: fit.pfi(by="g"),
    "cov_type": lambda fit: fit.pfi(cov_type="corrected"),
    "one-sided": lambda fit: fit.pfi(alternative="greater"),
    "adjusted": lambda fit: fit.pfi(p_adjust="holm"),
    "simultaneous": lambda fit: fit.pd("x", points=3, simultaneous=True),
}


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    _, data = normal_rows(80, "x z y")
    data["g"] = np.resize(["a", "b"], 80)
    learner, folder = (
        pi.Learner.from_formula("y ~ x + z", data, Ridge()),
        tmp_path_factory.mktemp("o"),
    )
    fit = learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)
    no_mean = learner.fit(pi.HalfSampling(0, pairs=5), seed=1, progress=False)
    tables = {name: ask(fit) for name, ask in OTHERS.items()} | {"pairs alone": no_mean.pfi()}
    for name, table in tables.items():
        table.save(folder / name)
    return [folder / name for name in tables]


def table_of(path):
    """Return what the page's code makes of a file."""
    page = (DOCS / "file_format.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```\{code-cell\} ipython3\n(from scipy.*?)\nprint", page, re.DOTALL)
    names = {"np": np, "json": __import__("json")}
    exec(code, names)  # noqa: S102 - our own page
    return names["table_of"](path)


def test_in_numpy(saved):
    for path, table in saved:
        found, expected = table_of(path), table.summary_frame()[COLUMNS].to_numpy()
        assert_allclose(found, expected, rtol=1e-10, atol=0)


def test_other_tables_are_refused_in_numpy(others):
    """A wrong number would be worse than none."""
    for path in others:
        with pytest.raises(AssertionError):
            table_of(path)


@pytest.fixture(scope="module")
def program():
    found = shutil.which("Rscript")
    if found is None:
        pytest.skip("R is not installed")
    asked = [found, "-e", "stopifnot(requireNamespace('jsonlite', quietly = TRUE))"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("R's package jsonlite is not installed")
    return found


def test_in_r(saved, program):
    script = str(DOCS / "read_file.R")
    for path, table in saved:
        run = subprocess.run(  # noqa: S603 - our own script
            [program, script, str(path)], capture_output=True, text=True, check=True
        )
        found, expected = pd.read_csv(io.StringIO(run.stdout)), table.summary_frame()
        assert found["term"].tolist() == expected.index.tolist()
        assert_allclose(
            found[["estimate", "std_error", "low", "high"]], expected[COLUMNS], rtol=1e-9
        )
        if "p" in found:
            assert_allclose(found["p"], expected["p_value"], rtol=1e-7)


def test_other_tables_are_refused_in_r(others, program):
    for path in others:
        run = subprocess.run(  # noqa: S603 - our own script
            [program, str(DOCS / "read_file.R"), str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode
        assert "Error in table_of" in run.stderr
