"""What-if predictions: the only place that calls a fitted model's predictions.

In come a predictor, a design and rows; out go predictions of those rows with some variables
replaced.

=========================  ========================================================================
Module                     What is in it
=========================  ========================================================================
`whatif`                   `WhatIf` of a model, `FeatureWhatIf` of a feature; engines extend them
`dispatch`                 The choice: an exact engine is first proven on the model's predictions
`batches`                  Any model: copies of rows, predicted many at a time
`trees`                    Ensembles of trees, exactly
`class_losses`             Sums of losses of class probabilities of these
`forest`                   Trees as arrays
`nodes`                    Nodes of trees, collected in the order of these arrays
`read_forest`              Trees of scikit-learn, XGBoost and LightGBM as such arrays
`read_histogram_boosting`  Those of scikit-learn's histogram boosting, with its categories
`read_xgboost`             XGBoost's models, with the categories that they store
`walks`                    Walks down trees, compiled
`linear`                   Linear and generalized linear models, exactly
`smooth_sums`              Sums of smooth losses of these, by interpolation along a line of donors
`calibration`              Calibrated classifiers of trees or linear models, exactly
`inputs`                   Inputs of a pipeline's last step, and the columns that donors replace
=========================  ========================================================================

A new engine is a subclass of `WhatIf` with its `FeatureWhatIf`, and a line in `dispatch`; no
estimand depends on which engine it is.
"""

from pyinterp.whatif.batches import BatchedWhatIf
from pyinterp.whatif.dispatch import (
    ENGINES,
    EngineName,
    dispatch,
    dispatch_labels,
    with_coefficients,
)
from pyinterp.whatif.whatif import PERMUTATIONS, PREDICTIONS, Block, Engine, FeatureWhatIf, WhatIf

__all__ = [
    "ENGINES",
    "PERMUTATIONS",
    "PREDICTIONS",
    "BatchedWhatIf",
    "Block",
    "Engine",
    "EngineName",
    "FeatureWhatIf",
    "WhatIf",
    "dispatch",
    "dispatch_labels",
    "with_coefficients",
]
