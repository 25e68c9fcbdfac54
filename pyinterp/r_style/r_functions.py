"""The functions of R's pdp, vip and hstats: their arguments, as R has them and as we do.

`pyinterp.r_style` has these functions without R, `r_bridge` calls them in R. Both check and refuse
arguments by the table ``r_functions.toml``, docstrings are written from it, and so are the tables
in `docs/from_r.md`: ``python tests/docs/test_from_r.py`` writes them. Arguments and defaults are
as in pdp 0.9.1, vip 0.4 (`vint` of 0.3.2) and hstats 1.1.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import resources
from inspect import Parameter, Signature, signature
from textwrap import fill, indent
from typing import Any, Literal, ParamSpec, TypeVar

from pyinterp.checks import (
    NOT_NEGATIVE,
    Interval,
    check_callable,
    check_choice,
    check_count,
    check_flag,
    check_number,
)
from pyinterp.parameters import takes
from pyinterp.representation import frozen

P = ParamSpec("P")
R = TypeVar("R")

# Who has the function: `pyinterp.r_style` computes itself, `r_bridge` calls R.
Side = Literal["r_style", "r_bridge"]
WIDTH = 88  # of lines in docstrings, without their indentation
INTERVALS = {"not negative": NOT_NEGATIVE, "share": Interval(0, 1, "high")}


@frozen
class Argument:
    """An argument of a function of R, as the table describes it.

    Attributes
    ----------
    name : str
        R's name.
    default : str
        As R writes it; empty if R has none.
    values, text : str
        Text of docstrings: the values that it takes, and their meaning. Empty if the two sides
        describe it themselves.
    least : int
        The least whole number that it takes.
    interval : str
        Where its numbers must be, a key of `INTERVALS`.
    method : str
        What says the same in a method of results.
    r_style, r_bridge : str
        The name on that side; empty for R's name with dots as underscores.
    not_r_style, not_r_bridge, neither : str
        Why one side, or both, refuse it, and the remedy: it ends the sentence "f()
        takes no keyword argument `x`: ".
    """

    name: str
    default: str = ""
    values: str = ""
    text: str = ""
    least: int = 0
    interval: str = ""
    method: str = ""
    r_style: str = ""
    r_bridge: str = ""
    not_r_style: str = ""
    not_r_bridge: str = ""
    neither: str = ""

    @property
    def word(self) -> str:
        """R's name with dots as underscores."""
        return self.name.replace(".", "_")

    def on(self, side: Side) -> str:
        """Return the name on one side."""
        return (self.r_style if side == "r_style" else self.r_bridge) or self.word

    def refusal(self, side: Side) -> str:
        """Return why one side refuses it; empty if it does not."""
        return self.neither or (self.not_r_style if side == "r_style" else self.not_r_bridge)

    def check(self, value: object) -> None:
        """Raise `OptionError` unless the argument may have this value; NULL may be a default."""
        if value is None and self.default == "NULL":
            return
        match self.values:
            case "bool":
                check_flag(self.word, value)
            case "int":
                check_count(self.word, value, self.least)
            case "float":
                check_number(self.word, value, INTERVALS[self.interval])
            case "function":
                check_callable(self.word, value, like="np.exp")
            case choices if choices.startswith("{"):
                check_choice(self.word, value, json.loads(f"[{choices[1:-1]}]"))

    def entry(self, name: str) -> str:
        """Return the entry for docstrings; none if each side describes it."""
        if not self.text:
            return ""
        optional = ", optional" if self.default == "NULL" else ""
        text = fill(self.text, WIDTH, break_on_hyphens=False)
        return f"{name} : {self.values}{optional}\n{indent(text, '    ')}"


@frozen
class RFunction:
    """A function of R, which both sides have, or one of them.

    Attributes
    ----------
    package, name : str
    arguments : tuple of Argument
        In R's order; at the end the arguments of the function that takes its dots.
    """

    package: str
    name: str
    arguments: tuple[Argument, ...]

    def names(self, side: Side) -> list[str]:
        """Return the names of the arguments that one side takes."""
        return [argument.on(side) for argument in self.arguments if not argument.refusal(side)]

    def check(self, values: Mapping[str, object]) -> None:
        """Raise `OptionError` for the first value, by name, that its argument may not have."""
        for argument in self.arguments:
            if argument.word in values:
                argument.check(values[argument.word])

    def keywords(
        self, side: Side, *others: Callable[..., Any]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Return a decorator for the function of one side.

        It writes the arguments in the place of ``{arguments}`` in the docstring, refuses those
        that this side does not take, with the reason, and shows keywords of `others`, functions
        and classes, in the place of a parameter such as ``**options``.
        """
        refused = {"seed": SEED} if side == "r_style" else {}
        entries = []
        for argument in self.arguments:
            name, reason = argument.on(side), argument.refusal(side)
            spellings = {argument.name, argument.word}
            if reason:
                refused |= dict.fromkeys(spellings, reason)
            else:
                refused |= dict.fromkeys(spellings - {name}, f"it is `{name}` here.")
                entries.append(argument.entry(name))
        checked = takes({"arguments": "\n".join(filter(None, entries))}, refused=refused)

        def decorated(function: Callable[P, R]) -> Callable[P, R]:
            function.__signature__ = _signature(function, others)  # type: ignore[attr-defined]
            return checked(function)

        return decorated


def _signature(function: Callable[..., Any], others: tuple[Callable[..., Any], ...]) -> Signature:
    """Return a signature in which keywords of `others` stand in the place of ``**options``."""
    whole = signature(function)
    names = {n: p for n, p in whole.parameters.items() if p.kind != Parameter.VAR_KEYWORD}
    for other in others:
        for name, parameter in signature(other).parameters.items():
            if parameter.kind == Parameter.KEYWORD_ONLY:
                names.setdefault(name, parameter)
    return whole.replace(parameters=list(names.values()))


def _words(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an argument, texts on one line."""
    return {key: " ".join(v.split()) if isinstance(v, str) else v for key, v in entry.items()}


def _arguments(entries: list[dict[str, Any]], shared: Mapping[str, Any]) -> Iterator[Argument]:
    """Yield the arguments of a function of R, of which the table may list several in one entry."""
    for entry in entries:
        if "defaults" in entry:
            for name, default in entry["defaults"].items():
                yield Argument(name=name, default=default, neither=entry["neither"])
        else:
            yield Argument(**_words({**shared.get(entry["name"], {}), **entry}))


def _functions(table: Mapping[str, Any]) -> Iterator[RFunction]:
    """Yield the functions of R of the table.

    An entry with `not_handed_on` hands its other arguments on to all later entries with `like`,
    changed as `anew` says.
    """
    handed_on: tuple[Argument, ...] = ()
    for name, entry in table["functions"].items():
        arguments = tuple(_arguments(entry["arguments"], table["shared"]))
        if "not_handed_on" in entry:
            handed_on = tuple(a for a in arguments if a.name not in entry["not_handed_on"])
        if "like" in entry:
            anew = {name: _words(words) for name, words in entry.get("anew", {}).items()}
            arguments += tuple(replace(a, **anew.get(a.name, {})) for a in handed_on)
        yield RFunction(package=entry["package"], name=name, arguments=arguments)


SEED = "it is that of the results, such as `pi.FittedModel(model, X, y, seed=1)`."
TABLE = tomllib.loads(
    resources.files("pyinterp.r_style").joinpath("r_functions.toml").read_text("utf-8")
)
FUNCTIONS = {function.name: function for function in _functions(TABLE)}
PARTIAL, VI_FIRM, VI_PERMUTE, VINT, VI, HSTATS = FUNCTIONS.values()
