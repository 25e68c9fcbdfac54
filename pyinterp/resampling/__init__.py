"""Resampling plans, and refits by them.

The input is a sample and an estimator. The output is `Refit` objects, each with its model and its
training and evaluation rows.

==================  ======================================================================
Module              Content
==================  ======================================================================
`resampling`        Base classes of plans, and their units: rows or clusters in strata
`plans`             Half-sampling, the default; bootstrap, nested too, subsampling, folds, one
                    split
`splits`            Splits of users: splitters, lists
`fresh`             Fresh data for every refit, in simulations
`refits`            Training by a plan
`levels`            Levels of evaluation rows that training rows lack
`checkpoint`        A folder of finished refits, with which a call goes on
`proof`             One kept refit is made again, and must predict the same
`leave_out`         Training again without some variables
==================  ======================================================================

A new plan is a file here with a subclass of `Splitting` that has ``split``.
"""

from pyinterp.resampling.fresh import FreshDraws
from pyinterp.resampling.plans import (
    Bootstrap,
    CrossValidation,
    HalfSampling,
    Holdout,
    NestedBootstrap,
    Subsampling,
)
from pyinterp.resampling.resampling import (
    Group,
    RefitRows,
    Resampling,
    Split,
    Splitting,
    Units,
    is_half,
)
from pyinterp.resampling.splits import Splits, plan_of
