"""Docstrings of loaders, written from the table of data sets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from pyinterp.datasets._registry import DataSet

__all__ = ["docstring"]

DATA_HOME = """\
data_home : path, optional
    Folder of scikit-learn's download cache (default: scikit-learn's own), for {files}.
    Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file."""

OPTION_ERROR = """\
OptionError
    If an option has no such value."""

DATA_ERROR = """\
DataError
    If the data can't be found or downloaded, or are not the pinned ones (SHA-256)."""

RETURNS = """\
pandas.DataFrame, shape {shapes}
    In the source's row order, with the columns

{columns}"""

EXAMPLE = """\
>>> from pyinterp.datasets import {loader}
>>> {loader}().shape{skip}
{shape}"""


def docstring(loader: Callable[..., object], specs: Sequence[DataSet]) -> str:
    """Return the docstring of a function that loads some data sets of the same columns.

    Parameters
    ----------
    loader : callable
        With a docstring of one sentence and, after a blank line, its options.
    specs : sequence of DataSet
    """
    first, online = specs[0], [spec for spec in specs if spec.online]
    summary, _, options = inspect.cleandoc(loader.__doc__ or "").partition("\n\n")
    files = " and ".join(f"``{spec.file}``" for spec in online)
    sections = {
        "Parameters": [options, DATA_HOME.format(files=files) if online else ""],
        "Returns": [
            RETURNS.format(
                shapes=" or ".join(str(spec.shape) for spec in specs), columns=_table(first)
            )
        ],
        "Raises": [OPTION_ERROR if options else "", DATA_ERROR if online else ""],
        "Notes": [first.notes],
        "References": [first.citation],
        "Examples": [
            EXAMPLE.format(
                loader=loader.__name__,
                skip="  # doctest: +SKIP" if first.online else "",
                shape=first.shape,
            )
        ],
    }
    return "\n\n".join([summary, first.about.strip(), *_sections(sections)]) + "\n"


def _sections(sections: dict[str, list[str]]) -> list[str]:
    """Return the sections that are not empty, in numpydoc's form."""
    texts = {title: "\n".join(filter(None, parts)).strip() for title, parts in sections.items()}
    return [f"{title}\n{'-' * len(title)}\n{text}" for title, text in texts.items() if text]


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
