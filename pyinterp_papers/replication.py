"""Cells of papers: their results beside the printed numbers, and whether statements hold."""

from __future__ import annotations

import importlib
import logging
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, wraps
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pyinterp.errors import OptionError
from pyinterp_papers.choices import check_one_of

if TYPE_CHECKING:
    from plotnine import ggplot

    from pyinterp import EstimandResults

PAPERS = ("molnar2021", "greenwell2018", "khan2025", "wood2024")
FOLDER = files("pyinterp_papers")
ERRORS = 3.0  # Monte Carlo errors up to which a number agrees with the printed one
AGREE = 0.95  # the share of printed numbers from which on those of a cell agree
STATUSES = ("numbers agree", "differs", "shown, smaller run", "shown")
LOG = logging.getLogger("pyinterp")


@dataclass(frozen=True)
class Cell:
    """How the result of a table, a figure or a passage with numbers is computed and drawn.

    Attributes
    ----------
    compute : callable, optional
        Returns the result: `ours`, `error` and columns that name its rows. It may return that of
        several cells, which then name this one in `of`.
    draw : callable, optional
        Makes a picture of the result.
    of : str
        The cell whose `compute` has the result of this one too.
    rows : str
        A query of the rows of the result that are this cell's.
    """

    compute: Callable[[], pd.DataFrame] | None = None
    draw: Callable[[pd.DataFrame], ggplot] | None = None
    of: str = ""
    rows: str = ""

    def part(self, result: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a result that are this cell's."""
        return result.query(self.rows).reset_index(drop=True) if self.rows else result


@dataclass(frozen=True)
class Paper:
    """The cells of a paper by name; what is said of them is in a file of the same name.

    The file has the paper's `title` and, of every cell, `what` it is in our words; what the paper
    `says` of it, statements that tests check (``tests/papers``), and which of them are `broken`;
    why it `differs` though its numbers or statements do not; how our run is `smaller`; what else
    explains it (`why`); and its `erratum`. Its status is computed.
    """

    name: str
    cells: Mapping[str, Cell]

    @cached_property
    def words(self) -> dict[str, Any]:
        """What is said of the cells, by name, and the `title`."""
        text = (FOLDER / f"{self.name}.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)

    def cell(self, name: object) -> Cell:
        """Return a cell by name; raise if there is none."""
        check_one_of("cell", name, self.cells)
        return self.cells[str(name)]

    def result(self, name: str) -> pd.DataFrame:
        """Return the result of a cell that the package holds."""
        cell = self.cells[name]
        return cell.part(read_table("results", self.name, cell.of or name))

    def compute(self, name: str) -> pd.DataFrame:
        """Compute the result of a cell anew, and of those that share it."""
        cell = self.cells[self.cells[name].of or name]
        return cast("Callable[[], pd.DataFrame]", cell.compute)()

    def numbers(self, name: str, result: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return a result, by default the stored one, beside the printed numbers."""
        result = self.result(name) if result is None else result
        keys = keys_of(result)
        printed = read_table("printed", self.name, name)
        if printed.empty:
            printed = pd.DataFrame(columns=[*keys, "printed"])
        elif "printed" not in printed:
            kept = [column for column in (*keys, "erratum") if column in printed]
            printed = printed.melt(kept, var_name="quantity", value_name="printed")
        shared = [name for name in keys if name in printed]
        frame = result.merge(printed.astype(result.dtypes[shared]), "left", shared)
        for column in ("erratum", "corrected"):
            frame[column] = frame[column].astype(object) if column in frame else None
        right = frame["printed"].where(frame["erratum"].isna(), frame["corrected"])
        digits = right.map(lambda x: Decimal(x).as_tuple().exponent, na_action="ignore")
        errors = np.hypot(frame["error"].fillna(0), 10 ** digits.astype(float) / np.sqrt(12))
        difference = (frame["ours"] - right.astype(float)) / errors
        status = np.where(difference.abs() <= ERRORS, "agrees", "differs")
        return frame.assign(
            printed=frame["printed"].astype(float),
            difference=difference,
            erratum=frame["erratum"].fillna(""),
            status=np.where(difference.isna(), "", status),
        )[[*keys, "ours", "printed", "error", "difference", "erratum", "status"]]

    def counts(self, name: str) -> tuple[int, int]:
        """Return how many printed numbers of a cell are compared, and how many agree."""
        status = self.numbers(name)["status"]
        return int((status != "").sum()), int((status == "agrees").sum())

    def reasons(self, name: str) -> list[str]:
        """Return the sentences that explain the status of a cell, without broken statements."""
        words, (printed, agree) = self.words[name], self.counts(name)
        count = f"{agree} of {printed} printed numbers agree" if printed else ""
        said = [count, *(words.get(key, "") for key in ("differs", "smaller", "why"))]
        return [text[0].upper() + text[1:] for text in said if text]

    def frame(self) -> pd.DataFrame:
        """Return all cells with their status: numbers decide, then statements, then words."""
        rows = []
        for name, cell in self.cells.items():
            words, (printed, agree) = self.words[name], self.counts(name)
            compared, same = self.counts(cell.of) if cell.of and not printed else (printed, agree)
            if "broken" in words or "differs" in words or same < AGREE * compared:
                status = "differs"
            else:
                status = "numbers agree" if compared else "shown"
                status = "shown, smaller run" if "smaller" in words else status
            broken = [
                f'Our numbers contradict the statement "{claim}"'
                for claim in words.get("broken", [])
            ]
            why = ". ".join([*broken, *self.reasons(name)])
            rows.append((name, words["what"], status, printed, agree, why))
        return pd.DataFrame(rows, columns=["cell", "what", "status", "printed", "agree", "why"])

    def seconds(self, name: str) -> float:
        """Return how long the result took on one core, as measured when it was stored."""
        times = read_table("results", self.name, "seconds").set_index("cell")["seconds"]
        return float(times[self.cells[name].of or name])


def replicate(
    paper: str | None = None, cell: str | None = None, *, rerun: bool = False
) -> pd.DataFrame | ggplot:
    """Replicate a table or figure of a source paper, beside the printed numbers.

    Parameters
    ----------
    paper : str, optional
        "molnar2021", "khan2025", "greenwell2018" or "wood2024". By default papers are listed.
    cell : str, optional
        Such as "table 4" or "figure 6". By default the paper's cells are listed.
    rerun : bool
        Compute the cell anew, in full size, instead of reading the result that the package holds.
        The log says beforehand how long it took when it was stored. Some cells need a data set
        (see ``pyinterp.datasets``), XGBoost or PyTorch. ``joblib.parallel_config(n_jobs=4)``
        around the call takes four cores.

    Returns
    -------
    pandas.DataFrame or plotnine.ggplot
        A picture of a figure. Of a table a frame: columns that name the number, `ours`, `printed`,
        `error` (the standard error of ours: of the simulation, of a mean over ten seeds, or of the
        sample where the cell is one data set), `difference` in such errors (with the rounding of
        the printed number, without the paper's unknown error), `erratum` (see the page of errata)
        and `status`, "agrees" up to 3 errors, or "differs". A number with an erratum is compared
        with the corrected print, or not at all. Khan's tables have a `kind`: an "identity" holds
        for every learner, a "zero" is of X6, which the response does not depend on.

        Of a paper a frame with `cell`, `what`, `status`, the number of `printed` numbers that are
        compared, how many `agree`, and `why`. The status is "numbers agree" if 95% of a cell's
        printed numbers do; "differs" if fewer do, or if a statement of the paper does not hold.
        A figure without printed numbers has the status of the table that it draws, or is "shown",
        or "shown, smaller run". Of all papers a frame with numbers and with cells by status.

    Raises
    ------
    OptionError
        If there is no such paper or cell.

    Examples
    --------
    >>> from pyinterp_papers import replicate
    >>> table = replicate("khan2025", "table 1")
    >>> (table["status"] == "agrees").sum().item(), (table["status"] == "differs").sum().item()
    (10, 0)
    """
    if paper is None and (cell is not None or rerun):
        raise OptionError(f"A cell needs its paper: give `paper`, one of {', '.join(PAPERS)}.")
    if paper is None:
        return _overview()
    chosen = paper_of(paper)
    if cell is None and rerun:
        raise OptionError("`rerun=True` is for one cell: give `cell`, such as `table 1`.")
    if cell is None:
        return chosen.frame()
    draw = chosen.cell(cell).draw
    result = chosen.result(cell)
    if rerun:
        LOG.warning("%s, %s took about %.0f s on one core.", paper, cell, chosen.seconds(cell))
        result = chosen.cells[cell].part(chosen.compute(cell))
    return chosen.numbers(cell, result) if draw is None else draw(result)


def paper_of(name: str) -> Paper:
    """Return a paper by name; raise if there is none."""
    check_one_of("paper", name, PAPERS)
    return cast("Paper", importlib.import_module(f"pyinterp_papers.{name}").PAPER)


def _overview() -> pd.DataFrame:
    """Return the papers with their printed numbers, and their cells by status."""
    rows = []
    for paper in map(paper_of, PAPERS):
        frame = paper.frame()
        cells = {"cells": len(frame), **{s: (frame["status"] == s).sum() for s in STATUSES}}
        numbers = frame[["printed", "agree"]].sum()
        rows.append({"paper": paper.name, "title": paper.words["title"], **numbers, **cells})
    return pd.DataFrame(rows)


def path_of(folder: str, paper: str, cell: str) -> Path:
    """Return the file of a table."""
    return Path(str(FOLDER / folder / f"{paper}_{cell.replace(' ', '_')}.csv"))


def read_table(folder: str, paper: str, cell: str) -> pd.DataFrame:
    """Return a table as it is stored; empty if it is not there."""
    path = path_of(folder, paper, cell)
    digits = str if folder == "printed" else None  # 8.00 is rounded to a hundredth
    return pd.read_csv(path, dtype=digits) if path.is_file() else pd.DataFrame()


def long(frames: Mapping[str, pd.DataFrame], name: str = "quantity") -> pd.DataFrame:
    """Return frames below each other, their names in a column."""
    return pd.concat(frames, names=[name]).reset_index(level=0).reset_index(drop=True)


def keys_of(result: pd.DataFrame) -> list[str]:
    """Return the columns that name the rows of a result."""
    return [str(column) for column in result if column not in ("ours", "error")]


def over_seeds(compute: Callable[[int], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
    """Return what computes means of a result over ten seeds, with their standard errors."""

    @wraps(compute)
    def means() -> pd.DataFrame:
        frame = pd.concat(map(compute, range(10)))
        groups = frame.groupby(keys_of(frame), sort=False)["ours"]
        return groups.agg(ours="mean", error="sem").reset_index()

    return means


def values(result: EstimandResults, name: str) -> pd.DataFrame:
    """Return estimates with their standard errors, terms in a column of that name."""
    frame = pd.DataFrame({"ours": result.params, "error": result.bse})
    return frame.rename_axis(name).reset_index()
