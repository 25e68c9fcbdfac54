"""Files that earlier versions saved are read, and give the tables that they gave.

Never make these files again: a change that can't read them must read them by their schema. Results
keep their numbers. A fit computes them from its measurements, by the rule of importances that is in
force: `fit` in the tables has these, and changes with the rule.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import pyinterp as pi
from pyinterp.storage.archive import SCHEMA

SAVED = Path(__file__).parent / "saved"
SCHEMAS = sorted(int(path.stem.partition("_")[2]) for path in SAVED.glob("tables_*.json"))
# Saved numbers have 15 digits; distributions of other versions of scipy differ as much.
DIGITS = 1e-9


def check(results: Any, table: dict[str, Any]) -> None:
    now = json.loads(results.tidy().to_json(double_precision=15))
    pd.testing.assert_frame_equal(pd.DataFrame(now), pd.DataFrame(table), rtol=DIGITS, atol=DIGITS)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_old_file_gives_its_tables(schema: int) -> None:
    tables = json.loads((SAVED / f"tables_{schema}.json").read_text())
    fit = pi.load(SAVED / f"fit_{schema}.pyinterp")
    check(fit.pd("x", points=3), tables["curve"])
    check(fit.pfi(), tables["fit"]["pfi"])
    check(fit.pfi("x", by="g"), tables["fit"]["by"])
    check(fit.importance(["pfi", "mvim"]), tables["fit"]["importance"])
    fit.pfi(p_adjust="holm").summary()
    fit.pfi().plot()
    importance = pi.load(SAVED / f"importance_{schema}.pyinterp")
    check(importance, tables["importance"])
    check(importance["pfi"], tables["pfi"])
    assert str(pi.load(SAVED / f"test_{schema}.pyinterp")) == tables["test"]


def test_there_is_a_file_of_every_schema() -> None:
    assert list(range(1, SCHEMA + 1)) == SCHEMAS
