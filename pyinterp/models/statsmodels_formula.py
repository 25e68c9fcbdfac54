"""Formulas of fitted statsmodels results, read into the package's own design."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from pyinterp.data.columns import read_variables
from pyinterp.data.design import FormulaDesign
from pyinterp.data.formula import parse
from pyinterp.data.formula.coding import Terms
from pyinterp.data.formula.factors import column_factor
from pyinterp.models.model_reader import formula_of

ROWS = 200  # on which predictions are compared
SAME = 1e-10  # of the largest value: two ways to compute it differ by rounding only


def read_formula(results: Any, variables: pd.DataFrame) -> tuple[FormulaDesign, Any] | None:
    """Return the design of a statsmodels formula, and the same results for rows of its matrix.

    None unless its columns equal those that the model was fitted to, and predictions by it equal
    those of ``results.predict``.

    Parameters
    ----------
    results : object
        Any fitted model.
    variables : pandas.DataFrame
        Evaluation rows. A variable that the formula lacks is an offset.
    """
    formula = formula_of(results)
    data: Any = getattr(getattr(results, "model", None), "data", None)
    frame, exog = getattr(data, "frame", None), getattr(data, "exog", None)
    if formula is None or exog is None or not isinstance(frame, pd.DataFrame):
        return None
    of_matrices = _without_formula(results)
    try:
        rows = read_variables(variables.iloc[:ROWS])
        trained = _training_rows(frame, data.missing_row_idx, rows)
        design = _design(formula, trained, _scope(data))
        columns = design.encode(trained)[:, : exog.shape[1]]
        predicted = of_matrices.predict(design.encode(rows)[:, : exog.shape[1]])
        same = _equal(columns, exog) and _equal(predicted, results.predict(rows))
    except Exception:  # noqa: BLE001 - code of another language, or rows that no model predicts
        return None
    return (design, of_matrices) if same else None


def _training_rows(frame: pd.DataFrame, missing: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the training rows of the variables that evaluation rows have, an offset as 0."""
    kept = np.delete(np.arange(len(frame)), missing)
    known = [name for name in rows if name in frame]
    trained = read_variables(frame[known].take(kept).reset_index(drop=True))
    return trained.reindex(columns=rows.columns, fill_value=0.0)


def _scope(data: Any) -> Mapping[str, Any]:
    """Return the names of the code around the formula, as patsy keeps them."""
    factors = getattr(getattr(data, "model_spec", None) or data.design_info, "factor_infos", {})
    states = [info.state for info in factors.values()]
    return ChainMap(*(state["eval_env"].namespace for state in states if "eval_env" in state))


def _design(formula: str, trained: pd.DataFrame, scope: Mapping[str, Any]) -> FormulaDesign:
    """Return the design of the right side, and of an offset as the last column."""
    names = [str(name) for name in trained]
    response = "y" + "_" * max(map(len, names))
    _, terms = parse(f"{response} ~ {formula.partition('~')[2]}", [*names, response], scope)
    offset = [(column_factor(name),) for name in names if name not in terms.variables]
    terms = Terms(terms.intercept, (*terms.products, *offset))
    design = FormulaDesign(terms, trained, scope, intercept=True)
    design.check_rows()
    return design


def _without_formula(results: Any) -> Any:
    """Return a copy of results that predicts rows of the matrix, as results of arrays do."""
    inside = copy(getattr(results, "_results", results))
    inside.model = model = copy(inside.model)
    del model.formula
    return type(results)(inside) if hasattr(results, "_results") else inside


def _equal(a: Any, b: Any) -> bool:
    one, other = (np.asarray(x, dtype=np.float64) for x in (a, b))
    atol: Any = SAME * np.abs(other).max(axis=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=atol)
