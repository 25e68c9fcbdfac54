"""The default inference: a variance from complementary half-samples, its intervals and its guards.

================  =============================================================================
Module            What is in it
================  =============================================================================
`constants`       All numbers that were chosen: four of the variance, five of the guards
`half_refits`     How the learner predicts on halves: growth, refusals, warnings, and r
`square`          The interval and the test of an estimand that varies as a square
`variance`        The variances ``half-sample`` and ``half-sample-t``, of A, S and s²/m
`two_sides`       Contrasts of terms whose intervals are not symmetric
================  =============================================================================
"""
