"""Mean predictions of a linear model whose coefficients move, to first order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Sample
from pyinterp.models.final_step import final_step
from pyinterp.models.links import SLOPES, Slope
from pyinterp.models.predictor import Predictor
from pyinterp.whatif.linear import LinearModel, LinearWhatIf, read_linear
from pyinterp.whatif.whatif import Blocks, FeatureWhatIf, WhatIf

# Sums of one block, which stay in the cache of a processor.
BLOCK = 2**14


def tangents_of(whatif: WhatIf, moved: Sequence[Predictor]) -> Tangents | None:
    """Return first-order mean predictions of moved models; None if there are none.

    Every model must be linear, take the rows of the design as they are, without a pipeline's steps,
    and have a link with a derivative.

    Parameters
    ----------
    whatif : WhatIf
        The model and its rows.
    moved : sequence of Predictor
        The model with its coefficients moved, one way each.
    """
    if not isinstance(whatif, LinearWhatIf) or whatif.inputs.before is not None:
        return None
    link = whatif.model.link
    slope = SLOPES.get(link, getattr(link, "slope", None))
    if slope is None:
        return None
    read: Any = [read_linear(final_step(one.estimator).model, one.kind) for one in moved]
    return Tangents(whatif, slope, np.array([*map(_vector, read)]) - _vector(whatif.model))


def _vector(model: LinearModel) -> FloatArray:
    """Return coefficients, and the intercept after them, shape (columns + 1, outputs)."""
    intercept = np.broadcast_to(model.intercept, model.coefficients.shape[1])
    return np.vstack([model.coefficients, intercept])


class Tangents(WhatIf):
    r"""What-if predictions whose rows are moved models: each predicts the mean over the sample.

    .. math:: \frac1n \sum_i f(x_i) \pm \frac1n \sum_i \mu'(x_i^\top \beta)\, x_i^\top d

    for every move d, forwards, then backwards, so that their mean is the mean prediction. A mean
    over rows of linear functions of predictions has the same derivative as its predictions have.

    Parameters
    ----------
    whatif : LinearWhatIf
        The model and its n rows.
    slope : callable
        Derivative of its link.
    moves : ndarray of shape (k, columns + 1, outputs)
        What is added to its coefficients, and its intercept.
    """

    def __init__(self, whatif: LinearWhatIf, slope: Slope, moves: FloatArray) -> None:
        super().__init__(whatif.predictor, whatif.design, whatif.sample)
        self.of_rows, self.slope, self.moves = whatif, slope, moves
        every = np.arange(2 * len(moves))
        self.sample = Sample(variables=pd.DataFrame(index=every), y=None, response=None, rows=every)

    @cached_property
    def shares(self) -> FloatArray:
        """What every row has in the means, shape (n,)."""
        n, weights = self.of_rows.sample.nobs, self.of_rows.sample.weights
        return np.full(n, 1 / n) if weights is None else weights / weights.sum()

    def of(self, variables: Sequence[str]) -> FeatureTangents:
        """Return mean predictions with some variables replaced together."""
        return FeatureTangents(self, variables)


class FeatureTangents(FeatureWhatIf):
    """Mean predictions of one feature: donors replace its variables in all rows."""

    _whatif: Tangents

    def __init__(self, whatif: Tangents, variables: Sequence[str]) -> None:
        super().__init__(whatif, variables)
        self.sample = whatif.of_rows.sample

    def cross(self, donors: pd.DataFrame | None = None) -> Blocks:
        """Yield all moved models, and their mean predictions with every donor's variables."""
        index = np.arange(len(self._frame(donors)))[None]
        means = self.pairs(np.arange(self.sample.nobs), index, donors)
        yield np.arange(self._whatif.sample.nobs), means

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Return mean predictions, row ``rows[a]`` with the variables of donors ``index[a]``.

        Of one row of `index` all rows have the donors.
        """
        whatif, donors, points = self._whatif, self._frame(donors), index.shape[1]
        model, inputs, swap = whatif.of_rows.model, whatif.of_rows.inputs, self._swap(donors)
        found, coefficients = inputs.by_donor(self.variables, donors), _vector(model)
        columns = slice(-1) if found is None else found[0]
        given = np.column_stack([inputs.rows[rows], np.ones(len(rows))])
        given[:, columns] = 0
        shares = whatif.shares[rows]
        means = gradients = np.zeros(())
        step = max(1, BLOCK // (points * coefficients.shape[1]))
        for part in (slice(i, i + step) for i in range(0, len(rows), step)):
            sources = index if len(index) == 1 else index[part]
            if found is None:
                targets, sources = np.broadcast_arrays(rows[part, None], sources)
                matrix: Any = swap().matrix(targets.ravel(), sources.ravel())
                replaced = matrix.reshape(*targets.shape, -1)
            else:
                replaced = found[1][sources]
            sums = (given[part] @ coefficients)[:, None] + replaced @ coefficients[columns]
            flat = sums.reshape(-1, sums.shape[2])
            with np.errstate(all="ignore"):  # what overflows is refused
                predictions = model.link(flat)
                slopes = whatif.slope(flat, predictions)
            means = means + shares[part] @ predictions.reshape(len(sums), -1)
            of_rows = slopes.reshape(len(sums), -1) * shares[part, None]
            by_column = (of_rows.T @ given[part]).reshape(points, -1, given.shape[1])
            by_point = of_rows.reshape(*sums.shape[:2], -1)
            by_column[..., columns] += np.einsum("bkw,bkc->kwc", by_point, replaced)
            gradients = gradients + by_column
        # By move, point and class.
        gradients = gradients.reshape(points, *slopes.shape[1:], -1)
        change = np.tensordot(whatif.moves, gradients, ((2, 1), (2, 3)))
        if predictions.ndim == 1:
            change = change[..., 0]
        else:
            change = np.concatenate([-change.sum(axis=2, keepdims=True), change], axis=2)
        means = means.reshape(points, *predictions.shape[1:])
        return whatif.of_rows.finish(means + np.concatenate([change, -change]))
