"""Resampling plans, and refits by them.

In come a sample and an estimator; out go `Refit` objects, each with its model and its training and
evaluation rows. A plan (`plans`, `halves`, `nested_folds`, `nested_bootstrap`, `fresh`) says which
rows train and which evaluate; `refits` trains; `leave_out` trains again without some variables. A
new plan is a subclass of `Splitting` with ``split``.
"""

from pyinterp.resampling.fresh import FreshDraws
from pyinterp.resampling.halves import HalfSampling
from pyinterp.resampling.nested_bootstrap import NestedBootstrap
from pyinterp.resampling.nested_folds import NestedCrossValidation
from pyinterp.resampling.plans import Bootstrap, CrossValidation, Holdout, Subsampling
from pyinterp.resampling.resampling import Group, Part, Resampling, Split, Splitting
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
    "Split",
    "Splitting",
    "Subsampling",
    "Units",
]
