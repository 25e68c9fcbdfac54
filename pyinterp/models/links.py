"""Links: from sums over trees, or linear predictors, to predictions.

They map arrays of shape (..., outputs) to (...) for means, to (..., classes) for probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
from scipy import special, stats

from pyinterp._typing import FloatArray

Link = Callable[[FloatArray], FloatArray]
# From sums, shape (n, outputs), and predictions to derivatives with respect to sums, shape
# (n, values, outputs): of the mean, or of the probabilities of all classes but the first.
Slope = Callable[[FloatArray, FloatArray], FloatArray]


def identity(sums: FloatArray) -> FloatArray:
    """Return sums as they are, one per class."""
    return sums


def only_sum(sums: FloatArray) -> FloatArray:
    """Return the only sum."""
    return sums[..., 0]


def exponential(sums: FloatArray) -> FloatArray:
    """Return the exponential of the only sum."""
    return np.exp(sums[..., 0])


def two_classes(inverse: Link) -> Link:
    """Return the link to the probabilities of two classes, the second being ``inverse(sums)``."""

    def probabilities(sums: FloatArray) -> FloatArray:
        p = inverse(sums)
        both = np.empty((*p.shape, 2))  # np.stack takes three times as long
        both[..., 0], both[..., 1] = 1 - p, p
        return both

    return probabilities


@two_classes
def logistic(sums: FloatArray) -> FloatArray:
    """Return the logistic function of the only sum."""
    return special.expit(sums[..., 0])


@two_classes
def probit(sums: FloatArray) -> FloatArray:
    """Return the normal distribution function of the only sum."""
    return stats.norm.cdf(sums[..., 0])


def softmax(sums: FloatArray) -> FloatArray:
    """Return probabilities in proportion to the exponentials."""
    # Over few classes, reductions of NumPy, and so of SciPy, take most of the time.
    powers = np.exp(sums - reduce(np.maximum, np.moveaxis(sums, -1, 0))[..., None])
    return np.asarray(powers / np.einsum("...k->...", powers)[..., None])


def one_against_rest(sums: FloatArray) -> FloatArray:
    """Return probabilities in proportion to the logistic functions."""
    p = special.expit(sums)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def after_the_first(sums: FloatArray) -> FloatArray:
    """Return probabilities of classes the first of which has the sum 0."""
    return softmax(np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1))


def largest(sums: FloatArray) -> FloatArray:
    """Return 1 for the class of the largest sum, 0 for the others; one sum decides of two."""
    if sums.shape[-1] == 1:
        sums = np.concatenate([-sums, sums], axis=-1)
    best = sums.argmax(axis=-1)[..., None]
    return np.asarray(best == np.arange(sums.shape[-1]), np.float64)


SLOPES: Mapping[Link, Slope] = {
    only_sum: lambda sums, _: np.ones((len(sums), 1, 1)),
    exponential: lambda _, mean: mean[:, None, None],
    logistic: lambda _, p: (p[:, 0] * p[:, 1])[:, None, None],
    probit: lambda sums, _: stats.norm.pdf(sums)[:, None],
    after_the_first: lambda _, p: p[:, 1:, None] * (np.eye(p.shape[1] - 1) - p[:, None, 1:]),
}


def shift(link: Link, sums: FloatArray, predictions: FloatArray, off: FloatArray) -> FloatArray:
    """Return how far predictions move where every sum moves by `off`, one after the other."""
    total = np.zeros_like(predictions)
    for one in np.eye(sums.shape[-1]):
        for way in (one, -one):
            total += np.abs(link(sums + off * way) - predictions)
    return total
