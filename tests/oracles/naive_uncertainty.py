"""Naive oracles of predictive uncertainty: entropies and log likelihoods row by row.

The formulas are those of Wood et al. (2024) and of textbooks, by math and plain sums, with nothing
of the package in them. A belief is what a model says of one row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import naive
import numpy as np
from naive import Array
from scipy import stats

FAR, FINE = 10.0, 8  # a mixture is summed so many sds beyond its means, in so many steps per sd


@dataclass(frozen=True)
class Classes:
    """Probabilities; with a position, those of whether it is that class."""

    p: tuple[float, ...]
    position: int | None = None

    def entropy(self):
        p = self.p
        if self.position is not None:
            p = (self.p[self.position], 1 - self.p[self.position])
        return -sum(q * math.log(q) for q in p if q > 0)

    def nll(self, y):
        p = self.p[y]
        if self.position is not None:
            p = self.p[self.position] if y == self.position else 1 - self.p[self.position]
        return -math.log(max(p, naive.CLIP))


@dataclass(frozen=True)
class Normal:
    mean: float
    sd: float

    def entropy(self):
        return 0.5 * math.log(2 * math.pi * math.e * self.sd**2)

    def nll(self, y):
        return 0.5 * math.log(2 * math.pi * self.sd**2) + (y - self.mean) ** 2 / (2 * self.sd**2)


@dataclass(frozen=True)
class LogNormal:
    mean: float
    sd: float

    def entropy(self):
        return self.mean + Normal(self.mean, self.sd).entropy()

    def nll(self, y):
        return math.log(y) + Normal(self.mean, self.sd).nll(math.log(y))


@dataclass(frozen=True)
class Gamma:
    shape: float
    scale: float

    def entropy(self):
        return float(stats.gamma.entropy(self.shape, scale=self.scale))

    def nll(self, y):
        return -float(stats.gamma.logpdf(y, self.shape, scale=self.scale))


@dataclass(frozen=True)
class Poisson:
    mean: float

    def entropy(self):
        return _entropy_of_counts(self.mean)

    def nll(self, y):
        return self.mean - y * math.log(self.mean) + math.lgamma(y + 1)


@cache
def _entropy_of_counts(mean):
    numbers = [Poisson(mean).nll(y) for y in range(int(mean + 15 * math.sqrt(mean) + 40))]
    return sum(math.exp(-number) * number for number in numbers)


@dataclass(frozen=True, eq=False)
class Mixture:
    means: Array
    sds: Array

    def entropy(self):
        """Sum on a fine grid, with a step that is small beside the narrowest part."""
        low = (self.means - FAR * self.sds).min()
        high = (self.means + FAR * self.sds).max()
        y = np.linspace(low, high, int(FINE * (high - low) / self.sds.min()) + 2)
        z = (y[:, None] - self.means) / self.sds
        q = (np.exp(-0.5 * z**2) / (math.sqrt(2 * math.pi) * self.sds)).mean(axis=1)
        q = q[q > 0]
        return float((-q * np.log(q)).sum() * (y[1] - y[0]))

    def nll(self, y):
        parts = [-Normal(m, s).nll(y) for m, s in zip(self.means, self.sds, strict=True)]
        top = max(parts)
        return -top - math.log(sum(math.exp(part - top) for part in parts) / len(parts))


Belief = Classes | Normal | LogNormal | Gamma | Poisson | Mixture
Beliefs = Callable[[Any], list[Any]]
Number = Callable[[int, Any], float]


def pairs(beliefs, X, columns):
    """Return what is said of row i with the feature of row k, in lists [i][k]."""
    donors = np.arange(len(X))
    return [beliefs(naive.replace(X, np.full(len(X), i), donors, columns)) for i in donors]


def numbers_of(of, switched, original):
    """Return numbers ``of(i, belief)`` of pairs, shape (n, n), and of the rows as they are."""
    matrix = np.array([[of(i, belief) for belief in row] for i, row in enumerate(switched)])
    return matrix, np.array([of(i, belief) for i, belief in enumerate(original)])


def curves(of, beliefs, X, column, grid):
    """Return ICE curves, shape (n, points)."""
    at = [beliefs(naive.set_to(X, [column], [value])) for value in grid]
    return np.array([[of(i, said[i]) for said in at] for i in range(len(X))])
