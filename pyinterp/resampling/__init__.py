"""Resampling plans: which rows train and which evaluate each refit."""

from pyinterp.resampling.base import Part, Resampling
from pyinterp.resampling.fresh import FreshDraws
from pyinterp.resampling.halves import HalfSampling
from pyinterp.resampling.plans import Bootstrap, CrossValidation, Holdout, Subsampling
from pyinterp.resampling.units import Units

__all__ = [
    "Bootstrap",
    "CrossValidation",
    "FreshDraws",
    "HalfSampling",
    "Holdout",
    "Part",
    "Resampling",
    "Subsampling",
    "Units",
]
