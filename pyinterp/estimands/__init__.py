"""Estimands: pure functions from what-if predictions to values and their per-row contributions.

In comes a fitted model on rows; out goes an `Estimate`. An estimand has two functions, ``measure``
(all that is expensive) and ``read`` (arithmetic), and the words that tables print. It knows nothing
of variances, tables or plots, which serve it as they are.

================  =============================================================================
Where             What is in it
================  =============================================================================
`estimand`        What an estimand is, and what it may look at
`effects`         Partial dependence, accumulated effects, and their grids, scales and averages
`importance`      Importances: permutation, conditional, adjusted, LOCO, flatness, native
`interaction`     The H-statistics and vint
`risk`            Expected loss, and the share that the features explain
`positivity`      How much of a feature the others determine
`causal`          The causal reading
`coverage`        What published simulations say of intervals
================  =============================================================================

A new estimand is one file with a function that returns an `Estimand`.
"""
