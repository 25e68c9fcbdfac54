"""Mean predictions of a linear model whose coefficients move, to first order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.sample import Sample
from pyinterp.models.final_step import final_step
from pyinterp.models.links import Slope, slope_of
from pyinterp.models.predictor import Predictor
from pyinterp.whatif.inputs import numbers
from pyinterp.whatif.linear import LinearModel, LinearWhatIf, read_linear
from pyinterp.whatif.whatif import Blocks, FeatureWhatIf, WhatIf


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
    slope = slope_of(whatif.model.link)
    models = [read_linear(final_step(one.estimator).model, one.kind) for one in moved]
    read = [_vector(one) for one in models if one is not None]
    if slope is None or len(read) < len(models):
        return None
    return Tangents(whatif, slope, np.array(read) - _vector(whatif.model))


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
        sample = self.of_rows.sample
        weights = np.ones(sample.nobs) if sample.weights is None else sample.weights
        return np.asarray(weights / weights.sum())

    def of(self, variables: Sequence[str]) -> FeatureTangents:
        """Return mean predictions with some variables replaced together."""
        return FeatureTangents(self, variables)

    def means(self, points: Iterable[FloatArray], shares: FloatArray) -> FloatArray:
        """Return mean predictions of moved models, shape (2k, points) or (2k, points, classes).

        Parameters
        ----------
        points : iterable of ndarray
            What the model is given of all rows, point by point.
        shares : ndarray
            What every row has in the means.
        """
        coefficients, link = _vector(self.of_rows.model), self.of_rows.model.link
        values, gradients = [], []
        with np.errstate(all="ignore"):  # what overflows is refused
            for inputs in points:
                sums = inputs @ coefficients
                predictions = link(sums)
                slopes = self.slope(sums, predictions)
                values.append(shares @ predictions)
                of_sums = (slopes.reshape(len(sums), -1) * shares[:, None]).T @ inputs
                gradients.append(of_sums.reshape(*slopes.shape[1:], -1))
        # By move, point and class.
        change = np.tensordot(self.moves, np.array(gradients), ((2, 1), (2, 3)))
        if predictions.ndim == 1:
            change = change[..., 0]
        else:
            change = np.concatenate([-change.sum(axis=2, keepdims=True), change], axis=2)
        return np.asarray(np.array(values) + np.concatenate([change, -change]))


class FeatureTangents(FeatureWhatIf):
    """Mean predictions of one feature: donors replace its variables in all rows."""

    _whatif: Tangents

    def __init__(self, whatif: Tangents, variables: Sequence[str]) -> None:
        super().__init__(whatif, variables)
        self.sample = whatif.of_rows.sample

    def cross(self, donors: pd.DataFrame | None = None) -> Blocks:
        """Yield all moved models, and their mean predictions with every donor's variables."""
        every = np.arange(self.sample.nobs)
        donors = self._frame(donors)
        index = np.broadcast_to(np.arange(len(donors)), (len(every), len(donors)))
        yield np.arange(self._whatif.sample.nobs), self.pairs(every, index, donors)

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Return mean predictions, row ``rows[a]`` with the variables of donors ``index[a]``."""
        whatif, donors = self._whatif, self._frame(donors)
        given, swap = whatif.of_rows.inputs.rows[rows], self._swap(donors)
        inputs = np.column_stack([given, np.ones(len(rows))])
        found = whatif.of_rows.inputs.by_donor(self.variables, donors)

        def points() -> Iterator[FloatArray]:
            for of_row in index.T:
                if found is None:
                    inputs[:, :-1] = numbers(swap().matrix(rows, of_row))
                else:
                    inputs[:, found[0]] = found[1][of_row]
                yield inputs

        return whatif.of_rows.finish(whatif.means(points(), whatif.shares[rows]))
