"""Simulation studies that can be stopped and resumed: how well intervals cover and measures rank.

In come processes, learners and questions; out go tables with Monte Carlo errors.

====================  =====================================================
Module                What is in it
====================  =====================================================
`runner`              Works through the repetitions, in parallel
`records`             What they are added up to, and the file that keeps it
`coverage_study`      Coverage of intervals
`coverage_results`    Its tables and plots
`importance_study`    Bias and variance of importances (Khan et al. 2025)
`importance_results`  Its tables
====================  =====================================================

A study's settings are part of its records: one with other settings does not go on from them.
"""
