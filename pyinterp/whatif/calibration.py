"""Calibrated classifiers: the models inside side by side, then maps to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from pyinterp._typing import FloatArray
from pyinterp.models.final_step import FinalStep, final_step
from pyinterp.models.links import Link
from pyinterp.models.trees import Levels
from pyinterp.whatif.inputs import Before, numbers


class Member(NamedTuple):
    """A fitted classifier inside a calibrated one.

    Attributes
    ----------
    last : FinalStep
        The model.
    scores : bool
        Whether its scores are calibrated, the decision function, or its probabilities.
    calibrators : tuple
        One per class, of two classes for the second alone.
    """

    last: FinalStep
    scores: bool
    calibrators: tuple[Any, ...]


def members(model: Any) -> tuple[Member, ...]:
    """Return the models in a `CalibratedClassifierCV`; none if it can't be read.

    A calibration by temperature is not read, nor one with a model that does not know some class,
    or is a calibration too.
    """
    inside = []
    for pair in model.calibrated_classifiers_:
        estimator, last = pair.estimator, final_step(pair.estimator)
        again = isinstance(last.model, CalibratedClassifierCV)
        if again or not np.array_equal(estimator.classes_, model.classes_):
            return ()
        scores = hasattr(estimator, "decision_function")
        inside.append(Member(last, scores, tuple(pair.calibrators)))
    return () if model.method == "temperature" else tuple(inside)


def side_by_side(inside: Sequence[Member], levels: Sequence[Levels]) -> Before:
    """Return a function that makes inputs of the same rows for several models, side by side."""

    def inputs(rows: Any) -> FloatArray:
        parts = []
        for member, of_model in zip(inside, levels, strict=True):
            before = member.last.before
            parts.append(numbers(rows if before is None else before(rows), of_model))
        return np.hstack(parts)

    return inputs


def mean_link(links: Sequence[Link], inside: Sequence[Member]) -> Link:
    """Return the mean of calibrated probabilities, from the sums of all models side by side."""

    def mean(sums: FloatArray) -> FloatArray:
        parts = np.split(sums, len(links), axis=-1)
        total = np.zeros(())
        for member, link, part in zip(inside, links, parts, strict=True):
            total = total + _probabilities(
                part if member.scores else link(part), member.calibrators
            )
        return np.asarray(total / len(links))

    return mean


def _probabilities(raw: FloatArray, calibrators: Sequence[Any]) -> FloatArray:
    """Return one model's calibrated probabilities, all classes in proportion."""
    values = np.moveaxis(raw, -1, 0)
    if len(calibrators) == 1:
        p = _calibrate(calibrators[0], values[-1])
        return np.stack([1 - p, p], axis=-1)
    p = np.stack(list(map(_calibrate, calibrators, values)), axis=-1)
    total = p.sum(axis=-1, keepdims=True)
    uniform = np.full_like(p, 1 / p.shape[-1])
    return np.asarray(np.divide(p, total, out=uniform, where=total != 0))


def _calibrate(calibrator: Any, raw: FloatArray) -> FloatArray:
    values = np.asarray(calibrator.predict(np.ravel(raw)), dtype=np.float64)
    return values.reshape(raw.shape)
