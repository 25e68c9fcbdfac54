"""What a classifier answers besides probabilities: its own labels, and its decision function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.errors import PredictionError, list_of, quote
from pyinterp.models.prediction_checks import as_numbers

__all__ = [
    "Answers",
    "ClassOrder",
    "DecisionFunction",
    "Indicator",
    "most_probable",
    "plain",
    "position",
]

# Decimals of probabilities that the order of a sum does not change.
DECIMALS = 12


@dataclass(frozen=True)
class ClassOrder:
    """From an estimator's columns of classes to those that are reported.

    Attributes
    ----------
    place : tuple of int
        The class of each of the estimator's columns.
    k : int
        How many classes are reported.
    """

    place: tuple[int, ...]
    k: int

    @property
    def same(self) -> bool:
        """Whether the columns are the classes, in order."""
        return self.place == tuple(range(self.k))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return values of all classes on the last axis; 0 for those the estimator lacks."""
        if self.same:
            return values
        full = np.zeros((*values.shape[:-1], self.k))
        full[..., list(self.place)] = values
        return full


@dataclass(frozen=True)
class Indicator:
    """A function of design rows that gives 1 for the predicted class and 0 for the others.

    Attributes
    ----------
    predict : callable
        Predicts labels.
    names : tuple
        The labels, in the order of the columns.
    who : str
        Name of the estimator in messages.
    """

    predict: Callable[[Matrix], Any]
    names: tuple[Any, ...]
    who: str

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return indicators, shape (n, classes)."""
        classes = pd.Index(list(self.names), dtype=object)
        predicted = np.asarray(self.predict(matrix))
        labels = predicted[:, 0] if predicted.shape[1:] == (1,) else predicted
        if labels.ndim != 1:
            return np.asarray(labels, dtype=np.float64)  # refused for its shape
        codes = classes.get_indexer(pd.Index(labels, dtype=object))
        if (codes < 0).any():
            raise PredictionError(
                f"{self.who} must predict its classes, {list_of(classes)}, but it predicted "
                f"{quote(plain(labels[codes < 0][0]))}."
            )
        return np.asarray(codes[:, None] == np.arange(len(classes)), dtype=np.float64)


@dataclass(frozen=True)
class DecisionFunction:
    """A classifier's decision function, as scorers know it.

    One column for two classes, larger for the second; else one per class.
    """

    function: Callable[[Matrix], Any]
    order: ClassOrder
    who: str

    @property
    def width(self) -> int:
        """Number of columns."""
        return 1 if self.order.k == 2 else self.order.k

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return the values, shape (n, `width`)."""
        values = as_numbers(self.function(matrix), self.who).reshape(len(matrix), -1)
        if values.shape[1] != self.width or len(self.order.place) != self.order.k:
            raise PredictionError(
                "`decision_function` must give one column for two classes, else one for each of "
                f"the {self.order.k} classes; that of {self.who} gives {values.shape[1]} for "
                f"{len(self.order.place)} classes in its training rows. Use a scorer of "
                "probabilities or labels."
            )
        if self.width > 1:
            return self.order(values)
        return values if self.order.same else -values


@dataclass(frozen=True)
class Answers:
    """All that a classifier answers about design rows, side by side.

    Columns are the number of the predicted class, the probabilities if it predicts some, and the
    decision function if it has one.
    """

    labels: Callable[[Matrix], FloatArray]
    probabilities: Callable[[Matrix], FloatArray] | None
    scores: DecisionFunction | None
    k: int

    @property
    def width(self) -> int:
        """Number of columns."""
        own = 0 if self.scores is None else self.scores.width
        return 1 + (0 if self.probabilities is None else self.k) + own

    def __call__(self, matrix: Matrix) -> FloatArray:
        """Return the answers, shape (n, `width`)."""
        codes = most_probable(self.labels(matrix))[:, None].astype(np.float64)
        others = (part(matrix) for part in (self.probabilities, self.scores) if part is not None)
        return np.hstack([codes, *others])


def most_probable(probabilities: FloatArray) -> IntArray:
    """Return the class with the largest probability; the first of those equal but for rounding."""
    return np.asarray(np.round(probabilities, DECIMALS).argmax(axis=-1))


def plain(value: Any) -> Any:
    """Return a number or text of numpy as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def position(label: Any, names: Sequence[Any]) -> int:
    """Return the place of a class of the estimator among the classes that are reported."""
    try:
        return list(names).index(plain(label))
    except ValueError:
        raise PredictionError(
            f"The estimator predicts class {quote(label)}, which is not among {list_of(names)}."
        ) from None
