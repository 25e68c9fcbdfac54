"""Inference, once for all estimands: variances, intervals, tests and multiplicity."""

from pyinterp.inference.bootstrap import BootstrapVariance
from pyinterp.inference.cov_types import COV_TYPES, default, variance
from pyinterp.inference.half_sample import HalfSampleVariance
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, check_adjustment
from pyinterp.inference.replicates import Evidence, Fold, Found, Half, combined, gathered
from pyinterp.inference.terms import TermInference
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
    "TermInference",
    "Variance",
    "check_adjustment",
    "combined",
    "default",
    "gathered",
    "variance",
]
