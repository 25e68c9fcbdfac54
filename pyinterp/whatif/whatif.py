"""What would be predicted with other values of a feature: the question every estimand asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.losses.rowwise import Loss
from pyinterp.models.predictor import Predictor
from pyinterp.samplers import Distinct, distinct

__all__ = ["PAIRS", "PREDICTIONS", "Block", "Engine", "WhatIf"]

# Predictions of copies of rows that are worth making per feature and model.
PREDICTIONS = 250_000
# Pairs of a row and a donor that are worth an exact mean where a pair costs little more than its
# loss.
PAIRS = 1e8


class Engine(NamedTuple):
    """What computed predictions.

    Attributes
    ----------
    name : str
        What tables call it.
    error : float
        Its largest deviation from the model's own predictions, in units of their spread over rows;
        0 where these are the model's own.
    reason : str
        Why an exact engine could not serve, if one might have.
    """

    name: str
    error: float = 0.0
    reason: str = ""

    @classmethod
    def of_all(cls, engines: Sequence[Engine]) -> Engine:
        """Return what is to be said of several models."""
        return cls(
            name="; ".join(dict.fromkeys(e.name for e in engines)),
            error=max(e.error for e in engines),
            reason="; ".join(dict.fromkeys(e.reason for e in engines if e.reason)),
        )


class Block(NamedTuple):
    """Predictions for some rows and all donors.

    Attributes
    ----------
    rows : ndarray of int, shape (rows,)
        Their positions in the sample.
    predictions : ndarray of shape (rows, donors) or (rows, donors, classes)
    """

    rows: IntArray
    predictions: FloatArray


class WhatIf(ABC):
    """What-if predictions of one fitted model on one sample.

    Attributes
    ----------
    predictor : Predictor
        The fitted model.
    design : Design
        How its variables are encoded.
    sample : Sample
        The evaluation rows, n of them.
    engine : Engine
        What computes the predictions.
    """

    engine: Engine
    predictor: Predictor
    design: Design
    sample: Sample

    def distinct(self, variables: Sequence[str]) -> Distinct:
        """Return the sample's rows as donors of `variables`, those that predict alike as one."""
        return distinct(self.sample.variables, variables)

    def most_pairs(self, variables: Sequence[str], donors: Distinct, loss: Loss) -> float:
        """How many pairs of rows and distinct donors are worth an exact mean of `loss`."""
        return PREDICTIONS

    def most_draws(self, variables: Sequence[str]) -> float:
        """How many draws of `variables`, each for one row only, are worth predicting.

        That is per feature and model: callers take all pairs of rows and draws up to this number,
        and some draws per row beyond it. It depends on the variables only, not on their values.
        """
        return PREDICTIONS

    @property
    @abstractmethod
    def factual(self) -> FloatArray:
        """Predictions on the rows as they are, shape (n,) or (n, classes)."""

    @abstractmethod
    def take(self, rows: IntArray) -> WhatIf:
        """Return what-if predictions of the same model on some of the rows."""

    @abstractmethod
    def cross(self, variables: Sequence[str], donors: pd.DataFrame) -> Iterator[Block]:
        """Predict every row with the `variables` of every donor, in blocks of rows."""

    def summed_losses(
        self, variables: Sequence[str], donors: Distinct, y: FloatArray, loss: Loss
    ) -> tuple[FloatArray, FloatArray]:
        """Sum the losses of all pairs of a row, which keeps y, and a donor of `variables`.

        Parameters
        ----------
        donors : Distinct
            m distinct donors, each with its count.
        y : ndarray of shape (n,)

        Returns
        -------
        over_donors : ndarray of shape (n,)
            Each row's losses, summed over all donors.
        over_rows : ndarray of shape (m,)
            Each distinct donor's losses, summed over rows.
        """
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(donors.values))
        for rows, predictions in self.cross(variables, donors.values):
            losses = loss(y[rows, None], predictions)
            over_donors[rows] = losses @ donors.counts
            over_rows += losses.sum(axis=0)
        return over_donors, over_rows

    @abstractmethod
    def paired(
        self, rows: IntArray, variables: Sequence[str], donors: pd.DataFrame, index: IntArray
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the `variables` of donors ``index[a]``.

        Memory grows with the number of predictions: ask for many in blocks of rows.

        Parameters
        ----------
        rows : ndarray of int, shape (b,)
            Positions in the sample, repeats allowed.
        donors : pandas.DataFrame
            Shared by rows, or each used once: values made for one row.
        index : ndarray of int, shape (b, k), not empty
            Positions in `donors`.

        Returns
        -------
        ndarray of shape (b, k) or (b, k, classes)
        """
