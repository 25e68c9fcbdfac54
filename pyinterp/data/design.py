"""Designs: how variables become what an estimator is given, and what-if copies of it.

A feature is a variable of the user's data, never a design column: replacing `x` rebuilds every
column built from `x`, with the state (levels, knots, means) that the design has learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy

from pyinterp._typing import IntArray, Matrix
from pyinterp.data.formula import Factor, Terms, namespace, parse_terms
from pyinterp.errors import DesignError, FormulaError, short

__all__ = [
    "ArrayDesign",
    "Categories",
    "Design",
    "FormulaDesign",
    "FrameDesign",
    "Swap",
    "is_single",
]

SAME = 1e-6  # of a column's largest value: two ways to compute it differ by rounding only


class Categories(NamedTuple):
    """The level of every row for one categorical factor of a design."""

    codes: IntArray
    levels: tuple[Any, ...]


def is_single(matrix: Matrix) -> bool:
    """Whether all columns are numbers in single precision."""
    dtypes = matrix.dtypes if isinstance(matrix, pd.DataFrame) else [matrix.dtype]
    return all(dtype == np.float32 for dtype in dtypes)


class Swap(ABC):
    """What-if copies of rows: some variables take a donor's values, the others stay."""

    @property
    def replaced(self) -> tuple[IntArray, npt.NDArray[np.float64]] | None:
        """Driven columns and their values by donor; None if the kept variables matter too."""
        return None

    @abstractmethod
    def matrix(self, rows: IntArray, donors: IntArray) -> Matrix:
        """Return one design row per pair (row kept, donor), both of shape (k,)."""


class Design(ABC):
    """Map from variables to the matrix or frame that an estimator is given.

    Attributes
    ----------
    variables : tuple of str
        The variables used, in the order of the data.
    columns : tuple of str
        The names of the columns given to the estimator.
    discrete : frozenset of str
        Variables that the design treats as categories, numbers among them (``C(year)``): only
        their observed values can be encoded.
    """

    variables: tuple[str, ...]
    columns: tuple[str, ...]
    discrete: frozenset[str] = frozenset()

    @abstractmethod
    def encode(self, frame: pd.DataFrame) -> Matrix:
        """Return the design of the rows of `frame`, shape (n, number of columns)."""

    @abstractmethod
    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the columns that change when the variables `names` change."""

    @abstractmethod
    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Prepare what-if copies of `frame` in which `names` take values from `donors`."""

    @abstractmethod
    def without(self, names: Sequence[str]) -> Design | None:
        """Return the design that does without the variables `names`; None if no column is left."""

    def categories(self, frame: pd.DataFrame) -> Mapping[str, Categories]:
        """Return the categorical factors that this design itself turns into columns."""
        return {}


class ArrayDesign(Design):
    """Numeric variables handed over as the columns of an array."""

    def __init__(self, variables: Sequence[str], *, single: bool = False) -> None:
        self.variables = self.columns = tuple(variables)
        # An array in single precision is handed over as one: models compute in it then.
        self._dtype: Any = np.float32 if single else np.float64

    def encode(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the variables as a float array."""
        matrix: npt.NDArray[np.float64] = frame[list(self.variables)].to_numpy(dtype=self._dtype)
        return matrix

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the variables themselves."""
        return np.array([self.variables.index(n) for n in names], dtype=np.intp)

    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Overwrite the variables' columns."""
        values = donors[list(names)].to_numpy(dtype=self._dtype)
        return _ColumnSwap(lambda: self.encode(frame), self.driven(names), values)

    def without(self, names: Sequence[str]) -> ArrayDesign | None:
        """Return the design of the other variables."""
        gone = set(names)
        others = [v for v in self.variables if v not in gone]
        single = self._dtype is np.float32
        return ArrayDesign(others, single=single) if others else None


class FrameDesign(Design):
    """Variables handed over as a DataFrame, dtypes kept: the learner encodes for itself."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = self.columns = tuple(variables)

    def encode(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the variables as they are."""
        return frame[list(self.variables)]

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the variables themselves."""
        return np.array([self.variables.index(n) for n in names], dtype=np.intp)

    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Overwrite the variables' columns."""
        return _FrameSwap(self.encode(frame), names, donors)

    def without(self, names: Sequence[str]) -> FrameDesign | None:
        """Return the design of the other variables."""
        gone = set(names)
        others = [v for v in self.variables if v not in gone]
        return FrameDesign(others) if others else None


class FormulaDesign(Design):
    """Design matrix of a formula's terms, with the state learned from `frame`.

    Parameters
    ----------
    terms : str or Terms
        Right-hand side of the formula.
    frame : pandas.DataFrame
        Rows from which levels, knots and means are learned.
    env : patsy.EvalEnvironment
        Where the formula's functions are looked up.
    intercept : bool
        Keep the intercept column, for learners that do not fit their own.
    """

    def __init__(
        self,
        terms: str | Terms,
        frame: pd.DataFrame,
        env: patsy.EvalEnvironment,
        *,
        intercept: bool,
    ) -> None:
        known = [str(c) for c in frame.columns]
        read = parse_terms(terms, known, env.namespace) if isinstance(terms, str) else terms
        self._terms, self._frame, self._env, self._intercept = read, frame, env, intercept
        coded = _Coded(_learned(read, frame, env))
        if not intercept:
            coded = coded.subset([t for t, term in enumerate(coded.terms) if term.factors])
        self._take(coded)

    def _take(self, coded: _Coded) -> None:
        """Read off which terms use which variables."""
        self._coded, self.columns = coded, coded.columns
        self.has_intercept = self._terms.intercept
        self._terms_of: dict[str, list[int]] = {}
        for position, used in enumerate(coded.uses):
            for name in used:
                self._terms_of.setdefault(name, []).append(position)
        self.variables = tuple(str(c) for c in self._frame.columns if str(c) in self._terms_of)
        self.discrete = frozenset(
            name
            for factor, found in coded.info.factor_infos.items()
            if found.type == "categorical"
            for name in factor.variables
        )

    def relearn(self, frame: pd.DataFrame) -> FormulaDesign:
        """Return the same design with its state learned from the rows of `frame`."""
        return FormulaDesign(self._terms, frame, self._env, intercept=self._intercept)

    def encode(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the design matrix of the rows of `frame`."""
        return self._coded.build(frame)

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the columns of every term that uses one of `names`."""
        slices = [self._coded.slices[t] for t in self._terms_with(names)]
        return np.array([j for s in slices for j in range(s.start, s.stop)], dtype=np.intp)

    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Rebuild every column built from `names`."""
        terms = self._terms_with(names)
        coded, driven = self._coded.subset(terms), self.driven(names)
        others = tuple({n for t in terms for n in self._coded.uses[t]} - set(names))
        if not others:
            return _ColumnSwap(lambda: self.encode(frame), driven, coded.build(donors))
        return _RebuildSwap(
            self.encode(frame), driven, coded, frame[list(others)], donors[list(names)]
        )

    def without(self, names: Sequence[str]) -> FormulaDesign | None:
        """Return the design of the formula without the terms that use one of `names`.

        Its state is learned from the same rows. Terms that stay are coded anew: of ``0 + g + h``
        without g, h gets a column for its first level too.
        """
        dropped = set(self._terms_with(names))
        kept = [t for t in range(len(self._coded.terms)) if t not in dropped]
        gone = set(names)
        terms = Terms(
            self._terms.intercept,
            tuple(p for p in self._terms.products if not _uses_any(p, gone)),
        )
        if self._coded.is_coded_apart(kept, dropped):
            left = copy(self)
            left._terms = terms
            left._take(self._coded.subset(kept))
        else:
            left = FormulaDesign(terms, self._frame, self._env, intercept=self._intercept)
        return left if left.columns else None

    def categories(self, frame: pd.DataFrame) -> Mapping[str, Categories]:
        """Return the levels of the categorical factors, by factor name."""
        found = {}
        for factor, info in self._coded.info.factor_infos.items():
            if info.type != "categorical":
                continue
            try:
                values = factor.eval(info.state, frame)
                codes = patsy.categorical.categorical_to_int(
                    values, info.categories, patsy.NAAction(), origin=factor
                )
            except Exception as error:
                raise _cannot_encode(error) from error
            found[factor.name()] = Categories(np.asarray(codes, np.intp), tuple(info.categories))
        return found

    def check_rows(self) -> None:
        """Raise if a row can't be encoded, or what it is encoded as depends on the rows beside it.

        What-if rows stand beside other rows than those of the data: a column such as
        ``I(x - np.mean(x))`` would mean something else in each of them.
        """
        every_other = slice(None, None, -2)
        try:
            whole = self.encode(self._frame)
            if self._coded.is_plain:
                return
            part = self.encode(self._frame[every_other].reset_index(drop=True))
        except DesignError as error:
            if error.__cause__ is None:  # encoded, but not finite
                raise
            reason = _reason(error.__cause__)
            raise FormulaError(f"{_BY_ROW}, and be one value: {reason}") from error
        size = np.abs(whole).max(axis=0, initial=1.0)
        apart = (np.abs(whole[every_other] - part) > SAME * size).any(axis=0)
        if apart.any():
            name = short(self.columns[int(np.flatnonzero(apart)[0])])
            raise FormulaError(
                f"{_BY_ROW}, but `{name}` changes with the rows beside it. Use `center(x)`, "
                "`standardize(x)` or `scale(x)`, which remember what they learn, or make the "
                "column before."
            )

    def check_coding(self) -> None:
        """Raise if R might give categories in a term fewer columns.

        R codes h in ``g:h`` by contrasts if an earlier term has g, even beside a number as in
        ``x:g``, which does not make up for what contrasts leave out.
        """
        infos = self._coded.info.factor_infos.items()
        numbers = {factor.key for factor, info in infos if info.type == "numerical"}
        terms = [{f.key: f.code for f in product} for product in self._terms.products]
        known = {frozenset(term) for term in terms}
        for term in terms:
            for key in term.keys() - numbers:
                margin = term.keys() - {key}
                if margin and margin not in known:
                    _check_margin(term, margin, numbers, terms)

    def _terms_with(self, names: Sequence[str]) -> list[int]:
        return sorted({t for name in names for t in self._terms_of.get(name, ())})


_BY_ROW = "What is computed of a row must depend on that row alone"


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
        self._evaluated = factor.evaluated

    def memorize_passes_needed(self, state: dict[str, Any], env: patsy.EvalEnvironment) -> int:
        passes: int = patsy.EvalFactor(self._evaluated).memorize_passes_needed(state, env)
        return passes


def _learned(terms: Terms, frame: pd.DataFrame, env: patsy.EvalEnvironment) -> patsy.DesignInfo:
    """Return patsy's design of the terms, its state learned from `frame`."""
    factors = {factor: _factor(factor) for product in terms.products for factor in product}
    described = [patsy.Term([factors[f] for f in product]) for product in terms.products]
    names = {name for factor in factors for name in factor.names} - set(frame.columns)
    flat = patsy.EvalEnvironment([namespace(names, env.namespace)])
    try:
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            return patsy.incr_dbuilder(
                patsy.ModelDesc([], [patsy.INTERCEPT] * terms.intercept + described),
                lambda: iter([frame]),
                flat,
            )
    except Exception as error:
        written = short(" + ".join(":".join(f.code for f in p) for p in terms.products[:9]))
        raise FormulaError(f"Can't build the terms `{written}`: {_reason(error)}") from error


def _check_margin(
    term: Mapping[str, str], margin: Set[str], numbers: Set[str], terms: Sequence[Mapping[str, str]]
) -> None:
    for other in terms:
        over = other.keys() >= margin and len(other) <= len(term) and other is not term
        if over and other.keys() & numbers != margin & numbers:
            lacking, whole, beside = (
                short(":".join(codes))
                for codes in ((term[k] for k in term if k in margin), term.values(), other.values())
            )
            raise FormulaError(
                f"R would leave out columns of `{whole}`, because it takes `{beside}` for "
                f"`{lacking}`; add the term `{lacking}`, so that both mean the same."
            )


def _factor(factor: Factor) -> _ColumnFactor | _CodeFactor:
    return _CodeFactor(factor) if factor.column is None else _ColumnFactor(factor)


def _uses_any(product: tuple[Factor, ...], names: set[str]) -> bool:
    return any(not names.isdisjoint(factor.variables) for factor in product)


class _Coded:
    """patsy's design of some terms; columns that are variables are copied without asking it.

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

    def subset(self, positions: Sequence[int]) -> _Coded:
        """Return the design of some of the terms, coded as they are."""
        terms = [self.terms[t] for t in positions]
        factors = dict.fromkeys(factor for term in terms for factor in term.factors)
        return _Coded(
            patsy.DesignInfo(
                [name for t in positions for name in self.columns[self.slices[t]]],
                {factor: self.info.factor_infos[factor] for factor in factors},
                OrderedDict((term, self.info.term_codings[term]) for term in terms),
            )
        )

    def is_coded_apart(self, kept: Sequence[int], dropped: set[int]) -> bool:
        """Whether the `kept` terms are coded alike without the `dropped` ones.

        patsy codes terms together that share their numeric factors, and only categories.
        """
        touched = {self._numeric(t) for t in dropped}
        return not any(
            len(numeric) < len(self.terms[t].factors) and numeric in touched
            for t, numeric in ((t, self._numeric(t)) for t in kept)
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is a numeric variable, or the intercept."""
        return self._mixed is None

    def build(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the design of the rows of `frame`; patsy takes long, and only builds the rest."""
        names = list(self._variables.values())
        if all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes[names]):
            matrix = np.ones((len(frame), len(self.columns)))
            matrix[:, list(self._variables)] = frame[names].to_numpy(dtype=np.float64)
            if self._mixed is not None:
                places, info = self._mixed
                matrix[:, places] = _patsy(info, frame)
        else:
            matrix = _patsy(self.info, frame)
        _check_finite(matrix, self.columns)
        return matrix

    @cached_property
    def _variables(self) -> dict[int, str]:
        """The numeric variable that a column is, by the column's position."""
        return {
            self.slices[t].start: term.factors[0].column
            for t, term in enumerate(self.terms)
            if len(term.factors) == 1 and self._is_variable(term.factors[0])
        }

    @cached_property
    def _mixed(self) -> tuple[IntArray, patsy.DesignInfo] | None:
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


class _ColumnSwap(Swap):
    """The driven columns depend on the replaced variables only: computed once per donor."""

    def __init__(
        self,
        encode: Callable[[], npt.NDArray[np.float64]],
        driven: IntArray,
        values: npt.NDArray[np.float64],
    ) -> None:
        self._encode, self._driven, self._values = encode, driven, values

    @cached_property
    def _base(self) -> npt.NDArray[np.float64]:
        """The rows as they are, which exact engines do not ask for."""
        return self._encode()

    @property
    def replaced(self) -> tuple[IntArray, npt.NDArray[np.float64]]:
        return self._driven, self._values

    def matrix(self, rows: IntArray, donors: IntArray) -> npt.NDArray[np.float64]:
        copies = self._base[rows]
        copies[:, self._driven] = self._values[donors]
        return copies


class _RebuildSwap(Swap):
    """Some driven column mixes replaced and kept variables (an interaction)."""

    def __init__(
        self,
        base: npt.NDArray[np.float64],
        driven: IntArray,
        coded: _Coded,
        kept: pd.DataFrame,
        donors: pd.DataFrame,
    ) -> None:
        self._base, self._driven, self._coded = base, driven, coded
        self._kept, self._donors = kept, donors

    def matrix(self, rows: IntArray, donors: IntArray) -> npt.NDArray[np.float64]:
        copies = self._base[rows]
        mixed = pd.concat(
            [
                self._kept.take(rows).reset_index(drop=True),
                self._donors.take(donors).reset_index(drop=True),
            ],
            axis=1,
        )
        copies[:, self._driven] = self._coded.build(mixed)
        return copies


class _FrameSwap(Swap):
    def __init__(self, base: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> None:
        self._base, self._names, self._donors = base, tuple(names), donors

    def matrix(self, rows: IntArray, donors: IntArray) -> pd.DataFrame:
        copies = self._base.take(rows).reset_index(drop=True)
        for name in self._names:
            values = self._donors[name].take(donors)
            single = copies[name].dtype == np.float32
            copies[name] = (values.astype(np.float32) if single else values).array
        return copies


def _check_finite(matrix: npt.NDArray[np.float64], columns: Sequence[str]) -> None:
    bad = ~np.isfinite(matrix)
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        raise DesignError(
            f"Every design column must be finite, but `{short(columns[column])}` is not in "
            f"{int(bad[:, column].sum())} of {len(matrix)} rows; change the transformation or drop "
            "those rows."
        )


def _patsy(info: patsy.DesignInfo, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    keep_missing = patsy.NAAction(NA_types=[])  # no variable has any; transformations may
    try:
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            (built,) = patsy.build_design_matrices([info], frame, NA_action=keep_missing)
    except Exception as error:
        raise _cannot_encode(error) from error
    return np.asarray(built, dtype=np.float64)


def _cannot_encode(error: Exception) -> DesignError:
    return DesignError(
        "Some rows can't be encoded with the levels and knots that the design has learned: "
        f"{_reason(error)}"
    )


def _reason(error: BaseException) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    first = first.partition(", and I'm not sure how to handle them")[0]  # patsy's, of knots
    return short(first, 180).removesuffix(".") + "."
