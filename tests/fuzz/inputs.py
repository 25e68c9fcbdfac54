"""Inputs: every call with one argument changed, and with two."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from itertools import islice, product

import numpy as np
from calls import CALLS, Call
from data_oddities import DATA_KINDS
from oddities import ANYTHING

__all__ = ["Input", "full", "sample"]

# Options that no method has, some nearly right.
KEYWORDS = {
    "n_repeats": "5",
    "featuers": "'x'",
    "alpa": "0.05",
    "random_state": "1",
    "cov_typ": "None",
}
# Any number may mean minutes, of processes to start.
OWN_VALUES_ONLY = {"jobs", "refits"}
SOME = 30
PAIRS = 12


@dataclass(frozen=True)
class Input:
    """A call with some arguments changed.

    Attributes
    ----------
    call : Call
    changed : tuple of (str, str)
        Names and expressions of the arguments that are changed.
    must_fail : bool
    """

    call: Call
    changed: tuple[tuple[str, str], ...]
    must_fail: bool = False

    @property
    def arguments(self):
        """The expressions of all arguments."""
        return {**self.call.base, **dict(self.changed)}

    @property
    def source(self):
        """The input as a Python expression."""
        return self.call.source(self.arguments)

    def __str__(self):
        changes = ", ".join(f"{n}={v}"[:60] for n, v in self.changed)
        return f"{self.call.name}: {changes}"


@cache
def full(name):
    """Return the inputs of a call.

    All values of the kinds of those arguments that the valid call has, or that no call before it
    has; `SOME` of all other changes of one argument; `PAIRS` changes of two.
    """
    call = CALLS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    others = list(_others(call))
    some = rng.permutation(len(others))[:SOME]
    pairs = [_pair(call, rng) for _ in range(PAIRS)] if len(call.kinds) > 1 else []
    return tuple(dict.fromkeys([*_own(call), *(others[i] for i in some), *pairs]))


def sample(number):
    """Return so many inputs, spread evenly over all calls and always the same."""
    rng = np.random.default_rng(0)
    orders = {name: rng.permutation(len(full(name))) for name in CALLS}
    turns = product(range(number), CALLS)
    chosen = (full(name)[orders[name][turn]] for turn, name in turns if turn < len(orders[name]))
    return list(islice(chosen, number))


@cache
def _first_with(kind):
    return next(call for call in CALLS.values() if kind in call.kinds.values())


def _own(call):
    yield Input(call, ())
    for argument, name in call.kinds.items():
        if argument not in call.base and _first_with(name) is not call:
            continue
        kind = DATA_KINDS[name]
        yield from (Input(call, ((argument, value),), True) for value in kind.bad)
        yield from (Input(call, ((argument, value),)) for value in kind.odd)


def _others(call):
    for argument, name in call.kinds.items():
        kind = DATA_KINDS[name]
        anything = () if name in OWN_VALUES_ONLY else ANYTHING
        for value in dict.fromkeys((*kind.bad, *kind.odd, *anything)):
            yield Input(call, ((argument, value),), value in kind.bad)
    for keyword, value in KEYWORDS.items():
        if keyword not in call.kinds:
            yield Input(call, ((keyword, value),), must_fail=True)


def _pair(call, rng):
    two = sorted(rng.choice(len(call.kinds), size=2, replace=False))
    names = [list(call.kinds)[i] for i in two]
    changed = tuple((name, _value(call.kinds[name], rng)) for name in names)
    bad = any(value in DATA_KINDS[call.kinds[name]].bad for name, value in changed)
    return Input(call, changed, must_fail=bad)


def _value(kind, rng):
    known = DATA_KINDS[kind]
    several = known.odd if known.odd and (not known.bad or rng.random() < 0.7) else known.bad
    return several[int(rng.integers(len(several)))]
