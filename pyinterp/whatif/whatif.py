"""Predictions of rows with other values of a feature, of which all estimands are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.data.design import Design
from pyinterp.data.features import check_names, names_of
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, list_of
from pyinterp.losses.rowwise import Loss
from pyinterp.models.predictor import Predictor
from pyinterp.samplers import Distinct, distinct

__all__ = ["PAIRS", "PERMUTATIONS", "PREDICTIONS", "Block", "Engine", "FeatureWhatIf", "WhatIf"]

# Predictions of copies of rows that are worth making per feature and model.
PREDICTIONS = 250_000
# Permutations of rows that are predicted where no engine is exact.
PERMUTATIONS = 30
# Pairs of a row and a donor that are worth an exact mean where a pair costs little more than its
# loss.
PAIRS = 1e8


class Engine(NamedTuple):
    """The method that computed predictions.

    Attributes
    ----------
    name : str
        What tables call it.
    error : float
        Its largest deviation from the model's own predictions, in units of their spread over rows;
        0 where these are the model's own.
    reason : str
        Why there is no exact engine, for a kind of model that can have one.
    """

    name: str
    error: float = 0.0
    reason: str = ""

    @classmethod
    def of_all(cls, engines: Sequence[Engine]) -> Engine:
        """Return one engine for several models: all names and reasons, the largest error."""
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

    Parameters
    ----------
    predictor : Predictor
        The fitted model.
    design : Design
        How its variables are encoded.
    sample : Sample
        The evaluation rows, n of them.
    engine : Engine
        What computes the predictions.
    factual : ndarray, optional
        Predictions on the rows as they are; by default computed when first used.
    """

    def __init__(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        engine: Engine,
        factual: FloatArray | None = None,
    ) -> None:
        self.predictor, self.design, self.sample = predictor, design, sample
        self.engine = engine
        self._factual = factual

    @property
    def factual(self) -> FloatArray:
        """Predictions on the rows as they are, shape (n,) or (n, classes)."""
        if self._factual is None:
            matrix = self.design.encode(self.sample.variables, self.sample.index)
            self._factual = self.predictor(matrix)
        return self._factual

    def keep(self, factual: FloatArray, error: float) -> None:
        """Keep the engine's predictions of the rows, and their deviation from the model's own."""
        self._factual, self.engine = factual, self.engine._replace(error=error)

    def of_all(self, features: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, FeatureWhatIf]]:
        """Yield the name and the what-if predictions of every feature."""
        for name, variables in features.items():
            yield name, self.of(variables)

    @abstractmethod
    def of(self, variables: Sequence[str]) -> FeatureWhatIf:
        """Return what-if predictions with some variables replaced together."""

    @abstractmethod
    def take(self, rows: IntArray) -> WhatIf:
        """Return what-if predictions of the same model on some of the rows."""


class FeatureWhatIf(ABC):
    """What-if predictions of one feature: its variables replaced together by those of donors.

    Donors are the sample's own rows, unless others are given.

    Parameters
    ----------
    sample : Sample
        The rows that are predicted, n of them.
    variables : sequence of str
        The variables of the feature.
    """

    def __init__(self, sample: Sample, variables: Sequence[str]) -> None:
        names = names_of(variables, "variables")
        check_names(names, sample.variables.columns, kind="variable", argument="variables")
        self.sample, self.variables = sample, tuple(names)

    @cached_property
    def donors(self) -> Distinct:
        """The m distinct values of the sample's rows; values that predict alike may be one."""
        return distinct(self.sample.variables, self.variables)

    def most_pairs(self, loss: Loss) -> float:
        """Return how many pairs of rows and distinct donors are worth an exact mean of a loss."""
        return PERMUTATIONS * self.sample.nobs

    @property
    def most_draws(self) -> float:
        """How many draws, each for one row only, are worth predicting per model.

        Callers take all pairs of rows and draws up to this number, and some draws per row beyond
        it.
        """
        return PREDICTIONS

    @abstractmethod
    def cross(self, donors: pd.DataFrame | None = None) -> Iterator[Block]:
        """Predict every row with the variables of every donor, in blocks of rows."""

    @abstractmethod
    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``.

        Memory grows with the number of predictions: many should come in blocks of rows.

        Parameters
        ----------
        rows : ndarray of int, shape (b,)
            Positions in the sample, repeats allowed.
        index : ndarray of int, shape (b, k), not empty
            Positions in `donors`.
        donors : pandas.DataFrame, optional
            Shared by rows, or each used once: values made for one row. The distinct donors of the
            sample if omitted.

        Returns
        -------
        ndarray of shape (b, k) or (b, k, classes)
        """

    def summed_losses(self, y: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Sum the losses of all pairs of a row, which keeps y, and a donor of the sample.

        Parameters
        ----------
        y : ndarray of shape (n,)
        loss : Loss

        Returns
        -------
        over_donors : ndarray of shape (n,)
            Each row's losses, summed over all donors.
        over_rows : ndarray of shape (m,)
            Each distinct donor's losses, summed over rows.
        """
        donors = self.donors
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(donors.frame))
        for rows, predictions in self.cross():
            losses = loss(y[rows, None], predictions)
            over_donors[rows] = losses @ donors.counts
            over_rows += losses.sum(axis=0)
        return over_donors, over_rows

    def _frame(self, donors: pd.DataFrame | None) -> pd.DataFrame:
        """Return donors, those of the sample if no others are given."""
        if donors is None:
            return self.donors.frame
        lacking = [name for name in self.variables if name not in donors]
        if lacking:
            raise OptionError(
                f"Donors must have the variables that they replace, but `{lacking[0]}` is not "
                f"among their columns {list_of(donors)}."
            )
        return donors
