"""Whether a user's class predicts as the class of the library that it extends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from pyinterp.models.libraries import LIBRARIES

# Packages whose models predict other rows by the same rule as the rows that are checked.
PACKAGES = {library.package for library in LIBRARIES if library.regular} | {"pyinterp"}
# What a prediction begins with, and what any of its steps may go through.
PREDICTING = ("predict", "predict_proba", "decision_function", "transform")
ANY_ATTRIBUTE = {"__getattribute__", "__getattr__"}
# What they may name without that it changes them.
SETTINGS = {"fit", "partial_fit", "get_params", "set_params"}
# Where descriptors keep the functions that they call.
INSIDE = ("fget", "fn", "func", "__func__", "__wrapped__")


def overrides_prediction(model: Any) -> bool:
    """Whether the user's own part of a model defines a name that predictions of its library read.

    The own part is the object, and its classes up to the first of a library. The names are
    ``predict`` and its like, and all that their code reads of the object, at any depth. Names alone
    are compared, as a class keeps them in another process. A class that extends no library is left
    to the comparison of its predictions.
    """
    kind = type(model)
    names = getattr(model, "__dict__", ())
    own = {name for name in names if callable(getattr(kind, name, None))}  # replaced in the object
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in PACKAGES:
            return not own.isdisjoint(_names_of_predictions(base))
        if base is not object:
            own |= vars(base).keys()
    return not own.isdisjoint((*PREDICTING, *ANY_ATTRIBUTE))


@lru_cache(maxsize=256)
def _names_of_predictions(kind: type) -> frozenset[str]:
    """Return the names that the predictions of a library's class may read of its object."""
    names, left = set(ANY_ATTRIBUTE), [*PREDICTING]
    while left:
        name = left.pop()
        if name in names or name in SETTINGS or name.startswith("__"):
            continue
        names.add(name)
        for base in kind.__mro__:
            left += _names_read(vars(base).get(name))
    return frozenset(names)


def _names_read(value: Any) -> Iterator[str]:
    """Yield the names in the code of a function, or of the function that a descriptor calls."""
    code = getattr(value, "__code__", value)
    if isinstance(code, CodeType):
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _names_read(constant)
    for inside in INSIDE:
        if (function := getattr(value, inside, None)) is not None and function is not value:
            yield from _names_read(function)
