"""Designs as files keep them: what is needed to encode rows again, and no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from pyinterp.data.design import ArrayDesign, Design, FormulaDesign, FrameDesign
from pyinterp.data.form import Form
from pyinterp.data.formula import parse
from pyinterp.data.formula.coding import Terms
from pyinterp.data.formula.trust import check_size
from pyinterp.errors import FileError, FormulaError, OptionError, quote, short


@dataclass(frozen=True, kw_only=True)
class DesignRecord:
    """A design without its rows.

    Attributes
    ----------
    variables : tuple of str
    dtype : str or None
        Of an array.
    types : DataFrame or None
        The user's frame without its rows, of models that are given frames.
    labels, missing, objects : mapping
        As in `Form`.
    terms : tuple of str
        The code of every term of a formula; read by the rules of ``trusted=False``.
    constant, intercept : bool
        Whether the formula has an intercept, and the matrix a column for it.
    """

    variables: tuple[str, ...]
    dtype: str | None = None
    types: pd.DataFrame | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, Mapping[float, Any]] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    constant: bool = True
    intercept: bool = True

    def design(self, variables: pd.DataFrame) -> Design:
        """Return the design, the state of a formula learned from `variables`."""
        if self.dtype is not None:
            if np.dtype(self.dtype).kind not in "biuf":
                raise FileError(f"an array of a model can't be of type {quote(self.dtype)}")
            return ArrayDesign(self.variables, self.dtype)
        if self.types is not None:
            types = {str(name): dtype for name, dtype in self.types.dtypes.items()}
            form = Form(types, self.labels, missing=self.missing, objects=self.objects)
            return FrameDesign(self.variables, form)
        terms = Terms(self.constant, tuple(_product(code, variables) for code in self.terms))
        check_size(terms, variables)
        return FormulaDesign(terms, variables, {}, intercept=self.intercept)


def record_of_design(design: Design, variables: pd.DataFrame) -> DesignRecord:
    """Return the record of a design, which makes the same of `variables`.

    Raises
    ------
    OptionError
        If a file can't hold it without code.
    """
    if isinstance(design, ArrayDesign):
        return DesignRecord(variables=design.variables, dtype=design.dtype.str)
    if isinstance(design, FrameDesign) and design.form.library is None:
        form = design.form
        types = {name: pd.Series([], dtype=dtype) for name, dtype in form.types.items()}
        return DesignRecord(
            variables=design.variables,
            types=pd.DataFrame(types),
            labels=form.labels,
            missing=form.missing,
            objects=form.objects,
        )
    if not isinstance(design, FormulaDesign):
        raise OptionError(
            "`models=True` keeps models that predict arrays, formulas and frames of pandas, not "
            f"frames of other libraries ({quote(design)}): fit to a frame of pandas, or leave "
            "`models` out."
        )
    codes = [":".join(factor.code for factor in each) for each in design.terms.products]
    for code in codes:
        try:
            _product(code, variables)
        except FormulaError as error:
            raise OptionError(
                f"{NO_CODE}, but this one has `{short(code)}`, which is not in the language of "
                "`trusted=False`: make the column before, or leave `models` out."
            ) from error
    record = DesignRecord(
        variables=design.variables,
        terms=tuple(codes),
        constant=design.terms.intercept,
        intercept=design.intercept,
    )
    try:
        other = record.design(variables)
    except FormulaError as error:
        raise OptionError(f"{NO_CODE}, and read as if they were not trusted: {error}") from error
    before, after = design.encode(variables), np.asarray(other.encode(variables))
    if other.columns != design.columns or not np.array_equal(before, after, equal_nan=True):
        raise OptionError(
            f"{NO_CODE}, but what is read again of this one makes other columns: make them before, "
            "or leave `models` out."
        )
    return record


NO_CODE = "`models=True` keeps formulas without functions of yours, as no file runs code"


def _product(code: str, variables: pd.DataFrame) -> Any:
    """Return the factors of a term, in which only listed functions may stand."""
    columns = [str(name) for name in variables]
    numeric = [str(name) for name, t in variables.dtypes.items() if is_numeric_dtype(t)]
    response = "y" + "_" * max(map(len, columns))
    _, terms = parse(f"{response} ~ 0 + {code}", [*columns, response], numeric=numeric)
    if len(terms.products) != 1:
        raise FormulaError(f"A term must be one product, not {quote(code)}.")
    return terms.products[0]
