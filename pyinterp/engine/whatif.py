"""What would be predicted with other values of a feature: the question every estimand asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from pyinterp.design import IntArray
from pyinterp.predictive import Predictor
from pyinterp.sample import FloatArray, Sample
from pyinterp.samplers import Distinct, distinct

__all__ = ["Block", "WhatIf"]


class Block(NamedTuple):
    """Predictions for some rows and all donors.

    Attributes
    ----------
    rows : slice
        The rows.
    predictions : ndarray of shape (rows, donors) or (rows, donors, classes)
    """

    rows: slice
    predictions: FloatArray


class WhatIf(ABC):
    """What-if predictions of one fitted model on one sample.

    Attributes
    ----------
    predictor : Predictor
        The fitted model.
    sample : Sample
        The evaluation rows, n of them.
    name : str
        What tables call the engine.
    """

    name: str
    predictor: Predictor
    sample: Sample

    def distinct(self, variables: Sequence[str]) -> Distinct:
        """Return the sample's rows as donors of `variables`, those that predict alike as one."""
        return distinct(self.sample.variables, variables)

    @property
    def most_pairs(self) -> float:
        """How many pairs of rows and distinct donors are worth predicting exactly."""
        return 250_000

    @property
    @abstractmethod
    def factual(self) -> FloatArray:
        """Predictions on the rows as they are, shape (n,) or (n, classes)."""

    @abstractmethod
    def cross(self, variables: Sequence[str], donors: pd.DataFrame) -> Iterator[Block]:
        """Predict every row with the `variables` of every donor, in blocks of rows."""

    @abstractmethod
    def paired(self, variables: Sequence[str], donors: pd.DataFrame, index: IntArray) -> FloatArray:
        """Predict row i with the `variables` of donors ``index[i]``.

        Parameters
        ----------
        index : ndarray of int, shape (n, k)
            Positions in `donors`.

        Returns
        -------
        ndarray of shape (n, k) or (n, k, classes)
        """
