"""How predictions depend on variables.

Estimands:

========================  ===============================================================
Module                    Content
========================  ===============================================================
`partial_dependence`      PD and ICE, and the averages over rows
`conditional_dependence`  PD given the variable, the choice by the sampler, and M-plots
`ale`                     Accumulated local effects
`slopes`                  Slopes of PD, and average marginal effects
========================  ===============================================================

Two modules hold shared choices: `grids` of values, and `scales` of predictions (and classes).
`accumulation` adds up the steps of rows.
"""
