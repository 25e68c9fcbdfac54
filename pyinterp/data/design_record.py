"""Designs as files keep them: what is needed to encode rows again, and no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pyinterp.data.design import ArrayDesign, Design, FormulaDesign, FrameDesign
from pyinterp.data.form import Form
from pyinterp.data.formula import parse
from pyinterp.data.formula.coding import Terms
from pyinterp.errors import FileError, FormulaError, OptionError, quote, short


@dataclass(frozen=True, kw_only=True)
class DesignRecord:
    """A design without its rows.

    Attributes
    ----------
    kind : {"array", "frame", "formula"}
    variables : tuple of str
    discrete, singles : frozenset of str
        As in `Design`.
    dtype : str
        Of an array.
    types : DataFrame or None
        The user's frame without its rows.
    labels, missing, objects : mapping
        As in `Form`.
    terms : tuple of str
        The code of every term of a formula; read by the rules of ``trusted=False``.
    constant, intercept : bool
        Whether the formula has an intercept, and the matrix a column for it.
    """

    kind: Literal["array", "frame", "formula"]
    variables: tuple[str, ...]
    discrete: frozenset[str]
    singles: frozenset[str]
    dtype: str = "float64"
    types: pd.DataFrame | None = None
    labels: Mapping[str, Any]
    missing: Mapping[str, Any]
    objects: Mapping[str, Mapping[float, Any]]
    terms: tuple[str, ...] = ()
    constant: bool = True
    intercept: bool = True

    def design(self, variables: pd.DataFrame) -> Design:
        """Return the design, the state of a formula learned from `variables`."""
        if self.kind == "formula":
            terms = Terms(self.constant, tuple(_product(code, variables) for code in self.terms))
            return FormulaDesign(terms, variables, {}, intercept=self.intercept)
        design: Design
        if self.kind == "array":
            dtype = np.dtype(self.dtype)
            if dtype.kind not in "biuf":
                raise FileError(f"an array of a model can't be of type {dtype}")
            design = ArrayDesign(self.variables, dtype)
        else:
            types = {} if self.types is None else {str(n): t for n, t in self.types.dtypes.items()}
            form = Form(types, self.labels, missing=self.missing, objects=self.objects)
            design = FrameDesign(self.variables, form)
        design.discrete, design.singles = self.discrete, self.singles
        return design


def record_of_design(design: Design, variables: pd.DataFrame) -> DesignRecord:
    """Return the record of a design, which makes the same of `variables`.

    Raises
    ------
    OptionError
        If a file can't hold it without code.
    """
    codes: tuple[str, ...] = ()
    parts: dict[str, Any] = {"labels": {}, "missing": {}, "objects": {}}
    if isinstance(design, FormulaDesign):
        terms = design.terms
        codes = tuple(":".join(factor.code for factor in product) for product in terms.products)
        parts |= {"terms": codes, "constant": terms.intercept, "intercept": design.intercept}
    elif isinstance(design, ArrayDesign):
        parts["dtype"] = design.dtype.str
    elif isinstance(design, FrameDesign) and design.form.library is None:
        form = design.form
        empty = {name: pd.Series([], dtype=dtype) for name, dtype in form.types.items()}
        parts = {"labels": form.labels, "missing": form.missing, "objects": form.objects}
        parts["types"] = pd.DataFrame(empty)
    else:
        raise OptionError(
            "`models=True` keeps models that predict arrays, formulas and frames of pandas, not "
            f"frames of other libraries ({quote(design)}): fit to a frame of pandas, or leave "
            "`models` out."
        )
    record = DesignRecord(
        kind=KINDS[type(design)],
        variables=design.variables,
        discrete=design.discrete,
        singles=design.singles,
        **parts,
    )
    if isinstance(design, FormulaDesign):
        for code in codes:
            _check_term(code, variables)
        other = record.design(variables)
        before, after = design.encode(variables), np.asarray(other.encode(variables))
        if other.columns != design.columns or not np.array_equal(before, after):
            raise OptionError(
                f"{NO_CODE}, but what is read again of this one makes other columns: make them "
                "before, or leave `models` out."
            )
    return record


NO_CODE = "`models=True` keeps formulas without functions of yours, as no file runs code"
KINDS: Mapping[type[Design], Literal["array", "frame", "formula"]] = {
    ArrayDesign: "array",
    FrameDesign: "frame",
    FormulaDesign: "formula",
}


def _check_term(code: str, variables: pd.DataFrame) -> None:
    try:
        _product(code, variables)
    except FormulaError as error:
        raise OptionError(
            f"{NO_CODE}, but this one has `{short(code)}`, which is not in the language of "
            "`trusted=False`: make the column before, or leave `models` out."
        ) from error


def _product(code: str, variables: pd.DataFrame) -> Any:
    """Return the factors of a term, in which only listed functions may stand."""
    columns = [str(name) for name in variables]
    numeric = [n for n, t in zip(columns, variables.dtypes, strict=True) if _is_number(t)]
    response = "y" + "_" * max(map(len, columns))
    _, terms = parse(f"{response} ~ 0 + {code}", [*columns, response], numeric=numeric)
    if len(terms.products) != 1:
        raise FormulaError(f"A term must be one product, not {quote(code)}.")
    return terms.products[0]


def _is_number(dtype: Any) -> bool:
    return pd.api.types.is_numeric_dtype(dtype)
