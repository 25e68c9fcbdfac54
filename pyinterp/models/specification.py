"""A learner with its settings that are not defaults, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils._pprint import _changed_params

from pyinterp.errors import NO_VALUE, short
from pyinterp.models.predictor import learner_name

__all__ = ["specification"]

LONGEST = 100  # characters of a learner with its settings
LONGEST_VALUE = 30
# The seed of the analysis replaces those of learners; the others change no prediction.
LEFT_OUT = {"random_state", "random_seed", "seed", "n_jobs", "verbose", "verbosity", "thread_count"}


def specification(estimator: Any) -> str:
    """Return name and settings, such as ``RandomForestRegressor(min_samples_leaf=5)``.

    Settings that are defaults, seeds and numbers of jobs are left out. A pipeline has its steps.
    """
    return short(_whole(estimator), LONGEST)


def _whole(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        parts = [_whole(step) for _, step in steps if step not in (None, "passthrough")]
        return f"{type(estimator).__name__}({', '.join(parts)})"
    name = learner_name(estimator)
    if hasattr(estimator, "learner_name") or not hasattr(estimator, "get_params"):
        return name  # it says itself what matters
    settings = []
    for key, value in _changed_params(estimator).items():
        if key not in LEFT_OUT:
            settings.append(f"{key}={_value(value)}")
    return f"{name}({', '.join(settings)})" if settings else name


def _is_estimator(value: object) -> bool:
    return callable(getattr(value, "get_params", None)) and not isinstance(value, type)


def _value(value: object) -> str:
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
