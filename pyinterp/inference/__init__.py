"""Inference, once for all estimands: variances, intervals, tests and multiplicity."""

from pyinterp.inference.intervals import ALTERNATIVES, Alternative, adjust, interval, p_values
from pyinterp.inference.variance import COV_TYPES, CovType, Evidence, Variance, default, variance

__all__ = [
    "ALTERNATIVES",
    "COV_TYPES",
    "Alternative",
    "CovType",
    "Evidence",
    "Variance",
    "adjust",
    "default",
    "interval",
    "p_values",
    "variance",
]
