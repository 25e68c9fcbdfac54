"""Sampling weights in the fit of learners: how they are handed over, and who takes none."""

from __future__ import annotations

import re
from typing import Any

from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from pyinterp.errors import OptionError
from pyinterp.models.final_step import innermost, steps_of
from pyinterp.models.predictor import learner_name

WEIGHT = "sample_weight"
ROUTING = "sklearn.set_config(enable_metadata_routing=True)"
# What hands all keywords of `fit` on to the estimator inside.
HANDS_ON = re.compile(
    r"((Halving)?(Grid|Random)|Randomized)SearchCV|RFE|TransformedTargetRegressor"
)


def weight_option(estimator: Any, name: str = WEIGHT) -> str | None:
    """Return the keyword of ``fit`` that hands weights to an estimator; None if there is none.

    Or other values of rows by `name`.

    With metadata routing on, what is inside others must request them. Otherwise pipelines hand them
    to their last step, and searches to the estimator that they search.
    """
    if type(estimator).__name__ == "OffsetModel":
        return weight_option(estimator.estimator, name)
    if get_config()["enable_metadata_routing"]:
        return name if _is_requested(estimator, name) else None
    if steps := steps_of(estimator):
        step, last = steps[-1]
        inside = weight_option(last, name)
        return None if inside is None else f"{step}__{inside}"
    if name != WEIGHT and hasattr(estimator, "cv"):  # it takes groups for itself
        return None
    if HANDS_ON.fullmatch(type(estimator).__name__):
        learner = getattr(estimator, "estimator", getattr(estimator, "regressor", None))
        return name if learner is None else weight_option(learner, name)
    return name if _all_take(estimator, name) else None


def check_takes_weights(estimator: Any) -> None:
    """Raise `OptionError` unless an estimator can be fitted with weights."""
    if weight_option(estimator) is not None:
        return
    also = "" if get_config()["enable_metadata_routing"] else f"switch on `{ROUTING}` and "
    also += f"say who takes it, by `.set_fit_request({WEIGHT}=True)`, or False, of every part, "
    raise OptionError(
        f"{learner_name(estimator)} takes no `{WEIGHT}` in `fit`, so that it would learn from the "
        "sample as if it were the population; use a learner that takes it, as `LinearRegression()`,"
        " `LogisticRegression(C=1e6)` and `PoissonRegressor(alpha=0)` do, "
        f"{also * _wraps(estimator)}or fit the model yourself and weight its evaluation rows by "
        '`pi.FittedModel(..., weights=..., weights_type="sampling")`.'
    )


def _wraps(estimator: Any) -> bool:
    """Whether an estimator has others inside."""
    return innermost(estimator) is not estimator or hasattr(estimator, "estimators")


def _is_requested(estimator: Any, name: str) -> bool:
    """Whether values of rows reach the learning part of an estimator, by requests of its parts."""
    try:
        routing = get_routing_for_object(estimator)
    except NotImplementedError:  # a wrapper of scikit-learn that can't route
        return False
    if _wraps(estimator) and isinstance(routing, MetadataRouter):
        return name in routing.consumes("fit", [name])
    return bool(has_fit_parameter(estimator, name))


def _all_take(estimator: Any, name: str) -> bool:
    """Whether an estimator takes values of rows, and so does all that learns in it."""
    parts = getattr(estimator, "estimators", None)  # of stacks and votes: (name, estimator)
    if isinstance(parts, list) and parts:
        final = getattr(estimator, "final_estimator", None)
        learners = [part for _, part in parts if part != "drop"] + [final]
    elif isinstance(estimator, CalibratedClassifierCV):  # it warns, and calibrates by weights alone
        learners = [estimator.estimator]
    else:
        return bool(has_fit_parameter(estimator, name))
    return all(part is None or weight_option(part, name) == name for part in learners)
