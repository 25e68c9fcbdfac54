"""Walks down trees that branch only where the replaced columns split, compiled by numba.

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

from pyinterp.whatif.walks.bits import GROUP, LEAF, Splits, Trees, add_up, first_leaves, preorder
from pyinterp.whatif.walks.cross import (
    BOTH_ENTROPIES,
    ENTROPY,
    LOG,
    SQUARE,
    cross_parts,
    cross_ranges,
    summed_pairs,
)
from pyinterp.whatif.walks.donors_per_row import add_up_pairs

__all__ = [
    "BOTH_ENTROPIES",
    "ENTROPY",
    "GROUP",
    "LEAF",
    "LOG",
    "SQUARE",
    "Splits",
    "Trees",
    "add_up",
    "add_up_pairs",
    "cross_parts",
    "cross_ranges",
    "first_leaves",
    "preorder",
    "summed_pairs",
]
