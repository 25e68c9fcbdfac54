"""How much the effect of some features depends on others.

In come what-if predictions with one, two or three features replaced; out go estimands.
`h_statistic` has Friedman and Popescu's H statistics, `vint` the measure of R's package vip, which
is the flatness of one curve over the other's grid. Both ask for grids and curves of `effects`; no
other folder asks them.
"""
