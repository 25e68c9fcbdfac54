"""Tables of questions: what tests ask of results, as a user writes it."""

import numpy as np
import pandas as pd

import pyinterp as pi

SPACE = {"np": np, "pd": pd, "pi": pi}


def asks(*calls):
    """Return functions that make these calls of results, with further options, by the call."""
    return {call: ask(call) for call in calls}


def ask(call):
    """Return the function that makes a call: ``ask("pfi('x')")(results, by="g")``."""
    method, _, given = call[:-1].partition("(")
    arguments = ", ".join(filter(None, (given, "**options")))
    source = f"lambda results, **options: results.{method}({arguments})"
    return eval(source, dict(SPACE))  # noqa: S307 - tables of tests


def questions(*calls):
    """Return the same as questions of `pi.ask`."""
    split = (call[:-1].partition("(") for call in calls)
    source = [f"pi.ask({', '.join(filter(None, (repr(name), given)))})" for name, _, given in split]
    return [eval(one, dict(SPACE)) for one in source]  # noqa: S307 - tables of tests
