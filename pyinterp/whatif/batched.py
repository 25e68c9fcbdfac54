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
from pyinterp.whatif.whatif import Block, Engine, WhatIf

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
        Predictions on the rows as they are, if they are known.
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
        self.engine = Engine("batched")
        self._factual = factual
        self.predictor, self.sample = predictor, sample
        self.design = design
        self._memory_mb = memory_mb
        values = len(design.columns) + len(predictor.classes or (0,))
        bound = int(memory_mb * 2**20 / (BYTES_PER_VALUE * values))
        self._batch = min(max(1, bound), MOST_ROWS)

    @property
    def factual(self) -> FloatArray:
        """Predictions on the rows as they are."""
        if self._factual is None:
            self._factual = self.predictor(self.design.encode(self.sample.variables))
        return self._factual

    def checked(self) -> WhatIf:
        """Return these predictions after those of the rows as they are were checked."""
        if self._factual is None:
            self._factual = self.predictor.checked(self.design.encode(self.sample.variables))
        return self

    def keep(self, factual: FloatArray, error: float) -> None:
        """Keep the engine's own predictions of the rows, and how far they are off the model's."""
        self._factual, self.engine = factual, self.engine._replace(error=error)

    def take(self, rows: IntArray) -> WhatIf:
        """Return what-if predictions of the same model on some of the rows."""
        return BatchedWhatIf(
            self.predictor,
            self.design,
            self.sample.take(rows),
            memory_mb=self._memory_mb,
            factual=self.factual[rows],
        )

    def cross(self, variables: Sequence[str], donors: pd.DataFrame) -> Iterator[Block]:
        """Predict every row with the `variables` of every donor, in blocks of rows."""
        swap = self.design.swap(self.sample.variables, variables, donors)
        n, k = self.sample.nobs, len(donors)
        step = max(1, self._batch // k)
        every = np.arange(k)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            flat = self._predict(swap, np.repeat(rows, k), np.tile(every, len(rows)))
            yield Block(rows, flat.reshape(len(rows), k, *flat.shape[1:]))

    def paired(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the `variables` of donors ``index[a]``."""
        swap = self.design.swap(self.sample.variables, variables, donors)
        kept, given = np.repeat(rows, index.shape[1]), index.ravel()
        if len(donors) >= min(self.sample.nobs, index.size):
            flat = self._predict(swap, kept, given)
        else:  # few distinct donors: a row may meet the same one again
            pairs, which = np.unique(kept * len(donors) + given, return_inverse=True)
            flat = self._predict(swap, *np.divmod(pairs, len(donors)))[which]
        return flat.reshape(*index.shape, *flat.shape[1:])

    def _predict(self, swap: Swap, rows: IntArray, donors: IntArray) -> FloatArray:
        parts = []
        for i in range(0, len(rows), self._batch):
            go_on()
            batch = slice(i, i + self._batch)
            parts.append(self.predictor(swap.matrix(rows[batch], donors[batch])))
        return np.concatenate(parts)
