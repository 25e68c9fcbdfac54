"""The model inside pipelines, searches and other wrappers of one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.frozen import FrozenEstimator

from pyinterp._typing import Matrix
from pyinterp.models.library import Booster


@dataclass(frozen=True)
class FinalStep:
    """The model at the end of a pipeline, and its inputs.

    Attributes
    ----------
    model : object
        A fitted model. What changes its predictions, such as a calibration or the inverse of a
        transformed response, is a part of it.
    wrappers : tuple
        What it is in, from the outermost to the innermost; empty if it stands alone.
    pipelines : tuple of Pipeline
        The fitted steps before it, without it, one pipeline after the other.
    before : callable or None
        From design rows to the model's inputs, through these; None if there are none.
    """

    model: Any
    wrappers: tuple[Any, ...]
    pipelines: tuple[Any, ...]
    before: Callable[[Matrix], Any] | None

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the model's inputs; none if a step does not tell."""
        names = list(columns)
        for pipeline in self.pipelines:
            names = _names_out(pipeline, names)
        return names


def steps_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return names and steps of a pipeline; none if the estimator is no pipeline."""
    steps = getattr(estimator, "steps", None)
    return steps if isinstance(steps, list) else []


def final_step(fitted: Any) -> FinalStep:
    """Return the last model of fitted pipelines, of searches by their best, and of frozen models.

    These predict what the model inside predicts of its inputs. So does no other wrapper.
    """
    model = fitted
    wrappers: list[Any] = []
    pipelines = []
    while True:
        steps = steps_of(model)
        best = getattr(model, "best_estimator_", None)
        if isinstance(model, FrozenEstimator):  # first: it shows the attributes of what is inside
            inside = model.estimator
        elif best is not None:
            inside = best
        elif steps:
            inside = steps[-1][1]
            if len(steps) > 1:
                pipelines.append(model[:-1])
        else:
            before = partial(_through, pipelines) if pipelines else None
            return FinalStep(model, tuple(wrappers), tuple(pipelines), before)
        wrappers.append(model)
        model = inside


def _through(pipelines: Sequence[Any], matrix: Matrix) -> Any:
    """Return the rows of a design after the steps of pipelines, one after the other."""
    inputs = matrix
    for pipeline in pipelines:
        inputs = pipeline.transform(inputs)
    return inputs


def innermost(estimator: Any) -> Any:
    """Return the estimator inside pipelines, searches and other wrappers, fitted or not.

    Its class says which inputs the whole needs, as that of a forest's trees does. The whole may
    predict something else, since a wrapper can transform responses.
    """
    if steps := steps_of(estimator):
        return innermost(steps[-1][1])
    for inside in ("estimator", "regressor"):
        wrapped = getattr(estimator, inside, None)
        if hasattr(wrapped, "fit"):
            return innermost(wrapped)
    return estimator


def entrance(fitted: Any) -> Any:
    """Return the fitted model or transformer that is given the rows of pipelines and wrappers."""
    steps = steps_of(fitted)
    inside = getattr(fitted, "best_estimator_", getattr(fitted, "regressor_", None))
    if steps:
        inside = next((step for _, step in steps if step not in (None, "passthrough")), None)
    elif isinstance(fitted, Booster):
        return fitted.booster
    elif calibrated := getattr(fitted, "calibrated_classifiers_", None):
        inside = calibrated[0].estimator
    return fitted if inside is None else entrance(inside)


def _names_out(pipeline: Any, names: list[str]) -> list[str]:
    """Return the names of a pipeline's output columns; none if a step does not tell."""
    if not names:
        return []
    for arguments in ((names,), ()):  # one fitted to other names knows only those
        try:
            return [str(name) for name in pipeline.get_feature_names_out(*arguments)]
        except (AttributeError, ValueError):
            continue
    return []
