"""The papers that results rest on, in BibTeX and as text; they are in ``references.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from pyinterp import __version__
from pyinterp.errors import OptionError, quote
from pyinterp.learner.interpretable import Interpretable
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOfEstimands

FIELDS = ("author", "title", "journal", "year", "volume", "number", "pages", "note")
PACKAGE = "pyinterp"


def cite(*results: object) -> str:
    """Return BibTeX of the sources of results: this package, and the papers of their methods.

    These are the papers of the estimand, of the variance, and of the idea that a learner, not one
    fitted model, has an effect. The result of ``fit`` has the last two, a study those of its
    target. Each paper stands once.

    Parameters
    ----------
    *results : LearnerResults, FittedModel, EstimandResults, or results of several or of a study
        For example ``res``, ``res.pfi()``, ``res.importance()``, or the results of a
        ``CoverageStudy``.

    Returns
    -------
    str
        Entries in the order of their keys; the package is the first. In UTF-8, as biber and
        BibTeX read it.

    Raises
    ------
    OptionError
        Without results, or if something else is among them.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> model = LinearRegression().fit(data[["bmi"]], data["progression"])
    >>> fm = pi.FittedModel(model, data[["bmi"]], data["progression"])
    >>> [line for line in pi.cite(fm.pd("bmi")).splitlines() if line.startswith("@")]
    ['@misc{pyinterp,', '@article{friedman2001,']
    """
    if not results:
        raise OptionError("`cite` needs a result, such as `pi.cite(res.pfi())`.")
    keys = {key for one in results for key in papers_of(one)}
    return "\n".join(map(_bibtex, (PACKAGE, *sorted(keys))))


def papers_of(results: object) -> Iterator[str]:
    """Yield the keys of the papers behind results, which may repeat."""
    tables, kind = references(), type(results).__name__
    if isinstance(results, TableOfEstimands):
        for part in results.parts:
            yield from _of_estimand(part)
    elif isinstance(results, Interpretable):
        if results.analysis.context.level == "learner":  # the variance that its plan has
            yield from _of_estimand(results.loss())
    elif kind in tables["studies"]:
        yield from tables["studies"][kind]
    else:
        raise OptionError(
            "`cite` is of results: of `Learner.fit`, of an estimand such as `res.pfi()`, of a "
            f"`FittedModel` or of a study, not of {quote(results)}."
        )


def _of_estimand(results: EstimandResults) -> Iterator[str]:
    """Yield the papers of the estimand and its diagnostics, of the variance and of the level."""
    tables = references()
    for one in (results, *results.diagnostics):
        yield from tables["estimands"].get(one.estimand.words.label, ())
    if results.bse.gt(0).any():
        yield from tables["variances"].get(results.cov_type, ())
    yield from tables["levels"].get(results.context.level, ())


@cache
def references() -> dict[str, dict[str, Any]]:
    """Return the tables of ``references.toml``."""
    text = files("pyinterp.report_page").joinpath("references.toml").read_text("utf-8")
    return tomllib.loads(text)


def as_text(key: str) -> str:
    """Return a paper in words: surnames, year, title, journal with volume and pages."""
    paper = references()["papers"][key]
    authors = ", ".join(name.partition(",")[0] for name in paper["author"].split(" and "))
    number = f"({paper['number']})" if "number" in paper else ""
    place = f" {paper['volume']}{number}, {paper['pages']}" if "volume" in paper else ""
    title = paper["title"].translate(str.maketrans("", "", "{}"))
    end = "" if title.endswith("?") else "."
    return f"{authors} ({paper['year']}). {title}{end} {paper['journal']}{place}."


def _bibtex(key: str) -> str:
    """Return the BibTeX entry of a paper, or of the package in this version."""
    paper = dict(references()["papers"][key])
    if key == PACKAGE:
        paper["note"] = f"Python package, version {__version__}"
    values = [f"  {name} = {{{paper[name]}}}" for name in FIELDS if name in paper]
    lines = ",\n".join(values)
    return f"@{paper.get('type', 'article')}{{{key},\n{lines}\n}}\n"
