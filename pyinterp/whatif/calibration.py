"""Calibrated classifiers: the models inside side by side, then maps to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from pyinterp._typing import FloatArray, Matrix
from pyinterp.models.final_step import EarlierSteps, FinalStep, final_step
from pyinterp.whatif.forest import Forest, alike, identity, joint_forest
from pyinterp.whatif.inputs import numbers
from pyinterp.whatif.linear import LinearModel, joint_linear, read_linear
from pyinterp.whatif.read_forest import levels_of, read_forest

__all__ = ["Before", "calibrated_forest", "calibrated_linear", "final_steps"]

# From design rows to the inputs of a model.
Before: TypeAlias = Callable[[Matrix], Any]
Link: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class _Member:
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


@dataclass(frozen=True)
class _Calibration:
    """Calibrated probabilities of one classifier, those of all classes in proportion.

    Attributes
    ----------
    link : callable
        From sums, shape (..., outputs), to what is calibrated, shape (..., outputs or classes).
    calibrators : tuple
        As of `_Member`.
    """

    link: Link
    calibrators: tuple[Any, ...]

    def __call__(self, sums: FloatArray) -> FloatArray:
        raw = self.link(sums)
        if len(self.calibrators) == 1:
            p = _calibrate(self.calibrators[0], raw[..., -1])
            return np.stack([1 - p, p], axis=-1)
        p = np.stack(
            [_calibrate(each, raw[..., k]) for k, each in enumerate(self.calibrators)], axis=-1
        )
        total = p.sum(axis=-1, keepdims=True)
        uniform = np.full_like(p, 1 / p.shape[-1])
        return np.asarray(np.divide(p, total, out=uniform, where=total != 0))


@dataclass(frozen=True)
class _MeanOfMembers:
    """The mean of calibrated probabilities, from the sums of all members side by side."""

    links: tuple[Link, ...]

    def __call__(self, sums: FloatArray) -> FloatArray:
        outputs = sums.shape[-1] // len(self.links)
        total = self.links[0](sums[..., :outputs])
        for m, link in enumerate(self.links[1:], start=1):
            total += link(sums[..., m * outputs : (m + 1) * outputs])
        return total / len(self.links)


@dataclass(frozen=True)
class _SideBySide:
    """Inputs of several models of the same rows, the columns of one after those of the other."""

    before: EarlierSteps | None
    members: tuple[FinalStep, ...]

    def __call__(self, matrix: Matrix) -> FloatArray:
        rows = matrix if self.before is None else self.before(matrix)
        return np.hstack(
            [
                numbers(rows if last.before is None else last.before(rows), levels_of(last.model))
                for last in self.members
            ]
        )


def final_steps(last: FinalStep) -> tuple[FinalStep, ...]:
    """Return the models that say what is calibrated; none if the last step is no such classifier.

    A calibration by temperature is not read, nor one with a model that does not know some class.
    """
    return tuple(member.last for member in _members(last.model))


def calibrated_forest(last: FinalStep) -> tuple[Forest, Before | None] | None:
    """Return all trees of a calibrated classifier, and what makes their inputs.

    None for other models, and if the trees can't be one forest.
    """
    members, forests = _members(last.model), []
    for member in members:
        forest = read_forest(member.last.model)
        if forest is None:
            return None
        forests.append(_of_calibrators(forest, member))
    if not forests or not alike(forests):
        return None
    before = _before(last, members, same=_same_categories(members, forests))
    widths = [int(member.last.model.n_features_in_) for member in members]
    apart = isinstance(before, _SideBySide)
    starts = np.cumsum([0, *widths[:-1]]) * apart
    link = _mean([(member, forest.link) for member, forest in zip(members, forests, strict=True)])
    return joint_forest(forests, starts.tolist(), link), before


def calibrated_linear(last: FinalStep) -> tuple[LinearModel, Before | None] | None:
    """Return all coefficients of a calibrated classifier, and what makes their inputs.

    None for other models.
    """
    members, models = _members(last.model), []
    for member in members:
        model = read_linear(member.last.model, "label" if member.scores else "probability")
        if model is None:
            return None
        models.append(model)
    if not models:
        return None
    before = _before(last, members, same=True)
    link = _mean([(member, model.inverse) for member, model in zip(members, models, strict=True)])
    return joint_linear(models, link, apart=isinstance(before, _SideBySide)), before


def _members(model: Any) -> tuple[_Member, ...]:
    if not isinstance(model, CalibratedClassifierCV) or model.method == "temperature":
        return ()
    inside = [(pair.estimator, tuple(pair.calibrators)) for pair in model.calibrated_classifiers_]
    if any(not np.array_equal(estimator.classes_, model.classes_) for estimator, _ in inside):
        return ()
    return tuple(
        _Member(final_step(estimator), hasattr(estimator, "decision_function"), calibrators)
        for estimator, calibrators in inside
    )


def _of_calibrators(forest: Forest, member: _Member) -> Forest:
    """Return a forest without the first of two classes, which no calibrator is given."""
    if member.scores or len(member.calibrators) > 1 or forest.link is not identity:
        return forest
    leaves = np.ascontiguousarray(forest.leaves[:, -1:])
    return replace(forest, leaves=leaves, base=forest.base[-1:])


def _same_categories(members: Sequence[_Member], forests: Sequence[Forest]) -> bool:
    """Whether all models read categories alike."""
    levels = [levels_of(member.last.model) for member in members]
    seen = [{c: x.tolist() for c, x in forest.categories.items()} for forest in forests]
    return all(each == levels[0] for each in levels) and all(each == seen[0] for each in seen)


def _before(last: FinalStep, members: Sequence[_Member], *, same: bool) -> Before | None:
    """Return what makes the inputs: side by side unless all models have the same."""
    if same and all(member.last.before is None for member in members):
        return last.before
    return _SideBySide(last.before, tuple(member.last for member in members))


def _mean(links: Sequence[tuple[_Member, Link]]) -> Link:
    """Return the mean of calibrated probabilities, from each member's link."""
    return _MeanOfMembers(
        tuple(
            _Calibration(_identity if member.scores else link, member.calibrators)
            for member, link in links
        )
    )


def _identity(sums: FloatArray) -> FloatArray:
    return sums


def _calibrate(calibrator: Any, raw: FloatArray) -> FloatArray:
    values = np.asarray(calibrator.predict(np.ravel(raw)), dtype=np.float64)
    return values.reshape(raw.shape)
