"""Estimands: pure functions from what-if predictions to values and their per-row contributions.

The input is a fitted model on rows, and the output an `Estimate`. An estimand has two functions,
``measure`` (all expensive work) and ``read`` (arithmetic), and the words that tables print.
Variances, tables and plots are written once for all estimands and name none.

================  =============================================================================
Where             Content
================  =============================================================================
`estimand`        The types: an estimand, the problem it is defined for, and its words
`estimate`        One fitted model on its rows, and values with every row's contribution
`effects`         Partial dependence, accumulated effects, and their grids and scales
`importance`      Importances: permutation (of uncertainty too), conditional, adjusted, LOCO,
                  flatness, native
`interaction`     H statistics and vint
`risk`            Expected loss and the share that the features explain, metrics of all rows
                  together, and means over rows of a user's function
`positivity`      Share of a feature's variance that the other variables explain
`causal`          Causal effects by plug-in, and importances as their mean squares
`population`      Of nature: slopes, contrasts and importances by residuals on residuals
`interactions`    Of nature: whether features interact, and coefficients of their products
`groups`          Any estimand by groups of rows
`questions`       Questions: estimands by name, with their options and rows; and as texts, by which
                  what was measured is found
================  =============================================================================

A new estimand is one file with a function that returns an `Estimand`. ``@method("name")`` above it
makes it a method of all results.
"""
