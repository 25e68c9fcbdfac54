"""What to write here for names that other packages have; they are in ``hints.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any


def sentence(name: str) -> str:
    """Return the code to write instead of another package's name; empty for any other name."""
    written = [hint["write"] for hint in _table()["hint"] if name in hint["names"].split()]
    ends = "`res` is a fit, as of `learner.fit(seed=1)`."
    return f"Instead of `{name}` write {written[0].format(name=name)}. {ends}" if written else ""


def option(name: str) -> str | None:
    """Return our option that other packages call by this name."""
    ours: str | None = _table()["options"].get(name)
    return ours


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("pyinterp").joinpath("hints.toml").read_text("utf-8"))


class Hints:
    """Gives the code to write for names of other packages, where it has no such attribute."""

    if not TYPE_CHECKING:  # a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and (words := sentence(name)):
                own = "Here use `summary_frame()`. " * hasattr(type(self), "summary_frame")
                # Whose `summary_frame` has what others have as attributes needs no others.
                raise AttributeError(own + words * (not own or f".{name}`" not in words))
            return object.__getattribute__(self, name)  # the usual error, or that of a property
