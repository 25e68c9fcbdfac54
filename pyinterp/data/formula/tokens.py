"""Tokens of a formula; R's operators are recognized to be refused."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyinterp.errors import FormulaError, short

INTERCEPT = "Intercept"  # patsy's name for the column of ones

STRING = r"[rRbBuUfF]{0,2}(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
_NAME = r"[^\W\d](?:\w|[^\x00-\x7f\s])*"  # letters may have marks that combine with them
_NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_OPERATOR = r"%[A-Za-z]*%|%[^\w\s%()]+%|<-|->|:=|:::?|\|\||&&|\*\*|//|==|!=|<=|>=|<<|>>|\.\.\.|."
_TOKEN = re.compile(
    rf"(?P<space>\s*)(?:(?P<string>{STRING})|(?P<name>{_NAME})|(?P<number>{_NUMBER})"
    rf"|(?P<operator>{_OPERATOR}))"
)
_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")


class Token(NamedTuple):
    """A token, and whether white space stands before it."""

    kind: str  # "name", "string", "number", "operator" or "end"
    text: str
    space_before: bool


def read_tokens(code: str) -> list[Token]:
    """Return the tokens of `code`, and one that marks the end."""
    matches = _TOKEN.finditer(code.strip())
    tokens = [Token(str(m.lastgroup), m[str(m.lastgroup)], m["space"] != "") for m in matches]
    if any(token.text in ("'", '"') for token in tokens):
        raise _bracket_error(code)
    return [*tokens, Token("end", "", False)]


def code_of(tokens: Iterable[Token]) -> str:
    """Return the code of some tokens."""
    return "".join(" " * token.space_before + token.text for token in tokens).strip()


def column_code(name: str) -> str:
    """Return the code of a column: the bare name if Python reads it as such, else ``Q("name")``."""
    # Python reads names in normal form NFKC, in which some names are others: µ (U+00B5) is μ.
    # patsy's tokens, besides, are of letters, without marks that combine with them.
    normal = unicodedata.normalize("NFKC", name) == name and re.fullmatch(r"\w+", name)
    if name.isidentifier() and normal and not keyword.iskeyword(name) and name != INTERCEPT:
        return name
    return f"Q({name!r})"


def atom_end(tokens: Sequence[Token], start: int) -> int:
    """Return where the code that begins with a name ends: behind its brackets and attributes."""
    at, depth = start + 1, 0
    while tokens[at].kind != "end":
        text, after = tokens[at].text, tokens[at + 1]
        attribute = text == "." and after.kind == "name" and not tokens[at].space_before
        if depth == 0 and not attribute and text not in ("(", "["):
            return at
        depth += (text in _OPEN) - (text in _CLOSE)
        at += 2 if attribute else 1
    if depth:
        raise _bracket_error(code_of(tokens))
    return at


def _bracket_error(code: str) -> FormulaError:
    """Return the error that says that brackets or quotes do not match."""
    return FormulaError(
        f"Can't read `{short(code)}` as formula code: its brackets or quotes do not match."
    )
