"""Missing values: which rows are analyzed, which are left out, and what tables say of both.

A missing response always leaves its row out. Rows that lack a variable are kept where the learner
can take them; their other values are as good as those of any row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_choice
from pyinterp.errors import DataError, OptionError, list_of, short

__all__ = ["MINIMUM_ROWS", "Missing", "MissingValues", "count_missing"]

Missing: TypeAlias = Literal["auto", "keep", "drop", "raise"]
CHOICES = ("auto", "keep", "drop", "raise")
MINIMUM_ROWS = 5
MOST_NAMES = 6  # variables with their counts in a note


@dataclass(frozen=True, kw_only=True)
class MissingValues:
    """What becomes of rows with missing values.

    Attributes
    ----------
    option : {"auto", "keep", "drop", "raise"}
    takes : bool or None
        Whether the learner takes variables with missing values; None if that is not known.
    learner : str
        Its name, for messages.
    least : int
        Fewest rows to analyze.
    """

    option: Missing
    takes: bool | None
    learner: str
    least: int = MINIMUM_ROWS

    def __post_init__(self) -> None:
        check_choice("missing", self.option, CHOICES)
        if self.option == "keep" and self.takes is False:
            raise OptionError(
                f'`missing="keep"` needs a learner that takes missing values, but {self.learner} '
                'takes none. Put an imputer before it in a pipeline, or use `missing="drop"`.'
            )

    def rows(
        self,
        variables: pd.DataFrame,
        others: Sequence[pd.Series[Any]] = (),
        needs: Mapping[str, str] | None = None,
    ) -> tuple[npt.NDArray[np.bool_], str]:
        """Return which rows are analyzed, and a footnote on the missing values of all.

        Parameters
        ----------
        variables : pandas.DataFrame, shape (N, number of variables)
        others : sequence of Series, N rows
            The response, and what else every row must have.
        needs : mapping of str to str, optional
            Why a variable must have a value in every row, by variable, whatever the learner takes.

        Raises
        ------
        DataError
            If values are missing that `option` does not allow, or too few rows are left.
        """
        absent = {str(name): column.isna().to_numpy(bool) for name, column in variables.items()}
        keeps = self.option == "keep" or (self.option == "auto" and self.takes is True)
        needs = needs or {}
        if self.option == "keep":
            self._check_needs(absent, needs)
        needed = {n: isna for n, isna in absent.items() if not keeps or n in needs}
        needed |= {str(part.name): part.isna().to_numpy(bool) for part in others}
        out = np.zeros(len(variables), dtype=bool)
        for isna in needed.values():
            out |= isna
        self._check(out, needed, needs if keeps else {})
        empty = [n for n, isna in absent.items() if n not in needed and isna[~out].all()]
        if empty:
            raise DataError(
                f"Variable `{short(empty[0])}` is missing in every row that is analyzed; leave it "
                "out."
            )
        kept = {n: isna & ~out for n, isna in absent.items() if n not in needed}
        return ~out, _note(out, needed, kept)

    def _check_needs(
        self, absent: Mapping[str, npt.NDArray[np.bool_]], needs: Mapping[str, str]
    ) -> None:
        for name, why in needs.items():
            if absent[name].any():
                raise DataError(
                    f"Missing values of `{short(name)}` can't be kept: {why}. Use "
                    '`missing="auto"` or "drop" to leave those rows out.'
                )

    def _check(
        self,
        out: npt.NDArray[np.bool_],
        needed: Mapping[str, npt.NDArray[np.bool_]],
        needs: Mapping[str, str],
    ) -> None:
        where = _counts(needed)
        if self.option == "raise" and out.any():
            raise DataError(
                f"{int(out.sum())} rows have missing values (in {where}); fill them in, or use "
                '`missing="drop"`.'
            )
        why = next((f": {why}" for n, why in needs.items() if needed[n].any()), "")
        if out.all():
            raise DataError(
                f"All {len(out)} rows have a missing value (in {where}), so none is left{why}."
            )
        if (left := int((~out).sum())) < self.least:
            raise DataError(
                f"At least {self.least} complete rows are needed to fit and evaluate; got {left}."
            )


def count_missing(frame: pd.DataFrame) -> str:
    """Return the variables with missing values, with counts; empty if none has any."""
    return _counts({str(name): column.isna().to_numpy(bool) for name, column in frame.items()})


def _counts(absent: Mapping[str, npt.NDArray[np.bool_]]) -> str:
    """Return names with counts, the largest first."""
    counts = {name: int(isna.sum()) for name, isna in absent.items() if isna.any()}
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return list_of((f"{name} {count}" for name, count in ordered), MOST_NAMES)


def _note(
    out: npt.NDArray[np.bool_],
    needed: Mapping[str, npt.NDArray[np.bool_]],
    kept: Mapping[str, npt.NDArray[np.bool_]],
) -> str:
    parts = []
    if out.any():
        rows = int(out.sum())
        parts.append(
            f"{rows} {'row is' if rows == 1 else 'rows are'} left out for missing values: "
            f"{_counts(needed)}."
        )
    if any(isna.any() for isna in kept.values()):
        rows = int(np.any(list(kept.values()), axis=0).sum())
        parts.append(
            f"{rows} analyzed {'row has' if rows == 1 else 'rows have'} missing values, which the "
            f"learner takes: {_counts(kept)}."
        )
    return " ".join(parts)
