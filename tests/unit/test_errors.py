"""Checks of arguments survive any object, and messages never echo what they were given."""

import inspect

import numpy as np
import pytest

import pyinterp as pi
from pyinterp.checks import NOT_NEGATIVE, SHARE, Interval, check_flag, check_number
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.ale import accumulated_local_effects
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.learner.interpretable import Interpretable
from pyinterp.parameters import DEFAULTS, takes


@pytest.mark.parametrize("value", [True, False, np.bool_(True)])
def test_flags_are_booleans(value):
    check_flag("it", value)


@pytest.mark.parametrize("value", [0, 1, "no", "False", None, [], 2.0])
def test_nothing_else_is_read_as_yes_or_no(value):
    with pytest.raises(OptionError, match="`it` must be True or False"):
        check_flag("it", value)


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        (SHARE, (0.5, 1e-300, np.float32(0.1)), (0, 1, 0.0, True, "0.5")),
        (Interval(0, 1, "both"), (0, 1, np.int64(1)), (-1e-9, 1.1, float("nan"), np.bool_(True))),
        (NOT_NEGATIVE, (0, 10**300), (-1, float("inf"), 10**400, None)),
    ],
)
def test_intervals_hold_their_closed_ends_only(interval, inside, outside):
    for value in inside:
        check_number("it", value, interval)
    for value in outside:
        with pytest.raises(OptionError, match=r"`it` must be a number (in|of at least)"):
            check_number("it", value, interval)


@takes(refused={"smooth": "curves are not smoothed."})
def asked(features, *, points=3, alternative=""):
    """A method with options."""
    return features, points, alternative


def test_keywords_are_those_of_the_signature():
    assert asked("x", points=4, alternative="less") == ("x", 4, "less")
    for wrong, said in (
        (
            "grid_resolution",
            "`grid_resolution`; its options are features, points, alternative. Did you mean "
            "`points`?",
        ),
        (
            "alternativ",
            "`alternativ`; its options are features, points, alternative. Did you mean "
            "`alternative`?",
        ),
        ("smooth", "`smooth`: curves are not smoothed."),
    ):
        with pytest.raises(TypeError) as caught:
            asked("x", **{wrong: 4})
        assert str(caught.value) == f"asked() takes no keyword argument {said}"


@pytest.mark.parametrize(
    ("method", "estimand"),
    [
        ("pd", partial_dependence),
        ("firm", partial_dependence),
        ("vint", partial_dependence),
        ("ale", accumulated_local_effects),
    ],
)
def test_defaults_that_help_shows_are_those_of_the_estimand(method, estimand):
    shown = inspect.signature(getattr(Interpretable, method)).parameters
    taken = inspect.signature(estimand).parameters
    common = [name for name in shown if name in taken and name in DEFAULTS]
    assert {"grid", "points", "scale", "which_class"} <= set(common)
    assert [shown[name].default for name in common] == [taken[name].default for name in common]


def _public(functions):
    return [f for name, f in functions.items() if not name.startswith("_") and callable(f)]


# Of those without inference Python's own message suffices.
PLAIN = {"summary"}
METHODS = [
    f
    for f in _public(dict(inspect.getmembers(Interpretable, inspect.isfunction)))
    if f.__name__ not in PLAIN
]
# Helpers of `r_bridge` are public too, but no functions of R.
HELPERS = {"classes_in_order", "factors"}
STYLE = {
    name: f for name, f in inspect.getmembers(pi.r_style, inspect.isfunction) if name not in HELPERS
}
FUNCTIONS = [pi.compare, pi.Learner.fit, pi.Learner.fit_model, *_public(STYLE)]


@pytest.mark.parametrize("ask", METHODS + FUNCTIONS, ids=lambda ask: str(ask.__qualname__))
def test_every_public_function_refuses_keywords_that_it_does_not_know(ask):
    first = [None] * sum(
        p.default is inspect.Parameter.empty and p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for p in inspect.signature(ask).parameters.values()
    )
    with pytest.raises(TypeError, match=r"\w+\(\) takes no keyword argument `featuers`"):
        ask(*first, featuers="x")


def test_the_level_is_said_to_be_the_tables():
    with pytest.raises(
        TypeError, match=r"`alpha`: the table has the level, `summary\(alpha=0.1\)`"
    ):
        pi.FittedModel.pfi(None, alpha=0.1)
    with pytest.raises(TypeError, match=r'from_formula\(.*, then `pfi\("name"\)`'):
        pi.FittedModel.pfi(None, groups={})
