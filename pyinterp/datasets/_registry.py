"""Descriptions of all data sets, read from ``tables.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Literal, NamedTuple, cast

__all__ = ["DATA_SETS", "Column", "DataSet"]

Dtype = Literal["int64", "float64", "category"]


class Column(NamedTuple):
    """A column: its name, its type in the data frame, and its unit."""

    name: str
    dtype: Dtype
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set: its checksums, columns, description and citation.

    Parameters
    ----------
    name : str
        Name of the data set and, with ``.csv``, of its file.
    columns : tuple of Column
        Columns in order.
    n_rows : int
        Rows.
    response : str
        Name of the response.
    about, notes, citation : str
        Paragraphs of the loader's docstring.
    sha256 : str
        SHA-256 of the canonical CSV's bytes; empty for data that come with scikit-learn.
    sha256_15_digits : str
        SHA-256 of the canonical text with numbers cut to 15 significant digits, where that
        differs from `sha256`.
    openml_id : int
        OpenML identifier of the copy whose layout needs the least change; 0 if the data come with
        this package, or with scikit-learn.
    openml_names : mapping of str to str
        Names at OpenML of columns whose names differ there.
    decimals : mapping of str to int
        Decimals of columns. A copy with more is rounded half up, in decimal.
    levels : mapping of str to str
        OpenML's text of levels, and the canonical text. Levels not listed stay.
    """

    name: str
    columns: tuple[Column, ...]
    n_rows: int = 0
    response: str = ""
    about: str = ""
    notes: str = ""
    citation: str = ""
    sha256: str = ""
    sha256_15_digits: str = ""
    openml_id: int = 0
    openml_names: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Name of the canonical CSV file."""
        return f"{self.name}.csv"

    @property
    def online(self) -> bool:
        """Whether the data come from a folder or from OpenML."""
        return self.openml_id > 0

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.columns)

    @property
    def openml_sha256(self) -> str:
        """SHA-256 that the normalized OpenML copy must have."""
        return self.sha256_15_digits or self.sha256


def _columns(lines: str) -> Iterator[Column]:
    for line in lines.strip().splitlines():
        name, dtype, *unit = line.split(maxsplit=2)
        yield Column(name, cast("Dtype", dtype), *unit)


def _data_sets() -> Iterator[DataSet]:
    text = resources.files("pyinterp.datasets").joinpath("tables.toml").read_text("utf-8")
    entries: dict[str, dict[str, Any]] = tomllib.loads(text)
    for name, entry in entries.items():
        values = {**entries.get(entry.pop("like", ""), {}), **entry}
        yield DataSet(name=name, **{**values, "columns": tuple(_columns(values["columns"]))})


DATA_SETS: Mapping[str, DataSet] = {spec.name: spec for spec in _data_sets()}
