"""What-if predictions: the only place that calls a fitted model's predictions.

In come a predictor, a design and rows; out go predictions of those rows with some variables
replaced.

=========================  ========================================================================
Module                     What is in it
=========================  ========================================================================
`whatif`                   Any model: copies of rows, predicted many at a time; what exact engines
                           share
`dispatch`                 The choice: an exact engine is first proven on the model's predictions
`trees`                    Ensembles of trees, exactly
`forest`                   Trees as arrays
`read_forest`              Trees of ensembles of any library, and of calibrated ones
`walks`                    Walks down trees, compiled
`tangents`                 Means of linear models as their coefficients move, to first order
`linear`                   Linear and generalized linear models, exactly
`kernels`                  Support vector, kernel ridge and Gaussian process regression, exactly
`smooth_sums`              Sums of smooth losses of linear models, by interpolation between donors
`piecewise_sums`           Sums of absolute and Huber loss of linear models, by sorting
`steps`                    Scalers before a pipeline's last step, as arithmetic
`inputs`                   Inputs of a pipeline's last step, and the columns that donors replace
=========================  ========================================================================

A new engine is a subclass of `ExactWhatIf` and a line in `ENGINES` of `dispatch`; no estimand
depends on which engine it is.
"""

from pyinterp.whatif.dispatch import (
    EngineName,
    check_engine,
    dispatch,
    dispatch_labels,
    with_coefficients,
)
from pyinterp.whatif.tangents import tangents_of
from pyinterp.whatif.whatif import PERMUTATIONS, PREDICTIONS, Engine, FeatureWhatIf, WhatIf
