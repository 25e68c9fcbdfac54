"""Some of the evaluation rows: one subgroup, or every level of a column."""

from __future__ import annotations

from typing import TypeAlias

import numpy.typing as npt

from pyinterp.data.row_data import RowData, Rows
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.estimands.groups import RowGroups
from pyinterp.learner.analysis import Analysis

__all__ = ["ONE_GROUP", "By", "among", "apart", "groups_of"]

By: TypeAlias = str | npt.ArrayLike | None
ONE_GROUP = (
    "it puts several estimands side by side; ask for one estimand by groups, such as "
    '`pfi(by="sex")`, or for one group with `rows=`.'
)


def among(analysis: Analysis, rows: Rows) -> Analysis:
    """Return the analysis of the evaluation rows that a mask or a query names."""
    data = _data(analysis, "rows")
    mask = data.mask(rows)
    if not (mask & data.complete).any():
        name = quote(rows) if isinstance(rows, str) else "the mask"
        raise DataError(f"`rows` must keep some of the analyzed rows, but {name} keeps none.")
    return analysis.among(mask, rows if isinstance(rows, str) else "by a mask")


def groups_of(analysis: Analysis, by: By) -> RowGroups:
    """Return the groups of rows of an analysis: the levels of a column, by its name or array."""
    data = _data(analysis, "by")
    if by is None:
        raise OptionError("`by` must be a column's name or one level per row.")
    name = by if isinstance(by, str) else getattr(by, "name", None)
    column = data.column(by, "by")
    return RowGroups.of(column, data.complete, "group" if name is None else str(name))


def apart(analysis: Analysis, groups: RowGroups) -> list[Analysis]:
    """Return the analysis of every group of rows."""
    return [
        analysis.among(groups.of_row == k, f"{groups.name} = {level}")
        for k, level in enumerate(groups.levels)
    ]


def _data(analysis: Analysis, argument: str) -> RowData:
    if analysis.data is None:
        raise OptionError(
            f"`{argument}` can't be with fresh draws: every refit is evaluated on rows of its own, "
            "which a mask or a column of the data does not name."
        )
    return analysis.data
