"""Designs: how variables become the columns of an estimator, and what-if copies of rows.

A feature is a variable of the user's data, never a design column: replacing `x` rebuilds every
column built from `x`, with the state (levels, knots, means) that the design has learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.data.form import Form
from pyinterp.data.formula.coding import Environment, Factor, RightSide, learn, reason_of
from pyinterp.data.sample import LARGE_MATRIX, Sample, SomeRows
from pyinterp.errors import DesignError, FormulaError, list_of, short
from pyinterp.representation import about

SAME = 1e-6  # of a column's largest value: two ways to compute it differ by rounding only


class Swap(NamedTuple):
    """What-if copies of rows: some variables take a donor's values, the others stay.

    Attributes
    ----------
    matrix : callable
        ``matrix(rows, donors, index=None)`` returns the design of k pairs of a row and its donor;
        both have shape (k,). If it is a frame, its index names the rows in `index`.
    by_donor : pair of ndarray, or None
        Columns that change and their values by donor; None if they use other variables too.
    """

    matrix: Callable[..., Matrix]
    by_donor: tuple[IntArray, FloatArray] | None = None


class Design(ABC):
    """Map from variables to the matrix or frame that an estimator is given.

    Unless a subclass says otherwise every variable is a column of the same name.

    Parameters
    ----------
    variables : sequence of str

    Attributes
    ----------
    variables : tuple of str
        The variables used, in the order of the data.
    columns : tuple of str
        The names of the columns given to the estimator.
    discrete : frozenset of str
        Variables that the design treats as categories, numbers among them (``C(year)``): only
        their observed values can be encoded.
    singles : frozenset of str
        Variables that are numbers in single precision.
    """

    variables: tuple[str, ...]
    columns: tuple[str, ...]
    discrete: frozenset[str] = frozenset()
    singles: frozenset[str] = frozenset()

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = self.columns = tuple(variables)

    @property
    def single(self) -> bool:
        """Whether all variables are numbers in single precision."""
        return len(self.variables) > 0 and self.singles.issuperset(self.variables)

    @abstractmethod
    def encode(self, frame: pd.DataFrame, index: pd.Index | None = None) -> Matrix:
        """Return the design of the rows of `frame`, shape (n, number of columns).

        If it is a frame, the user's names of the rows are its index.
        """

    def rows_of(self, sample: Sample) -> Matrix:
        """Return the design of the rows of a sample."""
        return self.encode(sample.variables, sample.index)

    @cached_property
    def columns_by_variable(self) -> Mapping[str, IntArray] | None:
        """The columns of every variable; None if a column depends on several variables."""
        if any(self.others([name]) for name in self.variables):
            return None
        return {name: self.driven([name]) for name in self.variables}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of every variable."""
        return {name: place for place, name in enumerate(self.variables)}

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the columns that change when the variables `names` change."""
        return np.array([self.places[n] for n in names], np.intp)

    def others(self, names: Sequence[str]) -> set[str]:
        """Return the other variables on which the columns that change with `names` depend."""
        return set()

    @abstractmethod
    def swap(self, rows: Sample, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Return how the design of pairs of a row and a donor is made, of which none is made yet.

        Variables `names` are those of the donor, all others those of the row.
        """

    def without(self, names: Sequence[str]) -> Design | None:
        """Return the design without the variables `names`; None if no column is left."""
        others = copy(self)
        others.__dict__.pop("places", None)
        others.__dict__.pop("columns_by_variable", None)
        others.variables = others.columns = tuple(v for v in self.variables if v not in names)
        return others if others.variables else None

    def in_precision(self, name: str, values: FloatArray) -> FloatArray:
        """Return numbers of a variable as rows of this design hold them: rounded in single ones."""
        return values.astype(np.float32).astype(np.float64) if name in self.singles else values

    def categories(self, frame: pd.DataFrame) -> Mapping[str, pd.Categorical]:
        """Return the levels of the categorical factors that this design turns into columns."""
        return {}

    def __repr__(self) -> str:
        return about(self, f"{list_of(self.variables)} as {len(self.columns)} columns")


class ArrayDesign(Design):
    """Numeric variables handed over as the columns of an array.

    Parameters
    ----------
    variables : sequence of str
    dtype : dtype
        That of the user's array. Integers that are replaced by fractions make doubles.
    """

    def __init__(self, variables: Sequence[str], dtype: Any = np.float64) -> None:
        super().__init__(variables)
        self.dtype = np.dtype(dtype)
        if self.dtype == np.float32:
            self.singles = frozenset(variables)

    def encode(self, frame: pd.DataFrame, index: pd.Index | None = None) -> FloatArray:
        """Return the variables as an array."""
        return self._array(frame[list(self.variables)])

    def swap(self, rows: Sample, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Return how arrays of pairs are made: copies of rows, with the donors' columns `names`."""
        values = self._array(donors[list(names)])
        return _column_swap(self, rows, self.driven(names), values)

    def _array(self, frame: pd.DataFrame) -> FloatArray:
        """Return columns in the user's type, or as doubles if that would round them."""
        if self.dtype.kind == "f":
            return np.asarray(frame.to_numpy(self.dtype))
        values = frame.to_numpy(np.float64)
        if not (np.isfinite(values) & (values % 1 == 0)).all():
            return np.asarray(values)
        cast = values.astype(self.dtype)
        return np.asarray(cast if (cast == values).all() else values)


class FrameDesign(Design):
    """Variables handed over as a frame in the user's form: the learner encodes for itself.

    Parameters
    ----------
    variables : sequence of str
    form : Form
        How the user's frame is written.
    """

    def __init__(self, variables: Sequence[str], form: Form | None = None) -> None:
        super().__init__(variables)
        self.form = form or Form()
        types = ((name, str(self.form.types.get(name)).lower()) for name in variables)
        self.singles = frozenset(n for n, t in types if t in ("float32", "float[pyarrow]"))

    def encode(self, frame: pd.DataFrame, index: pd.Index | None = None) -> Matrix:
        """Return the variables in the user's form."""
        return self.form.write(self.plain(frame), index)

    def plain(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the variables in plain types, as estimands read them."""
        names = list(self.variables)
        return frame.copy(deep=False) if [*frame.columns] == names else frame[names]

    def swap(self, rows: Sample, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Return how frames of pairs are made: copies of rows, with the donors' columns `names`."""
        base = self.plain(rows.variables)

        def matrix(rows: IntArray, places: IntArray, index: pd.Index | None = None) -> Matrix:
            copies = base.take(rows).reset_index(drop=True)
            for name in names:
                copies[name] = donors[name].take(places).array
            return self.form.write(copies, None if index is None else index.take(rows))

        return Swap(matrix)


class FormulaDesign(Design):
    """Design matrix of a formula's terms, with the state learned from `frame`.

    Parameters
    ----------
    terms : RightSide
        Right-hand side of the formula.
    frame : pandas.DataFrame
        Rows from which levels, knots and means are learned.
    scope : mapping from str
        The values of names that are no columns.
    intercept : bool
        Keep the intercept column, for learners that fit none.
    """

    def __init__(
        self, terms: RightSide, frame: pd.DataFrame, scope: Mapping[str, Any], *, intercept: bool
    ) -> None:
        self.terms, self.frame, self.intercept = terms, frame, intercept
        self._scope = Environment({name: scope[name] for name in terms.names if name in scope})
        self._coding = coding = learn(terms, frame, self._scope, intercept=intercept)
        self.has_intercept, self.columns = terms.intercept, tuple(coding.columns)
        self._terms_of: dict[str, list[int]] = {}
        for t, factors in enumerate(coding.terms):
            for name in dict.fromkeys(name for factor in factors for name in factor.variables):
                self._terms_of.setdefault(name, []).append(t)
        self.variables = tuple(str(c) for c in frame.columns if str(c) in self._terms_of)
        categorical = terms.factors.keys() - coding.numbers
        self.discrete = frozenset(name for factor in categorical for name in factor.variables)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out patsy's state, which can't be pickled but learned again, and the matrix."""
        gone = {"_coding", "_matrix"}
        return {name: value for name, value in vars(self).items() if name not in gone}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._coding = learn(self.terms, self.frame, self._scope, intercept=self.intercept)

    def relearn(self, frame: pd.DataFrame) -> FormulaDesign:
        """Return the same design with its state learned from the rows of `frame`."""
        return FormulaDesign(self.terms, frame, self._scope, intercept=self.intercept)

    def encode(self, frame: pd.DataFrame, index: pd.Index | None = None) -> FloatArray:
        """Return the design matrix of the rows of `frame`."""
        return self._coding.build(frame, range(len(self._coding.terms)))

    def rows_of(self, sample: Sample) -> FloatArray:
        """Return the design of the rows of a sample; a small matrix of all rows is made once."""
        if not isinstance(sample, SomeRows) or sample.whole.variables is not self.frame:
            return self.encode(sample.variables)
        return self.encode(sample.variables) if self._matrix is None else self._matrix[sample.at]

    @cached_property
    def _matrix(self) -> FloatArray | None:
        """The design matrix of all rows of the frame; None if it is large."""
        if 8 * len(self.frame) * len(self.columns) > LARGE_MATRIX:
            return None
        return self.encode(self.frame)

    def others(self, names: Sequence[str]) -> set[str]:
        """Return the other variables of the terms that use one of `names`."""
        found = set()
        for t in self._terms_with(names):
            for factor in self._coding.terms[t]:
                found.update(factor.variables)
        return found.difference(names)

    def driven(self, names: Sequence[str]) -> IntArray:
        """Return the positions of the columns of all terms that use one of `names`."""
        driven = np.zeros(len(self.columns), bool)
        for t in self._terms_with(names):
            driven[self._coding.places[t]] = True
        return np.flatnonzero(driven)

    def swap(self, rows: Sample, names: Sequence[str], donors: pd.DataFrame) -> Swap:
        """Return how designs of pairs are made: every column that is built from `names` anew."""
        terms, driven, others = self._terms_with(names), self.driven(names), self.others(names)
        remedy = f"choose other values of {list_of(names)}, by `step`, `grid` or `sampler`"
        if not others:
            return _column_swap(self, rows, driven, self._coding.build(donors, terms, remedy))
        # Some column uses replaced and other variables, as an interaction does: built per pair.
        base, stays = self.rows_of(rows), rows.variables[list(others)]
        replaced = donors[list(names)]

        def matrix(rows: IntArray, places: IntArray, _: object = None) -> FloatArray:
            sides = stays.take(rows), replaced.take(places)
            mixed = pd.concat([side.reset_index(drop=True) for side in sides], axis=1)
            copies = base[rows]
            copies[:, driven] = self._coding.build(mixed, terms, remedy)
            return copies

        return Swap(matrix)

    def without(self, names: Sequence[str]) -> FormulaDesign | None:
        """Return the design of the formula without the terms that use one of `names`.

        Its state is learned from the same rows. Terms that stay are coded anew: of ``0 + g + h``
        without g, h gets a column for its first level too.
        """
        terms = self.terms.without(names)
        design = FormulaDesign(terms, self.frame, self._scope, intercept=self.intercept)
        return design if design.columns else None

    def categories(self, frame: pd.DataFrame) -> Mapping[str, pd.Categorical]:
        """Return the levels of the categorical factors, by factor name."""
        return self._coding.categories(frame)

    def check_rows(self) -> None:
        """Raise if a row can't be encoded, or its encoding depends on the other rows.

        What-if rows have other neighbors than rows of the data: a column such as
        ``I(x - np.mean(x))`` would mean something else in each of them.
        """
        by_row = "What is computed of a row must depend on that row alone"
        halves = slice(None, None, -2), slice(-2, None, -2)  # one of them lacks the largest value
        try:
            whole = self.encode(self.frame)
            parts = [self.encode(self.frame[half].reset_index(drop=True)) for half in halves]
        except DesignError as error:
            if error.__cause__ is None:  # encoded, but not finite
                raise
            reason = reason_of(error.__cause__)
            raise FormulaError(f"{by_row}, and be one value: {reason}") from error
        size = np.abs(np.nan_to_num(whole)).max(axis=0, initial=1.0)
        pairs = zip(halves, parts, strict=True)
        apart = np.any([(np.abs(whole[h] - p) > SAME * size).any(axis=0) for h, p in pairs], axis=0)
        if apart.any():
            name = short(self.columns[int(np.flatnonzero(apart)[0])])
            raise FormulaError(
                f"{by_row}, but `{name}` changes with the rows beside it. Use `center(x)`, "
                "`standardize(x)` or `scale(x)`, which remember what they learn, or make the "
                "column before."
            )

    def check_coding(self) -> None:
        """Raise if R might code the categories in a term by fewer columns.

        R codes h in ``g:h`` by contrasts if an earlier term has g, even with a number as in
        ``x:g``, which does not make up for the columns that contrasts leave out.
        """
        numbers = self._coding.numbers
        margins = set(map(frozenset, self.terms.products))
        for term in self.terms.products:
            for factor in set(term) - numbers:
                margin = frozenset(term) - {factor}
                if not margin or margin in margins:
                    continue
                for other in self.terms.products:
                    over = margin <= set(other) and len(other) <= len(term) and other != term
                    if over and numbers & set(other) != numbers & margin:
                        lacking = _code(f for f in term if f in margin)
                        raise FormulaError(
                            f"R would leave out columns of `{_code(term)}`, because it takes "
                            f"`{_code(other)}` for `{lacking}`; add the term `{lacking}`, so that "
                            "both mean the same."
                        )

    def _terms_with(self, names: Sequence[str]) -> list[int]:
        """Return the positions of the terms that use one of these variables."""
        return sorted(set().union(*(self._terms_of.get(name, []) for name in names)))


def _code(factors: Iterable[Factor]) -> str:
    """Return a term as code."""
    return short(":".join(factor.code for factor in factors))


def _column_swap(design: Design, sample: Sample, driven: IntArray, values: FloatArray) -> Swap:
    """Return the swap of columns that depend on the replaced variables only, `values` by donor."""
    base = cache(lambda: np.asarray(design.rows_of(sample)))  # which exact engines do not need

    def matrix(rows: IntArray, donors: IntArray, _: object = None) -> FloatArray:
        copies = base()[rows].astype(np.result_type(base(), values), copy=False)
        copies[:, driven] = values[donors]
        return copies

    return Swap(matrix, (driven, values))
