"""Inference, once for all estimands: variances, intervals, tests and multiplicity."""

from pyinterp.inference.bootstrap import BootstrapVariance
from pyinterp.inference.cov_types import COV_TYPES, default, variance
from pyinterp.inference.evidence import Evidence, Fold, Found, Half, combined, gathered
from pyinterp.inference.half_sample import HalfSampleVariance
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, adjust, interval, p_values
from pyinterp.inference.simultaneous import simultaneous_level
from pyinterp.inference.variance import CovType, Variance

__all__ = [
    "ALTERNATIVES",
    "COV_TYPES",
    "Alternative",
    "BootstrapVariance",
    "CovType",
    "Evidence",
    "Fold",
    "Found",
    "Half",
    "HalfSampleVariance",
    "Variance",
    "adjust",
    "combined",
    "default",
    "gathered",
    "interval",
    "p_values",
    "simultaneous_level",
    "variance",
]
