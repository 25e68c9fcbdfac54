"""Values for arguments, by the kind of the argument: those that must fail, and all others.

Values are Python expressions, in `oddities.toml`. "Must fail" means that a table made of it would
be of something that nobody asked for.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

__all__ = ["ANYTHING", "KINDS", "Kind"]


class Kind(NamedTuple):
    """Values of one kind of argument.

    Attributes
    ----------
    bad : tuple of str
        Must fail.
    odd : tuple of str
        May work or fail.
    """

    bad: tuple[str, ...]
    odd: tuple[str, ...] = ()


# No argument takes these, but for a kind that lists them.
JUNK = ("{}", "3", "float('nan')", "True", "[]")
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ANYTHING = tuple(TABLE["anything"])


def kind(bad, odd=()):
    """Return a kind whose values must fail that are given, and those that no argument takes."""
    return Kind((*bad, *(value for value in JUNK if value not in odd)), tuple(odd))


KINDS = {name: kind(**values) for name, values in TABLE["kinds"].items()}
KINDS["refits"] = KINDS["count"]  # without `ANYTHING`, as 10**9 of them take for ever
