"""Learners that take missing values, by their own tags."""

from __future__ import annotations

import re
from typing import Any, Literal

from sklearn.utils import get_tags

from pyinterp.models.final_step import steps_of
from pyinterp.models.libraries import LIBRARIES, library_of

# What a step makes of missing values: an error, values, missing values, or some of these by
# column; "" if it does not say.
Handling = Literal["refuses", "fills", "passes", "mixed", ""]
# Transformers of scikit-learn that take missing values and give none.
FILLING = {"OneHotEncoder", "TargetEncoder", "SimpleImputer", "KNNImputer", "IterativeImputer"}
# Estimators around another that hand rows on as they are, which their tags do not say.
WRAPPERS = re.compile(
    r"(Halving)?GridSearchCV|(HalvingRandom|Randomized)SearchCV|CalibratedClassifierCV|"
    r"(FixedThreshold|TunedThreshold)Classifier(CV)?|FrozenEstimator|TransformedTargetRegressor"
)
# Packages whose tags are right where they say that missing values are refused.
PACKAGES = {library.package for library in LIBRARIES if library.missing == "tags"}
PACKAGES |= {"pyinterp"}


def takes_missing(estimator: Any) -> bool | None:
    """Whether an estimator takes variables with missing values; None if it does not say.

    In a pipeline the first step must, and so must every other one up to an imputer or an encoder
    of categories.
    """
    handling = _handling(estimator)
    return None if handling in ("", "mixed") else handling != "refuses"


def _handling(step: Any) -> Handling:
    """Return how a step of a pipeline, or an estimator, treats missing values."""
    if library_of(step).missing == "refuses":
        return "refuses"
    if step is None or isinstance(step, str):  # "passthrough" and "drop"
        return "fills" if step == "drop" else "passes"
    if steps := steps_of(step):
        return _one_after_the_other([part for _, part in steps])
    if isinstance(parts := getattr(step, "transformers", None), list):
        return _side_by_side([part[1] for part in parts] + [step.remainder])
    if WRAPPERS.fullmatch(type(step).__name__):
        return _handling(getattr(step, "estimator", getattr(step, "regressor", None)))
    return _of_tags(step)


def _one_after_the_other(steps: list[Any]) -> Handling:
    """Return how steps of a pipeline, one after the other, treat missing values."""
    mixed = False
    for step in steps:
        handling = _handling(step)
        if handling not in ("passes", "mixed"):  # columns that a mixed step passes may have none
            return "" if mixed and handling == "refuses" else handling
        mixed = mixed or handling == "mixed"
    return "passes"


def _side_by_side(transformers: list[Any]) -> Handling:
    """Return how transformers of different columns, together, treat missing values."""
    handlings = {_handling(transformer) for transformer in transformers}
    if handlings & {"refuses", ""}:  # its columns may have no missing value
        return ""
    if handlings & {"passes", "mixed"}:
        return "mixed" if "fills" in handlings else "passes"
    return "fills"


def _of_tags(step: Any) -> Handling:
    """Return an estimator's own tag; unknown classes may only have inherited theirs."""
    name = type(step).__name__
    if not hasattr(step, "__sklearn_tags__") or name == "FunctionTransformer":
        return ""
    if get_tags(step).input_tags.allow_nan:
        return "fills" if name in FILLING else "passes"
    return "refuses" if type(step).__module__.partition(".")[0] in PACKAGES else ""
