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
SMALL = {"omicron": "$o$", "final": r"$\varsigma$"}
GREEK = re.compile(r"greek (small|capital) letter (\w+)(?: sigma)?")
NUMBER = re.compile(r"-[\d.]+(e[+-]?\d+)?")


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return "".join(SPECIAL.get(c) or _letter(c) for c in text)


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
        f"\\caption{{{caption}}}" if caption else "",
        f"\\label{{{label}}}" if label else "",
        f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
    ]
    for k, (headings, *rows) in enumerate(blocks):
        lines += [r"\midrule" if k else r"\toprule", _row(headings), r"\midrule"]
        lines += map(_row, rows)
    lines += [r"\bottomrule", r"\end{tabular}"]
    if notes:
        items = [rf"\item[{f'{{{mark}}}' if mark else ''}] {escape_latex(t)}" for mark, t in notes]
        lines += [r"\begin{tablenotes}[flushleft]", r"\footnotesize", *items, r"\end{tablenotes}"]
    lines += [r"\end{threeparttable}", r"\end{table}"]
    return "\n".join(filter(None, lines)) + "\n"


def _row(texts: Sequence[str]) -> str:
    cells = [f"$-${text[1:]}" if NUMBER.fullmatch(text) else escape_latex(text) for text in texts]
    # The braces keep a heading such as "[0.025" from being read as an option of what precedes it.
    return "{}" + " & ".join(cells) + r" \\"


def _letter(character: str) -> str:
    """Return Greek letters in math, and others as they are: UTF-8 is LaTeX's encoding."""
    name = unicodedata.name(character, "").lower().replace("lamda", "lambda")
    match = GREEK.fullmatch(name.replace("micro sign", "greek small letter mu"))
    if match is None:
        return character
    size, letter = match.groups()
    if size == "small":
        return SMALL.get(letter, rf"$\{letter}$")
    return f"${LATIN[letter]}$" if letter in LATIN else rf"$\{letter.capitalize()}$"
