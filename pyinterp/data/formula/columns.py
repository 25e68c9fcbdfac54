"""The columns of the data, as code of formulas and queries names them."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterable
from functools import cached_property

from pyinterp.data.formula.tokens import column_code
from pyinterp.errors import FormulaError, did_you_mean, list_of, short

DEEPEST = 100  # deeper code makes Python's reader fail


class Columns:
    """Names of the columns of the data.

    Parameters
    ----------
    names : iterable of str
        In the order of the data.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._set = frozenset(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._set

    def column_of(self, name: str) -> str | None:
        """Return the column that a name in code stands for; None if there is none.

        It is the column of exactly this name, or else the only one that Python, which reads names
        in normal form NFKC, can't tell from it.
        """
        if name in self._set:
            return name
        alike = self._by_normal_form.get(unicodedata.normalize("NFKC", name), [])
        return alike[0] if len(alike) == 1 else None

    @cached_property
    def _by_normal_form(self) -> dict[str, list[str]]:
        """The columns by the name that Python reads in their place."""
        columns: dict[str, list[str]] = {}
        for name in self.names:
            columns.setdefault(unicodedata.normalize("NFKC", name), []).append(name)
        return columns

    def tree(self, code: str) -> ast.expr:
        """Return the syntax tree of an expression."""
        try:
            tree = ast.parse(code, mode="eval").body
        except SyntaxError as error:
            raise self.unreadable(code, error.msg) from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise self.unreadable(
                code, "it is too deep, or has characters of no meaning"
            ) from error
        level: list[ast.AST] = [tree]
        for _ in range(DEEPEST):
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        if level:
            raise self.unreadable(code, "it is too deep; compute the column before the formula")
        return tree

    def used_by(self, tree: ast.expr) -> tuple[str, ...]:
        """Return the columns that code uses, ``Q("...")`` included."""
        functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        nodes = (node for node in ast.walk(tree) if id(node) not in functions)
        names = dict.fromkeys(map(bare_name, nodes))
        return tuple(name for name in names if name is not None and name in self)

    def unknown_name(self, name: str) -> FormulaError:
        """Return the error that says that no column has this name."""
        longer = (c for c in self.names if c.startswith(name) and not c[len(name)].isalnum())
        hint = self.hint_on(next(longer, "")) or did_you_mean(name, self.names)
        return FormulaError(
            f"Can't find variable `{short(name)}` in the data, whose variables are "
            f"{list_of(self.names)}.{hint}"
        )

    def unreadable(self, code: str, reason: str) -> FormulaError:
        """Return the error that says that `code` can't be read, with the column it may mean."""
        return FormulaError(
            f"Can't read `{short(code)}` as formula code: {short(reason)}.{self.hint_on(code)}"
        )

    def hint_on(self, code: str) -> str:
        """Return how code names the column in it whose name is not Python's; empty if none is."""
        odd = next((c for c in self.names if column_code(c) != c and c.strip() and c in code), "")
        return odd and f" Write the column `{short(odd)}` as {short(column_code(odd))}."


def bare_name(node: ast.AST) -> str | None:
    """Return the name that code consists of, bare or as ``Q("name")``; None for other code."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="Q"), args=[ast.Constant(value=str(name))], keywords=[]):
            return name
    return None
