"""How much of a feature's effect on predictions means of many refits keep, from pairs of halves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.errors import PyinterpError
from pyinterp.inference.learning import mean_share
from pyinterp.random import Seeds
from pyinterp.resampling.refits import Refit

__all__ = ["MeanShares"]

Feature = tuple[str, ...]
EVERYTHING: Feature = ()  # stands for predictions themselves
MIXTURE = 200  # rows that are predicted
AT_ONCE = 50  # features whose rows are predicted together


class MeanShares:
    """`mean_share` of features, each computed once, from rows that are mixtures of the data's.

    In such a row every variable has its value in another row of the data, so that few mixtures of
    several variables are training rows. A share does not depend on which others are asked for.

    Parameters
    ----------
    refits : sequence of Refit
        Those in pairs of complementary halves count.
    variables : DataFrame
        Variables of all rows of the data.
    seeds : Seeds
    """

    def __init__(self, refits: Sequence[Refit], variables: pd.DataFrame, seeds: Seeds) -> None:
        pairs: dict[int, list[Refit]] = {}
        for refit in refits:
            if refit.group is not None and refit.group.kind == "pair":
                pairs.setdefault(refit.group.number, []).append(refit)
        self.pairs = [pair for pair in pairs.values() if len(pair) == 2]
        self.variables, self.seeds = variables, seeds
        self.clustered = any(refit.evaluation.clusters is not None for refit in refits)
        self.shares: dict[Feature, float] = {}

    def of(self, features: Sequence[Feature]) -> FloatArray:
        """Return a share for each feature, given by its variables; 1 for no feature, ().

        The larger of two: that of the differences that another value of the feature makes to
        predictions, and that of predictions less their mean. 1 with clusters, of which there are
        few, and where the mixtures can't be predicted.
        """
        keys = [tuple(sorted(feature)) for feature in features]
        if self.clustered:
            return np.ones(len(keys))
        new = sorted({key for key in keys if key and key not in self.shares})
        if EVERYTHING not in self.shares or new:
            self._add(new)
        least = self.shares[EVERYTHING]
        return np.array([max(least, self.shares[key]) if key else 1.0 for key in keys])

    def _add(self, features: Sequence[Feature]) -> None:
        self.shares.update(dict.fromkeys([EVERYTHING, *features], 1.0))
        base = pd.concat([self._sample((str(name),))[0] for name in self.variables], axis=1)
        try:
            (first,) = self._predictions([base])
        except PyinterpError:  # a learner, or a formula, may refuse rows that do not occur
            return
        away = first - first.mean(axis=2, keepdims=True)
        self.shares[EVERYTHING] = mean_share(away, _size(first))
        for start in range(0, len(features), AT_ONCE):
            some = features[start : start + AT_ONCE]
            try:
                self.shares.update(self._together(some, base, first))
            except PyinterpError:
                self._one_by_one(some, base, first)

    def _one_by_one(
        self, features: Sequence[Feature], base: pd.DataFrame, first: FloatArray
    ) -> None:
        for feature in features:
            try:
                self.shares.update(self._together([feature], base, first))
            except PyinterpError:
                continue

    def _together(
        self, features: Sequence[Feature], base: pd.DataFrame, first: FloatArray
    ) -> dict[Feature, float]:
        """Return shares of features; variables of one feature have values of one row together."""
        joint = [feature for feature in features if len(feature) > 1]
        before = [base.assign(**self._sample(feature)[0]) for feature in joint]
        after = [base.assign(**self._sample(feature)[1]) for feature in features]
        predicted = self._predictions([*before, *after])
        start = dict(zip(joint, predicted, strict=False))
        ends = zip(features, predicted[len(joint) :], strict=True)
        return {f: mean_share(end - start.get(f, first), _size(first)) for f, end in ends}

    def _predictions(self, frames: Sequence[pd.DataFrame]) -> list[FloatArray]:
        """Return predictions of each frame's rows, shape (pairs, 2, rows, outputs)."""
        rows = pd.concat(frames, ignore_index=True)
        predicted = np.array([[_predict(refit, rows) for refit in pair] for pair in self.pairs])
        return np.split(predicted, len(frames), axis=2)

    def _sample(self, feature: Feature) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return values of a feature in two samples of rows, which do not depend on others."""
        values = self.variables[list(feature)]
        rng = self.seeds.stream("draws", name=f"mixture of {', '.join(feature)}")
        first, second = rng.integers(len(values), size=(2, MIXTURE))
        return (
            values.take(first).reset_index(drop=True),
            values.take(second).reset_index(drop=True),
        )


def _predict(refit: Refit, rows: pd.DataFrame) -> FloatArray:
    return refit.predictor(refit.design.encode(rows)).reshape(len(rows), -1)


def _size(predictions: FloatArray) -> float:
    return float(np.square(predictions).mean())
