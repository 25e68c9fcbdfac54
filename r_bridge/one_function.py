"""The one prediction function that both sides are asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pyinterp import r_style
from pyinterp.learner.fitted_model import FittedModel
from pyinterp.learner.interpretable import Interpretable
from r_bridge.model_for_r import hand_over

__all__ = ["one_function"]


class _Mean:
    """What predicts the mean of refits."""

    def __init__(self, predict: Callable[[pd.DataFrame], Any], *, event_first: bool) -> None:
        self.event_first = event_first
        self._mean = predict

    def predict(self, variables: pd.DataFrame) -> Any:
        return self._mean(variables)


class _MeanProbability(_Mean):
    def __init__(
        self, predict: Callable[[pd.DataFrame], Any], classes: Sequence[Any], *, event_first: bool
    ) -> None:
        super().__init__(predict, event_first=event_first)
        self.classes_ = np.asarray(classes, dtype=object)

    def predict_proba(self, variables: pd.DataFrame) -> Any:
        return self._mean(variables)


def one_function(results: Interpretable) -> Interpretable:
    """Return a fitted model as it is, and of a learner the mean of its refits.

    R knows no groups of variables: of a fitted model that has some, its function alone.
    """
    analysis = results.analysis
    grouped = any(len(variables) > 1 for variables in analysis.problem.features.values())
    if len(analysis.refits) == 1 and not grouped:
        return results
    r_model = hand_over(results, None)
    population, predictor = analysis.problem.population, analysis.problem.predictor
    y: Any = population.y
    response = population.response
    if response is not None and response.classes is not None and y is not None:
        y = pd.Series([response.classes[int(code)] for code in y])
    name = "y" if response is None else response.name
    classes = predictor.classes
    first = classes is not None and r_style.classes_in_order(predictor)[0] != classes[0]
    mean = (
        _Mean(r_model.predict, event_first=first)
        if classes is None
        else _MeanProbability(r_model.predict, classes, event_first=first)
    )
    return FittedModel(mean, population.variables, None if y is None else pd.Series(y).rename(name))
