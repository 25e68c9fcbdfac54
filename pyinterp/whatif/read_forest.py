"""Trees of fitted ensembles of any library, and of calibrated ones, as `Forest`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from pyinterp._typing import FloatArray
from pyinterp.models.final_step import final_step
from pyinterp.models.libraries import library_of
from pyinterp.models.links import Link, identity
from pyinterp.models.predictor import Kind
from pyinterp.whatif.forest import Forest, in_preorder, join_trees, joint_forest


def read_forest(estimator: Any, kind: Kind) -> Forest | None:
    """Return the trees of a fitted ensemble; None for other models, and for labels."""
    if kind == "label":
        return None
    if isinstance(estimator, CalibratedClassifierCV):
        return _calibrated_forest(estimator)
    ensemble = library_of(estimator).trees(estimator)
    if ensemble is None:
        return None
    trees = join_trees(map(in_preorder, ensemble.nodes))
    return Forest(**{**vars(ensemble), "nodes": ()}, trees=trees)


def _calibrated_forest(estimator: Any) -> Forest | None:
    """Return the trees of all models in a calibrated classifier; None if they can't be joined.

    That is so for a calibration by temperature, for pipelines, which have columns of their own, and
    for models that do not know some class or category, or are calibrated themselves.
    """
    pairs, forests = estimator.calibrated_classifiers_, []
    for pair in pairs:
        last = final_step(pair.estimator)
        again = isinstance(last.model, CalibratedClassifierCV) or last.before is not None
        forest = None if again else read_forest(last.model, "probability")
        if forest is None or not np.array_equal(pair.estimator.classes_, estimator.classes_):
            return None
        if len(pair.calibrators) == 1 and forest.link is identity and not _has_scores(pair):
            # Of two classes the calibrator is given the second only.
            leaves = np.ascontiguousarray(forest.trees.leaves[:, -1:])
            trees = forest.trees._replace(leaves=leaves)
            forest = replace(forest, trees=trees, base=forest.base[-1:])
        forests.append(forest)
    facts = [
        (f.scale, f.single, str(f.missing), len(f.base), f.levels,
         {c: x.tolist() for c, x in f.categories.items()})
        for f in forests
    ]  # fmt: skip
    if estimator.method == "temperature" or any(fact != facts[0] for fact in facts):
        return None
    return joint_forest(forests, _mean_link([forest.link for forest in forests], pairs))


def _has_scores(pair: Any) -> bool:
    """Whether scores are calibrated, the decision function, or probabilities."""
    return hasattr(pair.estimator, "decision_function")


def _mean_link(links: Sequence[Link], calibrated: Sequence[Any]) -> Link:
    """Return the mean of calibrated probabilities, from the sums of all models side by side."""

    def mean(sums: FloatArray) -> FloatArray:
        parts = np.split(sums, len(links), axis=-1)
        total = np.zeros(())
        for one, link, part in zip(calibrated, links, parts, strict=True):
            # Calibrators take sums where the model has a decision function, else probabilities.
            scores = part if _has_scores(one) else link(part)
            total = total + _probabilities(scores, one.calibrators)
        return total / len(links)

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
    """Return calibrated values in the shape of raw ones."""
    values = np.asarray(calibrator.predict(np.ravel(raw)), np.float64)
    return values.reshape(raw.shape)
