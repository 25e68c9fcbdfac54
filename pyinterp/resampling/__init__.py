"""Resampling plans, and refits by them.

In come a sample and an estimator; out go `Refit` objects, each with its model and its training and
evaluation rows.

==================  =================================================================
Module              What is in it
==================  =================================================================
`resampling`        Base classes of plans, which yield the rows of every refit
`units`             What is resampled: rows, or whole clusters of rows, within strata
`plans`             Bootstrap, subsampling, cross-validation, one split
`halves`            Half-sampling, the default, with pairs of refits on halves
`splits`            Splits of the user's own: splitters, lists
`nested_folds`      Nested cross-validation
`nested_bootstrap`  Bootstrap samples that are split several times
`fresh`             Fresh data for every refit, in simulations
`refits`            Training by a plan
`leave_out`         Training again without some variables
==================  =================================================================

A new plan is a file here with a subclass of `Splitting` that has ``split``.
"""

from pyinterp.resampling.fresh import FreshDraws
from pyinterp.resampling.halves import HalfSampling
from pyinterp.resampling.nested_bootstrap import NestedBootstrap
from pyinterp.resampling.nested_folds import NestedCrossValidation
from pyinterp.resampling.plans import Bootstrap, CrossValidation, Holdout, Subsampling
from pyinterp.resampling.resampling import Group, Part, Resampling, Split, Splitting
from pyinterp.resampling.splits import Splits, plan_of
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
    "Splits",
    "Splitting",
    "Subsampling",
    "Units",
    "plan_of",
]
