"""Tokens of a formula, those of R's operators that are only recognized to be refused included."""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import NamedTuple

from pyinterp.errors import FormulaError, short

__all__ = ["STRING", "Token", "code_of", "column_code", "read_tokens"]

INTERCEPT = "Intercept"  # patsy's name for the column of ones

STRING = r"[rRbBuUfF]{0,2}(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
_NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_OPERATOR = r"%[A-Za-z]*%|%[^\w\s%()]+%|<-|->|:=|:::?|\|\||&&|\*\*|//|==|!=|<=|>=|<<|>>|\.\.\.|."
_TOKEN = re.compile(rf"(?P<string>{STRING})|(?P<number>{_NUMBER})|(?P<operator>{_OPERATOR})")


class Token(NamedTuple):
    """A token, and whether white space stands before it."""

    kind: str  # "name", "string", "number", "operator" or "end"
    text: str
    space_before: bool


END = Token("end", "", False)


def read_tokens(code: str) -> list[Token]:
    """Return the tokens of `code`, and one that marks the end."""
    tokens: list[Token] = []
    at = 0
    while at < len(code):
        start = at
        while at < len(code) and code[at].isspace():
            at += 1
        if at == len(code):
            break
        token = _token_at(code, at, space_before=at > start)
        tokens.append(token)
        at += len(token.text)
    return [*tokens, END]


def code_of(tokens: list[Token]) -> str:
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


def _token_at(code: str, at: int, *, space_before: bool) -> Token:
    match = _TOKEN.match(code, at)
    if match is not None and match.lastgroup == "string":
        return Token("string", match.group(), space_before)
    if code[at].isidentifier():
        return Token("name", _name_at(code, at), space_before)
    if match is None or match.group() in ("'", '"'):
        raise FormulaError(
            f"Can't read `{short(code)}` as formula code: its brackets or quotes do not match."
        )
    return Token(str(match.lastgroup), match.group(), space_before)


def _name_at(code: str, at: int) -> str:
    end = at + 1
    while end < len(code) and f"a{code[end]}".isidentifier():
        end += 1
    return code[at:end]
