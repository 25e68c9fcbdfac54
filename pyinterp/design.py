"""Designs: how variables become what an estimator is given, and what-if copies of it.

A feature is a variable of the user's data, never a design column: replacing `x` rebuilds every
column built from `x`, with the state (levels, knots, means) that the design has learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy

from pyinterp.errors import DesignError, FormulaError
from pyinterp.formula import names_in

__all__ = [
    "ArrayDesign",
    "Categories",
    "Design",
    "FormulaDesign",
    "FrameDesign",
    "IntArray",
    "Matrix",
    "Swap",
]

IntArray: TypeAlias = npt.NDArray[np.intp]
Matrix: TypeAlias = npt.NDArray[np.float64] | pd.DataFrame


class Categories(NamedTuple):
    """The level of every row for one categorical factor of a design."""

    codes: IntArray
    levels: tuple[Any, ...]


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

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = self.columns = tuple(variables)

    def encode(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the variables as a float array."""
        return frame[list(self.variables)].to_numpy(dtype=np.float64)

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the variables themselves."""
        return np.array([self.variables.index(n) for n in names], dtype=np.intp)

    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Overwrite the variables' columns."""
        values = donors[list(names)].to_numpy(dtype=np.float64)
        return _ColumnSwap(lambda: self.encode(frame), self.driven(names), values)

    def without(self, names: Sequence[str]) -> ArrayDesign | None:
        """Return the design of the other variables."""
        others = [v for v in self.variables if v not in names]
        return ArrayDesign(others) if others else None


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
        others = [v for v in self.variables if v not in names]
        return FrameDesign(others) if others else None


class FormulaDesign(Design):
    """Design matrix of a patsy formula, with the state learned from `frame`.

    Parameters
    ----------
    terms : str or patsy.ModelDesc
        Right-hand side of the formula, `.` expanded.
    frame : pandas.DataFrame
        Rows from which levels, knots and means are learned.
    env : patsy.EvalEnvironment
        Where the formula's functions are looked up.
    intercept : bool
        Keep the intercept column, for learners that do not fit their own.
    """

    def __init__(
        self,
        terms: str | patsy.ModelDesc,
        frame: pd.DataFrame,
        env: patsy.EvalEnvironment,
        *,
        intercept: bool,
    ) -> None:
        try:
            written = patsy.ModelDesc.from_formula(terms) if isinstance(terms, str) else terms
            with np.errstate(all="ignore"):  # infinite and missing values are reported as such
                info = patsy.incr_dbuilder(
                    patsy.ModelDesc([], written.rhs_termlist), lambda: iter([frame]), env
                )
        except Exception as error:
            raise FormulaError(f"Can't build the terms `{terms}`: {_reason(error)}") from error
        self._terms, self._env, self._intercept, self._info = terms, env, intercept, info
        self._frame = frame
        known = tuple(map(str, frame.columns))
        self._uses = {
            term.name(): tuple(
                dict.fromkeys(n for factor in term.factors for n in names_in(factor.code, known))
            )
            for term in info.terms
        }
        used = {name for names in self._uses.values() for name in names}
        self.variables = tuple(name for name in known if name in used)
        self.discrete = frozenset(
            name
            for factor, found in info.factor_infos.items()
            if found.type == "categorical"
            for name in names_in(factor.code, known)
        )
        self.has_intercept = "Intercept" in info.column_names
        self._kept = np.flatnonzero([intercept or c != "Intercept" for c in info.column_names])
        self.columns = tuple(info.column_names[i] for i in self._kept)
        self.encode(frame)  # a transformation that some row does not allow fails here

    def relearn(self, frame: pd.DataFrame) -> FormulaDesign:
        """Return the same design with its state learned from the rows of `frame`."""
        return FormulaDesign(self._terms, frame, self._env, intercept=self._intercept)

    def encode(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the design matrix of the rows of `frame`."""
        return _build(self._info, frame)[:, self._kept]

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the columns of every term that uses one of `names`."""
        full = self._columns_of(self._terms_with(names))
        return np.flatnonzero(np.isin(self._kept, full)).astype(np.intp)

    def swap(self, frame: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Rebuild every column built from `names`."""
        terms = self._terms_with(names)
        info = self._info.subset(terms)
        # patsy may order the subset's columns differently: place each block by its term.
        every = np.arange(len(info.column_names))
        order = np.concatenate([every[info.term_name_slices[t]] for t in terms])
        driven = self.driven(names)
        others = tuple({n for t in terms for n in self._uses[t]} - set(names))
        if not others:
            values = _build(info, donors)[:, order]
            return _ColumnSwap(lambda: self.encode(frame), driven, values)
        return _RebuildSwap(
            self.encode(frame), driven, info, order, frame[list(others)], donors[list(names)]
        )

    def without(self, names: Sequence[str]) -> FormulaDesign | None:
        """Return the design of the formula without the terms that use one of `names`.

        Its state is learned from the same rows. Terms that stay are coded anew: of ``0 + g + h``
        without g, h gets a column for its first level too.
        """
        dropped = set(self._terms_with(names))
        kept = [term for term in self._info.terms if term.name() not in dropped]
        left = FormulaDesign(
            patsy.ModelDesc([], kept), self._frame, self._env, intercept=self._intercept
        )
        return left if left.columns else None

    def categories(self, frame: pd.DataFrame) -> Mapping[str, Categories]:
        """Return the levels of the categorical factors, by factor name."""
        found = {}
        for factor, info in self._info.factor_infos.items():
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

    def _terms_with(self, names: Sequence[str]) -> list[str]:
        return [term for term, used in self._uses.items() if set(used) & set(names)]

    def _columns_of(self, terms: Sequence[str]) -> IntArray:
        every = np.arange(len(self._info.column_names))
        return np.concatenate([every[self._info.term_name_slices[t]] for t in terms])


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
        info: patsy.DesignInfo,
        order: IntArray,
        kept: pd.DataFrame,
        donors: pd.DataFrame,
    ) -> None:
        self._base, self._driven, self._info, self._order = base, driven, info, order
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
        copies[:, self._driven] = _build(self._info, mixed)[:, self._order]
        return copies


class _FrameSwap(Swap):
    def __init__(self, base: pd.DataFrame, names: Sequence[str], donors: pd.DataFrame) -> None:
        self._base, self._names, self._donors = base, tuple(names), donors

    def matrix(self, rows: IntArray, donors: IntArray) -> pd.DataFrame:
        copies = self._base.take(rows).reset_index(drop=True)
        for name in self._names:
            copies[name] = self._donors[name].take(donors).array
        return copies


def _build(info: patsy.DesignInfo, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    names = _plain(info, frame)
    matrix = _patsy(info, frame) if names is None else _columns(frame, names)
    bad = ~np.isfinite(matrix)
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        raise DesignError(
            f"Every design column must be finite, but `{info.column_names[column]}` is not in "
            f"{int(bad[:, column].sum())} of {len(matrix)} rows; change the transformation or drop "
            "those rows."
        )
    return matrix


def _plain(info: patsy.DesignInfo, frame: pd.DataFrame) -> list[str] | None:
    """Return the numeric variable that each column is, "" for the intercept.

    None if some column is not one: only then is patsy needed, which takes long for few rows.
    """
    names = []
    for term in info.terms:
        code = "".join(factor.code for factor in term.factors)
        if len(term.factors) > 1 or (term.factors and code not in frame.columns):
            return None
        if term.factors and not (
            info.factor_infos[term.factors[0]].type == "numerical"
            and pd.api.types.is_numeric_dtype(frame[code])
        ):
            return None
        names.append(code)
    return names


def _columns(frame: pd.DataFrame, names: Sequence[str]) -> npt.NDArray[np.float64]:
    matrix = np.ones((len(frame), len(names)))
    for j, name in enumerate(names):
        if name:
            matrix[:, j] = frame[name].to_numpy(dtype=np.float64)
    return matrix


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


def _reason(error: Exception) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return first if first.endswith(".") else first + "."
