r"""The loaders: one function that loads any data set, and one for each with its description.

The table of data sets is ``tables.toml``. The canonical text of a data set is a CSV in UTF-8 with
commas, one header line, ``\n`` line ends, no index, numbers as plain decimals with the fewest
digits that give the same double (``7`` and not ``7.0``, no exponent), and levels as text. Its
SHA-256 identifies a table whatever file or service it came from.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from http.client import HTTPException
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeAlias, get_args

from pyinterp.checks import check_choice
from pyinterp.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DATA_SETS",
    "DataSet",
    "load",
    "load_airfoil",
    "load_ames",
    "load_concrete",
    "load_diabetes",
    "load_pima_diabetes",
    "load_wine_quality",
]

P = ParamSpec("P")
Folder: TypeAlias = str | os.PathLike[str] | None
WineColor = Literal["red", "white"]
Zeros = Literal["keep", "missing"]

FOLDER_VARIABLE = "PYINTERP_DATA"
HERE = resources.files("pyinterp.datasets")
ZERO_IS_MISSING = ["glucose", "pressure", "triceps", "insulin", "mass"]


class Column(NamedTuple):
    """A column: its name, its type (int64, float64 or category), and its unit."""

    name: str
    dtype: str
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
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.columns)

    @property
    def openml_sha256(self) -> str:
        """SHA-256 that the canonical text of the OpenML copy must have."""
        return self.sha256_15_digits or self.sha256


def _data_sets() -> Iterator[DataSet]:
    entries: dict[str, dict[str, Any]] = tomllib.loads(
        HERE.joinpath("tables.toml").read_text("utf-8")
    )
    for name, entry in entries.items():
        values = {**entries.get(entry.pop("like", ""), {}), **entry}
        lines = values.pop("columns").strip().splitlines()
        columns = tuple(Column(*line.split(maxsplit=2)) for line in lines)
        yield DataSet(name=name, columns=columns, **values)


DATA_SETS: Mapping[str, DataSet] = {spec.name: spec for spec in _data_sets()}


def load(name: str, *, data_home: Folder = None) -> pd.DataFrame:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        "wine_quality_red", "wine_quality_white", "concrete", "pima_diabetes", "airfoil", "ames"
        or "diabetes". The functions ``load_...`` describe the data sets.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: scikit-learn's own), for data that come
        neither with this package nor with scikit-learn. Not used when the environment variable
        ``PYINTERP_DATA`` names a folder with the CSV files.

    Returns
    -------
    pandas.DataFrame
        In the source's row order.

    Raises
    ------
    OptionError
        If there is no data set of that name.
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Examples
    --------
    >>> from pyinterp.datasets import load
    >>> load("diabetes").shape
    (442, 11)
    """
    check_choice("name", name, tuple(DATA_SETS))
    spec = DATA_SETS[name]
    if not spec.sha256:
        from sklearn import datasets  # noqa: PLC0415

        frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True, scaled=False).frame
        return frame.rename(columns={"target": spec.response})
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not spec.openml_id:
        content = HERE.joinpath(spec.file).read_bytes()
    else:
        content = _read_folder(spec, folder) if folder else _read_openml(spec, data_home)
    return parse_csv(content, spec)


def parse_csv(content: bytes, spec: DataSet) -> pd.DataFrame:
    """Return the data frame of a canonical text, in which ``None`` and ``NA`` are levels."""
    import pandas as pd  # noqa: PLC0415

    texts = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, na_values=[""])
    # The parser's own numbers may be off by one unit in the last place.
    return texts.astype({column.name: column.dtype for column in spec.columns})


def _read_folder(spec: DataSet, folder: str) -> bytes:
    """Return the checked bytes of the file in `folder`."""
    unset = f"or unset {FOLDER_VARIABLE} to download the data from OpenML."
    try:
        content = (Path(folder).expanduser() / spec.file).read_bytes()
    except OSError as error:
        raise DataError(
            f"{FOLDER_VARIABLE} must name a folder that holds {spec.file}, but that file can't be "
            f"read in {folder!r}: {type(error).__name__}. Put the file there, {unset}"
        ) from error
    got = hashlib.sha256(content).hexdigest()
    if got != spec.sha256:
        raise DataError(
            f"{spec.file} in {folder!r} must have the SHA-256 {spec.sha256}, but has {got}. "
            f"Replace the file by the unaltered one (line ends count), {unset}"
        )
    return content


def _read_openml(spec: DataSet, data_home: Folder) -> bytes:
    """Return the checked canonical text of OpenML's copy."""
    from sklearn import datasets  # noqa: PLC0415

    use_folder = f"set {FOLDER_VARIABLE} to a folder that holds {spec.file}"
    try:
        bunch = datasets.fetch_openml(
            data_id=spec.openml_id, as_frame=True, parser="auto", data_home=data_home
        )
    except (OSError, HTTPException, EOFError, ValueError) as error:
        raise DataError(
            f"The data set `{spec.name}` must be downloaded from OpenML (data_id="
            f"{spec.openml_id}), but that failed with {type(error).__name__}: {error}; check the "
            f"network, or {use_folder}."
        ) from error
    content = openml_csv(bunch.frame, spec)
    got = hashlib.sha256(content).hexdigest()
    if got != spec.openml_sha256:
        raise DataError(
            f"OpenML's copy of `{spec.name}` (data_id={spec.openml_id}) differs from the pinned "
            f"data: its canonical CSV must have the SHA-256 {spec.openml_sha256}, but has {got}. "
            f"To go on with the pinned data, {use_folder}."
        )
    return content


def openml_csv(frame: pd.DataFrame, spec: DataSet) -> bytes:
    """Return the canonical CSV text of a table in OpenML's layout.

    Columns are matched by name, without case and punctuation, and put in order. What is not a
    number in a numeric column is kept as it is, for the checksum to find.

    Raises
    ------
    DataError
        If a column is missing or ambiguous.
    """
    import pandas as pd  # noqa: PLC0415

    texts = {}
    for column in spec.columns:
        title = spec.openml_names.get(column.name, column.name)
        matches = [name for name in frame.columns if _fold(str(name)) == _fold(title)]
        if len(matches) != 1:
            raise DataError(
                f"OpenML data set {spec.openml_id} must have one column `{title}`, but has "
                f"{len(matches)} among {', '.join(map(str, frame.columns))}. "
                f"Set {FOLDER_VARIABLE} to a folder that holds {spec.file}."
            )
        texts[column.name] = [_openml_text(value, column, spec) for value in frame[matches[0]]]
    return pd.DataFrame(texts).to_csv(index=False, lineterminator="\n").encode()


def _fold(name: str) -> str:
    """Return `name` without case and punctuation."""
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def _openml_text(value: Any, column: Column, spec: DataSet) -> str:
    """Return the canonical text of a value of OpenML's copy of `column`.

    Numbers are cut to 15 significant digits, which undoes an error in the last place, and rounded
    where `spec` says so.
    """
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if pd.isna(value):
        return ""
    text = str(value)
    if column.dtype == "category":
        return spec.levels.get(text, text)
    try:
        number = Decimal(f"{float(text):.15g}")
        if column.name in spec.decimals:
            number = number.quantize(Decimal(1).scaleb(-spec.decimals[column.name]), ROUND_HALF_UP)
        return np.format_float_positional(float(number), trim="-")
    except (ValueError, InvalidOperation):
        return text


# What docstrings say, section by section.
DATA_HOME = """\
data_home : path, optional
    Folder of scikit-learn's download cache (default: scikit-learn's own), for {}.
    Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file."""
OPTION_ERROR = """\
OptionError
    If an option has no such value."""
DATA_ERROR = """\
DataError
    If the data can't be found or downloaded, or are not the pinned ones (SHA-256)."""
RETURNS = """\
pandas.DataFrame, shape {}
    In the source's row order, with the columns

{}"""
EXAMPLE = """\
>>> from pyinterp.datasets import {loader}
>>> {loader}().shape{skip}
{shape}"""


def _loads(*names: str) -> Callable[[Callable[P, pd.DataFrame]], Callable[P, pd.DataFrame]]:
    """Let the docstring of a loader describe data sets of the same columns.

    The loader's own has one sentence and, after a blank line, its options.
    """
    specs = [DATA_SETS[name] for name in names]
    first, online = specs[0], [f"``{spec.file}``" for spec in specs if spec.openml_id]

    def described(loader: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        summary, _, options = inspect.cleandoc(loader.__doc__ or "").partition("\n\n")
        shapes = " or ".join(str(spec.shape) for spec in specs)
        example = EXAMPLE.format(
            loader=loader.__name__,
            skip="  # doctest: +SKIP" if first.openml_id else "",
            shape=first.shape,
        )
        sections = {
            "Parameters": [options, DATA_HOME.format(" and ".join(online)) if online else ""],
            "Returns": [RETURNS.format(shapes, _table(first))],
            "Raises": [OPTION_ERROR if options else "", DATA_ERROR if online else ""],
            "Notes": [first.notes],
            "References": [first.citation],
            "Examples": [example],
        }
        parts = [summary, first.about.strip()]
        for title, texts in sections.items():
            text = "\n".join(filter(None, texts)).strip()
            if text:
                parts.append(f"{title}\n{'-' * len(title)}\n{text}")
        loader.__doc__ = "\n\n".join(parts) + "\n"
        return loader

    return described


def _table(spec: DataSet) -> str:
    """Return the columns as a table of reStructuredText."""
    rows = [
        (name, dtype, f"**response**: {unit}" if name == spec.response else unit)
        for name, dtype, unit in spec.columns
    ]
    header = ("Column", "Type", "Unit")
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    rule = tuple("=" * width for width in widths)
    return "\n".join(
        "    " + "  ".join(map(str.ljust, cells, widths)).rstrip()
        for cells in (rule, header, rule, *rows, rule)
    )


@_loads("wine_quality_red", "wine_quality_white")
def load_wine_quality(color: WineColor = "red", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the physicochemical measurements and the taste score of red or white wines.

    color : {"red", "white"}
        Which of the two tables.
    """
    check_choice("color", color, get_args(WineColor))
    return load(f"wine_quality_{color}", data_home=data_home)


@_loads("concrete")
def load_concrete(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the composition, age and compressive strength of concrete samples."""
    return load("concrete", data_home=data_home)


@_loads("pima_diabetes")
def load_pima_diabetes(zeros: Zeros = "keep", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the medical measurements and the diabetes status of 768 women of Pima descent.

    zeros : {"keep", "missing"}
        What to do with zeros that can't be: keep them, as in the source, or set them to NaN. The
        columns concerned and how often: glucose 5, pressure 35, triceps 227, insulin 374, mass 11.
        With "missing" these five are float64.
    """
    check_choice("zeros", zeros, get_args(Zeros))
    frame = load("pima_diabetes", data_home=data_home)
    if zeros == "missing":
        measured = frame[ZERO_IS_MISSING].astype("float64")
        frame[ZERO_IS_MISSING] = measured.mask(measured == 0)
    return frame


@_loads("airfoil")
def load_airfoil(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the design and the sound pressure level of airfoils in a wind tunnel."""
    return load("airfoil", data_home=data_home)


@_loads("ames")
def load_ames(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the sale price and 80 properties of houses sold in Ames, Iowa, from 2006 to 2010."""
    return load("ames", data_home=data_home)


@_loads("diabetes")
def load_diabetes() -> pd.DataFrame:
    """Return the baseline measurements and the one-year progression of 442 diabetes patients."""
    return load("diabetes")
