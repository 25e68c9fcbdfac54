"""Tables of questions: what tests ask of results, as a user writes it."""

import numpy as np
import pandas as pd

import pyinterp as pi

SPACE = {"np": np, "pd": pd, "pi": pi}


def asks(*calls):
    """Return functions that make these calls of results, with further options, by the call."""
    return {call: ask(call) for call in calls}


def ask(call, names=SPACE):
    """Return the function that makes a call: ``ask("pfi('x')")(results, by="g")``."""
    head = call[:-1] if call.endswith("()") else call[:-1] + ", "
    source = f"lambda results, **options: results.{head}**options)"
    return eval(source, names)  # noqa: S307 - tables of tests


def asks_of(table, names):
    """Return functions by the names of lines "name; call", with the words after the call if any."""
    lines = [line.split("; ") for line in table.strip().splitlines()]
    return {
        name: (ask(call, names), *words) if words else ask(call, names)
        for name, call, *words in lines
    }


def questions(*calls):
    """Return the same as questions of `pi.ask`."""
    split = (call[:-1].partition("(") for call in calls)
    source = [f"pi.ask({', '.join(filter(None, (repr(name), given)))})" for name, _, given in split]
    return [eval(one, dict(SPACE)) for one in source]  # noqa: S307 - tables of tests
