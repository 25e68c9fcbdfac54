"""What headers say of a learner: its settings that are not defaults, in one line, and its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._pprint import _changed_params

from pyinterp.errors import NO_VALUE, short
from pyinterp.models.predictor import learner_name

# Kinds of learners of which simulations say how often intervals cover: the first that matches
# package and name of a class.
FAMILIES = {
    "single trees": r".*\.(DecisionTree|ExtraTree)(Regressor|Classifier)",
    "forests": r".*\.(RandomForest|ExtraTrees)(Regressor|Classifier)",
    "boosting": r"(lightgbm|xgboost|catboost)\..*|.*\.(Hist)?GradientBoosting\w+",
    "lassos": r".*\.((MultiTask)?(Lasso|ElasticNet)|(Lasso|LassoLars|ElasticNet)CV|LassoLars(IC)?)",
    "linear models": r".*\.Statsmodels(Regressor|Classifier)|sklearn\.linear_model\..*",
    "nearest neighbors": r"sklearn\.neighbors\..*",
}

LONGEST = 100  # characters of a learner with its settings
LONGEST_VALUE = 30
# The seed of the analysis replaces seeds of learners; the others change no prediction.
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
    changed = _changed_params(estimator).items()
    settings = [f"{key}={_value(value)}" for key, value in changed if key not in LEFT_OUT]
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


def family_of(estimator: Any) -> str:
    """Return the kind of a learner, of the last step of pipelines; empty for all others.

    A search is what it searches among; a bag of trees that is not called a forest is no forest.
    """
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        return family_of(steps[-1][1])
    if isinstance(estimator, BaseSearchCV):
        return family_of(estimator.estimator)
    for kind in type(estimator).__mro__:
        for family, pattern in FAMILIES.items():
            if re.fullmatch(pattern, f"{kind.__module__}.{kind.__name__}"):
                return family
    return ""
