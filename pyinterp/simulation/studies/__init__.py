"""Simulation studies that can be stopped and resumed: how well intervals cover and measures rank.

In come processes, learners and questions; out go tables with Monte Carlo errors.

============  ========================================================
Module        Contents
============  ========================================================
`study`       Units of work, their records, and the file that keeps them
`coverage`    Coverage of intervals, with tables and plots
`importance`  Bias and variance of importances (Khan et al. 2025)
============  ========================================================

A study's settings are part of its records: one with other settings does not go on from them.
"""
