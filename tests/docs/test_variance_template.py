"""The template of a variance in `write_your_own.md` gives the numbers that it should."""

import re
from pathlib import Path

import numpy as np
import pytest

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.inference import cov_types

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write_your_own.md"
CELL = re.compile(r"```\{code-cell\} python3\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def page():
    """All that the section on a variance defines, by name."""
    registry = cov_types.COV_TYPES, cov_types._PLACES, cov_types._NEEDS_OF
    before = [dict(part) for part in registry]
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## A variance\n")
    (cell,) = CELL.findall(rest.partition("\n## ")[0])
    names = {"pi": pi, "np": np, "data": pi.datasets.load_diabetes()}
    exec(cell, names)  # noqa: S102 - our own page
    yield names
    for former, now in zip(before, registry, strict=True):
        now.clear()
        now.update(former)


def test_the_spread_is_that_of_the_middle_half(page):
    """The median distance from the median; of normal numbers it is 0.6745 standard deviations."""
    table = page["fit"].pfi(["bmi", "bp"], cov_type="robust")
    means = table.replicates.per_refit.reshape(40, 3, 2).mean(axis=1)
    away = np.abs(means - np.median(means, axis=0))
    np.testing.assert_allclose(table.bse, np.median(away, axis=0) / 0.6744897501960817, rtol=1e-12)
    usual = page["fit"].pfi(["bmi", "bp"]).bse
    assert (np.abs(np.log(table.bse / usual)) < np.log(1.5)).all()
    assert "Intervals (robust, 40 bootstrap samples) are for the learner." in str(table.summary())
    alone = page["fit"].pfi("bmi", cov_type="robust").bse["bmi"]
    assert alone == pytest.approx(table.bse["bmi"], rel=1e-12)


def test_another_plan_is_refused(page):
    with pytest.raises(InferenceError, match="NestedBootstrap"):
        page["linear"].fit(pi.CrossValidation(3), seed=1).pfi("bmi", cov_type="robust")
