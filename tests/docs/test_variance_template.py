"""The template of a variance in `write_your_own.md` runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.inference import COV_TYPES, cov_types

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write_your_own.md"
CELL = re.compile(r"```\{code-cell\} python3\n(.*?)```", re.DOTALL)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cov_types, "_PLACES", dict(cov_types._PLACES))


@pytest.mark.usefixtures("registry")
def test_the_template_of_a_variance_runs() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## A variance\n")
    (cell,) = CELL.findall(rest.partition("\n## ")[0])
    data = pi.datasets.load_diabetes()
    learner = pi.Learner.from_formula("progression ~ .", data, LinearRegression())
    names = {"pi": pi, "np": np, "learner": learner}
    try:
        exec(cell, names)  # noqa: S102 - our own page
        pfi = names["folds"].pfi(["bmi", "bp"], cov_type="jackknife")
    finally:
        COV_TYPES.pop("jackknife", None)
    values = pfi.refit_frame()
    np.testing.assert_allclose(pfi.bse, 3 * values.std(ddof=0), rtol=1e-12)
    assert "jackknife over 10 groups, 9 df" in " ".join(str(pfi.summary()).split())
