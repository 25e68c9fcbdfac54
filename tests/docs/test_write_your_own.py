"""The code of the page that adds to the package from outside runs, block after block."""

import re
from pathlib import Path

import numpy as np
import pytest

from pyinterp.inference import cov_types

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write_your_own.md"
CELL = re.compile(r"^```\{code-cell\} python3\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names():
    """All that the page defines, by name."""
    registries = cov_types.COV_TYPES, cov_types._PLACES, cov_types._NEEDS_OF
    before, defined = [dict(registry) for registry in registries], {"__name__": "page"}
    for cell in CELL.findall(PAGE.read_text(encoding="utf-8")):
        exec(compile(cell, str(PAGE), "exec"), defined)  # noqa: S102
    yield defined
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


def test_the_plan_of_the_page_is_repeated_folds(names):
    fit = names["learner"].fit(names["RepeatedFolds"](4, 3), seed=1)
    tested = np.concatenate([refit.evaluation.rows for refit in fit.refits])
    assert len(fit.refits) == 12
    assert (np.bincount(tested) == 3).all()
    assert not any(np.isin(refit.evaluation.rows, refit.train_rows).any() for refit in fit.refits)
    assert fit.pfi(["bmi"]).context.plan == "4 folds, 3 times"
