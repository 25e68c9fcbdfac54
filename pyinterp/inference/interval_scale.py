"""The scale on which intervals of estimands with a range are symmetric, so that they stay in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.ranges import REAL, Range

__all__ = ["IDENTITY", "IntervalScale"]


@dataclass(frozen=True)
class IntervalScale:
    r"""A function g of estimates with range (a, b), and its inverse.

    .. math:: g(x) = \log\frac{x - a}{b - x}, \quad g(x) = \log(x - a) \text{ if } b = \infty, \quad
        g(x) = -\log(b - x) \text{ if } a = -\infty

    A t interval of g(x), whose standard error is that of x times :math:`g'(x)`, has its limits
    inside the range, and is nearer to its nominal level where x is skewed near an end.
    """

    range: Range = REAL

    @property
    def name(self) -> str:
        """The name of the function; empty for the identity."""
        below, above = np.isfinite(self.range)
        if below and above:
            return "logit"
        return "log" if below or above else ""

    def of(self, values: FloatArray) -> FloatArray:
        """Return g of the values: infinite at the ends of the range and beyond."""
        low, high = self.range
        with np.errstate(divide="ignore"):
            from_low = np.log(np.clip(values - low, 0, None)) if np.isfinite(low) else 0.0
            to_high = np.log(np.clip(high - values, 0, None)) if np.isfinite(high) else 0.0
        return np.asarray(from_low - to_high if self.name else values)

    def slope(self, values: FloatArray) -> FloatArray:
        """Return the derivative of g; infinite at the ends of the range."""
        low, high = self.range
        slopes = np.zeros_like(values)
        with np.errstate(divide="ignore"):
            for end, distance in ((low, values - low), (high, high - values)):
                if np.isfinite(end):
                    slopes = slopes + 1 / np.clip(distance, 0, None)
        return slopes if self.name else np.ones_like(values)

    def back(self, values: FloatArray) -> FloatArray:
        """Return the inverse of g."""
        low, high = self.range
        with np.errstate(over="ignore"):
            if self.name == "logit":
                return np.asarray(low + (high - low) / (1 + np.exp(-values)))
            if np.isfinite(low):
                return np.asarray(low + np.exp(values))
            if np.isfinite(high):
                return np.asarray(high - np.exp(-values))
        return values

    def clip(self, limits: FloatArray) -> FloatArray:
        """Return limits that end where the range does."""
        return np.clip(limits, *self.range) if self.name else limits


IDENTITY = IntervalScale()
