"""Cells of papers: their results beside the printed numbers, and whether statements hold."""

from __future__ import annotations

import importlib
import logging
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from joblib import parallel_config

from pyinterp.checks import check_flag, check_jobs
from pyinterp.errors import OptionError, did_you_mean, list_of, quote

if TYPE_CHECKING:
    from plotnine import ggplot

PAPERS = ("molnar2021", "greenwell2018", "khan2025", "wood2024")
FOLDER = files("pyinterp.papers")
NUMBERS = ("ours", "error")  # all other columns of a result name its rows
ERRORS = 3.0  # Monte Carlo errors up to which a number agrees with the printed one
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
    `says` of it, statements that tests check (``tests/papers``); its `status`, "reproduced" by
    default; `why` it differs, or how our size or software does; and its `erratum`.
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
        if not isinstance(name, str) or name not in self.cells:
            raise OptionError(
                f"`cell` must be a cell of {self.name}: {list_of(self.cells, 60, 1000)}; got "
                f"{quote(name)}.{did_you_mean(name, self.cells)}"
            )
        return self.cells[name]

    def result(self, name: str) -> pd.DataFrame:
        """Return the result of a cell that the package holds."""
        cell = self.cells[name]
        return cell.part(_table("results", self.name, cell.of or name))

    def compute(self, name: str) -> pd.DataFrame:
        """Compute the result of a cell anew, and of those that share it."""
        cell = self.cells[self.cells[name].of or name]
        return cast("Callable[[], pd.DataFrame]", cell.compute)()

    def numbers(self, name: str, result: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return a result, by default the stored one, beside the printed numbers."""
        result = self.result(name) if result is None else result
        keys = [str(column) for column in result if column not in NUMBERS]
        printed = _table("printed", self.name, name)
        if printed.empty:
            printed = pd.DataFrame(columns=[*keys, "printed"])
        elif "printed" not in printed:
            kept = [column for column in (*keys, "erratum") if column in printed]
            printed = printed.melt(kept, var_name="quantity", value_name="printed")
        keys_of_both = [name for name in keys if name in printed]
        printed = printed.astype(result.dtypes[keys_of_both])
        frame = result.merge(printed, "left", keys_of_both)
        rounding = frame["printed"].map(_unit, na_action="ignore").astype(float) / np.sqrt(12)
        errors = np.hypot(frame["error"].fillna(0), rounding)
        difference = (frame["ours"] - frame["printed"].astype(float)) / errors
        status = np.where(difference.abs() <= ERRORS, "agrees", "differs")
        erratum = self.words[name].get("erratum", "")
        if "erratum" in frame:
            erratum = frame["erratum"].astype(object).fillna("")
        return frame.assign(
            printed=frame["printed"].astype(float),
            difference=difference,
            erratum=erratum,
            status=np.where(difference.isna(), "", status),
        )[[*keys, "ours", "printed", "error", "difference", "erratum", "status"]]

    def frame(self) -> pd.DataFrame:
        """Return all cells with their status."""
        rows = []
        for name in self.cells:
            words = self.words[name]
            counts = self.numbers(name)["status"].value_counts()
            printed = counts.drop("", errors="ignore").sum()
            agree = f"{counts.get('agrees', 0)} of {printed} printed numbers agree"
            why = "; ".join(filter(None, [agree if printed else "", words.get("why", "")]))
            rows.append((name, words["what"], words.get("status", "reproduced"), why))
        return pd.DataFrame(rows, columns=["cell", "what", "status", "why"])

    def seconds(self, name: str) -> float:
        """Return how long the result took on one core, as measured when it was stored."""
        times = _table("results", self.name, "seconds").set_index("cell")["seconds"]
        return float(times.get(self.cells[name].of or name, np.nan))


def replicate(
    paper: str | None = None,
    cell: str | None = None,
    *,
    rerun: bool = False,
    n_jobs: int | None = None,
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
        (see ``pyinterp.datasets``), XGBoost or PyTorch.
    n_jobs : int, optional
        Jobs of a new computation.

    Returns
    -------
    pandas.DataFrame or plotnine.ggplot
        A picture of a figure. Of a table a frame: columns that name the number, `ours`,
        `printed`, `error` (the standard error of ours: of the simulation, or of the sample where
        the cell is one data set), `difference` in such errors (with the rounding of the printed
        number, without the paper's unknown error), `erratum` (see the page of errata) and `status`,
        "agrees" up to 3 errors, or "differs".

        Of a paper a frame with `cell`, `what`, `status` and `why`. A cell is "reproduced" if what
        the paper says of it holds for our numbers, and nearly all printed numbers agree; else it
        "differs", or is "not possible". Of all papers a frame with the number of cells by status.

    Raises
    ------
    OptionError
        If there is no such paper or cell.

    Examples
    --------
    >>> import pyinterp as pi
    >>> table = pi.replicate("khan2025", "table 1")
    >>> table["status"].value_counts()[["agrees", "differs"]].to_dict()
    {'agrees': 10, 'differs': 2}
    """
    check_flag("rerun", rerun)
    check_jobs(n_jobs, progress=False)
    if paper is None and (cell is not None or rerun):
        raise OptionError(f"A cell needs its paper: give `paper`, one of {list_of(PAPERS)}.")
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
        with parallel_config(n_jobs=n_jobs):
            result = chosen.cells[cell].part(chosen.compute(cell))
    return chosen.numbers(cell, result) if draw is None else draw(result)


def paper_of(name: str) -> Paper:
    """Return a paper by name; raise if there is none."""
    if name not in PAPERS:
        raise OptionError(
            f"`paper` must be one of {list_of(PAPERS)}; got {quote(name)}."
            f"{did_you_mean(name, PAPERS)}"
        )
    return cast("Paper", importlib.import_module(f"pyinterp.papers.{name}").PAPER)


def _overview() -> pd.DataFrame:
    """Return the papers with their numbers of cells."""
    rows = []
    for paper in map(paper_of, PAPERS):
        counts = paper.frame()["status"].value_counts()
        shares = {s: int(counts.get(s, 0)) for s in ("reproduced", "differs", "not possible")}
        rows.append(
            {"paper": paper.name, "title": paper.words["title"], "cells": counts.sum(), **shares}
        )
    return pd.DataFrame(rows)


def path_of(folder: str, paper: str, cell: str) -> Path:
    """Return the file of a table."""
    return Path(str(FOLDER / folder / f"{paper}_{cell.replace(' ', '_')}.csv"))


@cache
def read_table(folder: str, paper: str, cell: str) -> pd.DataFrame:
    """Return a table as it is stored; empty if it is not there."""
    path = path_of(folder, paper, cell)
    digits = str if folder == "printed" else None  # 8.00 is rounded to a hundredth
    return pd.read_csv(path, dtype=digits) if path.is_file() else pd.DataFrame()


def _table(folder: str, paper: str, cell: str) -> pd.DataFrame:
    return read_table(folder, paper, cell).copy()


def _unit(number: str) -> float:
    """Return the unit of the last printed digit."""
    return 10.0 ** int(Decimal(number).as_tuple().exponent)


def long(frames: Mapping[str, pd.DataFrame], name: str = "quantity") -> pd.DataFrame:
    """Return frames below each other, their names in a column."""
    return pd.concat(frames, names=[name]).reset_index(level=0).reset_index(drop=True)
