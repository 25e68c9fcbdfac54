"""The one prediction function that both sides are asked about."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pyinterp import r_style
from pyinterp._typing import FloatArray
from pyinterp.learner.fitted_model import FittedModel
from pyinterp.learner.interpretable import Interpretable
from r_bridge.model_for_r import hand_over

__all__ = ["one_function"]


def one_function(results: Interpretable) -> Interpretable:
    """Return a fitted model as it is, and of a learner the mean of its refits.

    R knows no groups of variables: of a fitted model that has some, its function alone.
    """
    analysis = results.analysis
    grouped = any(len(variables) > 1 for variables in analysis.problem.features.values())
    if len(analysis.refits) == 1 and not grouped:
        return results
    r_model = hand_over(results, None)
    sample, predictor = analysis.problem.sample, analysis.problem.predictor
    y: Any = sample.y
    response = sample.response
    if response is not None and response.classes is not None and y is not None:
        y = pd.Series([response.classes[int(code)] for code in y])
    name = "y" if response is None else response.name
    classes = predictor.classes

    def mean(variables: pd.DataFrame) -> FloatArray:
        return r_model.predict(variables)

    if classes is not None:
        first = r_style.classes_in_order(predictor)[0] != classes[0]
        mean.event_first = first  # type: ignore[attr-defined]
    response_values = None if y is None else pd.Series(y).rename(name)
    return FittedModel(mean, sample.variables, response_values, classes=classes)
