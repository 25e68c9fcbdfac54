"""What a function of R takes and how its numbers differ, in a form that code can use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import fill, indent
from typing import Literal, ParamSpec, TypeAlias, TypeVar

from pyinterp.parameters import takes

__all__ = ["Argument", "Convention", "RFunction", "Refusal", "Side"]

P = ParamSpec("P")
R = TypeVar("R")

# Who has the function: `pyinterp.r_style` computes itself, `r_bridge` calls R.
Side: TypeAlias = Literal["r_style", "r_bridge"]
Check: TypeAlias = Callable[[str, object], None]
WIDTH = 88  # of lines in docstrings, without their indentation


@dataclass(frozen=True)
class Refusal:
    """An argument of R that one side does not take.

    Attributes
    ----------
    reason : str
        Why, and what to use in its place; ends the sentence "f() takes no keyword argument `x`: ".
    """

    reason: str


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument of a function of R.

    Attributes
    ----------
    name : str
        R's name.
    default : str
        As R writes it; empty if R has none.
    check : callable, optional
        ``check(name, value)`` raises `OptionError`; NULL is not checked if it is the default.
    values, text : str
        What docstrings say: which values it takes, and what they mean. Empty if the two sides
        describe it themselves.
    method : str
        What says the same in a method of results.
    r_style, r_bridge : str or Refused
        The name on that side, or why it is refused there; empty for R's name with dots as
        underscores.
    """

    name: str
    default: str = ""
    check: Check | None = None
    values: str = ""
    text: str = ""
    method: str = ""
    r_style: str | Refusal = ""
    r_bridge: str | Refusal = ""

    @property
    def word(self) -> str:
        """R's name with dots as underscores."""
        return self.name.replace(".", "_")

    def on(self, side: Side) -> str | Refusal:
        """Return the name on one side, or why it is refused there."""
        return (self.r_style if side == "r_style" else self.r_bridge) or self.word

    def check_value(self, value: object) -> None:
        """Raise `OptionError` unless the argument may have this value."""
        if self.check is not None and not (value is None and self.default == "NULL"):
            self.check(self.word, value)

    def entry(self, name: str) -> str:
        """Return the entry for docstrings."""
        optional = ", optional" if self.default == "NULL" else ""
        return f"{name} : {self.values}{optional}\n" + indent(
            fill(self.text, WIDTH, break_on_hyphens=False), "    "
        )


@dataclass(frozen=True, kw_only=True)
class RFunction:
    """A function of R, which both sides have, or one of them.

    Attributes
    ----------
    package, name : str
    arguments : tuple of Argument
        In R's order; at the end those of the function that takes its dots.
    sides : tuple of {"r_style", "r_bridge"}
    """

    package: str
    name: str
    arguments: tuple[Argument, ...]
    sides: tuple[Side, ...] = ("r_style", "r_bridge")

    def __getitem__(self, name: str) -> Argument:
        """Return an argument by R's name."""
        return next(argument for argument in self.arguments if argument.name == name)

    def r_name(self, word: str) -> str:
        """Return R's name of an argument that has underscores for dots."""
        return next(argument.name for argument in self.arguments if argument.word == word)

    def names(self, side: Side) -> list[str]:
        """Return the names of the arguments that one side takes."""
        names = (argument.on(side) for argument in self.arguments)
        return [name for name in names if isinstance(name, str)]

    def common(self) -> list[str]:
        """Return the names that both sides take."""
        return [name for name in self.names("r_style") if name in self.names("r_bridge")]

    def check(self, values: Mapping[str, object]) -> None:
        """Raise `OptionError` for the first value, by name, that its argument may not have."""
        for argument in self.arguments:
            if argument.word in values:
                argument.check_value(values[argument.word])

    def keywords(self, side: Side) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Return a decorator for the function of one side.

        It writes the arguments in the place of ``{arguments}`` in the docstring, and refuses those
        that this side does not take, with the reason.
        """
        return takes({"arguments": self._entries(side)}, refused=self._refusals(side))

    def _entries(self, side: Side) -> str:
        names = ((argument, argument.on(side)) for argument in self.arguments)
        return "\n".join(a.entry(n) for a, n in names if a.text and isinstance(n, str))

    def _refusals(self, side: Side) -> dict[str, str]:
        """Return why keywords are refused: R's arguments under R's names and with underscores."""
        reasons = {}
        for argument in self.arguments:
            name = argument.on(side)
            reason = name.reason if isinstance(name, Refusal) else f"it is `{name}` here."
            for spelling in {argument.name, argument.word} - {name}:
                reasons[spelling] = reason
        return reasons


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A convention in which R's numbers differ from ours.

    Attributes
    ----------
    topic : str
    r, here : str
        What R's packages do, and what we do by default.
    same : str
        How to do as R does here; empty if there is no option for it.
    """

    topic: str
    r: str
    here: str
    same: str = ""

    @property
    def sentence(self) -> str:
        """The convention as a note under a table."""
        as_in_r = f" As in R: {self.same}." if self.same else ""
        topic = self.topic[0].upper() + self.topic[1:]
        return f"{topic}. {self.r}. Here by default: {self.here}.{as_in_r}"
