"""An estimand by groups of rows: the same values for each group, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import Column, IntArray
from pyinterp.errors import OptionError, list_of, quote, short
from pyinterp.estimands.estimand import Estimand, Terms, Words
from pyinterp.representation import frozen

MOST_GROUPS = 20


@frozen
class RowGroups:
    """Groups of rows: the levels of a column.

    Attributes
    ----------
    name : str
        The column's name.
    levels : tuple of str
        Names of the groups, in order; two or more.
    of_row : ndarray of int, shape (N,)
        The group of every row of the data; -1 for rows that are not analyzed.
    """

    name: str
    levels: tuple[str, ...]
    of_row: IntArray

    @property
    def counts(self) -> str:
        """How many rows the groups have, in words."""
        sizes = np.bincount(self.of_row[self.of_row >= 0])
        return ", ".join(f"{name}: {size}" for name, size in zip(self.levels, sizes, strict=True))

    @classmethod
    def of(cls, column: Column, analyzed: Any, name: str) -> RowGroups:
        """Return the levels of a column as groups; levels of a category keep its order.

        Raises
        ------
        OptionError
            If the analyzed rows are all of one level, or the column has many numbers.
        """
        codes = np.full(len(column), -1, np.intp)
        try:
            levels = pd.Categorical(column[analyzed])
        except TypeError as error:
            raise OptionError(
                f"`by` must have levels that can be told apart, not {quote(column.iloc[0])}."
            ) from error
        levels = levels.remove_unused_categories()
        codes[np.flatnonzero(analyzed)] = levels.codes
        count = len(levels.categories)
        if count < 2:
            raise OptionError(
                f"`by` must have two levels or more, but all rows have "
                f"{list_of(levels.categories)} in `{short(name)}`; leave it out."
            )
        if count > MOST_GROUPS:
            raise OptionError(
                f"`by` must have at most {MOST_GROUPS} levels, but `{short(name)}` has {count}: "
                "merge levels, or cut numbers into intervals with `pd.cut` or `pd.qcut`."
            )
        texts = [v if isinstance(v, str) else f"{name}={_plain(v)}" for v in levels.categories]
        return cls(name=name, levels=tuple(texts), of_row=codes)


def by_group(estimand: Estimand, groups: RowGroups) -> Estimand:
    """Return the estimand that has its terms for each group, one group after the other."""
    terms, levels = estimand.terms, groups.levels
    return replace(
        estimand,
        terms=_terms(terms, groups),
        words=replace(
            estimand.words,
            meaning=estimand.words.meaning.replace("every row", "every row of the group"),
            missing=_by_level(estimand.words.missing, levels),
            notes_on=_by_level(estimand.words.notes_on, levels),
            details=(*estimand.words.details, f"by {groups.name}"),
            notes=(
                *estimand.words.notes,
                "Rows and donors of a group are those of the group; nothing is fitted anew.",
            ),
            remarks=RemarksByGroup(replace(estimand.words, always=()), terms.names, levels),
        ),
        diagnostic=None if estimand.diagnostic is None else by_group(estimand.diagnostic, groups),
    )


def _by_level(words: Mapping[str, str], levels: Sequence[str]) -> dict[str, str]:
    """Return the words on terms for the rows of every group."""
    return {_name(term, level): why for level in levels for term, why in words.items()}


def _name(term: str, level: str) -> str:
    """Return the name of a term for the rows of one group."""
    return f"{term} | {level}"


def _terms(terms: Terms, groups: RowGroups) -> Terms:
    """Return the terms of every group, one group after the other, with a column for the group."""
    count, levels = len(terms.names), groups.levels
    column = groups.name
    if column in terms.layout or column in ("term", "estimate"):
        column = "group"  # the name is taken
    layout = pd.concat([terms.layout] * len(levels), ignore_index=True)
    layout[column] = pd.Categorical(np.repeat(levels, count), categories=levels)
    facets = column if terms.facet is None else f"{terms.facet}, {column}"
    if terms.facet is not None:
        texts = [
            f"{of}, {level}" for of, level in zip(layout[terms.facet], layout[column], strict=True)
        ]
        layout[facets] = pd.Categorical(texts, categories=list(dict.fromkeys(texts)))
    return replace(
        terms,
        names=tuple(_name(term, level) for level in levels for term in terms.names),
        layout=layout,
        facet=facets,
        groups=levels,
    )


@dataclass(frozen=True)
class RemarksByGroup:
    """The footnotes on every group's estimates, each with its group."""

    words: Words
    names: tuple[str, ...]
    levels: tuple[str, ...]

    def __call__(self, estimates: pd.Series[float]) -> list[str]:
        """Return the footnotes."""
        values = np.split(np.asarray(estimates), len(self.levels))
        return [
            f"{level}: {note}"
            for level, some in zip(self.levels, values, strict=True)
            for note in self.words.on(pd.Series(some, index=self.names))
        ]


def _plain(level: Any) -> Any:
    """Return a whole number without decimals, as it was before missing values made it a float."""
    return int(level) if isinstance(level, float) and level.is_integer() else level
