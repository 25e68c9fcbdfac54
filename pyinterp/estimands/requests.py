"""Requests as texts, the same in every session: by them files find what was measured."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TypeAlias

from pyinterp.estimands.estimand import Estimand
from pyinterp.storage import text_of

# What tells requests apart while their functions are at hand.
RequestKey: TypeAlias = tuple[Hashable, ...]


def key_of(estimand: Estimand) -> RequestKey:
    """Return by what measurements are kept in memory: arguments, and functions themselves.

    A key that is used again for another function, as in a notebook, is another request.
    """
    # What a package reads in several ways has names for them; a user's own function is itself.
    measure = estimand.measure
    function = measure.func if isinstance(measure, partial) else measure
    return estimand.key, function, estimand.form or estimand.read


def request_of(estimand: Estimand) -> str:
    """Return a request as text: its name and arguments, what is read of it, and the version.

    A user's own `read` counts by its name, unless the estimand has a `form`.

    Functions of the user count by their names, as losses, metrics and samplers do. No private name
    is in it.
    """
    name, *arguments = estimand.key if isinstance(estimand.key, tuple) else (estimand.key,)
    name = name if isinstance(name, str) else text_of(name)
    read = estimand.read.func if isinstance(estimand.read, partial) else estimand.read
    own = not str(getattr(read, "__module__", "")).startswith("pyinterp.")
    form: Hashable = estimand.form or (estimand.read if own else "")
    return (
        f"{name}({', '.join(map(text_of, arguments))})"
        f"{f' {text_of(form)}' if form else ''} /{estimand.version}"
    )
