"""The tables of "If you come from R" are those of the description of R's functions.

Run as a script, this file writes them into the page.
"""

import re
from inspect import signature
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from shared import normal_rows
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.r_style.r_functions import FUNCTIONS, PARTIAL
from r_bridge.beside import CONVENTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from_r.md"
R_PACKAGE = PAGE.parents[1] / "r_package"


def table(header, rows):
    """Return a table in Markdown."""
    names = list(header)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in r) + " |" for r in lines
    )


def code(text):
    return f"`{text}`" if text else ""


def side(argument, name):
    reason = argument.refusal(name)
    return f"no: {reason.rstrip('.')}" if reason else code(argument.on(name))


def reasons(argument):
    """Return what arguments have in common that neither side takes, else the name."""
    sides = argument.refusal("r_style"), argument.refusal("r_bridge")
    return sides if all(sides) else (argument.name,)


def hands_on(function):
    """Whether the function hands arguments on to ``partial``, so that they stand there."""
    shared = next(argument for argument in PARTIAL.arguments if argument.name == "quantiles")
    return function is not PARTIAL and shared in function.arguments


def rows(function):
    """Yield a row per argument, or one for several that neither side takes."""
    there = PARTIAL.arguments if hands_on(function) else ()
    mine = [a for a in function.arguments if a not in there]
    for _, group in groupby(mine, reasons):
        arguments = list(group)
        first = arguments[0]
        ours, bridge = side(first, "r_style"), side(first, "r_bridge")
        yield (
            ", ".join(code(a.name) for a in arguments),
            code(first.default) if len(arguments) == 1 else "",
            code(first.method),
            ours,
            "likewise" if ours == bridge and ours.startswith("no:") else bridge,
        )


def section(function):
    """Return the table of one function under its name."""
    header = ["R", "default", "method of results", "`pi.r_style`", "`r_bridge`"]
    columns = len(header) - (function.name in ("vi", "vint"))  # which the bridge has not
    text = table(header[:columns], [row[:columns] for row in rows(function)])
    more = "\n\nAll others are those of `partial`." if hands_on(function) else ""
    return f"### {function.package}::{function.name}\n\n{text}{more}"


def conventions():
    """Return the table of conventions."""
    header = ["", "R", "here, by default", "here, as in R"]
    return table(
        header, [(c["topic"], c["r"], c["here"], c.get("same", "")) for c in CONVENTIONS.values()]
    )


TEXTS = {
    "arguments": lambda: "\n\n".join(map(section, FUNCTIONS.values())),
    "conventions": conventions,
}


def place(name):
    return re.compile(f"(<!-- {name}[^\n]*-->\n\n)(.*?)(\n\n<!-- end of {name} -->)", re.DOTALL)


@pytest.mark.parametrize("name", TEXTS)
def test_tables_are_those_of_the_description(name):
    match = place(name).search(PAGE.read_text(encoding="utf-8"))
    assert match is not None
    assert match[2] == TEXTS[name](), f"run python tests/docs/{Path(__file__).name}"


_, FRAME = normal_rows(30, "a b k")
MODELS = [
    pi.FittedModel(kind().fit(FRAME, y), FRAME, y)
    for kind, y in (
        (LinearRegression, FRAME["a"] * FRAME["b"]),
        (LogisticRegression, np.where(FRAME["a"] > 0, "yes", "no")),
    )
]
METHODS = {
    "partial": "pd",
    "vi_firm": "firm",
    "vi_permute": "pfi",
    "vint": "vint",
    "hstats": "h_statistic",
}
NEEDS = {"pfi": {"metric": "rmse", "permutations": 3}}  # what R's function has always
CELLS = [
    (METHODS[function.name], argument.method)
    for function in FUNCTIONS.values()
    if function.name in METHODS
    for argument in function.arguments
    if argument.method
]


@pytest.mark.parametrize(("method", "cell"), dict.fromkeys(CELLS))
def test_the_column_of_methods_can_be_called(method, cell):
    if "=" not in cell:
        assert cell in signature(getattr(MODELS[0], method)).parameters
        return
    names = {"pi": pi, "np": np, "p": [0.2, 0.8], "label": "yes"}
    options = NEEDS.get(method, {}) | eval(f"dict({cell})", names)  # noqa: S307 - our own page
    model = MODELS["logit" in cell or "probability" in cell or "label" in cell]
    first = () if method == "h_statistic" else (["a", "b"],) if "RGrid" in cell else ("a",)
    found = getattr(model, method)(*(() if method == "vint" else first), **options)
    assert np.isfinite(found.params).all()


def test_the_page_lists_the_functions_of_the_r_package():
    exports = re.findall(r"^export\((.+)\)$", (R_PACKAGE / "NAMESPACE").read_text(), re.MULTILINE)
    (row,) = re.findall(r"^\| `learn`.+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", row) == ", ".join(exports).split(", ")


def rewrite():
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    for name, text in TEXTS.items():
        page = place(name).sub(lambda m, text=text: m[1] + text() + m[3], page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
