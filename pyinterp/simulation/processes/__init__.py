"""Data-generating processes of the literature, with their closed forms.

In come numbers of rows and seeds; out go data frames, and the true function with its PD, PFI and
CVIM where there are formulas.

===========  ======================================================================================
Module       Contents
===========  ======================================================================================
`process`    A process: features, the true f and noise
`data_copy`  The copy of data, for `certify`
`friedman`   Friedman (1991): three regressions
`khan`       Khan et al. (2025): six dependence scenarios
`molnar`     Molnar et al. (2021): linear, non-linear, Figure 2
`wood`       Wood et al. (2024) and Mease and Wyner (2008): two classes, redundant features, a ring
===========  ======================================================================================

A new process is a function here that returns a `Process`, and a line in `pyinterp.simulation`. The
order in which a process draws may not change: results of studies rest on it.
"""
