"""Estimators of any library, with what they predict and require.

In comes an estimator of any library; out goes a `Predictor`, a function from design columns to
predictions that are checked: real, finite, probabilities where they must be, the same when asked
twice. What differs between libraries is here and nowhere else.

====================  =========================================================================
Module                What is in it
====================  =========================================================================
`predictor`           Predictions of an estimator: means, probabilities or labels
`prediction_checks`   What predictions must be
`aims`                What a prediction is: a mean, a quantile ..., by an estimator's own words
`final_step`          The model inside pipelines, searches and other wrappers
`predictive`          The distribution that a fitted regressor states
`distributional`      A regressor of the user's own with its distribution
`coefficients`        Coefficients with their covariance, and the model with others
`copies`              Unfitted copies of estimators, and their seeds
`specification`       Settings and kind of a learner, for headers
`fitted_predictor`    What a model that was fitted elsewhere predicts, and its response
`model_reader`        Evaluation rows of such a model, their columns matched by name
`codes`               Numbers that a fitted model takes as categories
`adapters`            What estimators say about themselves
`library`             What the package has to know of a library: offset, missing values, trees ...
`libraries`           The libraries, and the library of an estimator
`scikit_learn`, ...   One file per library: `statsmodels`, `lightgbm`, `xgboost`, `catboost`,
                      `glum`, `skorch`
`statsmodels_learner` Models of statsmodels as learners
`trees`, `links`      Trees of any ensemble as arrays, and maps from sums to predictions
`objectives`          Objectives of boosters
`overrides`           Whether a user's class predicts as the library's class that it extends
`threads`             Jobs and the threads of learners share the cores
`early_stopping`      Boosters that stop by rows that do not train them
`sample_weight`       Sampling weights in the fit of learners
`missing_values`      Which learners take missing values
`offset_model`        Models that are given the last column of their rows as offset
`remedies`            What to do about errors of other libraries
`row_options`         Options with one value per row, which are refused
====================  =========================================================================

A library that needs a special case has one file, and a line in `libraries`.
"""
