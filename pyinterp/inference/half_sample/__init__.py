"""The default inference: a variance from complementary half-samples, its intervals and its guards.

================  =============================================================================
Module            What is in it
================  =============================================================================
`constants`       All numbers that were chosen: three of the rule, five of the guards
`parts`           A, S and s²/m from the estimates of the refits
`half_fits`       What the learner finds on halves: growth, refusals and warnings
`mean_share`      r, the share of the training variance that the mean of many refits keeps
`square`          The interval and the test of an estimand that varies as a square, in formulas
`variance`        The variances ``half-sample`` and ``half-sample-t``
`two_sides`       Contrasts of terms whose intervals are not symmetric
`row_warnings`    Terms that few rows decide, and terms that half of the refits do not use
================  =============================================================================
"""
