"""Operators and functions of formulas of R's packages that are refused, each with a remedy."""

from __future__ import annotations

from collections.abc import Mapping

from pyinterp.errors import FormulaError, short

_CLUSTER = (
    "random effects are no terms here; leave them out, and tell the plan which rows belong "
    'together, as in `pi.HalfSampling(cluster="id")`'
)
_SMOOTH = "write a spline, `bs(x, df=4)` or `cr(x, df=4)`, or leave the shape to the learner"
_ASSIGN = "R reads it as an assignment; write `x < -3` with a space, or assign before the formula"
_COLUMN = "name the column itself; what is not a column must be computed before the formula"
_EITHER = "write `np.logical_or(a > 1, b > 1)`"
_BOTH = "write `np.logical_and(a > 1, b > 1)`"
_NOT = "write `np.logical_not(a > 1)`"
_COMPARE = 'write the comparison inside `I(...)`, as in `I(x == "a")`'
_INSIDE = "write arithmetic inside `I(...)`, as in `I(x % 2)`"
_WHOLE = "R's `%/%` is Python's `//`, inside `I(...)`"
_REST = "R's `%%` is Python's `%`, inside `I(...)`"
_BRACKET = "rows and items can't be picked inside a formula; compute the column before"
_QUOTE = 'a column whose name is not a Python name is written `Q("name")`'

_EVERYWHERE = {
    "<-": _ASSIGN, "->": _ASSIGN, ":=": _ASSIGN, "$": _COLUMN, "@": _COLUMN, "::": _COLUMN,
    ":::": _COLUMN, "%%": _REST, "%/%": _WHOLE, "!": _NOT, "&&": _BOTH, "&": _BOTH, "`": _QUOTE,
    "~": "a formula has one `~`, between the response and the terms",
}  # fmt: skip

AMONG_TERMS = _EVERYWHERE | dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), _COMPARE)
AMONG_TERMS |= dict.fromkeys(("//", "%", "<<", ">>"), _INSIDE)
AMONG_TERMS |= {
    "|": _CLUSTER, "||": _CLUSTER, "[": _BRACKET, "{": _BRACKET,
    "%in%": "nested factors are written as their product, `a:b`",
    ",": "terms are joined by `+`",
}  # fmt: skip

INSIDE_A_CALL = _EVERYWHERE | {
    "^": "the power is Python's `**`, as in `I(x**2)`",
    "|": _EITHER,
    "||": _EITHER,
    "%in%": 'write `np.isin(g, ["a", "b"])`',
    "<<": "shifts of bits have no meaning for measurements",
    ">>": "shifts of bits have no meaning for measurements",
}

FUNCTIONS = {
    "offset": "the offset is an argument, `offset=` or `exposure=`, beside the formula",
    "strata": 'strata belong to the plan, as in `pi.Bootstrap(15, strata="g")`',
    "cluster": 'clusters belong to the plan, as in `pi.HalfSampling(cluster="id")`',
    **dict.fromkeys(("frailty", "Error", "random", "re"), _CLUSTER),
    "Surv": "a response is one column; for censored times see the page \"Survival\"",
    "cbind": "a response is one column; for counts give one row per trial, or model the share",
    "Hist": "a response is one column; for censored times see the page \"Survival\"",
    **dict.fromkeys(("s", "ti", "t2", "lo", "pspline", "gp"), _SMOOTH),
    **dict.fromkeys(("ns", "rcs"), "write a natural cubic spline as `cr(x, df=4)`"),
    **dict.fromkeys(("poly", "pol"), "write `x + I(x**2)`, which fits the same curve"),
    "factor": "write `C(g)`", "as.factor": "write `C(g)`", "ordered": "write `C(g, Poly)`",
    "as.ordered": "write `C(g, Poly)`", "relevel": 'write `C(g, Treatment("b"))`',
    "interaction": "write the product, `a:b`",
    "c": "write a list, as in `bs(x, knots=[1, 2])`",
    "ifelse": "write `np.where(x > 1, a, b)`",
    "cut": "make the classes before, by `pandas.cut`",
    "pmin": "write `np.minimum(a, b)`", "pmax": "write `np.maximum(a, b)`",
    "lag": "shift the column before: rows do not know their neighbors here",
    **dict.fromkeys(("as.numeric", "as.integer"), "turn the column into numbers before"),
    "as.character": "turn the column into strings before",
    "is.na": "write `np.isnan(x)`, or make the column before",
}  # fmt: skip

VALUES = {
    "TRUE": "True", "FALSE": "False", "T": "True", "F": "False", "NULL": "None", "NA": "np.nan",
    "Inf": "np.inf", "pi": "np.pi", "contr.treatment": "Treatment", "contr.sum": "Sum",
    "contr.helmert": "Helmert", "contr.poly": "Poly", "contr.sdif": "Diff",
}  # fmt: skip


def refuse(operator: str, code: str, remedies: Mapping[str, str]) -> None:
    """Raise if an operator is one that has a remedy, `AMONG_TERMS` or `INSIDE_A_CALL`."""
    remedy = remedies.get(operator)
    if remedy is None and len(operator) > 1 and operator[0] == operator[-1] == "%":
        remedy = "operators of R's packages are not known; compute the column before"
    if remedy is not None:
        raise FormulaError(f"Can't use `{operator}` in `{short(code)}`: {remedy}.")
