"""Columns from the terms of a formula, coded by patsy: the one module that imports it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy
import patsy.builtins
from patsy.constraint import linear_constraint
from patsy.state import Standardize

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.errors import DesignError, FormulaError, short

if TYPE_CHECKING:
    from pyinterp.data.formula.algebra import Terms
    from pyinterp.data.formula.expressions import Factor

__all__ = [
    "FUNCTIONS",
    "Coding",
    "callers_names",
    "evaluate",
    "learn",
    "learns",
    "library_coding",
    "linear_hypotheses",
    "reason_of",
]


class RScale(Standardize):  # type: ignore[misc]  # patsy has no types
    """R's ``scale``: the standard deviation divides by n - 1, where patsy divides by n."""

    def memorize_chunk(self, x: Any) -> None:
        """Take rows into the mean and the standard deviation."""
        super().memorize_chunk(x, ddof=1)

    def transform(self, x: Any) -> Any:
        """Return the rows less the mean, over the standard deviation."""
        return super().transform(x, ddof=1)


# What formulas may call without an import.
FUNCTIONS: Mapping[str, Any] = {
    **{name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__},
    "scale": patsy.stateful_transform(RScale),
}


def callers_names(depth: int) -> Mapping[str, Any]:
    """Return the names that the code around a call sees; 0 is the code that calls this."""
    names: Mapping[str, Any] = patsy.EvalEnvironment.capture(depth + 1).namespace
    return names


def evaluate(code: str, names: dict[str, Any], columns: Mapping[str, Any]) -> Any:
    """Return the value of a factor's code; names of columns come first."""
    with np.errstate(all="ignore"):  # infinite and missing values are reported as such
        return patsy.EvalEnvironment([names]).eval(code, inner_namespace=columns)


def linear_hypotheses(hypotheses: object, terms: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return weights, shape (k, q), and values, shape (k,), of hypotheses about q terms."""
    constraint = linear_constraint(hypotheses, list(terms))
    weights, target = constraint.coefs, constraint.constants
    return np.asarray(weights, np.float64), np.asarray(target, np.float64).ravel()


def library_coding(
    info: object,
) -> tuple[Callable[[Matrix], FloatArray], Iterable[Iterable[str]]] | None:
    """Return how the formula of another library's model encodes rows, and its terms' code.

    None if it was not read by patsy or formulaic.
    """
    if isinstance(info, patsy.DesignInfo):
        return _Patsys(info), [[f.code for f in term.factors] for term in info.terms]
    if type(info).__module__.startswith("formulaic.") and hasattr(info, "get_model_matrix"):
        return _Formulaics(info), [[str(f) for f in term.factors] for term in info.terms]  # type: ignore[attr-defined]  # a ModelSpec
    return None


class _Patsys:
    """Encodes rows by a design of patsy."""

    def __init__(self, info: patsy.DesignInfo) -> None:
        self.info = info

    def __call__(self, frame: Matrix) -> FloatArray:
        return _build(self.info, frame)


class _Formulaics:
    """Encodes rows by a model specification of formulaic."""

    def __init__(self, spec: Any) -> None:
        self.spec = spec

    def __call__(self, frame: Matrix) -> FloatArray:
        return np.asarray(self.spec.get_model_matrix(frame), dtype=np.float64)


class _ColumnFactor:
    """patsy's interface to a column of the data: looked up, never evaluated as code."""

    origin = None

    def __init__(self, factor: Factor) -> None:
        self.key, self.code, self.column = factor.key, factor.code, str(factor.column)
        self.variables = factor.variables

    def name(self) -> str:
        return self.code

    def memorize_passes_needed(self, state: object, env: object) -> int:
        return 0

    def eval(self, state: object, data: pd.DataFrame) -> pd.Series[Any]:
        return data[self.column]


class _CodeFactor(patsy.EvalFactor):  # type: ignore[misc]  # patsy has no types
    """patsy's interface to code: named as it is written, evaluated with double numbers."""

    def __init__(self, factor: Factor) -> None:
        super().__init__(factor.code)
        self.key, self.column, self.variables = factor.key, None, factor.variables
        self._evaluated = factor.code_to_run

    def memorize_passes_needed(self, state: dict[str, Any], env: patsy.EvalEnvironment) -> int:
        passes: int = patsy.EvalFactor(self._evaluated).memorize_passes_needed(state, env)
        return passes


class Coding:
    """The columns of some terms, coded by patsy; those that are variables are copied.

    Attributes
    ----------
    info : patsy.DesignInfo
    terms : list of patsy.Term
    uses : list of dict from str
        The variables of every term.
    slices : list of slice
        The columns of every term.
    columns : tuple of str
    """

    def __init__(self, info: patsy.DesignInfo) -> None:
        self.info = info
        self.terms = list(info.term_codings)
        self.uses = [
            dict.fromkeys(name for factor in term.factors for name in factor.variables)
            for term in self.terms
        ]
        self.slices: list[slice] = list(info.term_slices.values())
        self.columns = tuple(info.column_names)

    @property
    def discrete(self) -> frozenset[str]:
        """The variables that are coded as categories."""
        infos = self.info.factor_infos.items()
        return frozenset(
            name
            for factor, info in infos
            if info.type == "categorical"
            for name in factor.variables
        )

    @property
    def numbers(self) -> set[str]:
        """The keys of the factors that are numbers."""
        infos = self.info.factor_infos.items()
        return {factor.key for factor, info in infos if info.type == "numerical"}

    def categories(self, frame: pd.DataFrame) -> dict[str, tuple[IntArray, tuple[Any, ...]]]:
        """Return codes and levels of the rows of `frame`, by categorical factor."""
        coded = {}
        for factor, info in self.info.factor_infos.items():
            if info.type != "categorical":
                continue
            try:
                values = factor.eval(info.state, frame)
                codes = patsy.categorical.categorical_to_int(
                    values, info.categories, patsy.NAAction(), origin=factor
                )
            except Exception as error:
                raise _cannot_encode(error) from error
            coded[factor.name()] = np.asarray(codes, np.intp), tuple(info.categories)
        return coded

    def subset(self, positions: Sequence[int]) -> Coding:
        """Return the coding of the terms at `positions`, unchanged."""
        terms = [self.terms[t] for t in positions]
        factors = dict.fromkeys(factor for term in terms for factor in term.factors)
        return Coding(
            patsy.DesignInfo(
                [name for t in positions for name in self.columns[self.slices[t]]],
                {factor: self.info.factor_infos[factor] for factor in factors},
                OrderedDict((term, self.info.term_codings[term]) for term in terms),
            )
        )

    def is_coded_apart(self, others: Sequence[int], dropped: set[int]) -> bool:
        """Whether the other terms are coded alike without the `dropped` ones.

        patsy codes terms together that share their numeric factors, and only categories.
        """
        touched = {self._numeric(t) for t in dropped}
        return not any(
            len(numeric) < len(self.terms[t].factors) and numeric in touched
            for t, numeric in ((t, self._numeric(t)) for t in others)
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is a numeric variable, or the intercept."""
        return self._mixed_columns is None

    def build(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the design of the rows of `frame`.

        Numeric variables are copied; patsy, which is slow, builds the other columns.
        """
        numbers = {place: frame[name].to_numpy() for place, name in self._variables.items()}
        if all(values.dtype.kind in "biuf" for values in numbers.values()):
            matrix = np.ones((len(frame), len(self.columns)))
            for place, values in numbers.items():
                matrix[:, place] = values
            if self._mixed_columns is not None:
                places, info = self._mixed_columns
                matrix[:, places] = _encode(info, frame)
        else:
            matrix = _encode(self.info, frame)
        if not np.isfinite(matrix).all():
            check_finite(matrix, self.columns, self._missing(frame))
        return matrix

    def _missing(self, frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Return where a variable of a column is missing, shape (rows, columns)."""
        missing = np.zeros((len(frame), len(self.columns)), dtype=bool)
        for used, columns in zip(self.uses, self.slices, strict=True):
            missing[:, columns] = frame[list(used)].isna().any(axis=1).to_numpy(bool)[:, None]
        return missing

    @cached_property
    def _variables(self) -> dict[int, str]:
        """The numeric variable that a column is, by the column's position."""
        return {
            self.slices[t].start: term.factors[0].column
            for t, term in enumerate(self.terms)
            if len(term.factors) == 1 and self._is_variable(term.factors[0])
        }

    @cached_property
    def _mixed_columns(self) -> tuple[IntArray, patsy.DesignInfo] | None:
        """The columns that are neither variables nor the intercept, and patsy's design of them."""
        positions = [
            t
            for t, term in enumerate(self.terms)
            if term.factors and self.slices[t].start not in self._variables
        ]
        if not positions:
            return None
        places = [j for t in positions for j in range(self.slices[t].start, self.slices[t].stop)]
        info = self.info if len(positions) == len(self.terms) else self.subset(positions).info
        return np.array(places, dtype=np.intp), info

    def _is_variable(self, factor: _ColumnFactor | _CodeFactor) -> bool:
        return factor.column is not None and self.info.factor_infos[factor].type == "numerical"

    def _numeric(self, position: int) -> frozenset[Any]:
        factors = self.terms[position].factors
        return frozenset(f for f in factors if self.info.factor_infos[f].type == "numerical")


def learn(terms: Terms, frame: pd.DataFrame, names: dict[str, Any]) -> Coding:
    """Return the coded terms, their state learned from `frame`.

    Parameters
    ----------
    terms : Terms
    frame : pandas.DataFrame
    names : dict from str
        What names that are no columns stand for.
    """
    factors = {factor: _factor(factor) for product in terms.products for factor in product}
    described = [patsy.Term([factors[f] for f in product]) for product in terms.products]
    try:
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            info = patsy.incr_dbuilder(
                patsy.ModelDesc([], [patsy.INTERCEPT] * terms.intercept + described),
                lambda: iter([frame]),
                patsy.EvalEnvironment([names]),
            )
    except Exception as error:
        written = short(" + ".join(":".join(f.code for f in p) for p in terms.products[:9]))
        raise FormulaError(f"Can't build the terms `{written}`: {reason_of(error)}") from error
    return Coding(info)


def _factor(factor: Factor) -> _ColumnFactor | _CodeFactor:
    return _CodeFactor(factor) if factor.column is None else _ColumnFactor(factor)


def learns(factor: Factor, names: dict[str, Any]) -> bool:
    """Whether a factor is code that learns from the rows, as splines and ``center(x)`` do."""
    if factor.column is not None:
        return False
    state: dict[str, Any] = {}
    passes: int = _CodeFactor(factor).memorize_passes_needed(state, patsy.EvalEnvironment([names]))
    return passes > 0


def check_finite(
    matrix: npt.NDArray[np.float64], columns: Sequence[str], missing: npt.NDArray[np.bool_]
) -> None:
    """Raise `DesignError` for numbers that are not finite, unless they are missing in the data."""
    bad = ~np.isfinite(matrix) & ~(np.isnan(matrix) & missing)
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        raise DesignError(
            f"Every design column must be finite, but `{short(columns[column])}` is not in "
            f"{int(bad[:, column].sum())} of {len(matrix)} rows; change the transformation or drop "
            "those rows."
        )


def _encode(info: patsy.DesignInfo, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    try:
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            return _build(info, frame)
    except Exception as error:
        raise _cannot_encode(error) from error


def _build(info: patsy.DesignInfo, frame: Matrix) -> FloatArray:
    keep_missing = patsy.NAAction(NA_types=[])  # no variable has any; transformations may
    (matrix,) = patsy.build_design_matrices([info], frame, NA_action=keep_missing)
    return np.asarray(matrix, dtype=np.float64)


def _cannot_encode(error: Exception) -> DesignError:
    return DesignError(
        "Some rows can't be encoded with the levels and knots that the design has learned: "
        f"{reason_of(error)}"
    )


def reason_of(error: BaseException) -> str:
    """Return the first line of an error of patsy."""
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    first = first.partition(", and I'm not sure how to handle them")[0]  # patsy's, of knots
    return short(first, 180).removesuffix(".") + "."
