"""How predictions depend on variables.

Estimands:

====================  ================================================
Module                Content
====================  ================================================
`partial_dependence`  PD and ICE, and the averages over rows
`ale`                 Accumulated local effects
`slopes`              Average marginal effects
====================  ================================================

Two modules hold shared choices: `grids` of values, and `scales` of predictions (and classes).
`accumulation` adds up the steps of rows.
"""
