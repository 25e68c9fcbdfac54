"""Inference, once for all estimands: variances, intervals, tests and multiplicity.

In come `Replicates`, the estimates of every refit with every row's contribution; out go a
`Variance` and, under the options of the user, a `TermInference`, whose numbers all tables print.

================  =============================================================================
Module            What is in it
================  =============================================================================
`replicates`      Estimates of every refit, arranged by the resampling plan
`groups`          Replicates of groups of rows side by side
`cov_types`       The names of variances, and which is the default
`variance`        What a variance is; naive and corrected over refits, rows and U-statistics
`units`           Rows or clusters that were sampled, and corrections for their number
`delta`           The delta method, of a model with a covariance of its coefficients
`half_sample`     The default: pairs of refits on complementary halves (a folder)
`nested_cv`       Nested cross-validation
`bootstrap`       Percentile and BCa intervals of the nested bootstrap
`intervals`       t intervals, their sides and adjustments
`interval_scale`  Scales on which intervals stay inside the range of an estimand
`simultaneous`    Bands and p-values of the largest t
`terms`           `TermInference`: statistics, p-values and intervals of terms
`contrasts`       Linear hypotheses
`joint_tests`     Several hypotheses at once, and whether a curve is flat
`independent`     Differences of independent estimates
`equivalence`     Bayesian correlated t test with a region of practical equivalence
`ranking`         How probable each rank is for each term
`coverage`        What studies say about the coverage of intervals: a table, `coverage.csv`
`digits`          How tables print numbers and p-values
`options`         The options of inference, the same for every estimand
================  =============================================================================

A new variance is a function from `Replicates` to `Variance` and its name in `cov_types`. No
estimand may be named here.
"""

from pyinterp.inference.bootstrap import BootstrapVariance
from pyinterp.inference.cov_types import COV_TYPES, CovType, default, variance
from pyinterp.inference.groups import side_by_side
from pyinterp.inference.half_sample.variance import SquareVariance
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, check_adjustment
from pyinterp.inference.replicates import Fold, Half, RefitEstimate, Replicates, combine, gather
from pyinterp.inference.terms import TermInference
from pyinterp.inference.variance import Variance

__all__ = [
    "ALTERNATIVES",
    "COV_TYPES",
    "Alternative",
    "BootstrapVariance",
    "CovType",
    "Fold",
    "Half",
    "RefitEstimate",
    "Replicates",
    "SquareVariance",
    "TermInference",
    "Variance",
    "check_adjustment",
    "combine",
    "default",
    "gather",
    "side_by_side",
    "variance",
]
