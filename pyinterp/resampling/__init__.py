"""Resampling plans: which rows train and which evaluate each refit."""

from pyinterp.resampling.fresh import FreshDraws
from pyinterp.resampling.halves import HalfSampling
from pyinterp.resampling.nested_bootstrap import NestedBootstrap
from pyinterp.resampling.nested_folds import NestedCrossValidation
from pyinterp.resampling.plans import Bootstrap, CrossValidation, Holdout, Subsampling
from pyinterp.resampling.resampling import Group, Part, Resampling
from pyinterp.resampling.units import Units

__all__ = [
    "Bootstrap",
    "CrossValidation",
    "FreshDraws",
    "Group",
    "HalfSampling",
    "Holdout",
    "NestedBootstrap",
    "NestedCrossValidation",
    "Part",
    "Resampling",
    "Subsampling",
    "Units",
]
