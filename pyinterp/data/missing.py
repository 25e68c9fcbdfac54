"""Missing values: which rows are analyzed, which are left out, and the words of tables on both.

A missing response always leaves its row out. Rows that lack a variable are kept where the learner
can take them; their other values are as good as any row's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from pyinterp._typing import BoolArray, Column
from pyinterp.checks import check_choice
from pyinterp.errors import DataError, OptionError, list_of, short
from pyinterp.representation import frozen

Missing = Literal["auto", "keep", "drop", "raise"]
MINIMUM_ROWS = 5
MOST_NAMES = 6  # variables with their counts in a note


@frozen
class MissingValues:
    """What happens to rows with missing values.

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
        check_choice("missing", self.option, get_args(Missing))
        if self.option == "keep" and self.takes is False:
            raise OptionError(
                f'`missing="keep"` needs a learner that takes missing values, but {self.learner} '
                'takes none. Put an imputer before it in a pipeline, or use `missing="drop"`.'
            )

    def rows(
        self,
        variables: pd.DataFrame,
        others: Sequence[Column] = (),
        needs: Mapping[str, str] | None = None,
    ) -> tuple[BoolArray, str]:
        """Return which rows are analyzed, and a footnote on the missing values of all.

        Parameters
        ----------
        variables : pandas.DataFrame, shape (N, number of variables)
        others : sequence of Series, N rows
            The response, and other columns that every row must have.
        needs : mapping of str to str, optional
            Why a variable must have a value in every row, by variable, whatever the learner takes.

        Raises
        ------
        DataError
            If values are missing that `option` does not allow, or too few rows are left.
        """
        absent, needs = variables.isna(), needs or {}
        gaps = absent.to_numpy().any() or any(part.hasnans for part in others)
        if len(absent) >= self.least and not gaps:
            return np.ones(len(absent), bool), ""
        keeps = self.option == "keep" or (self.option == "auto" and self.takes is True)
        name = next((n for n in needs if absent[n].any()), "") if keeps else ""
        why = needs.get(name, "")
        if self.option == "keep" and why:
            raise DataError(
                f"Missing values of `{short(name)}` can't be kept: {why}. Use "
                '`missing="auto"` or "drop" to leave those rows out.'
            )
        kept = absent.drop(columns=[n for n in absent if not keeps or n in needs])
        needed = absent.drop(columns=kept.columns)
        beside = [part.isna().set_axis(needed.index).rename(str(part.name)) for part in others]
        needed = pd.concat([needed, *beside], axis=1)  # a variable may have the name of one
        out = needed.any(axis=1).to_numpy(bool)
        if self.option == "raise" and out.any():
            raise DataError(
                f"{int(out.sum())} rows have missing values (in {count_missing(needed)}); fill "
                'them in, or use `missing="drop"`.'
            )
        if out.all():
            because = f": {why}" if why else ""
            raise DataError(
                f"All {len(out)} rows have a missing value (in {count_missing(needed)}), so none "
                f"is left{because}."
            )
        if (left := int((~out).sum())) < self.least:
            raise DataError(
                f"At least {self.least} complete rows are needed to fit and evaluate; got {left}."
            )
        empty = kept.columns[kept[~out].all()]
        if len(empty):
            raise DataError(
                f"Variable `{short(empty[0])}` is missing in every row that is analyzed; leave it "
                "out."
            )
        note = ""
        if (n := int(out.sum())) > 0:
            rows = f"{n} row{' is' if n == 1 else 's are'}"
            note = f"{rows} left out for missing values: {count_missing(needed)}."
        if (n := int(kept[~out].any(axis=1).sum())) > 0:
            rows = f"{n} analyzed row{' has' if n == 1 else 's have'}"
            taken = count_missing(kept[~out])
            note += f" {rows} missing values, which the learner takes: {taken}."
        return ~out, note.strip()


def count_missing(absent: pd.DataFrame) -> str:
    """Return the columns with missing values, with counts, the largest first."""
    counts = absent.sum().sort_values(ascending=False, kind="stable")
    return list_of((f"{name} {n}" for name, n in counts[counts > 0].items()), MOST_NAMES)
