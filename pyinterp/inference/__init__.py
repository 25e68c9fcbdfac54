"""Inference, once for all estimands: variances, intervals, tests and multiplicity.

In come `Replicates`, the estimates of every refit with sums of rows' contributions; out go a
`Variance` and, under the options of the user, a `TermInference`, whose numbers all tables print.

================  =============================================================================
Module            What is in it
================  =============================================================================
`evaluations`     Which rows evaluate which refit, arranged by the resampling plan
`refit_sums`      The values of every refit, and sums over refits of rows' contributions
`replicates`      Both, as variances need them; groups of rows side by side
`variance`        What a variance is: a covariance, its reference distribution, its words
`cov_types`       `register_variance`, the names of variances, the default, and the options
`over_refits`     The variances ``naive`` and ``corrected``
`over_rows`       The variances ``rows`` and ``ustat``, of one fitted model
`delta`           The delta method, of a model with a covariance of its coefficients
`half_sample`     The default: pairs of refits on complementary halves (a folder)
`influence`       Rows pooled over refits, and lower limits of squares
`bootstrap`       Percentile intervals of the nested bootstrap
`intervals`       Quantiles and sides of t intervals, adjustments of p-values
`simultaneous`    Bands and p-values of the largest t
`terms`           `TermInference`: statistics, p-values and intervals of terms
`contrasts`       Linear hypotheses
`joint_tests`     Several hypotheses at once, and whether a curve is flat
`independent`     Differences of independent estimates
`posterior`       How probable ranks are, and regions of practical equivalence
`coverage`        What studies say about the coverage of intervals: a table, `coverage.csv`
`sample_size`     How many rows a width or a power needs
`digits`          How tables print numbers and p-values
================  =============================================================================

A new variance is a file with a function from `Replicates` to `Variance` that is registered, here or
outside the package. No estimand may be named here.
"""

# Every file of a variance registers it when it is imported.
from pyinterp.inference import delta, influence, over_refits, over_rows
from pyinterp.inference.bootstrap import BootstrapVariance
from pyinterp.inference.cov_types import (
    COV_TYPES,
    CovType,
    check_inference,
    register_variance,
    variance,
)
from pyinterp.inference.evaluations import Evaluations
from pyinterp.inference.half_sample.square import SquareVariance
from pyinterp.inference.half_sample.variance import half_sample  # likewise
from pyinterp.inference.intervals import Alternative
from pyinterp.inference.refit_sums import Fold, RefitSums
from pyinterp.inference.replicates import RefitEstimate, Replicates, combine, side_by_side
from pyinterp.inference.terms import IntervalScale, TermInference
from pyinterp.inference.variance import Variance
