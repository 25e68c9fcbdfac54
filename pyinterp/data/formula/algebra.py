"""The algebra of terms: R's `+ - : * / ^` and `.` as sets of products of factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from pyinterp.data.formula.dialects import refuse_among_terms
from pyinterp.data.formula.expressions import Environment, Factor, column_factor, read_factor
from pyinterp.data.formula.tokens import Token, code_of
from pyinterp.errors import FormulaError, short

__all__ = ["Terms", "atom_end", "read_terms"]

MOST_PAIRS = 250_000  # pairs of terms that one product may have
DEEPEST = 50  # brackets in brackets

Products: TypeAlias = dict[frozenset[str], tuple[Factor, ...]]


class Terms(NamedTuple):
    """The right side of a formula: products of factors, and whether there is an intercept."""

    intercept: bool
    products: tuple[tuple[Factor, ...], ...]

    @property
    def names(self) -> set[str]:
        """Names that are used besides the variables."""
        return {name for product in self.products for factor in product for name in factor.names}


def read_terms(tokens: Sequence[Token], rest: Sequence[str], environment: Environment) -> Terms:
    """Read the right side of a formula.

    Parameters
    ----------
    tokens : sequence of Token
        The last marks the end.
    rest : sequence of str
        The columns that `.` stands for.
    environment : Environment
        What names in the code stand for.
    """
    return _Reader(tokens, rest, environment).terms()


def atom_end(tokens: Sequence[Token], start: int) -> int:
    """Return where the code that begins with a name ends: behind its brackets and attributes."""
    at = start + 1
    while True:
        text, after = tokens[at].text, tokens[min(at + 1, len(tokens) - 1)]
        if text == "." and after.kind == "name" and not tokens[at].space_before:
            at += 2
        elif text in ("(", "["):
            at = _closing(tokens, at)
        else:
            return at


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Return the position behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in ("(", "[", "{")) - (tokens[i].text in (")", "]", "}"))
        if depth == 0:
            return i + 1
    raise FormulaError(
        f"Can't read `{short(code_of(list(tokens)))}` as formula code: its brackets or quotes do "
        "not match."
    )


class _Reader:
    """Reads sums of products from left to right; as in R, `:` binds before `*` and `/`."""

    def __init__(
        self, tokens: Sequence[Token], rest: Sequence[str], environment: Environment
    ) -> None:
        self._tokens, self._rest, self._environment = tokens, rest, environment
        self._code = code_of(list(tokens))
        self._at = 0
        self._depth = 0
        self._intercept = True

    def terms(self) -> Terms:
        products = self._sum()
        if self._token.kind != "end":
            self._unreadable()
        return Terms(self._intercept, tuple(products.values()))

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str:
        """Return the next token and step behind it, if it is one of `texts`; else nothing."""
        text = self._token.text
        if self._token.kind != "operator" or text not in texts:
            return ""
        self._at += 1
        return text

    def _sum(self) -> Products:
        products: Products = {}
        sign = self._take("+", "-") or "+"
        first = True
        while sign:
            if not self._constant(sign):
                if first and sign == "-":
                    self._refuse("nothing stands before the `-` that could be left out")
                self._add(products, self._product(), sign)
            first = False
            sign = self._take("+", "-")
        return products

    def _add(self, products: Products, part: Products, sign: str) -> None:
        for key, factors in part.items():
            if sign == "+":
                products.setdefault(key, factors)
            else:
                products.pop(key, None)

    def _constant(self, sign: str) -> bool:
        """Read `0` or `1`, which speak of the intercept; the last one holds, as in R."""
        at = self._at
        negative = self._take("-") == "-"
        number = self._token
        if number.text not in ("0", "1") or self._tokens[self._at + 1].text in (":", "*", "/", "^"):
            self._at = at
            return False
        if self._depth:
            for token in self._tokens[self._at :]:  # lme4's (0 + x | id)
                if token.text in ("|", "||"):
                    refuse_among_terms(token.text, self._code)
            self._refuse("the intercept, `0`, `1` or `- 1`, must stand outside of brackets")
        self._at += 1
        self._intercept = (number.text == "1") == ((sign == "-") == negative)
        return True

    def _product(self) -> Products:
        left = self._interaction()
        while operator := self._take("*", "/"):
            right = self._interaction()
            within = left if operator == "*" else _all_in_one(left)
            left = left | (right if operator == "*" else {}) | self._cross(within, right)
        return left

    def _interaction(self) -> Products:
        left = self._power()
        while self._take(":"):
            left = self._cross(left, self._power())
        return left

    def _power(self) -> Products:
        start = self._at
        base = self._primary()
        if not self._take("^", "**"):
            return base
        if self._tokens[start].kind == "name":
            atom = short(code_of(list(self._tokens[start : self._at - 1])), 20)
            self._refuse(
                f"powers of terms are products of different terms, so that this is just `{atom}`; "
                f"for the square write `I({atom}**2)`"
            )
        power = self._exponent()
        products = big = base
        for _ in range(1, min(power, len(base))):
            big = self._cross(base, big)
            products = products | big
        return products

    def _exponent(self) -> int:
        number = self._token
        whole = number.text.removesuffix(".0")[:9]
        self._at += 1
        again = self._token.text in ("^", "**")
        if number.kind != "number" or not whole.isdecimal() or int(whole) < 1 or again:
            self._refuse("a power of terms must be one whole number from 1 on")
        return int(whole)

    def _cross(self, left: Products, right: Products) -> Products:
        if len(left) * len(right) > MOST_PAIRS:
            self._refuse(
                f"it would multiply {len(left):,} by {len(right):,} terms, and at most "
                f"{MOST_PAIRS:,} products are allowed; name the products that matter"
            )
        return {a | b: _distinct(p + q) for a, p in left.items() for b, q in right.items()}

    def _primary(self) -> Products:
        if self._token.kind == "name":
            return self._atom()
        if self._take("."):
            return {frozenset([f.key]): (f,) for f in map(column_factor, self._rest)}
        if not self._take("("):
            self._no_term()
        return self._bracket()

    def _no_term(self) -> NoReturn:
        token = self._token
        refuse_among_terms(token.text, self._code)
        if token.kind in ("number", "string"):
            self._refuse(
                f"`{short(token.text, 20)}` is not a variable, and the only numbers are the "
                "intercept's `0` and `1`"
            )
        self._unreadable()

    def _bracket(self) -> Products:
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"brackets may be {DEEPEST} deep")
        products = self._sum()
        if not self._take(")"):
            self._unreadable()
        self._depth -= 1
        if not products:
            self._refuse("nothing is left inside of a bracket")
        return products

    def _atom(self) -> Products:
        end = atom_end(self._tokens, self._at)
        refuse_among_terms(self._tokens[end].text, self._code)
        factor = read_factor(self._tokens[self._at : end], self._environment)
        self._at = end
        return {frozenset([factor.key]): (factor,)}

    def _unreadable(self) -> NoReturn:
        refuse_among_terms(self._token.text, self._code)
        stray = self._token.text
        reason = f"`{short(stray, 20)}` is not expected there" if stray else "it ends too early"
        if stray in (")", ""):
            depth = sum((t.text == "(") - (t.text == ")") for t in self._tokens)
            reason = "its brackets or quotes do not match" if depth else reason
        raise self._environment.columns.unreadable(self._code, reason)

    def _refuse(self, reason: str) -> NoReturn:
        raise FormulaError(f"Can't read the terms `{short(self._code)}`: {reason}.")


def _distinct(factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    return tuple(dict.fromkeys(factors))


def _all_in_one(products: Products) -> Products:
    """Return the product of all factors: what stands right of `/` is nested in it, as in R."""
    factors = _distinct(tuple(f for product in products.values() for f in product))
    return {frozenset(f.key for f in factors): factors}
