"""The algebra of terms: R's `+ - : * / ^` and `.` as sets of products of factors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NoReturn

from pyinterp.data.formula.coding import Factor, RightSide
from pyinterp.data.formula.dialects import AMONG_TERMS, refuse
from pyinterp.data.formula.factors import FactorReader, column_factor
from pyinterp.data.formula.tokens import Token, atom_end, code_of
from pyinterp.errors import FormulaError, short

MOST_PAIRS = 250_000  # pairs of terms that one product may have
DEEPEST = 50  # brackets in brackets
BINDING = {"*": 1, "/": 1, ":": 2, "^": 3, "**": 3}  # as in R, `:` binds before `*` and `/`

Products = dict[frozenset[str], tuple[Factor, ...]]


class TermReader:
    """Reads the right side of a formula, sums of products, from left to right.

    Parameters
    ----------
    tokens : sequence of Token
        The last marks the end.
    rest : sequence of str
        The columns that `.` stands for.
    reader : FactorReader
        Reads the code inside.
    """

    def __init__(self, tokens: Sequence[Token], rest: Sequence[str], reader: FactorReader) -> None:
        self._tokens, self._rest, self._reader = tokens, rest, reader
        self._code = code = code_of(tokens)
        self._check_operator = partial(
            refuse, code=code, remedies=AMONG_TERMS, columns=reader.columns
        )
        self._at = self._depth = 0
        self._intercept = True

    def terms(self) -> RightSide:
        """Return the terms."""
        products = self._sum()
        if self._token.kind != "end":
            raise self._unreadable()
        return RightSide(self._intercept, tuple(products.values()))

    @property
    def _token(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str:
        """Return the next token and step behind it, if it is one of `texts`; else nothing."""
        text = self._token.text
        if self._token.kind != "operator" or text not in texts:
            return ""
        self._at += 1
        return text

    def _sum(self) -> Products:
        """Read terms that are joined by `+` and `-`, until something else comes."""
        products: Products = {}
        sign, first = self._take("+", "-") or "+", True
        while sign:
            if not self._constant(sign):
                if first and sign == "-":
                    self._refuse("nothing stands before the `-` that could be left out")
                for key, factors in self._product().items():
                    if sign == "+":
                        products.setdefault(key, factors)
                    else:
                        products.pop(key, None)
            sign, first = self._take("+", "-"), False
        return products

    def _constant(self, sign: str) -> bool:
        """Read `0` or `1`, which speak of the intercept; the last one holds, as in R."""
        at = self._at
        negative = self._take("-") == "-"
        number = self._token
        if number.text not in ("0", "1") or self._tokens[self._at + 1].text in BINDING:
            self._at = at
            return False
        if self._depth:
            for token in self._tokens[self._at :]:  # lme4's (0 + x | id)
                if token.text in ("|", "||"):
                    self._check_operator(token.text)
            self._refuse("the intercept, `0`, `1` or `- 1`, must stand outside of brackets")
        self._at += 1
        self._intercept = (number.text == "1") == ((sign == "-") == negative)
        return True

    def _product(self, least: int = 1) -> Products:
        """Read terms that are joined by operators that bind at least so tightly."""
        start = self._at
        left = self._term()
        while BINDING.get(self._token.text, 0) >= least:
            operator = self._take(*BINDING)
            if operator in ("^", "**"):
                left = self._power(left, start)
                continue
            right = self._product(BINDING[operator] + 1)
            if operator == ":":
                left = self._cross(left, right)
            elif operator == "*":
                left = left | right | self._cross(left, right)
            else:  # the right side of `/` is nested in all of the left side, as in R
                factors = dict.fromkeys(f for product in left.values() for f in product)
                whole = {frozenset(f.key for f in factors): tuple(factors)}
                left = left | self._cross(whole, right)
        return left

    def _cross(self, left: Products, right: Products) -> Products:
        """Return the products of every term on the left with every term on the right."""
        if len(left) * len(right) > MOST_PAIRS:
            self._refuse(
                f"it would multiply {len(left):,} by {len(right):,} terms, and at most "
                f"{MOST_PAIRS:,} products are allowed; name the products that matter"
            )
        return {
            a | b: tuple(dict.fromkeys(p + q)) for a, p in left.items() for b, q in right.items()
        }

    def _power(self, base: Products, start: int) -> Products:
        """Return the products of up to so many terms as the number that follows."""
        if self._tokens[start].kind == "name":
            atom = short(code_of(self._tokens[start : self._at - 1]), 20)
            self._refuse(
                f"powers of terms are products of different terms, so that this is just `{atom}`; "
                f"for the square write `I({atom}**2)`"
            )
        number = self._token
        whole = number.text.removesuffix(".0")[:9]
        self._at += 1
        again = self._token.text in ("^", "**")
        if number.kind != "number" or not whole.isdecimal() or int(whole) < 1 or again:
            self._refuse("a power of terms must be one whole number from 1 on")
        products = of_most = base
        for _ in range(1, min(int(whole), len(base))):
            of_most = self._cross(base, of_most)
            products = products | of_most
        return products

    def _term(self) -> Products:
        """Read one factor, the columns of `.`, or a sum in brackets."""
        token = self._token
        if token.kind == "name":
            end = atom_end(self._tokens, self._at)
            self._check_operator(self._tokens[end].text)
            factor = self._reader.read(self._tokens[self._at : end])
            self._at = end
            return {frozenset([factor.key]): (factor,)}
        if self._take("."):
            return {frozenset([f.key]): (f,) for f in map(column_factor, self._rest)}
        if self._take("("):
            return self._bracket()
        self._check_operator(token.text)
        if token.kind in ("number", "string"):
            self._refuse(
                f"`{short(token.text, 20)}` is not a variable, and the only numbers are the "
                "intercept's `0` and `1`"
            )
        raise self._unreadable()

    def _bracket(self) -> Products:
        """Read the sum in brackets, after the opening one."""
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"brackets may be {DEEPEST} deep")
        products = self._sum()
        if not self._take(")"):
            raise self._unreadable()
        self._depth -= 1
        if not products:
            self._refuse("nothing is left inside of a bracket")
        return products

    def _unreadable(self) -> FormulaError:
        """Return the error that says why the formula can't go on with the next token."""
        stray = self._token.text
        self._check_operator(stray)
        texts = [token.text for token in self._tokens]
        if stray in (")", "") and texts.count("(") != texts.count(")"):
            reason = "its brackets or quotes do not match"
        else:
            reason = f"`{short(stray, 20)}` is not expected there" if stray else "it ends too early"
        return self._reader.columns.unreadable(self._code, reason)

    def _refuse(self, reason: str) -> NoReturn:
        """Raise `FormulaError` with the reason why terms can't be read."""
        raise FormulaError(f"Can't read the terms `{short(self._code)}`: {reason}.")
