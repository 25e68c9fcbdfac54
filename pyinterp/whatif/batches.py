"""What-if predictions of any model: many copies of the rows per predict call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.design import Design, Swap
from pyinterp.data.sample import Sample
from pyinterp.models.predictor import Predictor
from pyinterp.parallel import go_on
from pyinterp.whatif.whatif import Block, Engine, FeatureWhatIf, WhatIf

__all__ = ["BatchedWhatIf"]

# A copy costs its design row, the estimator's own copy of it (often float32 plus checks), and
# its predictions; measured peaks of scikit-learn estimators stay below this many bytes a value.
BYTES_PER_VALUE = 24

# Rows of one predict call at most: Ctrl-C has to wait for its end, k neighbors of many rows long.
MOST_ROWS = 2**14


class BatchedWhatIf(WhatIf):
    """What-if predictions by predicting copies of the rows.

    Parameters
    ----------
    predictor : Predictor
        The fitted model.
    design : Design
        How its variables are encoded.
    sample : Sample
        The evaluation rows.
    memory_mb : float
        Upper bound on the memory of one predict call's copies.
    factual : ndarray, optional
        Predictions on the rows as they are; by default computed when first used.
    """

    def __init__(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        *,
        memory_mb: float = 256.0,
        factual: FloatArray | None = None,
    ) -> None:
        super().__init__(predictor, design, sample, Engine("batched"), factual)
        self.memory_mb = memory_mb
        values = len(design.columns) + max(predictor.width, 1)
        bound = int(memory_mb * 2**20 / (BYTES_PER_VALUE * values))
        self.batch = min(max(1, bound), MOST_ROWS)  # rows of a predict call

    def check(self) -> BatchedWhatIf:
        """Return itself after the predictions of the rows as they are were checked."""
        if self._factual is None:
            self._factual = self.predictor.check(
                self.design.encode(self.sample.variables, self.sample.index)
            )
        return self

    def take(self, rows: IntArray) -> BatchedWhatIf:
        """Return what-if predictions of the same model on some of the rows."""
        return BatchedWhatIf(
            self.predictor,
            self.design,
            self.sample.take(rows),
            memory_mb=self.memory_mb,
            factual=self.factual[rows],
        )

    def of(self, variables: Sequence[str]) -> BatchedFeature:
        """Return what-if predictions with some variables replaced together."""
        return BatchedFeature(self, variables)

    def predict(self, swap: Swap, rows: IntArray, donors: IntArray) -> FloatArray:
        """Predict rows with the variables of one donor each, in batches."""
        parts = []
        for i in range(0, len(rows), self.batch):
            go_on()
            batch = slice(i, i + self.batch)
            parts.append(self.predictor(swap.matrix(rows[batch], donors[batch])))
        return np.concatenate(parts)


class BatchedFeature(FeatureWhatIf):
    """What-if predictions of a feature of any model.

    Parameters
    ----------
    whatif : BatchedWhatIf
        The model and its rows.
    variables : sequence of str
        The variables that are replaced together.
    """

    def __init__(self, whatif: BatchedWhatIf, variables: Sequence[str]) -> None:
        super().__init__(whatif.sample, variables)
        self._whatif = whatif

    def cross(self, donors: pd.DataFrame | None = None) -> Iterator[Block]:
        """Predict every row with the variables of every donor, in blocks of rows."""
        donors = self._frame(donors)
        swap = self._swap(donors)
        n, k = self.sample.nobs, len(donors)
        step = max(1, self._whatif.batch // k)
        every = np.arange(k)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            flat = self._whatif.predict(swap, np.repeat(rows, k), np.tile(every, len(rows)))
            yield Block(rows, flat.reshape(len(rows), k, *flat.shape[1:]))

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``."""
        donors = self._frame(donors)
        swap = self._swap(donors)
        targets, sources = np.repeat(rows, index.shape[1]), index.ravel()
        if len(donors) >= min(self.sample.nobs, index.size):
            flat = self._whatif.predict(swap, targets, sources)
        else:  # few distinct donors: a row may meet the same one again
            pairs, which = np.unique(targets * len(donors) + sources, return_inverse=True)
            flat = self._whatif.predict(swap, *np.divmod(pairs, len(donors)))[which]
        return flat.reshape(*index.shape, *flat.shape[1:])

    def _swap(self, donors: pd.DataFrame) -> Swap:
        sample, design = self.sample, self._whatif.design
        return design.swap(sample.variables, self.variables, donors, sample.index)
