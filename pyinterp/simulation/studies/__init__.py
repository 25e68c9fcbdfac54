"""Simulation studies that can be stopped and resumed: how well intervals cover and measures rank.

In come processes, learners and questions; out go tables with Monte Carlo errors.

====================  =====================================================
Module                What is in it
====================  =====================================================
`runner`              Works through the repetitions, in parallel
`database`            Keeps them in a file
`text`                The same records as JSON lines, which can be compared
`cells`               Names of the rows, terms and sums of all studies
`coverage_study`      Coverage of intervals
`coverage_results`    Its tables and plots
`importance_study`    Bias and variance of importances (Khan et al. 2025)
`importance_results`  Its tables
====================  =====================================================

A study's settings are part of its records: one with other settings does not go on from them.
"""
