"""How predictions depend on variables.

`partial_dependence` and `accumulated_effects` are the estimands; `grids`, `scales` and `averages`
are the choices that they share: at which values, on which scale, and which average over rows.
"""
