"""Trees of fitted ensembles of any library, and of calibrated ones, as `Forest`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from pyinterp.models.libraries import library_of
from pyinterp.models.links import identity
from pyinterp.models.predictor import Kind
from pyinterp.whatif.calibration import mean_link, members, side_by_side
from pyinterp.whatif.forest import Forest, Nodes, joint_forest


def read_forest(estimator: Any, kind: Kind) -> Forest | None:
    """Return the trees of a fitted ensemble; None for other models, and for labels."""
    if kind == "label":
        return None
    if isinstance(estimator, CalibratedClassifierCV):
        return _calibrated_forest(estimator)
    ensemble = library_of(estimator).trees(estimator)
    if ensemble is None:
        return None
    nodes, facts = Nodes(), dict(vars(ensemble))
    for part in facts.pop("nodes"):
        nodes.add(part)
    return Forest(trees=nodes.trees(), **facts)


def _calibrated_forest(estimator: Any) -> Forest | None:
    """Return the trees of all models in a calibrated classifier; None if they can't be joined."""
    inside, forests = members(estimator), []
    for member in inside:
        forest = read_forest(member.last.model, "probability")
        if forest is None:
            return None
        if len(member.calibrators) == 1 and forest.link is identity and not member.scores:
            # Of two classes the calibrator is given the second only.
            leaves = np.ascontiguousarray(forest.trees.leaves[:, -1:])
            trees = forest.trees._replace(leaves=leaves)
            forest = replace(forest, trees=trees, base=forest.base[-1:])
        forests.append(forest)
    if len({(f.scale, f.single, str(f.missing), len(f.base)) for f in forests}) != 1:
        return None
    levels, link = (
        [forest.levels for forest in forests],
        mean_link([f.link for f in forests], inside),
    )
    codes = [{c: x.tolist() for c, x in forest.categories.items()} for forest in forests]
    same = levels == levels[:1] * len(levels) and codes == codes[:1] * len(codes)
    if same and all(member.last.before is None for member in inside):
        return joint_forest(forests, [0] * len(forests), link)
    widths = [int(member.last.model.n_features_in_) for member in inside]
    joint = joint_forest(forests, np.cumsum([0, *widths[:-1]]).tolist(), link)
    return replace(joint, before=side_by_side(inside, levels))
