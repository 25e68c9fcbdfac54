"""Walks down trees that branch only where the replaced columns split, compiled by numba.

Rows are walked in groups of 64: bit i of a word stands for row i of the group. Before the walk,
`left_bits` writes down, for every split, which rows of a group go to the left; a walk then carries
the word of the rows that have come with it, and parts it at splits of kept columns. At splits of
replaced columns it parts the donors instead.

================  ==========================================================================
Module            What is in it
================  ==========================================================================
`bits`            The trees, rows as they are, and the sides to which splits send rows
`cross`           All rows x all donors of some columns
`classes`         The same, summing losses of the probability of one class
`donors_per_row`  Rows each with donors of its own, for one numerical column
================  ==========================================================================

With numba's JIT disabled the same functions run as Python; tests hold both to the same numbers.
"""

from pyinterp.whatif.walks.bits import (
    GROUP,
    Splits,
    Trees,
    add_up,
    first_leaves,
    left_bits,
    preorder,
)
from pyinterp.whatif.walks.classes import BOTH_ENTROPIES, ENTROPY, LOG, SQUARE, one_class_pairs
from pyinterp.whatif.walks.cross import cross_parts, cross_ranges, squared_pairs
from pyinterp.whatif.walks.donors_per_row import add_up_pairs

__all__ = [
    "BOTH_ENTROPIES",
    "ENTROPY",
    "GROUP",
    "LOG",
    "SQUARE",
    "Splits",
    "Trees",
    "add_up",
    "add_up_pairs",
    "cross_parts",
    "cross_ranges",
    "first_leaves",
    "left_bits",
    "one_class_pairs",
    "preorder",
    "squared_pairs",
]
