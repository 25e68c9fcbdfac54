"""How predictions depend on variables.

Estimands:

========================  =====================================================
Module                    Content
========================  =====================================================
`partial_dependence`      PD and ICE
`conditional_dependence`  PD given the variable, and the choice by the sampler
`m_plot`                  Mean predictions of rows near a value
`ale`                     Accumulated local effects
`slopes`                  Slopes of PD, and average marginal effects
`accumulated_effects`     AMVIM of an additive feature
========================  =====================================================

Three modules hold shared choices: `grids` of values, `scales` of predictions (and classes), and
`averages` over rows. `accumulation` adds up the steps of rows, and `support` says where a grid
leaves the data.
"""
