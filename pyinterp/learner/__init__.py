"""What users touch: learners, fitted models and the questions that they answer.

In come a formula, data and an estimator; out go results. A `Learner` is a specification;
``fit`` trains its refits and returns `LearnerResults`; a `FittedModel` is one model that was
trained anywhere. Both answer the same questions, one method for each estimand.

================  =============================================================================
Module            What is in it
================  =============================================================================
`learner`         `Learner`, its ``fit``, and the results of fits
`fitted`          `FittedModel`
`fitted_models`   How an estimand becomes results: ``estimate``, the one door to inference
`effects`         Questions about effects: ``pd``, ``firm``, ``vint``, ``h_statistic``
`importances`     Questions about importance: ``pfi``, ``mvim``, ``cvim``, ``amvim``, ``loco``
`conditions`      Positivity and the causal reading
`interpretable`   All questions together
`analysis`        The fitted models with all that is kept to interpret them
`compare`         Learners side by side
================  =============================================================================

A method names an estimand and hands it to ``estimate``. It computes nothing.
"""
