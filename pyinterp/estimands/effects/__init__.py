"""How predictions depend on variables.

Estimands; `dependence` chooses between the first two by the sampler:

========================  =====================================================
Module                    What is in it
========================  =====================================================
`partial_dependence`      PD and ICE
`conditional_dependence`  PD with the other variables as they go with the value
`m_plot`                  Mean predictions of rows near a value
`ale`                     Accumulated local effects
`slopes`                  Slopes of PD, and average marginal effects
`accumulated_effects`     AMVIM of an additive feature
========================  =====================================================

The choices that they share are `grids`, `scales`, `outputs` (scale and classes) and `averages`: at
which values, of what, and which average over rows. `accumulation` adds up the steps of rows,
`accumulation_by_level` those of levels and a number, `level_order` puts levels in order, and
`support` says where a grid leaves the data.
"""
