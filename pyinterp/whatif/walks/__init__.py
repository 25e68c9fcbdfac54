"""Loops compiled by numba: walks down trees that branch only where the replaced columns split.

Rows are walked in groups of 64: bit i of a word stands for row i of the group. Before the
walk, `group_bits` writes down, for every split, which rows of a group go to the left; a walk then
carries the word of the rows that have come with it, and parts it at splits of kept columns. At
splits of replaced columns it parts the donors instead.

================  ============================================================================
Module            What is in it
================  ============================================================================
`bits`            The trees, rows as they are, and the sides to which splits send rows
`cross`           All rows x all donors of some columns: sums over trees, or their losses
`donors_per_row`  Rows each with other donors, for one numerical column
================  ============================================================================

With numba's JIT disabled the same functions run as Python; tests hold both to the same numbers.
"""
