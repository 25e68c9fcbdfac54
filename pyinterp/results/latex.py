"""LaTeX of tables: booktabs rules, notes by threeparttable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["escape_latex", "latex_float"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{c: f"\\{c}" for c in "%&#_{}$"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": "",
    "²": "$^2$",
    "³": "$^3$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}
# These look like Latin letters, which LaTeX uses for them.
LATIN = {
    "alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I", "kappa": "K",
    "mu": "M", "nu": "N", "omicron": "O", "rho": "P", "tau": "T", "upsilon": "Y", "chi": "X",
}  # fmt: skip
NUMBER = re.compile(r"-[\d.]+(e[+-]?\d+)?")


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return "".join(SPECIAL.get(c) or _letter(c) for c in text) if text else ""


def latex_float(
    blocks: Sequence[Sequence[Sequence[str]]],
    *,
    caption: str,
    label: str,
    notes: Sequence[tuple[str, str]],
) -> str:
    """Return a floating table.

    Parameters
    ----------
    blocks : sequence of rows of cells
        The first row of each has its headings.
    caption : str
        In LaTeX.
    label : str
    notes : sequence of (str, str)
        Mark, such as "[1]", and text.
    """
    columns = max(len(row) for block in blocks for row in block)
    lines = [
        r"% \usepackage{booktabs,threeparttable}",
        r"\begin{table}",
        r"\centering",
        r"\begin{threeparttable}",
        *([f"\\caption{{{caption}}}"] if caption else []),
        *([f"\\label{{{label}}}"] if label else []),
        f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
        *_body(blocks),
        r"\end{tabular}",
        *_notes(notes),
        r"\end{threeparttable}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _body(blocks: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    lines = []
    for k, (first, *others) in enumerate(blocks):
        lines += [r"\midrule" if k else r"\toprule", _row(first), r"\midrule", *map(_row, others)]
    return [*lines, r"\bottomrule"]


def _row(cells: Sequence[str]) -> str:
    # The braces keep a heading such as "[0.025" from being read as an option of what precedes it.
    return "{}" + " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    return f"$-${text[1:]}" if NUMBER.fullmatch(text) else escape_latex(text)


def _notes(notes: Sequence[tuple[str, str]]) -> list[str]:
    if not notes:
        return []
    items = [
        f"\\item{f'[{{{mark}}}]' if mark else '[]'} {escape_latex(text)}" for mark, text in notes
    ]
    return [r"\begin{tablenotes}[flushleft]", r"\footnotesize", *items, r"\end{tablenotes}"]


def _letter(character: str) -> str:
    """Return Greek letters in math, and others as they are: UTF-8 is LaTeX's encoding."""
    name = unicodedata.name(character, "").lower()
    if name == "micro sign":
        return r"$\mu$"
    words = name.split()
    if words[:1] != ["greek"] or len(words) != 4 or words[2] != "letter":
        return character
    size, letter = words[1], {"lamda": "lambda"}.get(words[3], words[3])
    if letter == "omicron":
        return "$o$" if size == "small" else "$O$"
    if size == "small":
        return r"$\varsigma$" if letter == "final" else f"$\\{letter}$"
    return f"${LATIN[letter]}$" if letter in LATIN else f"$\\{letter.capitalize()}$"
