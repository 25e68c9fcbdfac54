"""Learners and fitted models, with one method for each estimand.

In come a formula, data and an estimator; out go results. A `Learner` is a specification;
``fit`` trains its refits and returns `LearnerResults`; a `FittedModel` is one model that was
trained anywhere. Both have the same methods.

================  =============================================================================
Module            What is in it
================  =============================================================================
`learner`         `Learner`, its ``fit``, and the results of fits
`fitted_model`    `FittedModel`
`fitted_models`   ``estimate``, which makes results of any estimand
`effects`         ``pd``, ``ale``, ``slopes``, ``ame`` and the like; ``firm``, ``vint``
`importances`     ``pfi``, ``mvim``, ``cvim``, ``amvim``, ``loco``, ``uncertainty`` and the like;
                  ``params``, ``bse``, ``summary`` and the like of a fit, taken from its ``pfi()``
`interpretable`   `Interpretable`, with all these methods, ``loss``, ``positivity``, ``causal``
`analysis`        What was measured on a fit, on all of its rows or on some
`models`          `Models`, the one way to ask models, wherever they are; answers are added up
`models_here`     Models in memory: one after the other is asked, and only sums stay
`models_on_record` What was measured of models that are not here
`dropped_models`  Refits whose models are dropped once they are measured
`on_file`         Results of fits as files hold them
`row_order`       A footnote on rows that look ordered in time
`compare`         ``compare``: tests of learners, and of results, of the same or independent data
================  =============================================================================

A method names the function of its estimand, with options. It computes nothing.
"""
