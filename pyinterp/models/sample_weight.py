"""Sampling weights in the fit of learners: how they are handed over, and who takes none."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import has_fit_parameter

from pyinterp.errors import OptionError
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.predictor import learner_name

__all__ = ["check_takes_weights", "weight_option"]


def weight_option(estimator: Any) -> str | None:
    """Return the keyword of ``fit`` that hands weights to an estimator; None if there is none.

    Pipelines hand them to their last step.
    """
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        name, last = steps[-1]
        inside = weight_option(last)
        return None if inside is None else f"{name}__{inside}"
    if isinstance(estimator, OffsetModel):
        return weight_option(estimator.estimator)
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def check_takes_weights(estimator: Any) -> None:
    """Raise `OptionError` unless an estimator can be fitted with weights."""
    if weight_option(estimator) is None:
        raise OptionError(
            f"{learner_name(estimator)} takes no `sample_weight` in `fit`, so that it would learn "
            "from the sample as if it were the population; use a learner that takes it, or fit the "
            "model yourself and weight its evaluation rows by "
            '`pi.FittedModel(..., weights=..., weights_type="sampling")`.'
        )
