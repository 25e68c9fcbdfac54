"""Where a grid leaves the data: missing values, and points beyond the observed ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from pyinterp.data.columns import is_category
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import Points, hull_of


def check_complete(data: pd.DataFrame, names: Sequence[str], what: str) -> None:
    """Raise `OptionError` if a variable along which rows are compared is missing in some."""
    for name in names:
        if missing := int(data[name].isna().sum()):
            raise OptionError(
                f"{what} needs the value of `{name}` in every row, but it is missing in {missing} "
                f'of {len(data)} rows; leave those out by `missing="drop"`, name other features, '
                "or use `pd`, which predicts all rows."
            )


def support_notes(_: pd.Series[float], *, data: pd.DataFrame, at: Points) -> tuple[str, ...]:
    """Return notes on the grid: missing values, and points that are extrapolated."""
    cells = pd.DataFrame(list(at.cells), columns=list(at.names))
    numbers = [name for name in at.names if not is_category(data[name])]
    notes = _missing_notes(data[list(at.names)])
    for name in numbers:
        low, high = float(data[name].min()), float(data[name].max())
        values = cells[name].drop_duplicates()
        beyond = int((~values.between(low, high)).sum())
        if beyond:
            notes.append(
                f"{beyond} of {len(values)} grid points {_are(beyond)} outside the observed range "
                f"[{low:.6g}, {high:.6g}] of `{name}`: predictions there are extrapolated."
            )
    for pair in combinations(numbers, 2):
        notes += _hull_note(data, cells, list(pair))
    return tuple(notes)


def _missing_notes(data: pd.DataFrame) -> list[str]:
    """Return a note on every variable with missing values, of which no grid point is one."""
    counts = data.isna().sum()
    return [
        f"`{name}` is missing in {count} of {len(data)} rows; the grid is of its other values, and "
        "at each all rows are predicted."
        for name, count in counts[counts > 0].items()
    ]


def _hull_note(data: pd.DataFrame, cells: pd.DataFrame, pair: list[str]) -> list[str]:
    """Return a note on the points of a pair that are outside its convex hull, if there are some."""
    values = cells[pair].drop_duplicates().to_numpy(np.float64)
    hull = hull_of(data[pair])
    beyond = 0 if hull is None else int((hull.find_simplex(values, tol=1e-9) < 0).sum())
    if not beyond:
        return []
    return [
        f"{beyond} of {len(values)} grid points {_are(beyond)} outside the convex hull of "
        f"`{pair[0]}` and `{pair[1]}`: predictions there are extrapolated."
    ]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
