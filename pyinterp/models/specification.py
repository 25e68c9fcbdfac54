"""A learner in headers: settings other than its defaults, its choices, and its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._pprint import _changed_params

from pyinterp.errors import NO_VALUE, short
from pyinterp.models.final_step import steps_of
from pyinterp.models.libraries import LIBRARIES
from pyinterp.models.predictor import learner_in, learner_name

# Kinds of learners of which simulations say how often intervals cover: the first that matches
# package and name of a class.
FAMILIES = [family for library in LIBRARIES for family in library.families.items()]

BY_CV = ("alpha", "l1_ratio", "C")  # of linear models with a search of their own
LONGEST = 100  # characters of a learner with its settings
LONGEST_VALUE, MOST_CHOICES = 30, 4
# The seed of the analysis replaces seeds of learners; the others change no prediction.
LEFT_OUT = {"random_state", "random_seed", "seed", "n_jobs", "verbose", "verbosity", "thread_count"}


def specification(estimator: Any) -> str:
    """Return name and settings, such as ``RandomForestRegressor(min_samples_leaf=5)``.

    Settings that are defaults, seeds and numbers of jobs are left out. A pipeline has its steps. If
    that is too long, steps and searches have their names alone, and the learner its settings.
    """
    whole = _whole(estimator)
    return whole if len(whole) <= LONGEST else short(_whole(estimator, brief=True), LONGEST)


def settings(estimator: Any) -> dict[str, str]:
    """Return the class and the settings that may matter, in words, of its parts too."""
    own = estimator.get_params() if hasattr(estimator, "get_params") else vars(estimator)
    found = {"class": type(estimator).__qualname__}
    for name, value in own.items():
        parts = isinstance(value, list) and value and isinstance(value[0], tuple)
        if not parts and name.rpartition("__")[2] not in LEFT_OUT:
            whole = type(value).__qualname__ if hasattr(value, "get_params") else str(value)
            found[name] = short(whole.removesuffix(".0"))  # 1 is 1.0
    return found


def _whole(estimator: Any, *, brief: bool = False) -> str:
    """Return names and settings; in brief of the innermost learner alone."""
    name = type(estimator).__name__
    if steps := steps_of(estimator):
        parts = [step for _, step in steps if step not in (None, "passthrough")]
        before = [type(step).__name__ if brief else _whole(step) for step in parts[:-1]]
        return f"{name}({', '.join([*before, *(_whole(p, brief=brief) for p in parts[-1:])])})"
    if hasattr(estimator, "learner_name") or not hasattr(estimator, "get_params"):
        return learner_name(estimator)  # it says itself what matters
    inside = learner_in(estimator)
    if brief and inside is not None:
        return f"{name}({_whole(inside, brief=True)})"
    changed = _changed_params(estimator)
    settings = ", ".join(f"{k}={_value(changed[k])}" for k in changed if k not in LEFT_OUT)
    return f"{name}({settings})" if settings else name


def choices(fitted: Sequence[Any]) -> str:
    """Return the choices of searches inside fitted learners, such as ``alpha = 0.1 in 40 of 45``.

    Where no value was chosen by half of them, all values, or of many numbers their range.
    """
    every: dict[str, list[Any]] = {}
    for name, value in chain.from_iterable(map(_choices_of, fitted)):
        every.setdefault(name.rpartition("__")[2], []).append(value)
    parts = []
    for name, values in every.items():
        counts = Counter(map(_number, values)).most_common()
        often, many = 2 * counts[0][1] >= len(values), len(counts) > MOST_CHOICES
        said = [f"{value} in {times}" for value, times in counts[: 1 if often or many else None]]
        text = f"{', '.join(said)} of {len(values)}" if len(values) > 1 else counts[0][0]
        if many and not often and all(isinstance(value, Real) for value in values):
            text = f"{_number(min(values))} to {_number(max(values))}"
        parts.append(f"{name} = {text}")
    return "; ".join(parts)


def _choices_of(fitted: Any) -> Iterator[tuple[str, Any]]:
    """Yield the choices of searches, from the outermost wrapper to the innermost."""
    best = getattr(fitted, "best_params_", None)
    yield from best.items() if isinstance(best, Mapping) else ()
    if type(fitted).__name__.endswith("CV") and best is None:
        values = {name: np.unique(getattr(fitted, f"{name}_", [])) for name in BY_CV}
        yield from ((name, each[0].item()) for name, each in values.items() if len(each) == 1)
    steps = steps_of(fitted)
    inside = steps[-1][1] if steps else None
    inside = getattr(fitted, "best_estimator_", getattr(fitted, "regressor_", inside))
    if inside is not None:
        yield from _choices_of(inside)


def _number(value: object) -> str:
    """Return a number with three digits, or another value as code."""
    return f"{value:.3g}" if isinstance(value, float) else _value(value)


def _is_estimator(value: object) -> bool:
    """Whether a value is an instance of an estimator."""
    return callable(getattr(value, "get_params", None)) and not isinstance(value, type)


def _value(value: object) -> str:
    """Return a setting as short code: nested estimators with settings, functions by name."""
    if _is_estimator(value):
        return _whole(value)
    if isinstance(value, str):
        return repr(short(value, LONGEST_VALUE))
    if isinstance(value, Mapping) and any(map(_is_estimator, value.values())):
        return "{" + ", ".join(f"{key!r}: {_value(each)}" for key, each in value.items()) + "}"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = short(value, LONGEST_VALUE)
    return type(value).__name__ if NO_VALUE.search(text) else text


def family_of(estimator: Any) -> str:
    """Return the kind of a learner, of the last step of pipelines; empty for all others.

    A search is what it searches among; a bag of trees that is not called a forest is no forest.
    """
    if steps := steps_of(estimator):
        return family_of(steps[-1][1])
    if isinstance(estimator, BaseSearchCV):
        return family_of(estimator.estimator)
    for kind in type(estimator).__mro__:
        for family, pattern in FAMILIES:
            if re.fullmatch(pattern, f"{kind.__module__}.{kind.__name__}"):
                return family
    return ""
