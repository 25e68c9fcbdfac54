"""Factors, the values of their names, and columns from terms: the module that imports patsy."""

from __future__ import annotations

import importlib
import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from operator import attrgetter
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import patsy
import patsy.builtins
from patsy.categorical import guess_categorical
from patsy.constraint import linear_constraint
from patsy.state import Standardize
from patsy.tokens import normalize_token_spacing

from pyinterp._typing import FloatArray, Matrix, TwoArrays
from pyinterp.errors import DesignError, FormulaError, short


class RScale(Standardize):  # type: ignore[misc]  # patsy has no types
    """R's ``scale``: the standard deviation divides by n - 1, where patsy divides by n."""

    def memorize_chunk(self, x: Any) -> None:
        """Take rows into the mean and the standard deviation."""
        super().memorize_chunk(x, ddof=1)

    def transform(self, x: Any) -> Any:
        """Return the rows less the mean, over the standard deviation."""
        return super().transform(x, ddof=1)


class EveryLevel(patsy.Treatment):  # type: ignore[misc]  # patsy has no types
    """Columns of a category for learners that are no linear models.

    Without a column of its own a level takes a tree several splits, and regularized learners shrink
    it more than others: results would depend on the level that is first. Of two levels one column
    has all.
    """

    def code_without_intercept(self, levels: Sequence[Any]) -> Any:
        """Return a column per level, of two levels the second's."""
        code = super().code_without_intercept if len(levels) < 3 else self.code_with_intercept
        return code(levels)


# Names that formulas may use without an import.
LANGUAGE = {
    **{name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__},
    "scale": patsy.stateful_transform(RScale),
    "np": np,
}
DOUBLE = "_double"


def double(values: Any) -> Any:
    """Return numbers and truth values in double precision, as R computes; others as they are.

    Whole numbers of NumPy overflow, and its truth values have no sum, in silence.
    """
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") in "biuf":
        if isinstance(values, pd.Series) and not isinstance(dtype, np.dtype):
            numbers = values.to_numpy(np.float64, na_value=np.nan)
            return pd.Series(numbers, index=values.index)
        return values.astype(np.float64)
    return float(values) if isinstance(values, bool) else values


class Environment(dict[str, Any]):
    """Names of the caller that a formula uses, which can be pickled: modules by their names."""

    def __reduce__(self) -> tuple[Any, ...]:
        modules = {n: value.__name__ for n, value in self.items() if isinstance(value, ModuleType)}
        others = {name: value for name, value in self.items() if name not in modules}
        return _scope, (modules, others)


def _scope(modules: Mapping[str, str], others: Mapping[str, Any]) -> Environment:
    """Return the environment that `__reduce__` took apart, its modules imported again."""
    return Environment(
        others, **{name: importlib.import_module(of) for name, of in modules.items()}
    )


def _environment(names: Iterable[str], scope: Mapping[str, Any]) -> patsy.EvalEnvironment:
    """Return the values of `names` that are no columns: the language's before the caller's."""
    values = {**scope, **LANGUAGE}
    used = {name: values[name] for name in names if name in values}
    # By this name the code of formulas calls `double`, for numbers in double precision as in R.
    return patsy.EvalEnvironment([used | {DOUBLE: double}])


spacing = cache(normalize_token_spacing)  # which asks Python's tokenizer


@dataclass(frozen=True)
class Factor:
    """A variable, or code that is evaluated for every row; terms are products of factors.

    The methods are patsy's interface. Columns are looked up, and code is evaluated in doubles.

    Attributes
    ----------
    key : str
        Equal for equal factors, however they are written.
    code : str
        As written.
    column : str or None
        The column that it merely names, if it does.
    variables : tuple of str
        The columns that it uses.
    names : tuple of str
        Other names: of functions, and of the caller.
    code_to_run : str
        The code that is evaluated: operands of arithmetic are double numbers.
    levels_of : str or None
        The column whose values are its levels, if it has levels: itself, or x of ``C(x)``.
    every_level : bool
        Whether every level has a column, unless the formula has contrasts.
    """

    key: str
    code: str = field(compare=False)
    column: str | None = field(compare=False, default=None)
    variables: tuple[str, ...] = field(compare=False, default=())
    names: tuple[str, ...] = field(compare=False, default=())
    code_to_run: str = field(compare=False, default="")
    levels_of: str | None = field(compare=False, default=None)
    every_level: bool = field(compare=False, default=False)
    origin = None  # patsy's place in a text

    def name(self) -> str:
        """Return the name in names of columns: the code in patsy's spacing."""
        return self.code if self.column is not None else str(spacing(self.code))

    def memorize_passes_needed(self, state: dict[str, Any], env: patsy.EvalEnvironment) -> int:
        """Return how often the factor must see the rows to learn from them."""
        if self.column is not None:
            return 0
        return int(patsy.EvalFactor(self.code_to_run).memorize_passes_needed(state, env))

    def eval(self, state: dict[str, Any], data: pd.DataFrame) -> Any:
        """Return the values of some rows."""
        plain = self.column is not None
        values = data[self.column] if plain else patsy.EvalFactor.eval(self, state, data)
        coded = getattr(values, "contrast", None) is not None
        if not self.every_level or coded or not guess_categorical(values):
            return values
        return patsy.builtins.C(values, EveryLevel)

    memorize_chunk = patsy.EvalFactor.memorize_chunk
    memorize_finish = patsy.EvalFactor.memorize_finish
    _eval = patsy.EvalFactor._eval

    def learns(self, scope: Mapping[str, Any]) -> bool:
        """Whether it learns from the rows, as splines and ``center(x)`` do."""
        return self.memorize_passes_needed({}, _environment(self.names, scope)) > 0

    def values(self, columns: Mapping[str, Any], scope: Mapping[str, Any]) -> Any:
        """Return the value of the code, which learns nothing from the rows."""
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            return _environment(self.names, scope).eval(self.code_to_run, inner_namespace=columns)


class RightSide(NamedTuple):
    """The right side of a formula: products of factors, and whether there is an intercept."""

    intercept: bool
    products: tuple[tuple[Factor, ...], ...]

    @property
    def factors(self) -> dict[Factor, None]:
        """The factors of all products, once each."""
        return dict.fromkeys(chain.from_iterable(self.products))

    @property
    def variables(self) -> set[str]:
        """The columns that are used."""
        return set(chain.from_iterable(map(attrgetter("variables"), self.factors)))

    def without(self, names: Iterable[str]) -> RightSide:
        """Return the products that use none of these columns."""
        gone = set(names)
        kept = (p for p in self.products if not any(gone.intersection(f.variables) for f in p))
        return RightSide(self.intercept, tuple(kept))

    def with_every_level(self) -> RightSide:
        """Return the same with a column for every level of categories."""
        products = [tuple(replace(f, every_level=True) for f in p) for p in self.products]
        return RightSide(self.intercept, tuple(products))

    @property
    def names(self) -> set[str]:
        """Names that are used besides the variables."""
        return set(chain.from_iterable(map(attrgetter("names"), self.factors)))


def callers_names() -> Mapping[str, Any]:
    """Return the names that the code around a call of the function that calls this sees."""
    try:
        frame = sys._getframe(2)
    except ValueError:  # called from R or C, not from Python
        return {}
    return ChainMap(frame.f_locals, frame.f_globals)


def linear_hypotheses(hypotheses: object, terms: Sequence[str]) -> TwoArrays:
    """Return weights, shape (k, q), and values, shape (k,), of hypotheses about q terms."""
    constraint = linear_constraint(hypotheses, list(terms))
    return np.asarray(constraint.coefs, float), np.asarray(constraint.constants, float).ravel()


class Coding:
    """Terms that are coded by patsy.

    Attributes
    ----------
    terms : list of tuple of Factor
        The intercept is the one without factors.
    columns : list of str
    places : list of slice
        The columns of every term.
    numbers : frozenset of Factor
        The factors that are numbers; the others are categories.
    """

    def __init__(self, info: patsy.DesignInfo) -> None:
        self._info = info
        self._parts: dict[tuple[Any, ...], patsy.DesignInfo] = {}
        self.terms = list(map(attrgetter("factors"), info.term_codings))
        self.columns, self.places = info.column_names, list(info.term_slices.values())
        kinds = info.factor_infos.items()
        self.numbers = frozenset(factor for factor, kind in kinds if kind.type == "numerical")

    def categories(self, frame: pd.DataFrame) -> dict[str, pd.Categorical]:
        """Return the levels of the rows of `frame`, by the name of the categorical factor."""
        coded = {}
        for factor, info in self._info.factor_infos.items():
            if info.type == "categorical":
                try:
                    values = factor.eval(info.state, frame)
                    codes = patsy.categorical.categorical_to_int(
                        values, info.categories, patsy.NAAction(), origin=factor
                    )
                except Exception as error:
                    raise _cannot_encode(error) from error
                coded[factor.name()] = pd.Categorical.from_codes(codes, pd.Index(info.categories))
        return coded

    def build(
        self, frame: pd.DataFrame, positions: Sequence[int], remedy: str = "drop those rows"
    ) -> FloatArray:
        """Return the columns that the terms at `positions` have for the rows of `frame`.

        Numeric variables are copied; patsy, which is slow, builds the other columns. `remedy` is
        for rows of which a column is not finite.
        """
        columns, owners = [], []
        for t in positions:
            names = self.columns[self.places[t]]
            columns += names
            owners += [self.terms[t]] * len(names)
        matrix = np.ones((len(frame), len(columns)))
        mixed = []
        for j, factors in enumerate(owners):
            plain = len(factors) == 1 and factors[0] in self.numbers
            name = factors[0].column if plain else None
            values = None if name is None else frame[name].to_numpy()
            if values is not None and values.dtype.kind in "biuf":
                matrix[:, j] = values
            elif factors:
                mixed.append(j)
        if mixed:
            terms = tuple(dict.fromkeys(owners[j] for j in mixed))
            if terms not in self._parts:
                self._parts[terms] = self._info.subset(map(patsy.Term, terms))
            try:
                with np.errstate(all="ignore"):  # infinite and missing values are reported as such
                    matrix[:, mixed] = _build(self._parts[terms], frame)
            except Exception as error:
                raise _cannot_encode(error) from error
        for column in map(int, np.flatnonzero(~np.isfinite(matrix).all(axis=0))):
            values = matrix[:, column]
            used = {name for factor in owners[column] for name in factor.variables}
            missing = frame[list(used)].isna().any(axis=1).to_numpy(bool)
            wrong = ~np.isfinite(values) & ~(np.isnan(values) & missing)
            if wrong.any():
                raise DesignError(
                    f"Every design column must be finite, but `{short(columns[column])}` is not in "
                    f"{int(wrong.sum())} of {len(matrix)} rows; change the transformation or "
                    f"{remedy}."
                )
        return matrix


def learn(
    terms: RightSide, frame: pd.DataFrame, scope: Mapping[str, Any], *, intercept: bool
) -> Coding:
    """Return the coded terms, their state learned from `frame`; `scope` has the caller's names.

    The column of the intercept, which codes depend on, is in it only if `intercept`.
    """
    described = [patsy.INTERCEPT] * terms.intercept + list(map(patsy.Term, terms.products))
    model, environment = patsy.ModelDesc([], described), _environment(terms.names, scope)
    try:
        with np.errstate(all="ignore"):  # infinite and missing values are reported as such
            info = patsy.incr_dbuilder(model, lambda: iter([frame]), environment)
    except Exception as error:
        written = short(" + ".join(":".join(f.code for f in p) for p in terms.products[:9]))
        raise FormulaError(f"Can't build the terms `{written}`: {reason_of(error)}") from error
    return Coding(info if intercept else info.subset([t for t in info.terms if t.factors]))


def _build(info: patsy.DesignInfo, frame: Matrix) -> FloatArray:
    """Return patsy's matrix of rows, shape (n, columns), by the levels it has learned."""
    keep_missing = patsy.NAAction(NA_types=[])  # no variable has any; transformations may
    (matrix,) = patsy.build_design_matrices([info], frame, NA_action=keep_missing)
    return np.asarray(matrix, np.float64)


def _cannot_encode(error: Exception) -> DesignError:
    """Return the error that says why rows have no design."""
    return DesignError(
        "Some rows can't be encoded with the levels and knots that the design has learned: "
        f"{reason_of(error)}"
    )


def reason_of(error: BaseException) -> str:
    """Return the first line of an error of patsy."""
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    first = first.partition(", and I'm not sure how to handle them")[0]  # patsy's, of knots
    return short(first, 180).removesuffix(".") + "."
