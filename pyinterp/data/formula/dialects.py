"""Operators and functions of formulas of R's packages that are refused, each with a remedy.

`dialects.toml` has them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from pyinterp.data.formula.columns import Columns
from pyinterp.errors import FormulaError, short

_TABLE = tomllib.loads(files("pyinterp.data.formula").joinpath("dialects.toml").read_text("utf-8"))


def _remedies(kind: str) -> dict[str, str]:
    return {name: one["write"] for one in _TABLE[kind] for name in one["names"]}


AMONG_TERMS = _remedies("everywhere") | _remedies("among_terms")
INSIDE_A_CALL = _remedies("everywhere") | _remedies("inside_a_call")
FUNCTIONS = _remedies("functions")
VALUES = _TABLE["values"]


def refuse(operator: str, code: str, remedies: Mapping[str, str], columns: Columns) -> None:
    """Raise if an operator is one that has a remedy, `AMONG_TERMS` or `INSIDE_A_CALL`."""
    remedy = remedies.get(operator)
    if remedy is None and len(operator) > 1 and operator[0] == operator[-1] == "%":
        remedy = "operators of R's packages are not known; compute the column before"
    if remedy is not None:
        why = columns.hint_on(code) or f" {remedy}."
        raise FormulaError(f"Can't use `{operator}` in `{short(code)}`:{why}")
